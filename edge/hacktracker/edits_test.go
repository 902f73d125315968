package hacktracker

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/table"
)

// ledger is a game in a store, with the entries that a scorer would have on paper.
type ledger struct {
	*Service
	update     func(work func(tx *store.Tx) error) error
	team, game string
	players    []string
	kept       []entry
	scored     int
}

type entry struct {
	id, player, result, hit string
	rbis                    int
	at                      time.Time
}

// body parses a request's body.
func body(text string, args ...any) (in Input) {
	if err := json.Unmarshal(fmt.Appendf(nil, text, args...), &in); err != nil {
		panic(err)
	}
	return in
}

// openBook opens a store and returns it with a function that runs write transactions.
func openBook(t testing.TB) (st *store.Store, update func(work func(tx *store.Tx) error) error) {
	t.Helper()
	st = storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, Table("book"))
	return st, func(work func(tx *store.Tx) error) error { return st.Update(t.Context(), work) }
}

// newLedger starts a game of a new team with three players.
func newLedger(t rapid.TB, update func(work func(tx *store.Tx) error) error) *ledger {
	t.Helper()
	l := &ledger{Service: &Service{Rows("book")}, update: update}
	l.do(t, func(b *Book) {
		b.Enrol("", "Ana")
		l.team = b.Make(b.NewTeam("", body(`{"name":"Bad News","teamType":"MANAGED"}`)))
		var slots []string
		for i, name := range []string{"Abe", "Bob", "Cy"} {
			l.players = append(l.players, b.Make(b.NewPlayer(l.team, "", body(`{"firstName":%q}`, name))))
			slots = append(slots, fmt.Sprintf(`{"playerId":%q,"battingOrder":%d}`, l.players[i], i+1))
		}
		l.game = b.Make(b.NewGame("", body(`{"teamId":%q,"status":"IN_PROGRESS","lineup":[%s]}`, l.team, strings.Join(slots, ","))))
	})
	return l
}

func (l *ledger) do(t rapid.TB, work func(b *Book)) {
	t.Helper()
	if err := l.update(func(tx *store.Tx) error {
		b := l.Open(tx, "ana")
		work(b)
		return b.Err()
	}); err != nil {
		t.Fatal(err)
	}
}

// score scores an at-bat, with the entry's id as its key.
func (l *ledger) score(b *Book, e *entry) {
	hit := ""
	if e.hit != "" {
		hit = fmt.Sprintf(`,"hitType":%q`, e.hit)
	}
	b.NewAtBat(l.game, e.id, e.at, nil, body(`{"playerId":%q,"result":%q,"inning":1,"outs":0,"battingOrder":1,"rbis":%d%s}`, e.player, e.result, e.rbis, hit))
}

// columns counts the entries of a player or of all: PA AB H 2B 3B HR RBI BB HBP K SF SH TB, written anew from the rules.
func columns(all []entry, player string) (n [13]int) {
	for _, e := range all {
		if player != "" && e.player != player {
			continue
		}
		n[0]++
		n[6] += e.rbis
		result := e.result
		if result == "SAC" {
			result = map[bool]string{true: "SF", false: "SH"}[e.hit == "fly_ball"]
		}
		if at := slices.Index([]string{"BB", "HBP", "SF", "SH"}, result); at >= 0 {
			n[[]int{7, 8, 10, 11}[at]]++
			continue
		}
		n[1]++
		if result == "K" {
			n[9]++
		}
		if bases := slices.Index([]string{"1B", "2B", "3B", "HR"}, result) + 1; bases > 0 {
			n[2]++
			n[12] += bases
			if bases > 1 {
				n[1+bases]++
			}
		}
	}
	return n
}

