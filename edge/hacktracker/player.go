package hacktracker

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/patch"
)

// roster is a team's players: by number, those without one last, then by last and first name.
func (w *work) roster(team string) []Player {
	out := collect(w, "", prefixTeam+team, prefixPlayer, playerOf)
	slices.SortStableFunc(out, func(a, b Player) int {
		return cmp.Or(cmp.Compare(jersey(a.Number), jersey(b.Number)), strings.Compare(a.LastName, b.LastName), strings.Compare(a.FirstName, b.FirstName))
	})
	return out
}

func jersey(n *int) int {
	if n == nil {
		return 1 << 20
	}
	return *n
}

// RosterQuery is which players a list has; nil and empty: all.
type RosterQuery struct {
	Status string
	Ghost  *bool
	Roles  bool // with the roles of their users
}

// Roster lists a team's players to one of its members.
func (s *Service) Roster(tx *store.Tx, user, team string, q RosterQuery) ([]Player, error) {
	w := s.on(tx)
	w.allow(team, user, anyMember)
	all := slices.DeleteFunc(w.roster(team), func(p Player) bool {
		return q.Status != "" && p.Status != q.Status || q.Ghost != nil && p.Ghost != *q.Ghost
	})
	for i := 0; q.Roles && i < len(all); i++ {
		if all[i].Role = Member; all[i].UserID != nil {
			all[i].Role = cmp.Or(membershipOf(w.get(memberKey(*all[i].UserID, team))).Role, Member)
		}
	}
	return all, w.end()
}

// Player returns a row of a roster to a member of the team.
func (s *Service) Player(tx *store.Tx, user, team, player string) (Player, error) {
	w := s.on(tx)
	w.allow(team, user, anyMember)
	return w.player(team, player), w.end()
}

func (w *work) player(team, player string) Player {
	return playerOf(w.known(playerKey(team, player), "Player"))
}

// NewPlayer returns the writes of a player without a user, and the player's id.
func (s *Service) NewPlayer(tx *store.Tx, user, team, once string, in Input) (id string, writes []store.WriteItem, err error) {
	w := s.on(tx)
	t := w.allow(team, user, manageRoster)
	w.refuse(t.Type == Personal, Invalid("Cannot add players to personal teams. A personal team has one player, its owner."))
	p := w.read(playerFields(), in, "firstName")
	id = newID(user, "player", once)
	row := playerKey(team, id)
	row["status"] = attr.S(active)
	stampRow(tx, row, p)
	row["playerId"], row["teamId"], row["isGhost"], row["userId"], row["linkedAt"] = attr.S(id), attr.S(team), attr.Bool(true), attr.Null(), attr.Null()
	writes = []store.WriteItem{s.create(row), s.there(team)}
	if v, ok := p.Set["playerNumber"]; ok {
		writes = append(writes, w.claim(team, id, v)...)
	}
	return id, writes, w.end()
}

// claim returns the writes by which a player has a number alone. The roster says who has it.
func (w *work) claim(team, player string, n attr.Value) []store.WriteItem {
	for _, p := range w.roster(team) {
		w.refuse(p.ID != player && p.Number != nil && strconv.Itoa(*p.Number) == n.Text(), fault.New(fault.Conflict, "number_taken", "Player number %s is already taken", n.Text()))
	}
	return w.take(jerseyKey(team, n.Text()), "playerId", player, func(owner string) store.WriteItem {
		return w.check(playerKey(team, owner), "attribute_not_exists(playerNumber) OR playerNumber <> :n", with(attr.Item{":n": n}))
	})
}

// take returns the writes by which somebody has a marker. One that is another's, which the rows do not bear out, was left by somebody who
// knows no markers: it is taken over, with the check lost that this is still so.
func (w *work) take(k attr.Item, name, by string, lost func(owner string) store.WriteItem) []store.WriteItem {
	was := w.get(k)
	row := stampRow(w.tx, key(k["PK"].Str(), k["SK"].Str()), patch.Patch{Set: attr.Item{name: attr.S(by)}})
	put := w.create(row)
	if was == nil {
		return []store.WriteItem{put}
	}
	put.Put.Condition, put.Put.Values = name+" = :owner", attr.Item{":owner": was[name]}
	if was[name].Str() == by {
		return []store.WriteItem{put}
	}
	return []store.WriteItem{put, lost(was[name].Str())}
}

// release returns the write that lets go of a player's number, where the marker is theirs.
func (w *work) release(p *Player) []store.WriteItem {
	if p.Number == nil {
		return nil
	}
	return w.letGo(jerseyKey(p.TeamID, strconv.Itoa(*p.Number)), "playerId", p.ID)
}

// letGo deletes a marker whose owner somebody is.
func (w *work) letGo(k attr.Item, name, owner string) []store.WriteItem {
	if w.get(k)[name].Str() != owner {
		return nil
	}
	return []store.WriteItem{{Delete: &store.DeleteItem{Table: w.Table, Key: k, Condition: name + " = :owner", Params: with(attr.Item{":owner": attr.S(owner)})}}}
}

