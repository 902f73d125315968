package web

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/store"
)

// schedule creates games a minute apart in a session.
func (r *rig) schedule(session string, from, to int) {
	r.t.Helper()
	for n := from; n < to; n++ {
		start := fmt.Sprintf("2026-07-04T%02d:%02d:00.000Z", n/60, n%60)
		r.change(func(tx *store.Tx) (threefc.Change, error) {
			return r.service.CreateGame(tx, threefc.Game{SessionID: session, GameID: fmt.Sprintf("game-%03d", n), GameStartTs: start})
		})
	}
}

// season creates a season with sessions.
func (r *rig) season(sessions ...string) {
	r.t.Helper()
	r.in("boss")
	r.want(201, "", "boss", "POST", "/v1/leagues", `{"leagueId":"l","name":"League"}`)
	r.want(201, "", "boss", "POST", "/v1/leagues/l/seasons", `{"seasonId":"s","name":"Season"}`)
	for _, session := range sessions {
		r.want(201, "", "boss", "POST", "/v1/seasons/s/sessions", fmt.Sprintf(`{"sessionId":%q,"sessionDate":"2026-07-04"}`, session))
	}
}

// The pages of a season's games, and of a session's, have all of them once, by start, also if games are added meanwhile.
func TestGamesByPages(t *testing.T) {
	const most = threefc.MaxGames
	r := newRig(t)
	r.season("late", "early")
	r.schedule("early", 0, 100)
	r.schedule("late", 100, 200)
	added := 200
	for path, want := range map[string][2]int{"/v1/seasons/s/games": {0, 200}, "/v1/sessions/late/games": {100, 200}} {
		whole := r.ask("boss", "GET", path, "")
		if strings.Contains(whole.Body.String(), "cursor") {
			t.Errorf("%s: %s", path, whole.Body)
		}
		var ids []string
		pages := 0
		for query := "?limit=30"; query != ""; pages++ {
			var page struct {
				Games  []struct{ GameID string }
				Cursor string
			}
			w := r.ask("boss", "GET", path+query, "")
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 || len(page.Games) > 30 || page.Cursor != "" && len(page.Games) < 30 {
				t.Fatalf("%s%s: %d %s", path, query, w.Code, w.Body)
			}
			for _, g := range page.Games {
				ids = append(ids, g.GameID)
			}
			if query = ""; page.Cursor != "" {
				query = "?limit=30&cursor=" + page.Cursor
			}
			if pages == 1 {
				r.schedule("late", added, added+1)
				added++
			}
		}
		if pages < 4 || !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Errorf("%s: %d pages of %v", path, pages, ids)
		}
		for n := want[0]; n < want[1]; n++ {
			if game := fmt.Sprintf("game-%03d", n); !slices.Contains(ids, game) {
				t.Errorf("%s: %s is missing", path, game)
			}
		}
		for _, bad := range []string{"?limit=0", "?limit=101", "?cursor=%21"} {
			if w := r.ask("boss", "GET", path+bad, ""); w.Code != 400 {
				t.Errorf("%s%s: %d %s", path, bad, w.Code, w.Body)
			}
		}
	}
	if added > 100+most {
		t.Fatal("the session is full")
	}
}

// The sessions of a season come by date, and the roles in a league by user.
func TestListsByPages(t *testing.T) {
	r := newRig(t)
	r.season("b", "a")
	r.want(201, "", "boss", "POST", "/v1/seasons/s/sessions", `{"sessionId":"c","sessionDate":"2026-06-04"}`)
	for _, user := range []string{"cy", "abe"} {
		r.want(200, "", "boss", "POST", "/v1/leagues/l/access", `{"userId":"`+user+`","role":"scorekeeper"}`)
	}
	for path, want := range map[string]string{"/v1/seasons/s/sessions": "c a b", "/v1/leagues/l/access": "abe boss@example.org cy"} {
		var ids []string
		for query := "?limit=1"; query != ""; {
			var page struct {
				Sessions []struct{ SessionID string }
				Access   []struct{ UserID string }
				Cursor   string
			}
			if err := json.Unmarshal([]byte(r.want(200, "", "boss", "GET", path+query, "")), &page); err != nil || len(page.Sessions)+len(page.Access) != 1 {
				t.Fatalf("%s%s: %v, %v", path, query, page, err)
			}
			for _, s := range page.Sessions {
				ids = append(ids, s.SessionID)
			}
			for _, a := range page.Access {
				ids = append(ids, a.UserID)
			}
			if query = ""; page.Cursor != "" {
				query = "?limit=1&cursor=" + page.Cursor
			}
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		r.want(400, "cursor", "boss", "GET", path+"?cursor=%21", "")
	}
}

var gameTile = regexp.MustCompile(`/-/games/(game-\d+)"`)

// A long season's page lists the latest games, and leads to pages with all of them.
func TestLongSeason(t *testing.T) {
	r := newRig(t)
	r.season("a", "b", "c")
	r.schedule("a", 0, 150)
	r.schedule("b", 150, 300)
	r.schedule("c", 300, 450)
	tiles := func(body string) (games []string) {
		for _, found := range gameTile.FindAllStringSubmatch(body, -1) {
			games = append(games, found[1])
		}
		return games
	}
	body := r.page("-", "/seasons/s", 200)
	if games := tiles(body); len(games) != tilesOnPage || games[0] != "game-250" || !strings.Contains(body, `href="/3fc/-/seasons/s/games">All games`) {
		t.Errorf("%d games: %v", len(games), games)
	}
	more := regexp.MustCompile(`href="/3fc/-(/seasons/s/games\?cursor=[\w-]+)">Later games`)
	var all []string
	sizes := []int{}
	for path := "/seasons/s/games"; path != ""; {
		body := r.page("-", path, 200)
		games := tiles(body)
		all, sizes, path = append(all, games...), append(sizes, len(games)), ""
		if next := more.FindStringSubmatch(body); next != nil {
			path = next[1]
		}
	}
	if all = slices.Compact(all); !slices.Equal(sizes, []int{200, 200, 50}) || !slices.IsSorted(all) || len(all) != 450 {
		t.Errorf("pages of %v games, %d in all", sizes, len(all))
	}
}
