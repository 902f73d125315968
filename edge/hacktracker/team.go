package hacktracker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
	"github.com/touchline/touchline/store/table"
)

// keptFor is how long a deleted team can be recovered, and how long the marker of a deleted game is kept: until then, nodes that were
// cut off may still bring rows of it.
const keptFor = 30 * 24 * time.Hour

func (b *Book) team(team string) Team {
	t := teamOf(b.requireRow(teamKey(team), "Team"))
	b.Refuse(t.Status == deleted, notFound("Team"))
	return t
}

// Team returns a team, for one of its members.
func (b *Book) Team(team string) Team { return b.allow(team, anyMember) }

// TeamsOf lists by name the teams of which a user is an active member, each with the user's role.
func (b *Book) TeamsOf(user string) []Team {
	out := []Team{}
	for _, m := range b.memberships(user) {
		it := b.peek(teamKey(m.TeamID))
		if t := teamOf(it); it != nil && t.Status != deleted && m.isActive() {
			t.Role, t.Offered = m.Role, user == b.user && !m.isAccepted()
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(x, y Team) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// TeamQuery filters a list of teams.
type TeamQuery struct {
	Owner, Type string // empty: all; without either no PERSONAL team
	Page
}

// Teams lists teams, a page of them.
func (b *Book) Teams(q TeamQuery) ([]Team, attr.Item) {
	all, next := listKind(b, "TEAM", q.Page, teamOf)
	return slices.DeleteFunc(all, func(t Team) bool {
		other := q.Type != "" && t.Type != q.Type || q.Owner != "" && t.OwnerID != q.Owner
		return other || t.Status == deleted || q.Type == "" && q.Owner == "" && t.Type == Personal
	}), next
}

// NewTeam returns the id of a new team, and the writes that create it with its owner's membership and player.
func (b *Book) NewTeam(once string, in Input) (id string, writes []store.WriteItem) {
	p := b.read(teamFields(), in, "name", "teamType")
	u := b.User(b.user)
	kind := p.Set["teamType"]
	delete(p.Set, "teamType")
	id = b.newID("team", once)
	owned := slices.DeleteFunc(b.TeamsOf(b.user), func(t Team) bool { return t.OwnerID != b.user })
	b.tooMany(len(owned), MaxTeams, "teams of yours")
	team := b.Stamp(teamKey(id), p.Set)
	team["teamId"], team["ownerId"], team["team_type"], team["status"] = attr.S(id), attr.S(b.user), kind, attr.S(active)
	addIndexKey(team, indexEntity, "ENTITY#TEAM", skMetadata+"#"+id)
	b.Refuse(b.Get(teamKey(id)) != nil, fault.New(fault.Conflict, "conflict", "Team creation conflict"))

	player := b.newID("owner", once)
	row := b.Stamp(playerKey(id, player), attr.Item{"firstName": attr.S(nameless)})
	row["playerId"], row["teamId"], row["status"] = attr.S(player), attr.S(id), attr.S(active)
	if name, wrong := oneWord(u.FirstName); wrong == "" {
		row["firstName"] = attr.S(name)
	}
	link(row, b.user, player, b.now())
	return id, []store.WriteItem{b.Create(team), b.Create(b.membership(b.user, id, Owner, attr.Null())), b.Create(row)}
}

func (b *Book) membership(user, team string, role Role, by attr.Value) attr.Item {
	return b.Stamp(memberKey(user, team), attr.Item{
		"userId": attr.S(user), "teamId": attr.S(team), "role": attr.S(string(role)), "status": attr.S(active), "joinedAt": b.now(), "invitedBy": by,
	})
}

// link links a player's row to a user.
func link(row attr.Item, user, player string, now attr.Value) {
	row["isGhost"], row["userId"], row["linkedAt"] = attr.Bool(false), attr.S(user), now
	addIndexKey(row, indexPlayers, prefixUser+user, prefixPlayer+player)
}

// ChangeTeam changes a team's name and description.
func (b *Book) ChangeTeam(team string, in Input) Team {
	p := b.change(teamFields(), in, "teamType")
	b.Refuse(b.allow(team, manageRoster).Type == Personal, forbidden("Cannot manage team on personal stats team"))
	b.Commit(b.update(teamKey(team), p, exists, nil))
	return b.Team(team)
}

// DeleteTeam hides a team, and returns the token with which its owner can recover it within 30 days.
func (b *Book) DeleteTeam(team string) (token string) {
	b.Refuse(b.allow(team, ownTeam).Type == Personal, forbidden("Cannot delete team on personal stats team"))
	token = uuid.NewString()
	p := patch.Patch{Set: attr.Item{"status": attr.S(deleted), "deletedAt": b.now(), "recoveryToken": attr.S(token)}}
	still := exists + " AND (attribute_not_exists(#status) OR #status = :active)"
	b.Commit(b.update(teamKey(team), p, still, attr.Item{":active": attr.S(active)}), b.asRole(team, Owner))
	return token
}

// RecoverTeam restores a deleted team for its owner.
func (b *Book) RecoverTeam(team string, in Input) Team {
	token := b.read(map[string]patch.Field{"recoveryToken": {Read: patch.Text(patch.UpTo(64))}}, in, "recoveryToken").Set["recoveryToken"]
	it := b.requireRow(teamKey(team), "Team")
	t := teamOf(it)
	b.Refuse(t.OwnerID != b.user, forbidden("Insufficient permissions. Required: owner"))
	b.Refuse(t.Status != deleted || token.Str() == "" || !token.Equal(it["recoveryToken"]) || it["deletedAt"].Str() < b.StampAfter(-keptFor), notFound("Team"))
	p := patch.Patch{Set: attr.Item{"status": attr.S(active)}, Remove: []string{"deletedAt", "recoveryToken"}}
	b.Commit(b.update(teamKey(team), p, "recoveryToken = :token", attr.Item{":token": token}))
	return b.Team(team)
}

// ChangeMember changes a member's role or status; the owner stays what they are.
func (b *Book) ChangeMember(team, user string, in Input) Membership {
	p := b.change(memberFields(), in)
	t := b.allow(team, ownTeam)
	b.Refuse(user == t.OwnerID, Invalid("The owner's membership cannot be changed"))
	was := membershipOf(b.requireRow(memberKey(user, team), "Member"))
	if status, ok := p.Set["status"]; ok {
		b.setStatus(&p, &was, status.Str())
	}
	b.Commit(b.update(memberKey(user, team), p, exists, nil), b.asRole(team, Owner))
	return membershipOf(b.Get(memberKey(user, team)))
}

// setStatus adds a membership's status to a change. The user has accepted the membership as it was: one that ended, or is made active again
// by somebody else, is to be accepted anew.
func (b *Book) setStatus(p *patch.Patch, was *Membership, status string) {
	p.Set["status"] = attr.S(status)
	if was.Status == status {
		return
	}
	if p.Remove = append(p.Remove, "acceptedAt"); status == active {
		p.Set["invitedBy"] = attr.S(b.user)
	}
}

// AcceptTeam accepts the membership that somebody else made for the user, which shows the user's contact data to the team's members.
func (b *Book) AcceptTeam(team string) Membership {
	b.allow(team, anyMember)
	k := memberKey(b.user, team)
	if m := membershipOf(b.Get(k)); !m.isAccepted() {
		b.Commit(b.update(k, patch.Patch{Set: attr.Item{"acceptedAt": b.now()}}, exists, nil))
	}
	return membershipOf(b.Get(k))
}

// LeaveTeam ends the user's membership. Their player becomes a ghost.
func (b *Book) LeaveTeam(team string) {
	t := b.allow(team, anyMember)
	b.Refuse(b.user == t.OwnerID, Invalid("The owner cannot leave the team"))
	writes := []store.WriteItem{b.endMembership(b.user, team)}
	for _, p := range b.roster(team) {
		if p.UserID != nil && *p.UserID == b.user {
			writes = append(writes, b.unlinkPlayer(team, p.ID))
		}
	}
	b.Commit(writes...)
}

// endMembership returns the write that ends a membership.
func (b *Book) endMembership(user, team string) store.WriteItem {
	p, was := patch.Patch{Set: attr.Item{}}, membershipOf(b.Get(memberKey(user, team)))
	b.setStatus(&p, &was, inactive)
	return b.update(memberKey(user, team), p, exists, nil)
}

// Enrol creates the user's profile at their first request. It leaves an existing one as it is.
func (b *Book) Enrol(email, name string) {
	email = strings.ToLower(email)
	first, last, _ := strings.Cut(strings.TrimSpace(name), " ")
	before, _, _ := strings.Cut(email, "@")
	row := userKey(b.user)
	row["userId"], row["email"] = attr.S(b.user), attr.S(email)
	row["firstName"], row["lastName"] = attr.S(cmp.Or(first, before, nameless)), attr.S(cmp.Or(last, "User"))
	addIndexKey(row, indexSub, "COGNITO#"+b.user, "USER")
	addIndexKey(row, indexEntity, "ENTITY#USER", skMetadata+"#"+b.user)
	if b.Get(userKey(b.user)) == nil {
		b.Commit(b.Create(b.Stamp(row, nil)))
	}
}

// User returns a user's profile.
func (b *Book) User(user string) User { return userOf(b.requireRow(userKey(user), "User")) }

// VisibleUser returns what the caller may see of a user: everything of oneself and of members of a common team, of others the first
// name. Contact data is for those who play together, by teams of which the user has made or accepted the membership: else anybody could
// make a team, link a user, and read their contact data.
func (b *Book) VisibleUser(user string) any {
	u := b.User(user)
	if user == b.user || b.sharesTeamWith(user) {
		return u
	}
	return u.stranger()
}

// FirstName returns a user's first name; empty: it is not known here.
func (b *Book) FirstName(user string) string { return userOf(b.peek(userKey(user))).FirstName }

// sharesTeamWith reports whether the caller is an active member of a team in which another user is one too, and has accepted that.
func (b *Book) sharesTeamWith(user string) bool {
	return slices.ContainsFunc(b.TeamsOf(b.user), func(t Team) bool { return b.showsTo(user, t.ID) })
}

// showsTo reports whether a user's whole name and contact data are shown to the members of a team.
func (b *Book) showsTo(user, team string) bool {
	m := membershipOf(b.peek(memberKey(user, team)))
	return m.isActive() && m.isAccepted()
}

// UserBySub finds a user by their Cognito subject.
func (b *Book) UserBySub(sub string) (u User) {
	for _, found := range collect(b, indexSub, "COGNITO#"+sub, "USER", userOf) {
		u = found
	}
	b.Refuse(u.ID == "", notFound("User"))
	return u
}

// Users lists users.
func (b *Book) Users(p Page) ([]User, attr.Item) { return listKind(b, "USER", p, userOf) }

// ChangeUser changes the user's names and phone number.
func (b *Book) ChangeUser(in Input) User {
	p := b.change(userFields(), in)
	b.Commit(b.update(userKey(b.user), p, exists, nil))
	return b.User(b.user)
}

// DeleteUser removes the user's profile, unless a managed team would be left without its owner.
func (b *Book) DeleteUser() {
	unreadable := b.Tx.Unreadable()
	teams := b.TeamsOf(b.user)
	b.complete(unreadable, "team or membership")
	for _, t := range teams {
		b.Refuse(t.Role == Owner && t.Type == Managed, fault.New(fault.Conflict, "owns_team", "User still owns the team %s", t.Name))
	}
	b.Commit(b.Delete(userKey(b.user), table.IfTrue(exists, nil)))
}

// Context reports which kinds of team a user is in.
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

// Players lists the roster rows linked to the user, including those of deleted teams: from the index, and from the rosters of the
// user's teams, since other programs write rows without the index keys.
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

// memberships returns a user's memberships of any status.
func (b *Book) memberships(user string) []Membership {
	return collect(b, "", prefixUser+user, prefixTeam, membershipOf)
}

// WatchedPartitions returns the partitions that a node polls often: games in progress and their teams.
func (s *Service) WatchedPartitions(tx *store.Tx, _ []string) (out []attr.Value, err error) {
	b := s.Open(tx, "")
	for _, g := range collect(b, indexEntity, "ENTITY#GAME", skMetadata, gameOf) {
		if g.Status == InProgress {
			out = append(out, attr.S(prefixGame+g.ID), attr.S(prefixTeam+g.TeamID))
		}
	}
	return out, b.Err()
}
