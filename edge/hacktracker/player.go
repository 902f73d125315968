package hacktracker

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
	"github.com/touchline/touchline/store/table"
)

// roster returns a team's players by number, those without one last, then by last and first name.
func (b *Book) roster(team string) []Player {
	out := collect(b, "", prefixTeam+team, prefixPlayer, playerOf)
	slices.SortStableFunc(out, func(x, y Player) int {
		return cmp.Or(cmp.Compare(or(x.Number, math.MaxInt), or(y.Number, math.MaxInt)), strings.Compare(x.LastName, y.LastName), strings.Compare(x.FirstName, y.FirstName))
	})
	return out
}

// RosterQuery filters a list of players; empty fields match all.
type RosterQuery struct {
	Status, Ghost string // Ghost: "true" or "false"
	Roles         bool   // include the roles and names of their users
}

// Roster lists a team's players to one of its members.
func (b *Book) Roster(team string, q RosterQuery) []Player {
	b.allow(team, anyMember)
	all := slices.DeleteFunc(b.roster(team), func(p Player) bool {
		return q.Status != "" && p.Status != q.Status || q.Ghost != "" && strconv.FormatBool(p.Ghost) != q.Ghost
	})
	for i := 0; q.Roles && i < len(all); i++ {
		if all[i].Role = Member; all[i].UserID != nil {
			all[i].Role = cmp.Or(membershipOf(b.peek(memberKey(*all[i].UserID, team))).Role, Member)
			u := userOf(b.peek(userKey(*all[i].UserID)))
			name := u.FirstName + " " + u.LastName
			if *all[i].UserID != b.user && !b.showsTo(*all[i].UserID, team) {
				name = u.stranger().FirstName
			}
			all[i].Account = cmp.Or(strings.TrimSpace(name), *all[i].UserID)
		}
	}
	return all
}

// Player returns a row of a roster to a member of the team.
func (b *Book) Player(team, player string) Player {
	b.allow(team, anyMember)
	return b.player(team, player)
}

func (b *Book) player(team, player string) Player {
	return playerOf(b.requireRow(playerKey(team, player), "Player"))
}

// NewPlayer returns the id of a new player without a user, and the writes that create them.
func (b *Book) NewPlayer(team, once string, in Input) (id string, writes []store.WriteItem) {
	t := b.allow(team, manageRoster)
	b.Refuse(t.Type == Personal, Invalid("Cannot add players to personal teams. A personal team has one player, its owner."))
	p := b.read(playerFields(), in, "firstName")
	id = b.newID("player", once)
	b.tooMany(b.Count(b.QueryUnder(prefixTeam+team, prefixPlayer), MaxPlayers), MaxPlayers, "players on the team")
	row := playerKey(team, id)
	row["status"] = attr.S(active)
	b.Stamp(row, p.Set)
	row["playerId"], row["teamId"], row["isGhost"], row["userId"], row["linkedAt"] = attr.S(id), attr.S(team), attr.Bool(true), attr.Null(), attr.Null()
	writes = []store.WriteItem{b.Create(row), b.checkTeamExists(team)}
	if v, ok := p.Set["playerNumber"]; ok {
		writes = append(writes, b.claim(team, id, v)...)
	}
	return id, writes
}

// claim returns the writes that reserve a number for one player. The roster decides who has it.
func (b *Book) claim(team, player string, n attr.Value) []store.WriteItem {
	for _, p := range b.roster(team) {
		b.Refuse(p.ID != player && Shirt(p.Number) == n.Text(), fault.New(fault.Conflict, "number_taken", "Player number %s is already taken", n.Text()))
	}
	return b.claimMarker(jerseyKey(team, n.Text()), "playerId", player, func(owner string) store.WriteItem {
		return b.Check(playerKey(team, owner), table.IfTrue("attribute_not_exists(playerNumber) OR playerNumber <> :n", attr.Item{":n": n}))
	})
}

// claimMarker returns the writes that give a marker to by. If another owner has it, which the rows do not confirm, a program that does not
// maintain markers left it there: take then takes it over, with the check from lost that this still holds.
func (b *Book) claimMarker(k attr.Item, name, by string, lost func(owner string) store.WriteItem) []store.WriteItem {
	was := b.Get(k)
	writes := []store.WriteItem{b.Replace(b.Stamp(maps.Clone(k), attr.Item{name: attr.S(by)}), was, name)}
	if owner := was[name].Str(); was != nil && owner != by {
		writes = append(writes, lost(owner))
	}
	return writes
}

// letGo returns the write that deletes a marker, if owner has it.
func (b *Book) letGo(k attr.Item, name, owner string) []store.WriteItem {
	was := b.Get(k)
	if was[name].Str() != owner {
		return nil
	}
	return []store.WriteItem{b.Remove(was, name)}
}

