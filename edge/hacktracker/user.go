package hacktracker

import (
	"cmp"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
)

// Known reports whether a user has a profile.
func (s *Service) Known(tx *store.Tx, user string) (bool, error) {
	it, err := tx.Get(s.Table, userKey(user))
	return it != nil, err
}

// Enrol makes the profile of a user at their first request; one that is there already stays.
func (s *Service) Enrol(tx *store.Tx, user, email, name string) error {
	email = strings.ToLower(email)
	first, last, _ := strings.Cut(strings.TrimSpace(name), " ")
	before, _, _ := strings.Cut(email, "@")
	row := userKey(user)
	row["userId"], row["email"] = attr.S(user), attr.S(email)
	row["firstName"], row["lastName"] = attr.S(cmp.Or(first, before, "Player")), attr.S(cmp.Or(last, "User"))
	indexed(row, indexSub, "COGNITO#"+user, "USER")
	indexed(row, indexEntity, "ENTITY#USER", skMetadata+"#"+user)
	w := s.on(tx)
	if w.commit(s.create(stampRow(tx, row, patch.Patch{}))); fault.Is(w.err, fault.Conflict) {
		return nil
	}
	return w.end()
}

func (w *work) user(user string) User { return userOf(w.known(userKey(user), "User")) }

// User returns a user's profile.
func (s *Service) User(tx *store.Tx, user string) (User, error) {
	w := s.on(tx)
	return w.user(user), w.end()
}

// UserBySub finds a user by their Cognito subject.
func (s *Service) UserBySub(tx *store.Tx, sub string) (u User, err error) {
	w := s.on(tx)
	w.each(indexSub, "COGNITO#"+sub, "USER", func(it attr.Item) { u = userOf(it) })
	w.refuse(u.ID == "", notFound("User"))
	return u, w.end()
}

// Users lists users.
func (s *Service) Users(tx *store.Tx, p Page) ([]User, attr.Item, error) {
	return listed(s, tx, "USER", p, userOf, "", with(attr.Item{}))
}

// ChangeUser changes the names and the phone number of a user.
func (s *Service) ChangeUser(tx *store.Tx, user string, in Input) (User, error) {
	w := s.on(tx)
	p := w.change(userFields(), in)
	w.user(user)
	w.save(userKey(user), p)
	return w.user(user), w.end()
}

// DeleteUser removes a profile, unless a managed team would be left without its owner.
func (s *Service) DeleteUser(tx *store.Tx, user string) error {
	w := s.on(tx)
	w.user(user)
	for _, t := range w.teamsOf(user) {
		w.refuse(t.Role == Owner && t.Type == Managed, fault.New(fault.Conflict, "owns_team", "User still owns the team %s", t.Name))
	}
	w.remove(userKey(user))
	return w.end()
}

// Context is which kinds of team a user is in.
type Context struct {
	Personal bool `json:"has_personal_context"`
	Managed  bool `json:"has_managed_context"`
}

// Context reads the kinds of a user's teams.
func (s *Service) Context(tx *store.Tx, user string) (c Context, err error) {
	w := s.on(tx)
	for _, t := range w.teamsOf(user) {
		c.Personal = c.Personal || t.Type == Personal
		c.Managed = c.Managed || t.Type != Personal
	}
	return c, w.end()
}

func (w *work) playersOf(user string) []Player {
	return collect(w, indexPlayers, prefixUser+user, prefixPlayer, playerOf)
}

// PlayersOf lists the roster rows that a user is linked to, also of teams that were deleted.
func (s *Service) PlayersOf(tx *store.Tx, user string) ([]Player, error) {
	w := s.on(tx)
	return w.playersOf(user), w.end()
}

// memberships are those of a user, whatever their status.
func (w *work) memberships(user string) []Membership {
	return collect(w, "", prefixUser+user, prefixTeam, membershipOf)
}

// Followed are the partitions that a node reads often: games in progress, with their teams.
func (s *Service) Followed(tx *store.Tx, _ []string) (out []attr.Value, err error) {
	for p := (Page{}); ; {
		games, next, err := listed(s, tx, "GAME", p, gameOf, "#status = :live", liveParams())
		if err != nil {
			return nil, err
		}
		for i := range games {
			out = append(out, attr.S(prefixGame+games[i].ID), attr.S(prefixTeam+games[i].TeamID))
		}
		if p.Start = next; next == nil {
			return out, nil
		}
	}
}