// innings returns the runs batted in by inning, and the current inning and outs.
func innings(all []entry) (runs []int, inning, outs int) {
	inning = 1
	for _, e := range all {
		for len(runs) < inning {
			runs = append(runs, 0)
		}
		runs[inning-1] += e.rbis
		switch {
		case strings.Contains(" K OUT FO GO PO LO SF SH SAC ", " "+e.result+" "):
			outs++
		case e.result == "DP":
			outs += 2
		case e.result == "TP":
			outs += 3
		}
		if outs >= 3 {
			inning, outs = inning+1, 0
		}
	}
	return runs, inning, outs
}

func counted(l *Line) [13]int {
	return [13]int{l.PA, l.AB, l.H, l.Doubles, l.Triples, l.HR, l.RBI, l.BB, l.HBP, l.K, l.SF, l.SH, l.TB}
}

// edit makes a random edit: score, also late; repeat; correct; take back the last at-bat or any other; finish and resume the game.
func (l *ledger) edit(t *rapid.T, b *Book, results []string, at *time.Time) {
	g := b.Game(l.game)
	what := rapid.SampledFrom([]string{"score", "score", "score", "score", "late", "again", "correct", "undo", "remove", "turn"}).Draw(t, "what")
	some := 0
	if n := len(l.kept); n > 0 {
		some = rapid.IntRange(0, n-1).Draw(t, "which")
	} else if what != "turn" {
		what = "score"
	}
	result, rbis := rapid.SampledFrom(results).Draw(t, "result"), rapid.IntRange(0, 4).Draw(t, "rbis")
	switch what {
	case "score", "late":
		if g.Status == Final {
			return
		}
		e := entry{player: rapid.SampledFrom(l.players).Draw(t, "player"), result: result, rbis: rbis, hit: rapid.SampledFrom([]string{"", "fly_ball", "bunt"}).Draw(t, "hit")}
		*at = at.Add(time.Second)
		if e.at = *at; what == "late" {
			e.at = l.kept[some].at.Add(-time.Millisecond)
		}
		for slices.ContainsFunc(l.kept, func(o entry) bool { return o.at.Equal(e.at) }) {
			e.at = e.at.Add(-time.Millisecond)
		}
		l.scored++ // an at-bat taken back stays so: no other may get its id
		e.id = ulid.MustNew(ulid.Timestamp(e.at), strings.NewReader(fmt.Sprintf("%10d", l.scored))).String()
		l.kept = append(l.kept, e)
		slices.SortFunc(l.kept, func(a, b entry) int { return a.at.Compare(b.at) })
		l.score(b, &e)
	case "again":
		l.score(b, &l.kept[some])
	case "correct":
		l.kept[some].result, l.kept[some].rbis = result, rbis
		b.ChangeAtBat(l.game, l.kept[some].id, body(`{"result":%q,"rbis":%d}`, result, rbis))
	case "turn":
		status := Final
		if g.Status == Final {
			status = InProgress
		}
		b.ChangeGame(l.game, body(`{"status":%q}`, status))
	default:
		if what == "undo" {
			some = len(l.kept) - 1
		}
		b.DeleteAtBat(l.game, l.kept[some].id)
		l.kept = slices.Delete(l.kept, some, some+1)
	}
}

// Whatever is scored, corrected and taken back through the service, in any order of time, the game's state, its box score and the statistics
// of team and players equal a recount of the remaining at-bats.
func TestEditsComeToARecount(t *testing.T) {
	_, update := openBook(t)
	results := strings.Fields("1B 2B 3B HR BB HBP K OUT FO GO PO LO SF SH SAC FC E DP TP")
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger(t, update)
		at := time.Date(2026, 5, 1, 18, 0, 0, 0, time.UTC)
		for range rapid.IntRange(1, 40).Draw(t, "edits") {
			l.do(t, func(b *Book) { l.edit(t, b, results, &at) })
		}
		l.compare(t)
	})
}