// ChangePlayer changes a player. Managers may change everything, the linked user everything but the status.
func (b *Book) ChangePlayer(team, player string, in Input) Player {
	p := b.change(playerFields(), in)
	b.allow(team, anyMember)
	was := b.player(team, player)
	if _, status := p.Set["status"]; was.UserID == nil || *was.UserID != b.user || status {
		b.allow(team, manageRoster)
	}
	writes := b.renumber(&was, &p)
	b.Commit(append(writes, b.update(playerKey(team, player), p, exists, nil))...)
	return b.player(team, player)
}

// renumber returns the marker writes that a change of a player's number needs.
func (b *Book) renumber(was *Player, p *patch.Patch) (writes []store.WriteItem) {
	n, set := p.Set["playerNumber"]
	if !set && !slices.Contains(p.Remove, "playerNumber") {
		return nil
	}
	p.Remove = append(p.Remove, "numberRefused")
	if set {
		writes = b.claim(was.TeamID, was.ID, n)
	}
	if Shirt(was.Number) != n.Text() {
		writes = append(writes, b.letGo(jerseyKey(was.TeamID, Shirt(was.Number)), "playerId", was.ID)...)
	}
	return writes
}

// DeletePlayer removes a ghost from a roster.
func (b *Book) DeletePlayer(team, player string) {
	b.allow(team, manageRoster)
	was := b.player(team, player)
	b.Refuse(!was.Ghost, Invalid("Cannot delete linked player. Use unlink operation instead."))
	writes := b.letGo(jerseyKey(team, Shirt(was.Number)), "playerId", player)
	b.Commit(append(writes, b.Delete(playerKey(team, player), table.IfTrue(isGhost, attr.Item{":ghost": attr.Bool(true)})))...)
}

// LinkPlayer links a ghost to a user, who becomes a member of the team and is shown to it by their first name until they accept (AcceptTeam).
// A former member gets their old role back, unless an owner gives them another.
func (b *Book) LinkPlayer(team, player string, in Input) Player {
	asked := b.read(map[string]patch.Field{"userId": {Read: patch.Text(id)}, "role": memberFields()["role"]}, in, "userId").Set
	user := asked["userId"].Str()
	t := b.allow(team, manageRoster)
	b.Refuse(t.Type == Personal, Invalid("Cannot link players of personal teams"))
	p := b.player(team, player)
	b.User(user)
	linked := slices.ContainsFunc(b.roster(team), func(o Player) bool { return o.UserID != nil && *o.UserID == user })
	b.Refuse(!p.Ghost || linked, Invalid("Player or user is already linked"))
	c := patch.Patch{Set: attr.Item{}}
	link(c.Set, user, player, b.now())
	writes := []store.WriteItem{b.update(playerKey(team, player), c, isGhost, attr.Item{":ghost": attr.Bool(true)})}
	it := b.Get(memberKey(user, team))
	switch {
	case it == nil:
		writes = append(writes, b.Create(b.membership(user, team, cmp.Or(Role(asked["role"].Str()), Member), attr.S(b.user))))
	case user != t.OwnerID:
		m, was := patch.Patch{Set: attr.Item{}}, membershipOf(it)
		b.setStatus(&m, &was, active)
		if user == b.user && !was.isAccepted() {
			m.Set["acceptedAt"] = b.now()
		}
		if r := asked["role"]; !r.IsZero() && !r.Equal(it["role"]) {
			b.Refuse(t.Role != Owner, forbidden("Insufficient permissions. Required: owner"))
			m.Set["role"] = r
		}
		writes = append(writes, b.update(memberKey(user, team), m, exists, nil))
	}
	return b.commitLink(user, &t, player, writes)
}

// commitLink commits the writes that link or unlink a player and a user. For another user it checks that the caller still may do so.
func (b *Book) commitLink(user string, t *Team, player string, writes []store.WriteItem) Player {
	if b.user != user {
		writes = append(writes, b.asRole(t.ID, t.Role))
	}
	b.Commit(writes...)
	return b.player(t.ID, player)
}

// UnlinkPlayer makes a player a ghost again and ends the user's membership.
func (b *Book) UnlinkPlayer(team, player string) Player {
	t := b.allow(team, manageRoster)
	b.Refuse(t.Type == Personal, Invalid("Cannot link players of personal teams"))
	p := b.player(team, player)
	b.Refuse(p.Ghost, Invalid("Player is not linked"))
	if b.Err() != nil {
		return p
	}
	b.Refuse(*p.UserID == t.OwnerID, Invalid("Cannot unlink the owner's player"))
	return b.commitLink(*p.UserID, &t, player, []store.WriteItem{b.unlinkPlayer(team, player), b.endMembership(*p.UserID, team)})
}

// unlinkPlayer returns the write that makes a player a ghost again.
func (b *Book) unlinkPlayer(team, player string) store.WriteItem {
	c := patch.Patch{
		Set:    attr.Item{"isGhost": attr.Bool(true), "userId": attr.Null(), "linkedAt": attr.Null()},
		Remove: []string{indexPlayers + "PK", indexPlayers + "SK"},
	}
	return b.update(playerKey(team, player), c, isGhost, attr.Item{":ghost": attr.Bool(false)})
}
