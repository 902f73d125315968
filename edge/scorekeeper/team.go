package scorekeeper

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
	"github.com/touchline/touchline/store/table"
)

// Role is what a member may do in a team.
type Role string

// The roles.
const (
	RoleAdmin  Role = "admin"
	RoleMember Role = "member"
)

// MaxMembers is the most members a team can have. Nodes that are cut off may together add more.
const MaxMembers = 48

// deletedAtOnce is how many other members one transaction of a team's deletion removes: each has two rows.
const deletedAtOnce = 45

// MaxTeams is how many teams one may be an admin of when one creates another. Another node may let a few more pass.
const MaxTeams = 100

// Team is a team with its members.
type Team struct {
	ID        string   `json:"team_id"`
	Name      string   `dynamodbav:"team_name" json:"team_name"`
	CreatedAt int64    `dynamodbav:"created_at_millis" json:"created_at_millis"`
	Members   []Member `dynamodbav:"-" json:"members"`
}

// Member is a player in a team.
type Member struct {
	UserID   string `dynamodbav:"user_id" json:"user_id"`
	Name     string `dynamodbav:"-" json:"display_name"`
	Avatar   string `dynamodbav:"-" json:"avatarUrl,omitempty"`
	Role     Role   `dynamodbav:"role" json:"role"`
	JoinedAt int64  `dynamodbav:"joined_at_millis" json:"joined_at_millis"`
	Accepted *bool  `dynamodbav:"accepted" json:"accepted,omitempty"` // false: an admin added them, and they have not accepted; nil: they created the team, or joined before this was asked
}

// Offered reports whether a player was added by somebody else and has not accepted. The team is told nothing of such a player: neither
// name and picture nor games.
func (m *Member) Offered() bool { return m.Accepted != nil && !*m.Accepted }

// Joined lists the members whose games the team sees: all but those who have not accepted.
func (t *Team) Joined() []Member {
	return slices.DeleteFunc(slices.Clone(t.Members), func(m Member) bool { return m.Offered() })
}

// Offers reports whether the team awaits that a player accepts.
func (t *Team) Offers(user string) bool {
	m := t.memberOf(user)
	return m.Offered()
}

// Profile is how a player is shown to others.
type Profile struct {
	UserID string `json:"userId"`
	Name   string `dynamodbav:"displayName" json:"displayName,omitempty"`
	Avatar string `dynamodbav:"avatarUrl" json:"avatarUrl,omitempty"`
}

// Profile returns a player's profile. Fields that were never set are empty.
func (s *Service) Profile(tx *store.Tx, user string) (Profile, error) {
	p, of := s.plan(tx), Profile{UserID: user}
	p.load(profileKey(user), &of)
	return of, p.Err()
}

// SetProfile updates the given fields of a player's profile; nil leaves a field as it is.
func (s *Service) SetProfile(tx *store.Tx, user string, name, avatar *string) (Profile, error) {
	p := patch.Patch{Set: attr.Item{}}
	for attribute, v := range map[string]*string{"displayName": name, "avatarUrl": avatar} {
		if v != nil {
			p.Set[attribute] = attr.S(*v)
		}
	}
	if !p.Empty() {
		if _, err := tx.Update(*p.Update(s.Table, profileKey(user), table.If{})); err != nil {
			return Profile{}, err
		}
	}
	return s.Profile(tx, user)
}

func notFound(what string) error { return fault.New(fault.NotFound, "not_found", "%s not found", what) }

// Team returns a team. Only its members may see it.
func (s *Service) Team(tx *store.Tx, team, user string) (Team, error) {
	p := s.plan(tx)
	return p.teamFor(team, user), p.Err()
}

func (p *plan) teamFor(team, user string) Team {
	t := p.team(team)
	p.Refuse(t.memberOf(user).Role == "", fault.New(fault.Forbidden, "forbidden", "Only the team's members can see it"))
	return t
}

// memberOf returns the member with a user's ID, or the zero Member.
func (t *Team) memberOf(user string) Member {
	if i := slices.IndexFunc(t.Members, func(m Member) bool { return m.UserID == user }); i >= 0 {
		return t.Members[i]
	}
	return Member{}
}

func (p *plan) team(id string) (t Team) {
	p.Refuse(!p.needs(teamKey(id), "team", &t), notFound("Team"))
	t.ID = id
	t.Members = collectUnder(p, prefixTeam+id, prefixMember, func(user string, row attr.Item) (m Member, ok bool) {
		ok = p.decode(row, &m)
		m.UserID = user
		return m, ok
	})
	for i := range t.Members { // a member without a name gets one made from the ID that reveals nothing of the account
		m, of := &t.Members[i], Profile{}
		if !m.Offered() {
			p.load(profileKey(m.UserID), &of)
		}
		m.Name, m.Avatar = cmp.Or(of.Name, "Player "+strings.ToUpper(GameID(m.UserID, "")[:4])), of.Avatar
	}
	slices.SortFunc(t.Members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.JoinedAt, b.JoinedAt), strings.Compare(a.UserID, b.UserID))
	})
	return t
}

