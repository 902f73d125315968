package hacktracker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/patch"
)

func (s *Service) game(tx *store.Tx, game string) (Game, error) {
	it, err := tx.Get(s.Table, gameKey(game))
	if err == nil && it == nil {
		err = notFound("Game")
	}
	return gameOf(it), err
}

// allowGame returns a game to a member of its team who may do something with it.
func (s *Service) allowGame(tx *store.Tx, user, game string, do action) (g Game, t Team, err error) {
	if g, err = s.game(tx, game); err == nil {
		t, err = s.allow(tx, g.TeamID, user, do)
	}
	return g, t, err
}

// Game returns a game to a member of its team.
func (s *Service) Game(tx *store.Tx, user, game string) (Game, error) {
	g, _, err := s.allowGame(tx, user, game, anyMember)
	return g, err
}

// gamesOf are a team's games: the latest first, those without a date last.
func (s *Service) gamesOf(tx *store.Tx, team string) (out []Game, err error) {
	out, err = collect(s, tx, indexGames, prefixTeam+team, prefixGame, gameOf)
	slices.SortStableFunc(out, func(a, b Game) int {
		return cmp.Or(strings.Compare(b.ScheduledStart, a.ScheduledStart), strings.Compare(b.CreatedAt, a.CreatedAt))
	})
	return out, err
}

// GamesOf lists a team's games to one of its members.
func (s *Service) GamesOf(tx *store.Tx, user, team string) ([]Game, error) {
	if _, err := s.allow(tx, team, user, anyMember); err != nil {
		return nil, err
	}
	return s.gamesOf(tx, team)
}

// Games lists the games of all teams, a page of them.
func (s *Service) Games(tx *store.Tx, p Page) (out []Game, next attr.Item, err error) {
	found, err := s.listed(tx, "GAME", p, "", expr.Params{})
	out = []Game{}
	for _, it := range found.Items {
		out = append(out, gameOf(it))
	}
	return out, found.LastKey, err
}

// NewGame returns the writes of a game, and its id. Without a team it is one of the caller's PERSONAL team Default.
func (s *Service) NewGame(tx *store.Tx, user, once string, in Input) (id string, writes []store.WriteItem, err error) {
	p, err := patch.Read(gameFields(), in)
	if err != nil {
		return "", nil, err
	}
	team := p.Set["teamId"].Str()
	if team == "" {
		if team, err = s.ownDefault(tx, user); err != nil {
			return "", nil, err
		}
	}
	t, err := s.allow(tx, team, user, manageGames)
	if err != nil {
		return "", nil, err
	}
	id = newID(user, "game", once)
	row := gameKey(id)
	row["gameId"], row["status"], row["teamScore"], row["opponentScore"], row["lineup"] = attr.S(id), attr.S(Scheduled), attr.Int(0), attr.Int(0), attr.L()
	stampRow(tx, row, p)
	row["teamId"] = attr.S(team)
	indexed(row, indexEntity, "ENTITY#GAME", skMetadata+"#"+id)
	indexed(row, indexGames, prefixTeam+team, prefixGame+id)
	g := gameOf(row)
	if g.Status == Final {
		row["finalAt"] = row["createdAt"]
	}
	if err := s.checkLineup(tx, &g, p.Set); err != nil {
		return "", nil, err
	}
	writes = []store.WriteItem{s.create(row)}
	if g.Status != InProgress {
		return id, writes, nil
	}
	start, err := s.start(tx, &t, &g)
	return id, append(writes, start...), err
}

func (s *Service) ownDefault(tx *store.Tx, user string) (string, error) {
	teams, err := s.TeamsOf(tx, user)
	for i := range teams {
		if t := &teams[i]; t.Type == Personal && t.Name == "Default" && t.OwnerID == user {
			return t.ID, nil
		}
	}
	if err == nil {
		err = Invalid("teamId is required: there is no personal team named Default")
	}
	return "", err
}

