package hacktracker

import (
	"cmp"
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
)

// ledger is a game in a store, and what was scored of it, as somebody keeps it on paper.
type ledger struct {
	*Service
	update     func(work func(tx *store.Tx) error) error
	team, game string
	players    []string
	kept       []entry
}

type entry struct {
	id, player, result, hit string
	rbis                    int
	at                      time.Time
}

// body is a request's body.
func body(text string, args ...any) (in Input) {
	if err := json.Unmarshal(fmt.Appendf(nil, text, args...), &in); err != nil {
		panic(err)
	}
	return in
}

// openBook opens a store, and returns what changes it.
func openBook(t testing.TB) (st *store.Store, update func(work func(tx *store.Tx) error) error) {
	t.Helper()
	st = storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, Table("book"))
	return st, func(work func(tx *store.Tx) error) error { return st.Update(t.Context(), work) }
}

// newLedger begins a game of a new team with three players.
func newLedger(t rapid.TB, update func(work func(tx *store.Tx) error) error) *ledger {
	t.Helper()
	l := &ledger{Service: &Service{Table: "book"}, update: update}
	l.do(t, func(tx *store.Tx) error {
		err := l.Enrol(tx, "ana", "", "Ana")
		made := func(id string, writes []store.WriteItem, failed error) string {
			err = errors.Join(err, failed)
			if err == nil {
				err = tx.TransactWrite(store.TransactWrite{Items: writes})
			}
			return id
		}
		l.team = made(l.NewTeam(tx, "ana", "", body(`{"name":"Bad News","teamType":"MANAGED"}`)))
		var slots []string
		for i, name := range []string{"Abe", "Bob", "Cy"} {
			l.players = append(l.players, made(l.NewPlayer(tx, "ana", l.team, "", body(`{"firstName":%q}`, name))))
			slots = append(slots, fmt.Sprintf(`{"playerId":%q,"battingOrder":%d}`, l.players[i], i+1))
		}
		l.game = made(l.NewGame(tx, "ana", "", body(`{"teamId":%q,"status":"IN_PROGRESS","lineup":[%s]}`, l.team, strings.Join(slots, ","))))
		return err
	})
	return l
}

func (l *ledger) do(t rapid.TB, work func(tx *store.Tx) error) {
	t.Helper()
	if err := l.update(work); err != nil {
		t.Fatal(err)
	}
}

// score has an at-bat scored with a key.
func (l *ledger) score(tx *store.Tx, e *entry) error {
	hit := ""
	if e.hit != "" {
		hit = fmt.Sprintf(`,"hitType":%q`, e.hit)
	}
	_, err := l.NewAtBat(tx, "ana", l.game, e.id, e.at, body(`{"playerId":%q,"result":%q,"inning":1,"outs":0,"battingOrder":1,"rbis":%d%s}`, e.player, e.result, e.rbis, hit))
	return err
}

// columns are what the paper comes to: PA AB H 2B 3B HR RBI BB HBP K SF SH TB, counted by the rules as a scorer reads them.
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

// innings are the runs batted in by inning, and where the game stands.
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

// edit is one of what scorers do to at-bats: score, also late, say the same again, correct, take the last back or any, finish and go on.
func (l *ledger) edit(t *rapid.T, tx *store.Tx, results []string, at *time.Time) error {
	g, err := l.Game(tx, "ana", l.game)
	if err != nil {
		return err
	}
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
			return nil
		}
		e := entry{player: rapid.SampledFrom(l.players).Draw(t, "player"), result: result, rbis: rbis, hit: rapid.SampledFrom([]string{"", "fly_ball", "bunt"}).Draw(t, "hit")}
		*at = at.Add(time.Second)
		if e.at = *at; what == "late" {
			e.at = l.kept[some].at.Add(-time.Millisecond)
		}
		for slices.ContainsFunc(l.kept, func(o entry) bool { return o.at.Equal(e.at) }) {
			e.at = e.at.Add(-time.Millisecond)
		}
		e.id = ulid.MustNew(ulid.Timestamp(e.at), nil).String()
		l.kept = append(l.kept, e)
		slices.SortFunc(l.kept, func(a, b entry) int { return a.at.Compare(b.at) })
		return l.score(tx, &e)
	case "again":
		return l.score(tx, &l.kept[some])
	case "correct":
		l.kept[some].result, l.kept[some].rbis = result, rbis
		_, err = l.ChangeAtBat(tx, "ana", l.game, l.kept[some].id, body(`{"result":%q,"rbis":%d}`, result, rbis))
	case "turn":
		status := Final
		if g.Status == Final {
			status = InProgress
		}
		_, err = l.ChangeGame(tx, "ana", l.game, body(`{"status":%q}`, status))
	default:
		if what == "undo" {
			some = len(l.kept) - 1
		}
		err = l.DeleteAtBat(tx, "ana", l.game, l.kept[some].id)
		l.kept = slices.Delete(l.kept, some, some+1)
	}
	return err
}

