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
func (s *Service) roster(tx *store.Tx, team string) (out []Player, err error) {
	out, err = collect(s, tx, "", prefixTeam+team, prefixPlayer, playerOf)
	slices.SortStableFunc(out, func(a, b Player) int {
		return cmp.Or(cmp.Compare(jersey(a.Number), jersey(b.Number)), strings.Compare(a.LastName, b.LastName), strings.Compare(a.FirstName, b.FirstName))
	})
	return out, err
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
	if _, err := s.allow(tx, team, user, anyMember); err != nil {
		return nil, err
	}
	all, err := s.roster(tx, team)
	all = slices.DeleteFunc(all, func(p Player) bool {
		return q.Status != "" && p.Status != q.Status || q.Ghost != nil && p.Ghost != *q.Ghost
	})
	for i := 0; q.Roles && err == nil && i < len(all); i++ {
		all[i].Role = Member
		if all[i].UserID != nil {
			var it attr.Item
			it, err = tx.Get(s.Table, memberKey(*all[i].UserID, team))
			all[i].Role = cmp.Or(membershipOf(it).Role, Member)
		}
	}
	return all, err
}

// Player returns a row of a roster to a member of the team.
func (s *Service) Player(tx *store.Tx, user, team, player string) (Player, error) {
	if _, err := s.allow(tx, team, user, anyMember); err != nil {
		return Player{}, err
	}
	return s.player(tx, team, player)
}

func (s *Service) player(tx *store.Tx, team, player string) (Player, error) {
	it, err := tx.Get(s.Table, playerKey(team, player))
	if err == nil && it == nil {
		err = notFound("Player")
	}
	return playerOf(it), err
}

// NewPlayer returns the writes of a player without a user, and the player's id.
func (s *Service) NewPlayer(tx *store.Tx, user, team, once string, in Input) (id string, writes []store.WriteItem, err error) {
	t, err := s.allow(tx, team, user, manageRoster)
	if err != nil {
		return "", nil, err
	}
	if t.Type == Personal {
		return "", nil, Invalid("Cannot add players to personal teams. A personal team has one player, its owner.")
	}
	p, err := patch.Read(playerFields(), in, "firstName")
	if err != nil {
		return "", nil, err
	}
	id = newID(user, "player", once)
	row := playerKey(team, id)
	row["status"] = attr.S(active)
	stampRow(tx, row, p)
	row["playerId"], row["teamId"], row["isGhost"], row["userId"], row["linkedAt"] = attr.S(id), attr.S(team), attr.Bool(true), attr.Null(), attr.Null()
	writes = []store.WriteItem{s.create(row), s.there(team)}
	if v, ok := p.Set["playerNumber"]; ok {
		claim, err := s.claim(tx, team, id, v)
		return id, append(writes, claim...), err
	}
	return id, writes, nil
}

// claim returns the writes by which a player has a number alone. The roster says who has it; a marker that it does not bear out was
// left by somebody who knows no markers, and is taken over with a check that this is still so.
func (s *Service) claim(tx *store.Tx, team, player string, n attr.Value) ([]store.WriteItem, error) {
	number := n.Text()
	all, err := s.roster(tx, team)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if p := &all[i]; p.ID != player && p.Number != nil && strconv.Itoa(*p.Number) == number {
			return nil, fault.New(fault.Conflict, "number_taken", "Player number %s is already taken", number)
		}
	}
	row := jerseyKey(team, number)
	was, err := tx.Get(s.Table, row)
	if err != nil {
		return nil, err
	}
	row["playerId"] = attr.S(player)
	put := s.create(stampRow(tx, row, patch.Patch{}))
	if was == nil {
		return []store.WriteItem{put}, nil
	}
	owner := was["playerId"].Str()
	put.Put.Condition, put.Put.Values = "playerId = :owner", attr.Item{":owner": attr.S(owner)}
	if owner == player {
		return []store.WriteItem{put}, nil
	}
	return []store.WriteItem{put, {Check: &store.ConditionCheck{
		Table: s.Table, Key: playerKey(team, owner), Condition: "attribute_not_exists(playerNumber) OR playerNumber <> :n",
		Params: expr.Params{Values: attr.Item{":n": n}},
	}}}, nil
}

