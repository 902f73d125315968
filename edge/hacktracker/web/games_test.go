package web

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// games writes games of a team, three of a day and some without a date, as rows of another node arrive.
func (r *rig) games(team string, from, to int) {
	r.t.Helper()
	if err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
		for n := from; n < to; n++ {
			game := fmt.Sprintf("game-%04d", n)
			row := attr.Item{
				"PK": attr.S("GAME#" + game), "SK": attr.S("METADATA"), "teamId": attr.S(team), "status": attr.S("FINAL"), "createdAt": attr.S("2026-01-01T00:00:00.000Z"),
				"GSI3PK": attr.S("TEAM#" + team), "GSI3SK": attr.S("GAME#" + game),
			}
			if n%10 > 0 {
				row["scheduledStart"] = attr.S(r.now.AddDate(0, 0, n/3).Format("2006-01-02T15:04:05Z"))
			}
			if _, err := tx.Put(store.PutItem{Table: tableName, Item: row}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		r.t.Fatal(err)
	}
}

var nextPage = regexp.MustCompile(`^<\?(.+)>; rel="next"$`)

// The pages of a long list of games have all of them once, latest first, also if games are added meanwhile. A client that knows no pages gets
// an array of the latest.
func TestGamesByPages(t *testing.T) {
	r := newRig(t)
	team, _ := r.team("ana")
	path := "/teams/" + team + "/games"
	r.games(team, 0, hacktracker.MaxGames)
	read := func(query string) (games []hacktracker.Game, next string) {
		t.Helper()
		w := r.ask("ana", "GET", path+query, "")
		if err := json.Unmarshal(w.Body.Bytes(), &games); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %v", query, w.Code, err)
		}
		if link := w.Header().Get("Link"); link != "" {
			next = "?" + nextPage.FindStringSubmatch(link)[1]
		}
		return games, next
	}
	for _, query := range []string{"", "?limit=100"} {
		var all []hacktracker.Game
		pages, most := 0, 0
		for more := true; more; pages++ {
			games, next := read(query)
			all, query, more, most = append(all, games...), next, next != "", max(most, len(games))
			if pages == 1 { // one that comes first, one in the middle, and one without a date
				r.games(team, hacktracker.MaxGames+100, hacktracker.MaxGames+101)
				r.games(team, hacktracker.MaxGames+1, hacktracker.MaxGames+3)
				r.remove("GAME#game-2001", "METADATA")
			}
		}
		seen := map[string]int{}
		for i := range all {
			seen[all[i].ID]++
			if i > 0 && all[i].ScheduledStart > all[i-1].ScheduledStart {
				t.Errorf("%s is after %s", all[i].ScheduledStart, all[i-1].ScheduledStart)
			}
		}
		for n := range hacktracker.MaxGames {
			if id := fmt.Sprintf("game-%04d", n); seen[id] != 1 {
				t.Errorf("%s %d times on %d pages", id, seen[id], pages)
			}
		}
		if want := (hacktracker.MaxGames + most - 1) / most; pages < want || pages > want+1 || most > wholeList {
			t.Errorf("%d pages of %d games", pages, most)
		}
		for n := hacktracker.MaxGames; n < hacktracker.MaxGames+101; n++ {
			r.remove(fmt.Sprintf("GAME#game-%04d", n), "METADATA")
		}
	}
	for _, bad := range []string{"?limit=0", "?limit=101", "?cursor=%21", "?cursor=bnVsbA", "?cursor=eA"} {
		if w := r.ask("ana", "GET", path+bad, ""); w.Code != 400 || !strings.Contains(w.Body.String(), "error") {
			t.Errorf("%s: %d %s", bad, w.Code, w.Body)
		}
	}
}

var tileLink = regexp.MustCompile(`/-/games/(game-\d+)"`)

// The schedule lists a page of a long list, and leads to the earlier games.
func TestLongSchedule(t *testing.T) {
	r := newRig(t)
	team, _ := r.team("ana")
	r.games(team, 0, 450)
	more := regexp.MustCompile(`href="/hacktracker/-(/teams/` + team + `/schedule\?cursor=[\w-]+)">Earlier games`)
	var all []string
	sizes := []int{}
	for path := "/teams/" + team + "/schedule"; path != ""; {
		body := r.page("ana", path, 200, "Games")
		n := 0
		for _, found := range tileLink.FindAllStringSubmatch(body, -1) {
			all, n = append(all, found[1]), n+1
		}
		sizes, path = append(sizes, n), ""
		if next := more.FindStringSubmatch(body); next != nil {
			path = next[1]
		}
	}
	if !slices.Equal(sizes, []int{200, 200, 50}) || all[0] != "game-0447" && all[0] != "game-0448" && all[0] != "game-0449" {
		t.Errorf("pages of %v games, the first %s", sizes, all[0])
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != 450 {
		t.Errorf("%d games", len(all))
	}
	r.page("ana", "/teams/"+team+"/schedule?cursor=%21", 400)
}
