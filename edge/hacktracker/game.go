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
	g := gameOf(b.requireRow(gameKey(game), "Game"))
	return g, b.allow(g.TeamID, do)
}

// Game returns a game, for a member of its team.
func (b *Book) Game(game string) Game {
	g, _ := b.allowGame(game, anyMember)
	return g
}

// MayScore reports whether the user may score a game of their team.
func (b *Book) MayScore(game string) bool {
	t := b.Team(b.Game(game).TeamID)
	return t.Role == Owner || t.Role == Manager || t.Role == Scorekeeper
}

// GameName returns the names of a game's two sides, for the node's operator.
func (b *Book) GameName(game string) (us, them string) {
	g := gameOf(b.requireRow(gameKey(game), "Game"))
	return teamOf(b.requireRow(teamKey(g.TeamID), "Team")).Name, cmp.Or(g.Opponent, "Opponent")
}

// gamesOf returns a team's games, latest first, those without a date last.
func (b *Book) gamesOf(team string) []Game {
	out := collect(b, indexGames, prefixTeam+team, prefixGame, gameOf)
	slices.SortFunc(out, compareGames)
	return out
}

// entriesOf returns the query of a team's games.
func (b *Book) entriesOf(team string) store.Query {
	return b.ByIndex(indexGames, indexGames+"PK", indexGames+"SK").QueryUnder(prefixTeam+team, prefixGame)
}

// Games lists the games of all teams, a page of them.
func (b *Book) Games(p Page) ([]Game, attr.Item) { return listKind(b, "GAME", p, gameOf) }

// NewGame returns the id of a new game and the writes that create it. Without a team it goes to the caller's PERSONAL team Default.
func (b *Book) NewGame(once string, in Input) (id string, writes []store.WriteItem) {
	p := b.read(gameFields(), in)
	team := p.Set["teamId"].Str()
	if team == "" {
		team = b.ownDefault()
	}
	t := b.allow(team, manageGames)
	id = b.newID("game", once)
	b.tooMany(b.Count(b.entriesOf(team), MaxGames), MaxGames, "games of the team")
	row := gameKey(id)
	row["gameId"], row["status"], row["teamScore"], row["opponentScore"], row["lineup"] = attr.S(id), attr.S(Scheduled), attr.Int(0), attr.Int(0), attr.L()
	b.Stamp(row, p.Set)
	row["teamId"] = attr.S(team)
	addIndexKey(row, indexEntity, "ENTITY#GAME", skMetadata+"#"+id)
	addIndexKey(row, indexGames, prefixTeam+team, prefixGame+id)
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
		there := slices.ContainsFunc(all, func(p Player) bool { return p.ID == slot.PlayerID })
		b.Refuse(!there && b.Get(playerKey(team, slot.PlayerID)) == nil, notOnTeam(slot.PlayerID))
	}
}

// start returns the writes, besides the game's own, that make it the team's one game in progress. The games' status decides, not the marker.
func (b *Book) start(t *Team, g *Game) []store.WriteItem {
	b.Refuse(t.Type != Personal && len(g.Lineup) == 0, Invalid("A lineup is required before you can start the game. Please set the lineup first."))
	b.Refuse(b.otherLiveGame(g) != "", Invalid("A game is already in progress. Please finish the current game before starting another."))
	return append(b.claimMarker(liveKey(t.ID), "gameId", g.ID, func(owner string) store.WriteItem {
		return b.Check(gameKey(owner), table.IfTrue("attribute_not_exists(PK) OR #status <> :live", attr.Item{":live": attr.S(InProgress)}))
	}), b.checkTeamExists(t.ID))
}

// otherLiveGame returns the latest other game of the team that is in progress, or "". It is called in the writer's turn, so it decodes those games
// alone.
func (b *Book) otherLiveGame(g *Game) string {
	q := b.entriesOf(g.TeamID)
	q.Filter, q.Names, q.Values[":live"] = "#status = :live", map[string]string{"#status": "status"}, attr.S(InProgress)
	on := table.Decode(&b.Plan, b.Tx.QueryAll(q), decoder(gameOf))
	on = slices.DeleteFunc(on, func(o Game) bool { return o.ID == g.ID })
	slices.SortFunc(on, compareGames)
	return append(on, Game{})[0].ID
}

