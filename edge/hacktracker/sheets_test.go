package hacktracker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Three invented games give the same figures as a program that shares no code with this package (internal/tools/recount). That includes the
// innings, which the sheets record and this package derives.
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
	_, update := openBook(b)
	l := &ledger{Service: &Service{Rows("book")}, update: update}
	l.do(b, func(k *Book) {
		k.Enrol("", "Ana")
		l.team = k.Make(k.NewTeam("", body(`{"name":"Bad News","teamType":"MANAGED"}`)))
		l.players = []string{k.Roster(l.team, RosterQuery{})[0].ID}
		l.game = k.Make(k.NewGame("", body(`{"teamId":%q,"status":"IN_PROGRESS","lineup":[{"playerId":%q,"battingOrder":1}]}`, l.team, l.players[0])))
		for i := range MaxAtBats {
			k.NewAtBat(l.game, "", k.Tx.Now().Add(time.Duration(i)*time.Minute), nil, body(`{"playerId":%q,"result":%q,"inning":1,"outs":0,"battingOrder":1,"hitLocation":{"x":0.5,"y":0.25}}`,
				l.players[0], []string{"1B", "GO", "BB", "HR", "K"}[i%5]))
		}
	})
	for b.Loop() {
		l.do(b, func(k *Book) {
			if box := k.Box(l.game); box.Totals.PA != MaxAtBats {
				b.Errorf("%d at-bats", box.Totals.PA)
			}
		})
	}
}
