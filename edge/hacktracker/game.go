package hacktracker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/patch"
)

func (w *work) game(game string) Game { return gameOf(w.known(gameKey(game), "Game")) }

// allowGame returns a game to a member of its team who may do something with it.
func (w *work) allowGame(user, game string, do action) (Game, Team) {
	g := w.game(game)
	return g, w.allow(g.TeamID, user, do)
}

// Game returns a game to a member of its team.
func (s *Service) Game(tx *store.Tx, user, game string) (Game, error) {
	w := s.on(tx)
	g, _ := w.allowGame(user, game, anyMember)
	return g, w.end()
}

// gamesOf are a team's games: the latest first, those without a date last.
func (w *work) gamesOf(team string) []Game {
	out := collect(w, indexGames, prefixTeam+team, prefixGame, gameOf)
	slices.SortStableFunc(out, func(a, b Game) int {
		return cmp.Or(strings.Compare(b.ScheduledStart, a.ScheduledStart), strings.Compare(b.CreatedAt, a.CreatedAt))
	})
	return out
}

// GamesOf lists a team's games to one of its members.
func (s *Service) GamesOf(tx *store.Tx, user, team string) ([]Game, error) {
	w := s.on(tx)
	w.allow(team, user, anyMember)
	return w.gamesOf(team), w.end()
}

// Games lists the games of all teams, a page of them.
func (s *Service) Games(tx *store.Tx, p Page) ([]Game, attr.Item, error) {
	return listed(s, tx, "GAME", p, gameOf, "", with(attr.Item{}))
}

// NewGame returns the writes of a game, and its id. Without a team it is one of the caller's PERSONAL team Default.
func (s *Service) NewGame(tx *store.Tx, user, once string, in Input) (id string, writes []store.WriteItem, err error) {
	w := s.on(tx)
	p := w.read(gameFields(), in)
	team := p.Set["teamId"].Str()
	if team == "" {
		team = w.ownDefault(user)
	}
	t := w.allow(team, user, manageGames)
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
	w.checkLineup(&g, p.Set)
	writes = []store.WriteItem{s.create(row)}
	if g.Status == InProgress {
		writes = append(writes, w.start(&t, &g)...)
	}
	return id, writes, w.end()
}

func (w *work) ownDefault(user string) string {
	for _, t := range w.teamsOf(user) {
		if t.Type == Personal && t.Name == "Default" && t.OwnerID == user {
			return t.ID
		}
	}
	w.fail(Invalid("teamId is required: there is no personal team named Default"))
	return ""
}

// checkLineup refuses a lineup with players who are not on the team.
func (w *work) checkLineup(g *Game, set attr.Item) {
	if _, ok := set["lineup"]; !ok || len(g.Lineup) == 0 {
		return
	}
	all := w.roster(g.TeamID)
	for _, slot := range g.Lineup {
		w.refuse(!slices.ContainsFunc(all, func(p Player) bool { return p.ID == slot.PlayerID }), Invalid("Player %s is not on the team", slot.PlayerID))
	}
}

// start returns the writes, beside the game's own, by which it is the team's one game in progress. What the games say holds.
func (w *work) start(t *Team, g *Game) []store.WriteItem {
	w.refuse(t.Type != Personal && len(g.Lineup) == 0, Invalid("A lineup is required before you can start the game. Please set the lineup first."))
	for _, o := range w.gamesOf(t.ID) {
		w.refuse(o.ID != g.ID && o.Status == InProgress, Invalid("A game is already in progress. Please finish the current game before starting another."))
	}
	return append(w.take(liveKey(t.ID), "gameId", g.ID, func(owner string) store.WriteItem {
		return w.check(gameKey(owner), "attribute_not_exists(PK) OR #status <> :live", liveParams())
	}), w.there(t.ID))
}

func liveParams() expr.Params { return with(attr.Item{":live": attr.S(InProgress)}, "status") }

// ChangeGame changes what a body names, attribute by attribute: two people who change different things lose nothing. Only a start
// has a condition.
func (s *Service) ChangeGame(tx *store.Tx, user, game string, in Input) (Game, error) {
	w := s.on(tx)
	p := w.change(gameFields(), in, "teamId")
	was, t := w.allowGame(user, game, manageGames)
	next := was
	if v, ok := p.Set["lineup"]; ok {
		next.Lineup = lineupOf(v)
	}
	next.Status = cmp.Or(p.Set["status"].Str(), was.Status)
	w.checkLineup(&next, p.Set)
	writes, condition, params := w.turn(&t, &was, &next)
	if next.Status == Final && was.FinalAt == "" {
		p.Set["finalAt"] = stampOf(tx)
	}
	w.commit(append([]store.WriteItem{w.update(gameKey(game), p, condition, params)}, writes...)...)
	return w.game(game), w.end()
}