// release returns the write that lets go of a player's number, where the marker is theirs.
func (s *Service) release(tx *store.Tx, p *Player) ([]store.WriteItem, error) {
	if p.Number == nil {
		return nil, nil
	}
	k := jerseyKey(p.TeamID, strconv.Itoa(*p.Number))
	return s.letGo(tx, k, "playerId", p.ID)
}

// letGo deletes a marker whose owner somebody is.
func (s *Service) letGo(tx *store.Tx, k attr.Item, name, owner string) ([]store.WriteItem, error) {
	it, err := tx.Get(s.Table, k)
	if err != nil || it[name].Str() != owner {
		return nil, err
	}
	return []store.WriteItem{{Delete: &store.DeleteItem{
		Table: s.Table, Key: k, Condition: name + " = :owner", Params: expr.Params{Values: attr.Item{":owner": attr.S(owner)}},
	}}}, nil
}

// ChangePlayer changes a row of a roster: managers do, and whoever it is linked to, all but the status.
func (s *Service) ChangePlayer(tx *store.Tx, user, team, player string, in Input) (Player, error) {
	p, err := patch.ReadSome(playerFields(), in)
	if err != nil {
		return Player{}, err
	}
	if _, err := s.allow(tx, team, user, anyMember); err != nil {
		return Player{}, err
	}
	was, err := s.player(tx, team, player)
	if err != nil {
		return was, err
	}
	_, status := p.Set["status"]
	if was.UserID == nil || *was.UserID != user || status {
		if _, err := s.allow(tx, team, user, manageRoster); err != nil {
			return was, err
		}
	}
	writes, err := s.renumber(tx, &was, &p)
	if err != nil {
		return was, err
	}
	touch(tx, &p)
	writes = append(writes, store.WriteItem{Update: p.Update(s.Table, playerKey(team, player), "attribute_exists(PK)", expr.Params{})})
	if err := s.transact(tx, writes...); err != nil {
		return was, err
	}
	return s.player(tx, team, player)
}

// renumber returns the writes of markers that a change of a player needs.
func (s *Service) renumber(tx *store.Tx, was *Player, p *patch.Patch) (writes []store.WriteItem, err error) {
	n, set := p.Set["playerNumber"]
	if !set && !slices.Contains(p.Remove, "playerNumber") {
		return nil, nil
	}
	p.Remove = append(p.Remove, "numberRefused")
	if set {
		if writes, err = s.claim(tx, was.TeamID, was.ID, n); err != nil {
			return nil, err
		}
	}
	if set && was.Number != nil && strconv.Itoa(*was.Number) == n.Text() {
		return writes, nil
	}
	released, err := s.release(tx, was)
	return append(writes, released...), err
}

// DeletePlayer removes a ghost from a roster.
func (s *Service) DeletePlayer(tx *store.Tx, user, team, player string) error {
	if _, err := s.allow(tx, team, user, manageRoster); err != nil {
		return err
	}
	was, err := s.player(tx, team, player)
	if err != nil {
		return err
	}
	if !was.Ghost {
		return Invalid("Cannot delete linked player. Use unlink operation instead.")
	}
	writes, err := s.release(tx, &was)
	if err != nil {
		return err
	}
	return s.transact(tx, append(writes, store.WriteItem{Delete: &store.DeleteItem{
		Table: s.Table, Key: playerKey(team, player), Condition: "attribute_exists(PK) AND isGhost = :true",
		Params: expr.Params{Values: attr.Item{":true": attr.Bool(true)}},
	}})...)
}

