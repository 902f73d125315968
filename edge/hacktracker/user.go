package hacktracker

import (
	"cmp"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
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
	err := s.transact(tx, s.create(stampRow(tx, row, patch.Patch{})))
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// User returns a user's profile.
func (s *Service) User(tx *store.Tx, user string) (User, error) {
	it, err := tx.Get(s.Table, userKey(user))
	if err == nil && it == nil {
		err = notFound("User")
	}
	return userOf(it), err
}

// UserBySub finds a user by their Cognito subject.
func (s *Service) UserBySub(tx *store.Tx, sub string) (u User, err error) {
	err = s.each(tx, indexSub, "COGNITO#"+sub, "USER", func(it attr.Item) { u = userOf(it) })
	if err == nil && u.ID == "" {
		err = notFound("User")
	}
	return u, err
}

// Users lists users.
func (s *Service) Users(tx *store.Tx, p Page) (out []User, next attr.Item, err error) {
	found, err := s.listed(tx, "USER", p, "", expr.Params{})
	out = []User{}
	for _, it := range found.Items {
		out = append(out, userOf(it))
	}
	return out, found.LastKey, err
}

// ChangeUser changes the names and the phone number of a user.
func (s *Service) ChangeUser(tx *store.Tx, user string, in Input) (User, error) {
	p, err := patch.ReadSome(userFields(), in)
	if err != nil {
		return User{}, err
	}
	if _, err := s.User(tx, user); err != nil {
		return User{}, err
	}
	touch(tx, &p)
	if _, err := tx.Update(*p.Update(s.Table, userKey(user), "attribute_exists(PK)", expr.Params{})); err != nil {
		return User{}, err
	}
	return s.User(tx, user)
}

// DeleteUser removes a profile, unless a managed team would be left without its owner.
func (s *Service) DeleteUser(tx *store.Tx, user string) error {
	if _, err := s.User(tx, user); err != nil {
		return err
	}
	teams, err := s.TeamsOf(tx, user)
	if err != nil {
		return err
	}
	for i := range teams {
		if teams[i].Role == Owner && teams[i].Type == Managed {
			return fault.New(fault.Conflict, "owns_team", "User still owns the team %s", teams[i].Name)
		}
	}
	_, err = tx.Delete(store.DeleteItem{Table: s.Table, Key: userKey(user), Condition: "attribute_exists(PK)"})
	return err
}

// Context is which kinds of team a user is in.
type Context struct {
	Personal bool `json:"has_personal_context"`
	Managed  bool `json:"has_managed_context"`
}

// Context reads the kinds of a user's teams.
func (s *Service) Context(tx *store.Tx, user string) (c Context, err error) {
	teams, err := s.TeamsOf(tx, user)
	for i := range teams {
		c.Personal = c.Personal || teams[i].Type == Personal
		c.Managed = c.Managed || teams[i].Type != Personal
	}
	return c, err
}

// PlayersOf lists the roster rows that a user is linked to, also of teams that were deleted.
func (s *Service) PlayersOf(tx *store.Tx, user string) ([]Player, error) {
	return collect(s, tx, indexPlayers, prefixUser+user, prefixPlayer, playerOf)
}

// memberships are those of a user, whatever their status.
func (s *Service) memberships(tx *store.Tx, user string) ([]Membership, error) {
	return collect(s, tx, "", prefixUser+user, prefixTeam, membershipOf)
}

// Followed are the partitions that a node reads often: games in progress, with their teams.
func (s *Service) Followed(tx *store.Tx, _ []string) (out []attr.Value, err error) {
	for p := (Page{}); ; {
		found, err := s.listed(tx, "GAME", p, "#status = :live", liveParams())
		if err != nil {
			return nil, err
		}
		for _, it := range found.Items {
			g := gameOf(it)
			out = append(out, attr.S(prefixGame+g.ID), attr.S(prefixTeam+g.TeamID))
		}
		if p.Start = found.LastKey; p.Start == nil {
			return out, nil
		}
	}
}
