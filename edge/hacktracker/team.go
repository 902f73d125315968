package hacktracker

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/patch"
)

// recoverFor is how long a deleted team can be had back.
const recoverFor = 30 * 24 * time.Hour

// anyTeam returns a team, also one that was deleted.
func (s *Service) anyTeam(tx *store.Tx, team string) (Team, error) {
	it, err := tx.Get(s.Table, teamKey(team))
	if err == nil && it == nil {
		err = notFound("Team")
	}
	return teamOf(it), err
}

func (s *Service) team(tx *store.Tx, team string) (Team, error) {
	t, err := s.anyTeam(tx, team)
	if err == nil && t.Status == deleted {
		err = notFound("Team")
	}
	return t, err
}

// Team returns a team to one of its members.
func (s *Service) Team(tx *store.Tx, user, team string) (Team, error) {
	return s.allow(tx, team, user, anyMember)
}

// TeamsOf lists the teams of which a user is an active member, each with their role, by name.
func (s *Service) TeamsOf(tx *store.Tx, user string) (out []Team, err error) {
	all, err := s.memberships(tx, user)
	if err != nil {
		return nil, err
	}
	out = []Team{}
	for i := range all {
		t, err := s.team(tx, all[i].TeamID)
		switch {
		case fault.Is(err, fault.NotFound):
			continue
		case err != nil:
			return nil, err
		case all[i].Status == active:
			t.Role = all[i].Role
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b Team) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// TeamQuery is which teams a list has.
type TeamQuery struct {
	Owner, Type string // empty: all; without either no PERSONAL team
	Page
}

// Teams lists teams, a page of them.
func (s *Service) Teams(tx *store.Tx, q TeamQuery) (out []Team, next attr.Item, err error) {
	p := expr.Params{Names: map[string]string{"#status": "status"}, Values: attr.Item{":deleted": attr.S(deleted)}}
	filter := "(attribute_not_exists(#status) OR #status <> :deleted)"
	switch {
	case q.Type != "":
		filter += " AND team_type = :type"
		p.Values[":type"] = attr.S(q.Type)
	case q.Owner == "":
		filter += " AND (attribute_not_exists(team_type) OR team_type <> :personal)"
		p.Values[":personal"] = attr.S(Personal)
	}
	if q.Owner != "" {
		filter += " AND ownerId = :owner"
		p.Values[":owner"] = attr.S(q.Owner)
	}
	found, err := s.listed(tx, "TEAM", q.Page, filter, p)
	out = []Team{}
	for _, it := range found.Items {
		out = append(out, teamOf(it))
	}
	return out, found.LastKey, err
}

// NewTeam returns the writes of a team, of its owner's membership and of its owner's player, and the team's id.
func (s *Service) NewTeam(tx *store.Tx, user, once string, in Input) (id string, writes []store.WriteItem, err error) {
	p, err := patch.Read(teamFields(), in, "name", "teamType")
	if err != nil {
		return "", nil, err
	}
	u, err := s.User(tx, user)
	if err != nil {
		return "", nil, err
	}
	kind := p.Set["teamType"]
	delete(p.Set, "teamType")
	id = newID(user, "team", once)
	now := attr.S(tx.Now().UTC().Format(patch.Stamp))
	team := stampRow(tx, teamKey(id), p)
	team["teamId"], team["ownerId"], team["team_type"], team["status"] = attr.S(id), attr.S(user), kind, attr.S(active)
	indexed(team, indexEntity, "ENTITY#TEAM", skMetadata+"#"+id)

	player := newID(user, "owner", once)
	row := stampRow(tx, playerKey(id, player), patch.Patch{})
	row["playerId"], row["teamId"], row["firstName"], row["status"] = attr.S(player), attr.S(id), attr.S("Player"), attr.S(active)
	if playerName.MatchString(u.FirstName) {
		row["firstName"] = attr.S(u.FirstName)
	}
	link(row, user, player, now)
	return id, []store.WriteItem{s.create(team), s.create(s.membership(tx, user, id, Owner, attr.Null())), s.create(row)}, nil
}

func (s *Service) membership(tx *store.Tx, user, team string, role Role, by attr.Value) attr.Item {
	row := stampRow(tx, memberKey(user, team), patch.Patch{})
	row["userId"], row["teamId"], row["role"], row["status"] = attr.S(user), attr.S(team), attr.S(string(role)), attr.S(active)
	row["joinedAt"], row["invitedBy"] = row["createdAt"], by
	return row
}

// link makes a player's row that of a user.
func link(row attr.Item, user, player string, now attr.Value) {
	row["isGhost"], row["userId"], row["linkedAt"] = attr.Bool(false), attr.S(user), now
	indexed(row, indexPlayers, prefixUser+user, prefixPlayer+player)
}

// managed refuses what is done to a PERSONAL team, where nothing is managed.
func (s *Service) managed(tx *store.Tx, user, team string, do action) error {
	t, err := s.allow(tx, team, user, do)
	if err == nil && t.Type == Personal {
		err = forbidden("Cannot %s on personal stats team", strings.ReplaceAll(string(do), "_", " "))
	}
	return err
}

// ChangeTeam changes a team's name and description.
func (s *Service) ChangeTeam(tx *store.Tx, user, team string, in Input) (Team, error) {
	fields := teamFields()
	delete(fields, "teamType")
	p, err := patch.ReadSome(fields, in)
	if err != nil {
		return Team{}, err
	}
	if err := s.managed(tx, user, team, manageTeam); err != nil {
		return Team{}, err
	}
	touch(tx, &p)
	if _, err := tx.Update(*p.Update(s.Table, teamKey(team), "attribute_exists(PK)", expr.Params{})); err != nil {
		return Team{}, err
	}
	return s.allow(tx, team, user, manageTeam)
}

// DeleteTeam hides a team, and returns the token by which its owner has it back for 30 days.
func (s *Service) DeleteTeam(tx *store.Tx, user, team string) (token string, err error) {
	if err := s.managed(tx, user, team, deleteTeam); err != nil {
		return "", err
	}
	token = uuid.NewString()
	p := patch.Patch{Set: attr.Item{"status": attr.S(deleted), "deletedAt": attr.S(tx.Now().UTC().Format(patch.Stamp)), "recoveryToken": attr.S(token)}}
	touch(tx, &p)
	u := p.Update(s.Table, teamKey(team), "attribute_exists(PK) AND (attribute_not_exists(#status) OR #status = :active)", expr.Params{
		Names: map[string]string{"#status": "status"}, Values: attr.Item{":active": attr.S(active)},
	})
	return token, s.transact(tx, store.WriteItem{Update: u}, s.asRole(user, team, Owner))
}

// RecoverTeam gives an owner a team back.
func (s *Service) RecoverTeam(tx *store.Tx, user, team string, in Input) (Team, error) {
	asked, err := patch.Read(map[string]patch.Field{"recoveryToken": {Read: patch.Text(patch.UpTo(64))}}, in, "recoveryToken")
	if err != nil {
		return Team{}, err
	}
	token := asked.Set["recoveryToken"].Str()
	t, err := s.anyTeam(tx, team)
	if err != nil {
		return t, err
	}
	at, _ := time.Parse(patch.Stamp, t.deletedAt)
	if t.OwnerID != user {
		return t, forbidden("Insufficient permissions. Required: owner")
	}
	if t.Status != deleted || token == "" || token != t.recovery || tx.Now().Sub(at) > recoverFor {
		return t, notFound("Team")
	}
	p := patch.Patch{Set: attr.Item{"status": attr.S(active)}, Remove: []string{"deletedAt", "recoveryToken"}}
	touch(tx, &p)
	u := p.Update(s.Table, teamKey(team), "recoveryToken = :token", expr.Params{Values: attr.Item{":token": attr.S(token)}})
	if _, err := tx.Update(*u); err != nil {
		return t, err
	}
	return s.allow(tx, team, user, ownTeam)
}

// ChangeMember changes a member's role or status; the owner stays what they are.
func (s *Service) ChangeMember(tx *store.Tx, by, team, user string, in Input) (Membership, error) {
	p, err := patch.ReadSome(memberFields(), in)
	if err != nil {
		return Membership{}, err
	}
	t, err := s.allow(tx, team, by, ownTeam)
	if err != nil {
		return Membership{}, err
	}
	if user == t.OwnerID {
		return Membership{}, Invalid("The owner's membership cannot be changed")
	}
	get := func() (Membership, error) {
		it, err := tx.Get(s.Table, memberKey(user, team))
		if err == nil && it == nil {
			err = notFound("Member")
		}
		return membershipOf(it), err
	}
	if _, err := get(); err != nil {
		return Membership{}, err
	}
	touch(tx, &p)
	u := p.Update(s.Table, memberKey(user, team), "attribute_exists(PK)", expr.Params{})
	if err := s.transact(tx, store.WriteItem{Update: u}, s.asRole(by, team, Owner)); err != nil {
		return Membership{}, err
	}
	return get()
}