// Whatever is scored, corrected and taken back through the service, at whatever moment it happened: state, box score, and the figures of
// team and players are those of somebody who counts what is left anew.
func TestEditsComeToARecount(t *testing.T) {
	_, update := openBook(t)
	results := strings.Fields("1B 2B 3B HR BB HBP K OUT FO GO PO LO SF SH SAC FC E DP TP")
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger(t, update)
		at := time.Date(2026, 5, 1, 18, 0, 0, 0, time.UTC)
		for range rapid.IntRange(1, 40).Draw(t, "edits") {
			l.do(t, func(tx *store.Tx) error { return l.edit(t, tx, results, &at) })
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
	l.do(t, func(tx *store.Tx) (err error) {
		if state, err = l.State(tx, "ana", l.game); err != nil {
			return err
		}
		if box, err = l.Box(tx, "ana", l.game); err != nil {
			return err
		}
		if team, err = l.TeamStats(tx, "ana", l.team, ""); err != nil {
			return err
		}
		for i, player := range l.players {
			one, err := l.PlayerStats(tx, "ana", player, l.team)
			if err != nil {
				return err
			}
			want := columns(l.kept, player)
			in := slices.IndexFunc(team.Players, func(p PlayerLine) bool { return p.PlayerID == player })
			for what, got := range map[string][13]int{"alone": counted(&one.Batting.Line), "box": counted(&box.Batters[i].Line), "team": counted(&team.Players[in].Line)} {
				if got != want {
					t.Errorf("player %d, %s: %v, want %v", i, what, got, want)
				}
			}
		}
		return nil
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

// A game has five hundred at-bats; what was scored before is answered again all the same, and a place that was given up is free.
func TestFiveHundredAtBats(t *testing.T) {
	_, update := openBook(t)
	l := newLedger(t, update)
	at := time.Date(2026, 5, 1, 18, 0, 0, 0, time.UTC)
	row := func(i int) *entry {
		e := entry{player: l.players[0], result: "1B", at: at.Add(time.Duration(i) * time.Minute)}
		e.id = ulid.MustNew(ulid.Timestamp(e.at), nil).String()
		return &e
	}
	l.do(t, func(tx *store.Tx) error {
		if err := l.score(tx, row(0)); err != nil {
			return err
		}
		like, err := tx.Get("book", atBatKey(l.game, row(0).id))
		for i := 1; i < 499 && err == nil; i++ { // as another writer's, which nobody counts
			one := maps.Clone(like)
			one["SK"], one["atBatId"] = attr.S(prefixAtBat+row(i).id), attr.S(row(i).id)
			_, err = tx.Put(store.PutItem{Table: "book", Item: one, NoOld: true})
		}
		return cmp.Or(err, l.score(tx, row(499)))
	})
	l.do(t, func(tx *store.Tx) error {
		if err := l.score(tx, row(500)); !fault.Is(err, fault.Invalid) || err.Error() != "A game has at most 500 at-bats" {
			t.Errorf("the 501st: %v", err)
		}
		if err := l.score(tx, row(499)); err != nil {
			t.Errorf("the last one again: %v", err)
		}
		if err := l.DeleteAtBat(tx, "ana", l.game, row(7).id); err != nil {
			return err
		}
		return l.score(tx, row(500))
	})
}

// At-bats of a deleted game go, whether they or the deletion come from another node, and in whatever order; those of a game that is
// there stay.
func TestDeletedGamesAreEmptied(t *testing.T) {
	st, update := openBook(t)
	gone, there := newLedger(t, update), newLedger(t, update)
	at := time.Date(2026, 5, 1, 18, 0, 0, 0, time.UTC)
	left := func(l *ledger) (n int) {
		t.Helper()
		l.do(t, func(tx *store.Tx) error {
			w := l.on(tx)
			n = len(w.atBats(l.game))
			return w.end()
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
		gone.do(t, func(tx *store.Tx) error { return gone.Emptied(tx, records) })
	}
	for _, l := range []*ledger{gone, there} {
		l.do(t, func(tx *store.Tx) error {
			for i := range 60 { // more than go in one transaction
				e := entry{player: l.players[0], result: "1B", at: at.Add(time.Duration(i) * time.Second)}
				if err := l.score(tx, &e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	consume()
	if a, b := left(gone), left(there); a != 60 || b != 60 {
		t.Fatalf("%d and %d at-bats before the deletion", a, b)
	}
	gone.do(t, func(tx *store.Tx) error { // as it comes from another node
		_, err := tx.Delete(store.DeleteItem{Table: "book", Key: gameKey(gone.game)})
		if err == nil {
			_, err = tx.Put(store.PutItem{Table: "book", Item: deletedKey(gone.game)})
		}
		return err
	})
	consume()
	if a, b := left(gone), left(there); a != 0 || b != 60 {
		t.Errorf("%d and %d at-bats behind the deletion", a, b)
	}
	gone.do(t, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "book", Item: atBatKey(gone.game, "late")})
		return err
	})
	consume()
	if a := left(gone); a != 0 {
		t.Errorf("%d at-bats of it that came late", a)
	}
	there.do(t, func(tx *store.Tx) error { // a game that was made anew keeps what it has
		_, err := tx.Put(store.PutItem{Table: "book", Item: deletedKey(there.game)})
		return err
	})
	consume()
	if b := left(there); b != 60 {
		t.Errorf("%d at-bats of the game that is there", b)
	}
}