func (l *ledger) compare(t rapid.TB) {
	t.Helper()
	var state GameState
	var box Box
	var team TeamStats
	runs, inning, outs := innings(l.kept)
	l.do(t, func(b *Book) {
		state, box, team = b.State(l.game), b.Box(l.game), b.TeamStats(l.team, "")
		for i, player := range l.players {
			one := b.PlayerStats(player, l.team)
			want := columns(l.kept, player)
			in := slices.IndexFunc(team.Players, func(p PlayerLine) bool { return p.PlayerID == player })
			for what, got := range map[string][13]int{"alone": counted(&one.Batting.Line), "box": counted(&box.Batters[i].Line), "team": counted(&team.Players[in].Line)} {
				if got != want {
					t.Errorf("player %d, %s: %v, want %v", i, what, got, want)
				}
			}
		}
	})
	if all := columns(l.kept, ""); counted(&box.Totals.Line) != all || counted(&team.Batting.Line) != all {
		t.Errorf("totals %v and %v, want %v", box.Totals.Line, team.Batting.Line, all)
	}
	if state.Inning != inning || state.Outs != outs || state.Batter.PlayerID != l.players[len(l.kept)%3] {
		t.Errorf("inning %d, %d out, %s is up; want %d, %d out", state.Inning, state.Outs, state.Batter.PlayerID, inning, outs)
	}
	if diff := gocmp.Diff(runs, box.LineScore); diff != "" && len(runs)+len(box.LineScore) > 0 {
		t.Errorf("line score (-want +got):\n%s", diff)
	}
}

// A game has at most 500 at-bats. A repeated request for an existing one is still answered, and taking one back frees a place.
func TestFiveHundredAtBats(t *testing.T) {
	_, update := openBook(t)
	l := newLedger(t, update)
	at := time.Date(2026, 5, 1, 18, 0, 0, 0, time.UTC)
	row := func(i int) *entry {
		e := entry{player: l.players[0], result: "1B", at: at.Add(time.Duration(i) * time.Minute)}
		e.id = ulid.MustNew(ulid.Timestamp(e.at), nil).String()
		return &e
	}
	l.do(t, func(b *Book) {
		l.score(b, row(0))
		like := b.Get(atBatKey(l.game, row(0).id))
		for i := 1; i < 499; i++ { // rows of another program, which does not check the limit
			one := maps.Clone(like)
			one["SK"], one["atBatId"] = attr.S(prefixAtBat+row(i).id), attr.S(row(i).id)
			b.Commit(b.Create(one))
		}
		l.score(b, row(499))
	})
	l.do(t, func(b *Book) {
		if l.score(b, row(500)); !fault.Is(b.Err(), fault.Invalid) || b.Err().Error() != "A game has at most 500 at-bats" {
			t.Errorf("the 501st: %v", b.Err())
		}
		*b = *l.Open(b.Tx, b.user)
		if l.score(b, row(499)); b.Err() != nil {
			t.Errorf("the last one again: %v", b.Err())
		}
		b.DeleteAtBat(l.game, row(7).id)
		l.score(b, row(500))
	})
}

