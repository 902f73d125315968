package hacktracker

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// Three invented games come to the figures of a program that shares no code with this package (internal/tools/recount), innings too:
// the sheets have them as they were played, here they are derived.
func TestSheets(t *testing.T) {
	sheets, err := filepath.Glob("testdata/sheets/*.sheet")
	if err != nil || len(sheets) != 3 {
		t.Fatalf("%v, %v", sheets, err)
	}
	for _, name := range sheets {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		g := Game{Lineup: slots(strings.TrimPrefix(lines[0], "lineup"))}
		var all []AtBat
		var played []int
		for inning, line := range lines[1:] {
			for _, a := range plays(line) {
				player, place, _ := strings.Cut(a.PlayerID, "@")
				a.ID, a.PlayerID = fmt.Sprintf("%03d", len(all)), player
				a.CreatedAt = fmt.Sprintf("2026-05-01T1%d:%02d:00.000Z", len(all)/60, len(all)%60)
				if i := slices.IndexFunc(g.Lineup, func(s Slot) bool { return s.PlayerID == player }); i >= 0 {
					a.BattingOrder = i + 1
				} else if a.BattingOrder, err = strconv.Atoi(place); err != nil {
					t.Fatal(err)
				}
				if result, fly := strings.CutSuffix(a.Result, "~"); fly {
					a.Result, a.HitType = result, flyBall
				}
				all, played = append(all, a), append(played, inning+1)
			}
		}
		box := NewBox(&g, nil, all, nil)
		var b strings.Builder
		for i := range box.Batters {
			batting := box.Batters[i].Batting()
			fmt.Fprintln(&b, box.Batters[i].PlayerID, figures(&batting))
		}
		fmt.Fprintln(&b, "team", figures(&box.Totals))
		fmt.Fprintln(&b, "line", strings.Trim(fmt.Sprint(box.LineScore), "[]"))
		want, err := os.ReadFile(strings.TrimSuffix(name, ".sheet") + ".golden")
		if err != nil || string(want) != b.String() || !slices.Equal(played, box.State.Innings) {
			t.Errorf("%s: innings %v\n%s, want\n%s (%v)", name, box.State.Innings, &b, want, err)
		}
	}
}

func figures(b *Batting) string {
	return strings.Trim(fmt.Sprint([]any{
		b.PA, b.AB, b.H, b.Doubles, b.Triples, b.HR, b.RBI, b.BB, b.HBP, b.K, b.SF, b.SH, b.TB, b.AVG, b.OBP, b.SLG, b.OPS, b.ISO, b.BABIP,
	}), "[]")
}

// BenchmarkBox reads the box score of the longest game, 500 at-bats, from a store.
func BenchmarkBox(b *testing.B) {
	st := storetest.OpenWith(b, filepath.Join(b.TempDir(), "s.db"), store.Options{NoSync: true}, Table("box"))
	s := &Service{Table: "box"}
	var game string
	in := func(text string) (in Input) {
		if err := json.Unmarshal([]byte(text), &in); err != nil {
			b.Fatal(err)
		}
		return in
	}
	if err := st.Update(b.Context(), func(tx *store.Tx) error {
		if err := s.Enrol(tx, "ana", "", "Ana"); err != nil {
			return err
		}
		team, writes, err := s.NewTeam(tx, "ana", "", in(`{"name":"Bad News","teamType":"MANAGED"}`))
		if err = errors.Join(err, tx.TransactWrite(store.TransactWrite{Items: writes})); err != nil {
			return err
		}
		own, err := s.Roster(tx, "ana", team, RosterQuery{})
		if err != nil {
			return err
		}
		lineup := fmt.Sprintf(`{"teamId":%q,"status":"IN_PROGRESS","lineup":[{"playerId":%q,"battingOrder":1}]}`, team, own[0].ID)
		if game, writes, err = s.NewGame(tx, "ana", "", in(lineup)); err == nil {
			err = tx.TransactWrite(store.TransactWrite{Items: writes})
		}
		for i := 0; i < MaxAtBats && err == nil; i++ {
			body := fmt.Sprintf(`{"playerId":%q,"result":%q,"inning":1,"outs":0,"battingOrder":1,"hitLocation":{"x":0.5,"y":0.25}}`, own[0].ID, []string{"1B", "GO", "BB", "HR", "K"}[i%5])
			_, err = s.NewAtBat(tx, "ana", game, "", tx.Now().Add(time.Duration(i)*time.Minute), in(body))
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := st.View(b.Context(), func(tx *store.Tx) error {
			box, err := s.Box(tx, "ana", game)
			if err == nil && box.Totals.PA != MaxAtBats {
				b.Errorf("%d at-bats", box.Totals.PA)
			}
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
}
