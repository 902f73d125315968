package hacktracker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
	"github.com/touchline/touchline/store/table"
)

// allowGame returns a game and its team, if the user may do the action.
func (b *Book) allowGame(game string, do action) (Game, Team) {
	g := gameOf(b.known(gameKey(game), "Game"))
	return g, b.allow(g.TeamID, do)
}

// Game returns a game, for a member of its team.
func (b *Book) Game(game string) Game {
	g, _ := b.allowGame(game, anyMember)
	return g
}

// gamesOf returns a team's games, latest first, those without a date last.
func (b *Book) gamesOf(team string) []Game {
	out := collect(b, indexGames, prefixTeam+team, prefixGame, gameOf)
	slices.SortStableFunc(out, func(x, y Game) int {
		return cmp.Or(strings.Compare(y.ScheduledStart, x.ScheduledStart), strings.Compare(y.CreatedAt, x.CreatedAt))
	})
	return out
}

// GamesOf lists a team's games to one of its members.
func (b *Book) GamesOf(team string) []Game {
	b.allow(team, anyMember)
	return b.gamesOf(team)
}

// Games lists the games of all teams, a page of them.
func (b *Book) Games(p Page) ([]Game, attr.Item) { return listed(b, "GAME", p, gameOf) }

// NewGame returns the id of a new game and the writes that create it. Without a team it goes to the caller's PERSONAL team Default.
func (b *Book) NewGame(once string, in Input) (id string, writes []store.WriteItem) {
	p := b.read(gameFields(), in)
	team := p.Set["teamId"].Str()
	if team == "" {
		team = b.ownDefault()
	}
	t := b.allow(team, manageGames)
	id = b.newID("game", once)
	row := gameKey(id)
	row["gameId"], row["status"], row["teamScore"], row["opponentScore"], row["lineup"] = attr.S(id), attr.S(Scheduled), attr.Int(0), attr.Int(0), attr.L()
	b.Stamp(row, p.Set)
	row["teamId"] = attr.S(team)
	indexed(row, indexEntity, "ENTITY#GAME", skMetadata+"#"+id)
	indexed(row, indexGames, prefixTeam+team, prefixGame+id)
	g := gameOf(row)
	if g.Status == Final {
		row["finalAt"] = row["createdAt"]
	}
	b.checkLineup(team, p.Set["lineup"])
	writes = []store.WriteItem{b.Create(row)}
	if g.Status == InProgress {
		writes = append(writes, b.start(&t, &g)...)
	}
	return id, writes
}

func (b *Book) ownDefault() (team string) {
	for _, t := range b.TeamsOf(b.user) {
		if t.Type == Personal && t.Name == "Default" && t.OwnerID == b.user {
			team = cmp.Or(team, t.ID)
		}
	}
	b.Refuse(team == "", Invalid("teamId is required: there is no personal team named Default"))
	return team
}

// checkLineup refuses a lineup that has players who are not on the team.
func (b *Book) checkLineup(team string, lineup attr.Value) {
	all := b.roster(team)
	for _, slot := range lineupOf(lineup) {
		b.Refuse(!slices.ContainsFunc(all, func(p Player) bool { return p.ID == slot.PlayerID }), Invalid("Player %s is not on the team", slot.PlayerID))
	}
}

// start returns the writes, besides the game's own, that make it the team's one game in progress. The games' status decides, not the marker.
func (b *Book) start(t *Team, g *Game) []store.WriteItem {
	b.Refuse(t.Type != Personal && len(g.Lineup) == 0, Invalid("A lineup is required before you can start the game. Please set the lineup first."))
	b.Refuse(b.beside(g) != "", Invalid("A game is already in progress. Please finish the current game before starting another."))
	return append(b.take(liveKey(t.ID), "gameId", g.ID, func(owner string) store.WriteItem {
		return b.Check(gameKey(owner), table.When("attribute_not_exists(PK) OR #status <> :live", attr.Item{":live": attr.S(InProgress)}))
	}), b.there(t.ID))
}

// beside returns another game of the team that is in progress, or "".
func (b *Book) beside(g *Game) string {
	all := slices.DeleteFunc(b.gamesOf(g.TeamID), func(o Game) bool { return o.ID == g.ID || o.Status != InProgress })
	return append(all, Game{})[0].ID
}

// leave returns the writes by which a game gives up its team's marker: to another game in progress if there is one.
func (b *Book) leave(g *Game) []store.WriteItem {
	writes, other := b.letGo(liveKey(g.TeamID), "gameId", g.ID), b.beside(g)
	if writes == nil || other == "" {
		return writes
	}
	return b.take(liveKey(g.TeamID), "gameId", other, func(string) store.WriteItem {
		return b.Check(gameKey(other), table.When("#status = :live", attr.Item{":live": attr.S(InProgress)}))
	})
}