// checkLineup refuses a lineup with players who are not on the team.
func (s *Service) checkLineup(tx *store.Tx, g *Game, set attr.Item) error {
	if _, ok := set["lineup"]; !ok || len(g.Lineup) == 0 {
		return nil
	}
	all, err := s.roster(tx, g.TeamID)
	if err != nil {
		return err
	}
	for _, slot := range g.Lineup {
		if !slices.ContainsFunc(all, func(p Player) bool { return p.ID == slot.PlayerID }) {
			return Invalid("Player %s is not on the team", slot.PlayerID)
		}
	}
	return nil
}

// start returns the writes, beside the game's own, by which it is the team's one game in progress. What the games say holds; a
// marker that they do not bear out is taken over with a check that this is still so.
func (s *Service) start(tx *store.Tx, t *Team, g *Game) ([]store.WriteItem, error) {
	if t.Type != Personal && len(g.Lineup) == 0 {
		return nil, Invalid("A lineup is required before you can start the game. Please set the lineup first.")
	}
	games, err := s.gamesOf(tx, t.ID)
	if err != nil {
		return nil, err
	}
	for i := range games {
		if games[i].ID != g.ID && games[i].Status == InProgress {
			return nil, Invalid("A game is already in progress. Please finish the current game before starting another.")
		}
	}
	row := liveKey(t.ID)
	was, err := tx.Get(s.Table, row)
	if err != nil {
		return nil, err
	}
	row["gameId"] = attr.S(g.ID)
	put := s.create(stampRow(tx, row, patch.Patch{}))
	writes := []store.WriteItem{put, s.there(t.ID)}
	if was == nil {
		return writes, nil
	}
	owner := was["gameId"].Str()
	put.Put.Condition, put.Put.Values = "gameId = :owner", attr.Item{":owner": attr.S(owner)}
	if owner != g.ID {
		writes = append(writes, store.WriteItem{Check: &store.ConditionCheck{
			Table: s.Table, Key: gameKey(owner), Condition: "attribute_not_exists(PK) OR #status <> :live", Params: liveParams(),
		}})
	}
	return writes, nil
}

func liveParams() expr.Params {
	return expr.Params{Names: map[string]string{"#status": "status"}, Values: attr.Item{":live": attr.S(InProgress)}}
}

// ChangeGame changes what a body names, attribute by attribute: two people who change different things lose nothing. Only a start
// has a condition.
func (s *Service) ChangeGame(tx *store.Tx, user, game string, in Input) (Game, error) {
	fields := gameFields()
	delete(fields, "teamId")
	p, err := patch.ReadSome(fields, in)
	if err != nil {
		return Game{}, err
	}
	was, t, err := s.allowGame(tx, user, game, manageGames)
	if err != nil {
		return was, err
	}
	next := was
	if v, ok := p.Set["lineup"]; ok {
		next.Lineup = lineupOf(v)
	}
	if v, ok := p.Set["status"]; ok {
		next.Status = v.Str()
	}
	if err := s.checkLineup(tx, &next, p.Set); err != nil {
		return was, err
	}
	writes, condition, params, err := s.turn(tx, &t, &was, &next)
	if err != nil {
		return was, err
	}
	touch(tx, &p)
	if next.Status == Final && was.FinalAt == "" {
		p.Set["finalAt"] = p.Set["updatedAt"]
	}
	writes = append([]store.WriteItem{{Update: p.Update(s.Table, gameKey(game), condition, params)}}, writes...)
	if err := s.transact(tx, writes...); err != nil {
		return was, err
	}
	return s.game(tx, game)
}

// turn returns what the change from one state of a game to the next needs: writes of the marker, and the condition on the game.
func (s *Service) turn(tx *store.Tx, t *Team, was, next *Game) (writes []store.WriteItem, condition string, params expr.Params, err error) {
	condition = "attribute_exists(PK)"
	switch {
	case next.Status == InProgress && was.Status != InProgress:
		writes, err = s.start(tx, t, next)
		condition, params = "attribute_exists(PK) AND #status <> :live", liveParams()
	case next.Status == InProgress && t.Type != Personal && len(next.Lineup) == 0 && len(was.Lineup) > 0:
		err = Invalid("A lineup is required while the game is in progress.")
	case was.Status == InProgress && next.Status != InProgress:
		writes, err = s.letGo(tx, liveKey(t.ID), "gameId", was.ID)
	}
	return writes, condition, params, err
}