// releaseMarker returns the writes by which a game gives up its team's marker: to another game in progress if there is one.
func (b *Book) releaseMarker(g *Game) []store.WriteItem {
	writes := b.letGo(liveKey(g.TeamID), "gameId", g.ID)
	if writes == nil {
		return nil
	}
	other := b.otherLiveGame(g)
	if other == "" {
		return writes
	}
	return b.claimMarker(liveKey(g.TeamID), "gameId", other, func(string) store.WriteItem {
		return b.Check(gameKey(other), table.IfTrue("#status = :live", attr.Item{":live": attr.S(InProgress)}))
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
		more = b.releaseMarker(&was)
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
	b.Commit(b.Update(gameKey(game), update, table.IfTrue(exists+" AND NOT contains(runKeys, :tap)", values)))
	return b.Game(game)
}

// DeleteGame removes a game. Because of the row DELETED, EmptyDeleted removes its at-bats, also those that another node brings later.
func (b *Book) DeleteGame(game string) {
	g, _ := b.allowGame(game, manageGames)
	gone := b.Stamp(deletedKey(game), attr.Item{"gameId": attr.S(game), "deletedBy": attr.S(b.user)})
	b.Commit(append(b.releaseMarker(&g), b.Create(gone), b.Delete(gameKey(game), table.IfTrue(exists, nil)))...)
}

// empty removes at-bats of a deleted game, a slice in each call, and checks that the game does not exist. If there are others it fails with
// table.ErrMore.
func (b *Book) empty(game string) {
	writes := []store.WriteItem{}
	for _, prefix := range []string{prefixAtBat, prefixUndone} { // misshapen ones too
		writes = append(writes, table.Read(&b.Plan, b.Tx.QueryAll(b.QueryUnder(prefixGame+game, prefix)), b.Drop)...)
	}
	if len(writes) == 0 {
		return
	}
	gone := b.Check(gameKey(game), table.IfTrue("attribute_not_exists(PK)", nil))
	b.Commit(append([]store.WriteItem{gone}, writes[:min(len(writes), emptied)]...)...)
	if len(writes) > emptied {
		b.Fail(table.ErrMore)
	}
}

// EmptyDeleted removes at-bats that were taken back and those of deleted games, whichever of marker and at-bat arrives first.
func (s *Service) EmptyDeleted(tx *store.Tx, records []store.Record) error {
	b := s.Open(tx, "")
	begun := tx.Seq()
	for i := range records {
		if tx.Seq()-begun >= table.Slice/2 {
			return table.ErrMore
		}
		if r := &records[i]; r.New != nil {
			b.removeNamed(r.Key)
		} else if id, ok := strings.CutPrefix(r.Key["SK"].Str(), prefixAtBat); ok {
			b.showLast(b.Get(undoneKey(GameOf(r.Key), id)), r.Old)
		}
	}
	return b.Err()
}

// EmptyAll removes what is left of deleted games and at-bats and, after keptFor, their markers. table.ErrMore says that it has done a slice of
// that.
func (s *Service) EmptyAll(tx *store.Tx) error {
	b := s.Open(tx, "")
	scan := store.Scan{Table: s.Table, Prefix: prefixGame, Filter: "SK = :deleted OR begins_with(SK, :undone)"}
	scan.Values = attr.Item{":deleted": attr.S(skDeleted), ":undone": attr.S(prefixUndone)}
	begun := tx.Seq()
	for it := range b.Rows(tx.ScanAll(scan)) {
		if tx.Seq()-begun >= table.Slice/2 {
			return table.ErrMore
		}
		b.removeNamed(it)
		if it["SK"].Str() == skDeleted && !isDeletedMark(it) {
			continue
		}
		if at, err := time.Parse(patch.Stamp, it["createdAt"].Str()); err == nil && tx.Now().Sub(at) > keptFor {
			b.Commit(b.Drop(it))
		}
	}
	return b.Err()
}

// isDeletedMark reports whether a row is a marker of this program, which says when its game was deleted.
func isDeletedMark(row attr.Item) bool {
	_, err := time.Parse(patch.Stamp, row["createdAt"].Str())
	return row["gameId"].Str() != "" && err == nil
}

// removeNamed removes what a marker row names, or an at-bat row that has a marker. A row of another program in the place of a marker, without what
// this program writes into one, removes nothing.
func (b *Book) removeNamed(row attr.Item) {
	game, sk := GameOf(row), row["SK"].Str()
	_, id, _ := strings.Cut(sk, "#")
	atBat := strings.HasPrefix(sk, prefixAtBat) || strings.HasPrefix(sk, prefixUndone)
	if game == "" || !atBat && sk != skDeleted {
		return
	}
	undone, there := b.Get(undoneKey(game, id)), b.Get(atBatKey(game, id))
	switch {
	case isDeletedMark(b.Get(deletedKey(game))) && b.Get(gameKey(game)) == nil:
		b.empty(game)
	case atBat && !undone["createdAt"].IsZero() && there != nil:
		b.showLast(undone, there)
		b.Commit(b.Drop(there))
	}
}

// showLast has the marker of an at-bat that was taken back show a correction that whoever took it back did not know.
func (b *Book) showLast(undone, atBat attr.Item) {
	if last := atBatOf(atBat); !undone["correctedAt"].IsZero() && last.UpdatedAt > undone["correctedAt"].Str() {
		b.Commit(b.asCorrected(last))
	}
}
