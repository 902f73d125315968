package hacktracker

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/patch"
)

// recoverFor is how long a deleted team can be had back.
const recoverFor = 30 * 24 * time.Hour

// anyTeam returns a team, also one that was deleted.
func (w *work) anyTeam(team string) Team { return teamOf(w.known(teamKey(team), "Team")) }

func (w *work) team(team string) Team {
	t := w.anyTeam(team)
	w.refuse(t.Status == deleted, notFound("Team"))
	return t
}

// Team returns a team to one of its members.
func (s *Service) Team(tx *store.Tx, user, team string) (Team, error) {
	w := s.on(tx)
	return w.allow(team, user, anyMember), w.end()
}

func (w *work) teamsOf(user string) []Team {
	out := []Team{}
	for _, m := range w.memberships(user) {
		it := w.get(teamKey(m.TeamID))
		if t := teamOf(it); it != nil && t.Status != deleted && m.Status == active {
			t.Role = m.Role
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b Team) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// TeamsOf lists the teams of which a user is an active member, each with their role, by name.
func (s *Service) TeamsOf(tx *store.Tx, user string) ([]Team, error) {
	w := s.on(tx)
	return w.teamsOf(user), w.end()
}

// TeamQuery is which teams a list has.
type TeamQuery struct {
	Owner, Type string // empty: all; without either no PERSONAL team
	Page
}

// Teams lists teams, a page of them.
func (s *Service) Teams(tx *store.Tx, q TeamQuery) ([]Team, attr.Item, error) {
	p := with(attr.Item{":deleted": attr.S(deleted)}, "status")
	filter := notDeleted
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
	return listed(s, tx, "TEAM", q.Page, teamOf, filter, p)
}

// NewTeam returns the writes of a team, of its owner's membership and of its owner's player, and the team's id.
func (s *Service) NewTeam(tx *store.Tx, user, once string, in Input) (id string, writes []store.WriteItem, err error) {
	w := s.on(tx)
	p := w.read(teamFields(), in, "name", "teamType")
	u := w.user(user)
	kind := p.Set["teamType"]
	delete(p.Set, "teamType")
	id = newID(user, "team", once)
	team := stampRow(tx, teamKey(id), p)
	team["teamId"], team["ownerId"], team["team_type"], team["status"] = attr.S(id), attr.S(user), kind, attr.S(active)
	indexed(team, indexEntity, "ENTITY#TEAM", skMetadata+"#"+id)

	player := newID(user, "owner", once)
	row := stampRow(tx, playerKey(id, player), patch.Patch{})
	row["playerId"], row["teamId"], row["firstName"], row["status"] = attr.S(player), attr.S(id), attr.S("Player"), attr.S(active)
	if playerName.MatchString(u.FirstName) {
		row["firstName"] = attr.S(u.FirstName)
	}
	link(row, user, player, stampOf(tx))
	return id, []store.WriteItem{s.create(team), s.create(s.membership(tx, user, id, Owner, attr.Null())), s.create(row)}, w.end()
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
func (w *work) managed(user, team string, do action) {
	t := w.allow(team, user, do)
	w.refuse(t.Type == Personal, forbidden("Cannot %s on personal stats team", strings.ReplaceAll(string(do), "_", " ")))
}

// ChangeTeam changes a team's name and description.
func (s *Service) ChangeTeam(tx *store.Tx, user, team string, in Input) (Team, error) {
	w := s.on(tx)
	p := w.change(teamFields(), in, "teamType")
	w.managed(user, team, manageTeam)
	w.save(teamKey(team), p)
	return w.allow(team, user, manageTeam), w.end()
}

// DeleteTeam hides a team, and returns the token by which its owner has it back for 30 days.
func (s *Service) DeleteTeam(tx *store.Tx, user, team string) (token string, err error) {
	w := s.on(tx)
	w.managed(user, team, deleteTeam)
	token = uuid.NewString()
	p := patch.Patch{Set: attr.Item{"status": attr.S(deleted), "deletedAt": stampOf(tx), "recoveryToken": attr.S(token)}}
	still := exists + " AND (attribute_not_exists(#status) OR #status = :active)"
	w.commit(w.update(teamKey(team), p, still, with(attr.Item{":active": attr.S(active)}, "status")), s.asRole(user, team, Owner))
	return token, w.end()
}

// RecoverTeam gives an owner a team back.
func (s *Service) RecoverTeam(tx *store.Tx, user, team string, in Input) (Team, error) {
	w := s.on(tx)
	token := w.read(map[string]patch.Field{"recoveryToken": {Read: patch.Text(patch.UpTo(64))}}, in, "recoveryToken").Set["recoveryToken"]
	t := w.anyTeam(team)
	at, _ := time.Parse(patch.Stamp, t.deletedAt)
	w.refuse(t.OwnerID != user, forbidden("Insufficient permissions. Required: owner"))
	w.refuse(t.Status != deleted || token.Str() == "" || token.Str() != t.recovery || tx.Now().Sub(at) > recoverFor, notFound("Team"))
	p := patch.Patch{Set: attr.Item{"status": attr.S(active)}, Remove: []string{"deletedAt", "recoveryToken"}}
	if w.err == nil {
		_, w.err = tx.Update(*w.update(teamKey(team), p, "recoveryToken = :token", with(attr.Item{":token": token})).Update)
	}
	return w.allow(team, user, ownTeam), w.end()
}

// ChangeMember changes a member's role or status; the owner stays what they are.
func (s *Service) ChangeMember(tx *store.Tx, by, team, user string, in Input) (Membership, error) {
	w := s.on(tx)
	p := w.change(memberFields(), in)
	t := w.allow(team, by, ownTeam)
	w.refuse(user == t.OwnerID, Invalid("The owner's membership cannot be changed"))
	w.known(memberKey(user, team), "Member")
	w.commit(w.update(memberKey(user, team), p, exists, expr.Params{}), s.asRole(by, team, Owner))
	return membershipOf(w.get(memberKey(user, team))), w.end()
}