// turn returns what the change from one state of a game to the next needs: writes of the marker, and the condition on the game.
func (w *work) turn(t *Team, was, next *Game) (writes []store.WriteItem, condition string, params expr.Params) {
	condition = exists
	switch {
	case next.Status == InProgress && was.Status != InProgress:
		writes = w.start(t, next)
		condition, params = exists+" AND #status <> :live", liveParams()
	case next.Status == InProgress && t.Type != Personal && len(next.Lineup) == 0 && len(was.Lineup) > 0:
		w.fail(Invalid("A lineup is required while the game is in progress."))
	case was.Status == InProgress && next.Status != InProgress:
		writes = w.letGo(liveKey(t.ID), "gameId", was.ID)
	}
	return writes, condition, params
}

// DeleteGame removes a game with its at-bats. The row DELETED has those removed too that another node brings later.
func (s *Service) DeleteGame(tx *store.Tx, user, game string) error {
	w := s.on(tx)
	g, t := w.allowGame(user, game, manageGames)
	gone := stampRow(tx, deletedKey(game), patch.Patch{Set: attr.Item{"gameId": attr.S(game), "deletedBy": attr.S(user)}})
	w.commit(append(w.letGo(liveKey(t.ID), "gameId", g.ID), s.create(gone), store.WriteItem{
		Delete: &store.DeleteItem{Table: s.Table, Key: gameKey(game), Condition: exists},
	})...)
	w.empty(game)
	return w.end()
}

// emptied is how many at-bats go in one transaction.
const emptied = 50

// empty removes the at-bats of a game that was deleted, with a check that it is not there.
func (w *work) empty(game string) {
	var writes []store.WriteItem
	w.each("", prefixGame+game, prefixAtBat, func(it attr.Item) {
		writes = append(writes, store.WriteItem{Delete: &store.DeleteItem{Table: w.Table, Key: key(it["PK"].Str(), it["SK"].Str()), NoOld: true}})
	})
	gone := w.check(gameKey(game), "attribute_not_exists(PK)", expr.Params{})
	for part := range slices.Chunk(writes, emptied) {
		w.commit(append([]store.WriteItem{gone}, part...)...)
	}
}

// Emptied removes at-bats of deleted games, whoever has brought the deletion or the at-bats.
func (s *Service) Emptied(tx *store.Tx, records []store.Record) error {
	w, done := s.on(tx), map[string]bool{}
	for i := range records {
		r := &records[i]
		game, sk := GameOf(r.Key), r.Key["SK"].Str()
		if game == "" || r.New == nil || done[game] || sk != skDeleted && !strings.HasPrefix(sk, prefixAtBat) {
			continue
		}
		done[game] = true
		w.emptyDeleted(game)
	}
	return w.end()
}

// deletedFor is how long what says that a game was deleted stays: nodes that were cut off bring rows of it until then.
const deletedFor = 30 * 24 * time.Hour

// EmptyAll removes what is left of all deleted games, and in the end what says so.
func (s *Service) EmptyAll(tx *store.Tx) error {
	w := s.on(tx)
	scan := store.Scan{Table: s.Table, Prefix: prefixGame, Filter: "SK = :deleted", Params: with(attr.Item{":deleted": attr.S(skDeleted)})}
	for it, err := range tx.ScanAll(scan) {
		if w.fail(err); w.err != nil {
			break
		}
		game := GameOf(it)
		w.emptyDeleted(game)
		if at, err := time.Parse(patch.Stamp, it["createdAt"].Str()); err == nil && tx.Now().Sub(at) > deletedFor && w.err == nil {
			_, w.err = tx.Delete(store.DeleteItem{Table: s.Table, Key: deletedKey(game), NoOld: true})
		}
	}
	return w.end()
}

func (w *work) emptyDeleted(game string) {
	if w.get(deletedKey(game)) != nil && w.get(gameKey(game)) == nil {
		w.empty(game)
	}
}