// An at-bat taken back stays so if the phone sends it again, or sent it to another node, whose row arrives later.
func TestTakenBack(t *testing.T) {
	_, update := openBook(t)
	l := newLedger(t, update)
	e := entry{player: l.players[0], result: "1B", at: time.Date(2026, 5, 1, 18, 0, 0, 0, time.UTC)}
	e.id = ulid.MustNew(ulid.Timestamp(e.at), nil).String()
	var row attr.Item
	l.do(t, func(b *Book) {
		l.score(b, &e)
		row = b.Get(atBatKey(l.game, e.id))
		b.DeleteAtBat(l.game, e.id)
		if l.score(b, &e); !fault.Is(b.Err(), fault.Conflict) {
			t.Errorf("sent again: %v", b.Err())
		}
		*b = *l.Open(b.Tx, b.user)
	})
	for what, look := range map[string]func(b *Book){
		"each":     func(b *Book) { b.Fail(l.EmptyDeleted(b.Tx, []store.Record{{Key: row, New: row}})) },
		"all":      func(b *Book) { b.Fail(l.EmptyAll(b.Tx)) },
		"the word": func(b *Book) { b.Fail(l.EmptyDeleted(b.Tx, []store.Record{{Key: undoneKey(l.game, e.id), New: row}})) },
	} {
		l.do(t, func(b *Book) {
			b.Commit(b.Create(maps.Clone(row)))
			if look(b); len(b.AtBats(l.game)) != 0 {
				t.Errorf("%s: the at-bat came back", what)
			}
		})
	}
	l.do(t, func(b *Book) {
		b.DeleteGame(l.game)
		b.Fail(l.EmptyDeleted(b.Tx, []store.Record{{Key: deletedKey(l.game), New: deletedKey(l.game)}}))
		if left := collect(b, "", prefixGame+l.game, prefixUndone, rowOf); len(left) != 0 {
			t.Errorf("rows left of a deleted game: %v", left)
		}
	})
}

// At-bats of a deleted game are removed, whether they or the deletion come from another node, in any order. Those of an existing game
// stay.
func TestDeletedGamesAreEmptied(t *testing.T) {
	st, update := openBook(t)
	gone, there := newLedger(t, update), newLedger(t, update)
	at := time.Date(2026, 5, 1, 18, 0, 0, 0, time.UTC)
	left := func(l *ledger) (n int) {
		t.Helper()
		l.do(t, func(b *Book) {
			n = len(table.Read(&b.Plan, b.Tx.QueryAll(b.QueryUnder(prefixGame+l.game, prefixAtBat)), rowOf))
		})
		return n
	}
	consumed := st.Seq()
	consume := func() {
		t.Helper()
		records, err := st.Journal(t.Context(), consumed, 1000)
		if err != nil {
			t.Fatal(err)
		}
		consumed = st.Seq()
		for more := true; more; { // slices
			gone.do(t, func(b *Book) {
				before := b.Tx.Seq()
				err := gone.EmptyDeleted(b.Tx, records)
				if n := b.Tx.Seq() - before; n > table.Slice {
					t.Errorf("a slice of %d writes", n)
				}
				if more = errors.Is(err, table.ErrMore); !more {
					b.Fail(err)
				}
			})
		}
	}
	for _, l := range []*ledger{gone, there} {
		l.do(t, func(b *Book) {
			for i := range 130 { // more than fit in one transaction
				l.score(b, &entry{player: l.players[0], result: "1B", at: at.Add(time.Duration(i) * time.Second)})
			}
		})
	}
	consume()
	if a, b := left(gone), left(there); a != 130 || b != 130 {
		t.Fatalf("%d and %d at-bats before the deletion", a, b)
	}
	gone.do(t, func(b *Book) { // as rows of another node arrive
		b.Commit(b.Delete(gameKey(gone.game), table.IfTrue(exists, nil)))
		b.Commit(b.Create(b.Stamp(deletedKey(gone.game), attr.Item{"gameId": attr.S(gone.game)})))
	})
	consume()
	if a, b := left(gone), left(there); a != 0 || b != 130 {
		t.Errorf("%d and %d at-bats after the deletion", a, b)
	}
	gone.do(t, func(b *Book) { b.Commit(b.Create(atBatKey(gone.game, "late"))) })
	consume()
	if a := left(gone); a != 0 {
		t.Errorf("%d late at-bats of the deleted game", a)
	}
	there.do(t, func(b *Book) {
		b.Commit(b.Create(b.Stamp(deletedKey(there.game), attr.Item{"gameId": attr.S(there.game)})))
	}) // a game that was created again keeps its at-bats
	consume()
	if b := left(there); b != 130 {
		t.Errorf("%d at-bats of the existing game", b)
	}
}