// TeamsOf lists the IDs of a player's teams.
func (s *Service) TeamsOf(tx *store.Tx, user string) ([]string, error) {
	p := s.plan(tx)
	return p.teamsOf(user), p.Err()
}

func (p *plan) teamsOf(user string) []string {
	return collectUnder(p, prefixUser+user, prefixTeam, name)
}

// collectUnder collects what take returns for the rows of a partition whose sort keys begin with prefix. name is the rest of the sort key.
func collectUnder[T any](p *plan, pk, prefix string, take func(name string, row attr.Item) (T, bool)) []T {
	all := []T{}
	for row := range p.Rows(p.Tx.QueryAll(p.QueryUnder(pk, prefix))) {
		if v, ok := take(strings.TrimPrefix(row["sk"].Str(), prefix), row); ok {
			all = append(all, v)
		}
	}
	return all
}

func name(name string, _ attr.Item) (string, bool) { return name, true }

// TeamNeeds lists the rows behind a request about a player's teams, or about the one given, that another node may have written: the player's
// memberships, the teams and, for the team given, the profiles and memberships of the members known here, and their games on the given days.
func (s *Service) TeamNeeds(tx *store.Tx, user, team string, days ...string) ([]attr.Item, error) {
	p := s.plan(tx)
	teams := p.teamsOf(user)
	if team != "" {
		teams = []string{team}
	}
	all := []attr.Item{ownRows(user)}
	for _, id := range teams {
		all = append(all, attr.Item{"pk": attr.S(prefixTeam + id)})
	}
	if !p.load(teamKey(team), &Team{}) { // no team is given, or it is not known here
		return all, p.Err()
	}
	for _, member := range collectUnder(p, prefixTeam+team, prefixMember, name) {
		all = append(all, profileKey(member), belongsKey(member, team))
		for _, day := range days {
			all = append(all, GameKey(member, day))
		}
	}
	return all, p.Err()
}

// Once is an Idempotency-Key and its scope.
type Once struct{ Scope, Key string }

// CreateTeam creates a team with its creator as admin. Each once is an Idempotency-Key with its scope, the user's or the device's. If there are
// any, the first determines the team's ID, at every node, and a repeated request returns the team that exists by one of them.
func (s *Service) CreateTeam(tx *store.Tx, user, name string, once ...Once) (Team, error) {
	if n := len([]rune(strings.TrimSpace(name))); n < 1 || n > 50 {
		return Team{}, badRequest("team_name must be 1 to 50 characters")
	}
	id, now := uuid.NewString(), tx.Now().UnixMilli()
	for i := range once {
		made := GameID(once[i].Scope, prefixTeam+once[i].Key)
		if i == 0 {
			id = made
		}
		if t, err := s.Team(tx, made, user); !fault.Is(err, fault.NotFound) {
			return t, err
		}
	}
	p := s.plan(tx)
	led := collectUnder(p, prefixUser+user, prefixTeam, func(_ string, row attr.Item) (bool, bool) { return true, row["role"].Str() == string(RoleAdmin) })
	p.Refuse(len(led) >= MaxTeams, fault.New(fault.Conflict, "conflict", "You are an admin of %d teams, the most allowed: leave or delete some first", len(led)))
	row := teamKey(id)
	row["team_name"], row["created_at_millis"], row["admins"] = attr.S(name), attr.Int(now), attr.Int(1)
	items := append(s.membership(id, user, "", RoleAdmin, now), s.Create(row))
	p.Commit(items...)
	return p.team(id), p.Err()
}

// membership returns the writes of the two rows of a membership. They create the rows if was is empty, delete them if role is empty, and change
// the role otherwise. They are refused if another node has changed the role.
func (s *Service) membership(team, user string, was, role Role, at int64) (items []store.WriteItem) {
	for _, k := range []attr.Item{memberKey(team, user), belongsKey(user, team)} {
		unchanged := table.IfTrue("#role = :was", attr.Item{":was": attr.S(string(was))})
		switch {
		case was == "":
			k["role"], k["joined_at_millis"], k["user_id"] = attr.S(string(role)), attr.Int(at), attr.S(user)
			items = append(items, s.Create(k))
		case role == "":
			items = append(items, s.Delete(k, unchanged))
		default:
			unchanged.Values[":role"] = attr.S(string(role))
			items = append(items, s.Update(k, "SET #role = :role", unchanged))
		}
	}
	return items
}

// there is the condition that a row exists.
const there = "attribute_exists(pk)"