// ChangeGame changes the attributes named in a body, each by itself, so that two people who change different attributes lose nothing.
// Only a start is conditional.
func (b *Book) ChangeGame(game string, in Input) Game {
	p := b.change(gameFields(), in, "teamId")
	was, t := b.allowGame(game, manageGames)
	next := was
	if v, ok := p.Set["lineup"]; ok {
		next.Lineup = lineupOf(v)
	}
	next.Status = cmp.Or(p.Set["status"].Str(), was.Status)
	b.checkLineup(t.ID, p.Set["lineup"])
	if next.Status == was.Status {
		delete(p.Set, "status") // repeating the current status must not contradict another node
	} else {
		p.Remove = append(p.Remove, "startRefused")
	}
	change := b.update(gameKey(game), p, exists, nil)
	var more []store.WriteItem
	switch on := next.Status == InProgress; {
	case on && was.Status != InProgress:
		more = b.start(&t, &next)
		change = b.update(gameKey(game), p, exists+" AND #status <> :live", attr.Item{":live": attr.S(InProgress)})
	case on && t.Type != Personal && len(next.Lineup) == 0 && len(was.Lineup) > 0:
		b.Fail(Invalid("A lineup is required while the game is in progress."))
	case !on && was.Status == InProgress:
		more = b.leave(&was)
	}
	if next.Status == Final {
		endOnce(change.Update, b.now())
	}
	b.Commit(append([]store.WriteItem{change}, more...)...)
	return b.Game(game)
}

// endOnce makes an update set the end of a game unless it is already set: the first node wins.
func endOnce(u *store.UpdateItem, at attr.Value) {
	u.Update = strings.Replace(u.Update, "SET ", "SET finalAt = if_not_exists(finalAt, :finalAt), ", 1)
	u.Values[":finalAt"] = at
}

// AddRuns adds runs to the score by an ADD, here and in the cloud, so that taps at two disconnected nodes all count. once is the tap's
// Idempotency-Key, a ULID. The game stores the key's end, so that a tap counts once even if it is sent again to another node.
func (b *Book) AddRuns(game, once string, at time.Time, in Input) Game {
	p := b.change(map[string]patch.Field{"teamScore": {Read: patch.Whole(1, MaxRuns)}, "opponentScore": {Read: patch.Whole(1, MaxRuns)}}, in)
	b.Refuse(once == "", Invalid("Runs need an Idempotency-Key"))
	id := b.newULID(once, "runs", at)
	g, _ := b.allowGame(game, manageGames)
	tap := id[max(0, len(id)-runKey):]
	if b.Err() != nil || slices.Contains(g.RunKeys, tap) {
		return g
	}
	b.Refuse(len(g.RunKeys) >= maxRunKeys, Invalid("Runs have been added to this game %d times: set its score instead", maxRunKeys))
	values, adds := attr.Item{":tap": attr.S(tap), ":taps": attr.L(attr.S(tap)), ":none": attr.L(), ":now": b.now()}, []string{}
	for name, n := range p.Set {
		values[":"+name] = n
		adds = append(adds, name+" :"+name)
	}
	update := "SET runKeys = list_append(if_not_exists(runKeys, :none), :taps), updatedAt = :now ADD " + strings.Join(adds, ", ")
	b.Commit(b.Update(gameKey(game), update, table.When(exists+" AND NOT contains(runKeys, :tap)", values)))
	return b.Game(game)
}

// DeleteGame removes a game and its at-bats. Because of the row DELETED, at-bats that another node brings later are removed too.
func (b *Book) DeleteGame(game string) {
	g, _ := b.allowGame(game, manageGames)
	gone := b.Stamp(deletedKey(game), attr.Item{"gameId": attr.S(game), "deletedBy": attr.S(b.user)})
	b.Commit(append(b.leave(&g), b.Create(gone), b.Delete(gameKey(game), table.When(exists, nil)))...)
	b.empty(game)
}

// empty removes the at-bats of a deleted game, and checks that the game does not exist.
func (b *Book) empty(game string) {
	writes := append(collect(b, "", prefixGame+game, prefixAtBat, b.Drop), collect(b, "", prefixGame+game, prefixUndone, b.Drop)...)
	gone := b.Check(gameKey(game), table.When("attribute_not_exists(PK)", nil))
	for part := range slices.Chunk(writes, emptied) {
		b.Commit(append([]store.WriteItem{gone}, part...)...)
	}
}

// Emptied removes at-bats that were taken back and those of deleted games, whichever of marker and at-bat arrives first.
func (s *Service) Emptied(tx *store.Tx, records []store.Record) error {
	b := s.Open(tx, "")
	for i := range records {
		if r := &records[i]; r.New != nil {
			b.gone(r.Key)
		}
	}
	return b.Err()
}

// EmptyAll removes what is left of deleted games and at-bats and, after keptFor, their markers.
func (s *Service) EmptyAll(tx *store.Tx) error {
	b := s.Open(tx, "")
	scan := store.Scan{Table: s.Table, Prefix: prefixGame, Filter: "SK = :deleted OR begins_with(SK, :undone)"}
	scan.Values = attr.Item{":deleted": attr.S(skDeleted), ":undone": attr.S(prefixUndone)}
	for it := range b.Rows(tx.ScanAll(scan)) {
		b.gone(it)
		if at, err := time.Parse(patch.Stamp, it["createdAt"].Str()); err == nil && tx.Now().Sub(at) > keptFor {
			b.Commit(b.Drop(it))
		}
	}
	return b.Err()
}

// gone removes what a marker row names, or an at-bat row that has a marker.
func (b *Book) gone(row attr.Item) {
	game, sk := GameOf(row), row["SK"].Str()
	_, id, _ := strings.Cut(sk, "#")
	atBat := strings.HasPrefix(sk, prefixAtBat) || strings.HasPrefix(sk, prefixUndone)
	switch {
	case game == "" || !atBat && sk != skDeleted:
	case b.Get(deletedKey(game)) != nil && b.Get(gameKey(game)) == nil:
		b.empty(game)
	case atBat && b.Get(undoneKey(game, id)) != nil && b.Get(atBatKey(game, id)) != nil:
		b.Commit(b.Drop(atBatKey(game, id)))
	}
}