// DeleteGame removes a game with its at-bats. The row DELETED has those removed too that another node brings later.
func (s *Service) DeleteGame(tx *store.Tx, user, game string) error {
	g, t, err := s.allowGame(tx, user, game, manageGames)
	if err != nil {
		return err
	}
	writes, err := s.letGo(tx, liveKey(t.ID), "gameId", g.ID)
	if err != nil {
		return err
	}
	gone := stampRow(tx, deletedKey(game), patch.Patch{Set: attr.Item{"gameId": attr.S(game), "deletedBy": attr.S(user)}})
	writes = append(writes, s.create(gone), store.WriteItem{
		Delete: &store.DeleteItem{Table: s.Table, Key: gameKey(game), Condition: "attribute_exists(PK)"},
	})
	if err := s.transact(tx, writes...); err != nil {
		return err
	}
	return s.empty(tx, game)
}

// emptied is how many at-bats go in one transaction.
const emptied = 50

// empty removes the at-bats of a game that was deleted, with a check that it is not there.
func (s *Service) empty(tx *store.Tx, game string) error {
	var writes []store.WriteItem
	err := s.each(tx, "", prefixGame+game, prefixAtBat, func(it attr.Item) {
		writes = append(writes, store.WriteItem{Delete: &store.DeleteItem{Table: s.Table, Key: key(it["PK"].Str(), it["SK"].Str()), NoOld: true}})
	})
	if err != nil {
		return err
	}
	gone := store.WriteItem{Check: &store.ConditionCheck{Table: s.Table, Key: gameKey(game), Condition: "attribute_not_exists(PK)"}}
	for part := range slices.Chunk(writes, emptied) {
		if err := s.transact(tx, append([]store.WriteItem{gone}, part...)...); err != nil {
			return err
		}
	}
	return nil
}

// Emptied removes at-bats of deleted games, whoever has brought the deletion or the at-bats.
func (s *Service) Emptied(tx *store.Tx, records []store.Record) error {
	done := map[string]bool{}
	for i := range records {
		r := &records[i]
		game := GameOf(r.Key)
		sk := r.Key["SK"].Str()
		if game == "" || r.New == nil || done[game] || sk != skDeleted && !strings.HasPrefix(sk, prefixAtBat) {
			continue
		}
		done[game] = true
		if err := s.emptyDeleted(tx, game); err != nil {
			return err
		}
	}
	return nil
}

// deletedFor is how long what says that a game was deleted stays: nodes that were cut off bring rows of it until then.
const deletedFor = 30 * 24 * time.Hour

// EmptyAll removes what is left of all deleted games, and in the end what says so.
func (s *Service) EmptyAll(tx *store.Tx) error {
	scan := store.Scan{Table: s.Table, Prefix: prefixGame, Filter: "SK = :deleted", Params: expr.Params{Values: attr.Item{":deleted": attr.S(skDeleted)}}}
	for it, err := range tx.ScanAll(scan) {
		if err != nil {
			return err
		}
		game := GameOf(it)
		if err := s.emptyDeleted(tx, game); err != nil {
			return err
		}
		if at, err := time.Parse(patch.Stamp, it["createdAt"].Str()); err != nil || tx.Now().Sub(at) <= deletedFor {
			continue
		}
		if _, err := tx.Delete(store.DeleteItem{Table: s.Table, Key: deletedKey(game), NoOld: true}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) emptyDeleted(tx *store.Tx, game string) error {
	gone, err := tx.Get(s.Table, deletedKey(game))
	if err != nil || gone == nil {
		return err
	}
	if _, err := s.game(tx, game); !fault.Is(err, fault.NotFound) {
		return err
	}
	return s.empty(tx, game)
}
