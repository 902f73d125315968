//go:build long

package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
)

// In a season of 30 games with 20 goals each, over a store that syncs to disk, the test measures how long the season's table takes, and a
// goal while 16 clients record goals, each in its own game. It logs the figures, and fails if the table or a goal takes a second.
func TestSeasonUnderLoad(t *testing.T) {
	r := newRigOver(t, store.Options{})
	r.league()
	kickOff := func(game string) {
		r.in("boss") // a session lasts a day
		r.in("keeper")
		r.want(201, "", "boss", "POST", "/v1/sessions/d/games", fmt.Sprintf(`{"gameId":%q,"gameStartTs":"2026-07-04T10:00:00Z"}`, game))
		for _, team := range []string{"red", "blue", "yellow"} {
			r.want(200, "", "keeper", "PUT", "/v1/games/"+game+"/roster/"+team[:1]+"1", fmt.Sprintf(`{"teamId":%q}`, team))
		}
		r.want(200, "", "keeper", "POST", "/v1/games/"+game+"/thirds/1/start", "")
	}
	for n := range 30 {
		game := fmt.Sprint("g", n)
		kickOff(game)
		for third := 1; third <= 3; third++ {
			if third > 1 {
				r.want(200, "", "keeper", "POST", fmt.Sprint("/v1/games/", game, "/thirds/", third, "/start"), "")
			}
			for range 7 - third/3 {
				r.want(201, "", "keeper", "POST", "/v1/games/"+game+"/goals", redGoal)
			}
			r.now = r.now.Add(20 * time.Minute)
			r.want(200, "", "keeper", "POST", fmt.Sprint("/v1/games/", game, "/thirds/", third, "/finish"), "")
		}
		r.export()
		r.want(200, "", "keeper", "POST", "/v1/games/"+game+"/finish", "")
	}
	var tables []time.Duration
	for range 50 {
		began := time.Now()
		w := web.Ask(r.server.Handler(), http.MethodGet, "/3fc/v1/public/seasons/s/standings", "")
		tables = append(tables, time.Since(began))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"played":30`) {
			t.Fatal(w.Code, w.Body)
		}
	}
	for n := range 16 {
		kickOff(fmt.Sprint("live", n))
	}
	var mu sync.Mutex
	var goals []time.Duration
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			for range 20 {
				began := time.Now()
				w := web.Ask(r.server.Handler(), http.MethodPost, fmt.Sprint("/3fc/v1/games/live", n, "/goals"), redGoal, "Cookie", cookieName+"="+r.cookies["keeper"])
				took := time.Since(began)
				mu.Lock()
				goals = append(goals, took)
				mu.Unlock()
				if w.Code != http.StatusCreated {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
	all.Wait()
	for name, took := range map[string][]time.Duration{"table": tables, "goal": goals} {
		slices.Sort(took)
		p50, p99 := took[len(took)/2], took[len(took)*99/100]
		t.Logf("%s: p50 %v, p99 %v of %d", name, p50, p99, len(took))
		if p99 > time.Second {
			t.Errorf("%s: p99 %v", name, p99)
		}
	}
}
