package hacktracker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Known reports whether the user has a profile.
func (b *Book) Known() bool { return b.get(userKey(b.user)) != nil }

// Enrol makes the profile of the user at their first request; one that is there already stays.
func (b *Book) Enrol(email, name string) {
	email = strings.ToLower(email)
	first, last, _ := strings.Cut(strings.TrimSpace(name), " ")
	before, _, _ := strings.Cut(email, "@")
	row := userKey(b.user)
	row["userId"], row["email"] = attr.S(b.user), attr.S(email)
	row["firstName"], row["lastName"] = attr.S(cmp.Or(first, before, "Player")), attr.S(cmp.Or(last, "User"))
	indexed(row, indexSub, "COGNITO#"+b.user, "USER")
	indexed(row, indexEntity, "ENTITY#USER", skMetadata+"#"+b.user)
	if !b.Known() {
		b.commit(b.create(b.Stamp(row, nil)))
	}
}

// User returns a user's profile.
func (b *Book) User(user string) User { return userOf(b.known(userKey(user), "User")) }

// UserBySub finds a user by their Cognito subject.
func (b *Book) UserBySub(sub string) (u User) {
	b.each(indexSub, "COGNITO#"+sub, "USER", func(it attr.Item) { u = userOf(it) })
	b.refuse(u.ID == "", notFound("User"))
	return u
}

// Users lists users.
func (b *Book) Users(p Page) ([]User, attr.Item) {
	return listed(b, "USER", p, userOf, "", with(attr.Item{}))
}

// ChangeUser changes the user's names and phone number.
func (b *Book) ChangeUser(in Input) User {
	p := b.change(userFields(), in)
	b.save(userKey(b.user), p)
	return b.User(b.user)
}

// DeleteUser removes the user's profile, unless a managed team would be left without its owner.
func (b *Book) DeleteUser() {
	for _, t := range b.TeamsOf(b.user) {
		b.refuse(t.Role == Owner && t.Type == Managed, fault.New(fault.Conflict, "owns_team", "User still owns the team %s", t.Name))
	}
	b.commit(b.remove(userKey(b.user), "", expr.Params{}))
}

// Context is which kinds of team a user is in.
type Context struct {
	Personal bool `json:"has_personal_context"`
	Managed  bool `json:"has_managed_context"`
}

// Context reads the kinds of the user's teams.
func (b *Book) Context() (c Context) {
	for _, t := range b.TeamsOf(b.user) {
		c.Personal = c.Personal || t.Type == Personal
		c.Managed = c.Managed || t.Type != Personal
	}
	return c
}

// Players lists the roster rows that the user is linked to, also of teams that were deleted: those that the index has, and those in
// rosters of the user's teams, since others write rows without its keys.
func (b *Book) Players() []Player {
	out := collect(b, indexPlayers, prefixUser+b.user, prefixPlayer, playerOf)
	for _, m := range b.memberships(b.user) {
		for _, p := range b.roster(m.TeamID) {
			known := slices.ContainsFunc(out, func(o Player) bool { return o.ID == p.ID && o.TeamID == p.TeamID })
			if p.UserID != nil && *p.UserID == b.user && !known {
				out = append(out, p)
			}
		}
	}
	return out
}

// memberships are those of a user, whatever their status.
func (b *Book) memberships(user string) []Membership {
	return collect(b, "", prefixUser+user, prefixTeam, membershipOf)
}

// Followed are the partitions that a node reads often: games in progress, with their teams.
func (s *Service) Followed(tx *store.Tx, _ []string) (out []attr.Value, err error) {
	b := s.Open(tx, "")
	b.each(indexEntity, "ENTITY#GAME", skMetadata, func(it attr.Item) {
		if g := gameOf(it); g.Status == InProgress {
			out = append(out, attr.S(prefixGame+g.ID), attr.S(prefixTeam+g.TeamID))
		}
	})
	return out, b.err
}