// If two nodes started two games and one ends or is deleted, the game still in progress gets its marker.
func TestTheMarkerIsLeft(t *testing.T) {
	_, update := openBook(t)
	for what, end := range map[string]func(b *Book, game string){
		"ended":   func(b *Book, game string) { b.ChangeGame(game, body(`{"status":"FINAL"}`)) },
		"deleted": func(b *Book, game string) { b.DeleteGame(game) },
	} {
		l := newLedger(t, update)
		l.do(t, func(b *Book) {
			other := b.Make(b.NewGame("", body(`{"teamId":%q}`, l.team)))
			on := b.Update(gameKey(other), "SET #status = :live", table.IfTrue(exists, attr.Item{":live": attr.S(InProgress)}))
			b.Commit(on) // as the row of another node arrives
			if end(b, l.game); b.Get(liveKey(l.team))["gameId"].Str() != other {
				t.Errorf("%s: the marker is %v", what, b.Get(liveKey(l.team)))
			}
			if end(b, other); b.Get(liveKey(l.team)) != nil {
				t.Errorf("%s: the marker of the last game was not removed", what)
			}
		})
	}
}

// An owner has at most so many teams, and a team so many players and games, which bounds its lists and pages.
func TestMostOfATeam(t *testing.T) {
	_, update := openBook(t)
	l := &ledger{Service: &Service{Rows("book")}, update: update}
	l.do(t, func(b *Book) {
		b.Enrol("", "Ana")
		l.team = b.Make(b.NewTeam("", body(`{"name":"Bad News","teamType":"MANAGED"}`)))
	})
	for what, part := range map[string]struct {
		most  int
		there func(b *Book, n int) attr.Item // as another node may have written it
		make  func(b *Book) (string, []store.WriteItem)
	}{
		"games": {MaxGames, func(_ *Book, n int) attr.Item {
			row := gameKey(fmt.Sprint(n))
			addIndexKey(row, indexGames, prefixTeam+l.team, prefixGame+fmt.Sprint(n))
			return row
		}, func(b *Book) (string, []store.WriteItem) { return b.NewGame("", body(`{"teamId":%q}`, l.team)) }},
		"players": {
			MaxPlayers - 1, func(_ *Book, n int) attr.Item { return playerKey(l.team, fmt.Sprint(n)) }, // its owner is one
			func(b *Book) (string, []store.WriteItem) { return b.NewPlayer(l.team, "", body(`{"firstName":"Bob"}`)) },
		},
	} {
		l.do(t, func(b *Book) {
			for n := range part.most - 1 {
				b.Commit(b.Put(part.there(b, n), table.If{}))
			}
			b.Make(part.make(b))
		})
		if err := update(func(tx *store.Tx) error {
			b := l.Open(tx, "ana")
			b.Make(part.make(b))
			return b.Err()
		}); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A game starts and ends in the writer's turn, which looks at the status alone of its team's other games.
func TestCostOfAStartAmongManyGames(t *testing.T) {
	_, update := openBook(t)
	l := newLedger(t, update)
	l.do(t, func(b *Book) {
		for n := range MaxGames {
			row := gameKey(fmt.Sprint(n))
			row["status"], row["scheduledStart"] = attr.S(Final), b.now()
			addIndexKey(row, indexGames, prefixTeam+l.team, prefixGame+fmt.Sprint(n))
			b.Commit(b.Put(row, table.If{}))
		}
	})
	l.do(t, func(b *Book) {
		counted := testing.AllocsPerRun(1, func() { b.Count(b.entriesOf(l.team), MaxGames+1) })
		for game, want := range map[string]string{l.game: "", "0": l.game} {
			got := ""
			allocated := testing.AllocsPerRun(1, func() { got = b.otherLiveGame(&Game{ID: game, TeamID: l.team}) })
			if got != want || allocated > 2*counted {
				t.Errorf("beside %s there is %q, want %q; %v allocations, and %v to count the games", game, got, want, allocated, counted)
			}
		}
	})
}