// linkable returns a row of a managed team's roster to who may link it.
func (s *Service) linkable(tx *store.Tx, by, team, player string) (t Team, p Player, err error) {
	if t, err = s.allow(tx, team, by, manageRoster); err != nil {
		return t, p, err
	}
	if t.Type == Personal {
		return t, p, Invalid("Cannot link players of personal teams")
	}
	p, err = s.player(tx, team, player)
	return t, p, err
}

// LinkPlayer makes a ghost the player of a user, who becomes a member. Who was one before has the role of then, unless an owner gives
// another.
func (s *Service) LinkPlayer(tx *store.Tx, by, team, player string, in Input) (Player, error) {
	asked, err := patch.Read(map[string]patch.Field{"userId": {Read: patch.Text(id)}, "role": memberFields()["role"]}, in, "userId")
	if err != nil {
		return Player{}, err
	}
	user, role := asked.Set["userId"].Str(), cmp.Or(Role(asked.Set["role"].Str()), Member)
	t, p, err := s.linkable(tx, by, team, player)
	if err != nil {
		return p, err
	}
	if _, err := s.User(tx, user); err != nil {
		return p, err
	}
	all, err := s.roster(tx, team)
	if err != nil {
		return p, err
	}
	if !p.Ghost || slices.ContainsFunc(all, func(o Player) bool { return o.UserID != nil && *o.UserID == user }) {
		return p, Invalid("Player or user is already linked")
	}
	c := patch.Patch{Set: attr.Item{}}
	touch(tx, &c)
	link(c.Set, user, player, c.Set["updatedAt"])
	writes := []store.WriteItem{
		{Update: c.Update(s.Table, playerKey(team, player), "attribute_exists(PK) AND isGhost = :ghost", expr.Params{Values: attr.Item{":ghost": attr.Bool(true)}})},
	}
	it, err := tx.Get(s.Table, memberKey(user, team))
	switch {
	case err != nil:
		return p, err
	case it == nil:
		writes = append(writes, s.create(s.membership(tx, user, team, role, attr.S(by))))
	case user != t.OwnerID:
		m := patch.Patch{Set: attr.Item{"status": attr.S(active)}}
		if r := asked.Set["role"]; !r.IsZero() && !r.Equal(it["role"]) {
			if t.Role != Owner {
				return p, forbidden("Insufficient permissions. Required: owner")
			}
			m.Set["role"] = r
		}
		touch(tx, &m)
		writes = append(writes, store.WriteItem{Update: m.Update(s.Table, memberKey(user, team), "attribute_exists(PK)", expr.Params{})})
	}
	if by != user {
		writes = append(writes, s.asRole(by, team, t.Role))
	}
	if err := s.transact(tx, writes...); err != nil {
		return p, err
	}
	return s.player(tx, team, player)
}

// UnlinkPlayer makes a player a ghost again, and ends the membership of the user.
func (s *Service) UnlinkPlayer(tx *store.Tx, by, team, player string) (Player, error) {
	t, p, err := s.linkable(tx, by, team, player)
	if err != nil {
		return p, err
	}
	if p.Ghost || *p.UserID == t.OwnerID {
		return p, Invalid("Player is not linked, or is the owner's")
	}
	c := patch.Patch{
		Set:    attr.Item{"isGhost": attr.Bool(true), "userId": attr.Null(), "linkedAt": attr.Null()},
		Remove: []string{indexPlayers + "PK", indexPlayers + "SK"},
	}
	touch(tx, &c)
	m := patch.Patch{Set: attr.Item{"status": attr.S(inactive)}}
	touch(tx, &m)
	writes := []store.WriteItem{
		{Update: c.Update(s.Table, playerKey(team, player), "isGhost = :ghost", expr.Params{Values: attr.Item{":ghost": attr.Bool(false)}})},
		{Update: m.Update(s.Table, memberKey(*p.UserID, team), "attribute_exists(PK)", expr.Params{})},
	}
	if by != *p.UserID {
		writes = append(writes, s.asRole(by, team, t.Role))
	}
	if err := s.transact(tx, writes...); err != nil {
		return p, err
	}
	return s.player(tx, team, player)
}