// setRole changes a player's role in a team, or removes the player if role is empty, and counts the admins, in one transaction. It is refused
// if no admin would be left, if the two rows of the membership differ, or if by, who changes another player, is no longer an admin.
func (p *plan) setRole(by, team, user string, was, role Role) {
	items := p.membership(team, user, was, role, p.Tx.Now().UnixMilli())
	if was == "" {
		items[0].Put.Item["accepted"] = attr.Bool(false) // in the team's row of the two
	}
	admins := map[Role]int64{RoleAdmin: 1}
	const count = "ADD admins :by"
	switch n := admins[role] - admins[was]; {
	case n == 0:
		items = append(items, p.Check(teamKey(team), table.IfTrue(there, nil)))
	case n > 0:
		items = append(items, p.Update(teamKey(team), count, table.IfTrue(there, attr.Item{":by": attr.Int(n)})))
	default:
		others := table.IfTrue("admins > :one", attr.Item{":by": attr.Int(n), ":one": attr.Int(1)})
		items = append(items, p.Update(teamKey(team), count, others))
	}
	if by != user {
		admin := table.IfTrue("#role = :admin", attr.Item{":admin": attr.S(string(RoleAdmin))})
		items = append(items, p.Check(memberKey(team, by), admin))
	}
	if p.Err() != nil {
		return
	}
	err := table.Commit(p.Tx, items...)
	canceled, ok := errors.AsType[*store.TransactionCanceledError](err)
	if ok && admins[role] < admins[was] && canceled.Reasons[2].Code != store.ReasonNone { // the third row is the team's, with its count
		err = fault.New(fault.Conflict, "conflict", "A team must keep at least one admin")
	}
	p.Fail(halfHere(err))
}

// halfHere returns the error of a transaction that found half of a membership, because the other half has not arrived from another node.
func halfHere(err error) error {
	if _, ok := errors.AsType[*store.TransactionCanceledError](err); ok {
		err = fault.New(fault.Conflict, "conflict", "A change to this membership at another node has not fully arrived here yet. Try again later")
	}
	return err
}

// administeredTeam returns a team, with a Forbidden error unless by is one of its admins.
func (p *plan) administeredTeam(by, team string) Team {
	t := p.team(team)
	p.Refuse(t.memberOf(by).Role != RoleAdmin, notAdmin())
	return t
}

func notAdmin() error {
	return fault.New(fault.Forbidden, "forbidden", "Only the team's admins can change it")
}

// SetTeammate adds a player to a team, who is shown to it once they accept (AcceptTeam), or changes a member's role. Only the team's admins may do so.
func (s *Service) SetTeammate(tx *store.Tx, by, team, user string, role Role) (Member, error) {
	p := s.plan(tx)
	t := p.administeredTeam(by, team)
	was := t.memberOf(user).Role
	p.Refuse(was == "" && len(t.Members) >= MaxMembers, fault.New(fault.Conflict, "conflict", "A team can have at most %d members", MaxMembers))
	if was != role {
		p.setRole(by, team, user, was, role)
		t = p.team(team)
	}
	return t.memberOf(user), p.Err()
}

// AcceptTeam accepts that an admin added the player to a team, which from then on sees their name and their games.
func (s *Service) AcceptTeam(tx *store.Tx, user, team string) (Member, error) {
	p := s.plan(tx)
	if t := p.teamFor(team, user); t.Offers(user) {
		p.Commit(p.Update(memberKey(team, user), "SET accepted = :yes", table.IfTrue(there, attr.Item{":yes": attr.Bool(true)})))
	}
	t := p.teamFor(team, user)
	return t.memberOf(user), p.Err()
}

// RemoveTeammate removes a player from a team. Admins may remove anyone; other members only themselves.
func (s *Service) RemoveTeammate(tx *store.Tx, by, team, user string) (Member, error) {
	p := s.plan(tx)
	t := p.team(team)
	p.Refuse(by != user && t.memberOf(by).Role != RoleAdmin, notAdmin())
	m := t.memberOf(user)
	p.Refuse(m.Role == "", notFound("User"))
	p.setRole(by, team, user, m.Role, "")
	return m, p.Err()
}

// DeleteTeam deletes a team and all memberships. Only the team's admins may do so.
func (s *Service) DeleteTeam(tx *store.Tx, by, team string) (Team, error) {
	p := s.plan(tx)
	t := p.administeredTeam(by, team)
	if p.Err() != nil {
		return t, p.Err()
	}
	for _, items := range s.deletion(&t, by) {
		p.Fail(halfHere(table.Commit(tx, items...)))
	}
	return t, p.Err()
}

// deletion returns the transactions that delete a team and its members of any role. The first is refused if the team is gone, or by is no admin any
// more. The others, of a team with more members than one node lets in, depend on the team being gone.
func (s *Service) deletion(t *Team, by string) (all [][]store.WriteItem) {
	items := append(s.membership(t.ID, by, RoleAdmin, "", 0), s.Delete(teamKey(t.ID), table.IfTrue(there, nil)))
	others := slices.DeleteFunc(slices.Clone(t.Members), func(m Member) bool { return m.UserID == by })
	for some := range slices.Chunk(others, deletedAtOnce) {
		for i := range some {
			items = append(items, s.Drop(memberKey(t.ID, some[i].UserID)), s.Drop(belongsKey(some[i].UserID, t.ID)))
		}
		all = append(all, items)
		items = []store.WriteItem{s.Check(teamKey(t.ID), table.IfTrue("attribute_not_exists(pk)", nil))}
	}
	if len(others) == 0 {
		all = append(all, items)
	}
	return all
}