// ChangePlayer changes a row of a roster: managers do, and whoever it is linked to, all but the status.
func (s *Service) ChangePlayer(tx *store.Tx, user, team, player string, in Input) (Player, error) {
	w := s.on(tx)
	p := w.change(playerFields(), in)
	w.allow(team, user, anyMember)
	was := w.player(team, player)
	if _, status := p.Set["status"]; was.UserID == nil || *was.UserID != user || status {
		w.allow(team, user, manageRoster)
	}
	writes := w.renumber(&was, &p)
	w.commit(append(writes, w.update(playerKey(team, player), p, exists, expr.Params{}))...)
	return w.player(team, player), w.end()
}

// renumber returns the writes of markers that a change of a player needs.
func (w *work) renumber(was *Player, p *patch.Patch) (writes []store.WriteItem) {
	n, set := p.Set["playerNumber"]
	if !set && !slices.Contains(p.Remove, "playerNumber") {
		return nil
	}
	p.Remove = append(p.Remove, "numberRefused")
	if set {
		writes = w.claim(was.TeamID, was.ID, n)
	}
	if set && was.Number != nil && strconv.Itoa(*was.Number) == n.Text() {
		return writes
	}
	return append(writes, w.release(was)...)
}

// DeletePlayer removes a ghost from a roster.
func (s *Service) DeletePlayer(tx *store.Tx, user, team, player string) error {
	w := s.on(tx)
	w.allow(team, user, manageRoster)
	was := w.player(team, player)
	w.refuse(!was.Ghost, Invalid("Cannot delete linked player. Use unlink operation instead."))
	w.commit(append(w.release(&was), store.WriteItem{Delete: &store.DeleteItem{
		Table: s.Table, Key: playerKey(team, player), Condition: exists + " AND isGhost = :true", Params: with(attr.Item{":true": attr.Bool(true)}),
	}})...)
	return w.end()
}

// linkable returns a row of a managed team's roster to who may link it.
func (w *work) linkable(by, team, player string) (Team, Player) {
	t := w.allow(team, by, manageRoster)
	w.refuse(t.Type == Personal, Invalid("Cannot link players of personal teams"))
	return t, w.player(team, player)
}

// LinkPlayer makes a ghost the player of a user, who becomes a member. Who was one before has the role of then, unless an owner gives
// another.
func (s *Service) LinkPlayer(tx *store.Tx, by, team, player string, in Input) (Player, error) {
	w := s.on(tx)
	asked := w.read(map[string]patch.Field{"userId": {Read: patch.Text(id)}, "role": memberFields()["role"]}, in, "userId").Set
	user := asked["userId"].Str()
	t, p := w.linkable(by, team, player)
	w.user(user)
	linked := slices.ContainsFunc(w.roster(team), func(o Player) bool { return o.UserID != nil && *o.UserID == user })
	w.refuse(!p.Ghost || linked, Invalid("Player or user is already linked"))
	c := patch.Patch{Set: attr.Item{}}
	link(c.Set, user, player, stampOf(tx))
	writes := []store.WriteItem{w.ghost(team, player, c, true)}
	it := w.get(memberKey(user, team))
	switch {
	case it == nil:
		writes = append(writes, s.create(s.membership(tx, user, team, cmp.Or(Role(asked["role"].Str()), Member), attr.S(by))))
	case user != t.OwnerID:
		m := patch.Patch{Set: attr.Item{"status": attr.S(active)}}
		if r := asked["role"]; !r.IsZero() && !r.Equal(it["role"]) {
			w.refuse(t.Role != Owner, forbidden("Insufficient permissions. Required: owner"))
			m.Set["role"] = r
		}
		writes = append(writes, w.update(memberKey(user, team), m, exists, expr.Params{}))
	}
	return w.linked(by, user, &t, player, writes)
}

// ghost is the change of a player who is one, or is none.
func (w *work) ghost(team, player string, c patch.Patch, is bool) store.WriteItem {
	return w.update(playerKey(team, player), c, exists+" AND isGhost = :ghost", with(attr.Item{":ghost": attr.Bool(is)}))
}

// linked makes the writes that join or part a player and a user, with the check that who does it for another still may.
func (w *work) linked(by, user string, t *Team, player string, writes []store.WriteItem) (Player, error) {
	if by != user {
		writes = append(writes, w.asRole(by, t.ID, t.Role))
	}
	w.commit(writes...)
	return w.player(t.ID, player), w.end()
}

// UnlinkPlayer makes a player a ghost again, and ends the membership of the user.
func (s *Service) UnlinkPlayer(tx *store.Tx, by, team, player string) (Player, error) {
	w := s.on(tx)
	t, p := w.linkable(by, team, player)
	if p.Ghost || *p.UserID == t.OwnerID {
		w.fail(Invalid("Player is not linked, or is the owner's"))
		return p, w.end()
	}
	c := patch.Patch{
		Set:    attr.Item{"isGhost": attr.Bool(true), "userId": attr.Null(), "linkedAt": attr.Null()},
		Remove: []string{indexPlayers + "PK", indexPlayers + "SK"},
	}
	m := patch.Patch{Set: attr.Item{"status": attr.S(inactive)}}
	return w.linked(by, *p.UserID, &t, player, []store.WriteItem{w.ghost(team, player, c, false), w.update(memberKey(*p.UserID, team), m, exists, expr.Params{})})
}
