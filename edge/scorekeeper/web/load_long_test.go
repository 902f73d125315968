//go:build long

package web

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
)

// processor returns the CPU time of this process, players and node together.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Sixty-four players, with their pages open, make six guesses each, all at once. Each guess is on disk before it is answered, and none is lost.
// The CPU time measures the cost of a guess independently of other load on the machine.
func TestManyGuessAtOnce(t *testing.T) {
	r := newRigOn(t, store.Options{}, slog.LevelInfo)
	r.answer(day, "manna")
	base, _ := web.Run(t, r.server)
	const players = 64
	guesses := []string{"crane", "slate", "moist", "proud", "brick", "vexed"}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: players}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	ask := func(player int, method, path string, body string) {
		req, err := http.NewRequestWithContext(t.Context(), method, base+"/scorekeeper"+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Authorization", fmt.Sprint("Bearer u", player))
		resp, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("player %d: %s", player, resp.Status)
		}
	}
	together := func(do func(player int)) {
		var all sync.WaitGroup
		for p := range players {
			all.Go(func() { do(p) })
		}
		all.Wait()
	}
	together(func(p int) { ask(p, "GET", "/game/"+day, "") })
	took := make([]time.Duration, players*len(guesses))
	worked := processor()
	together(func(p int) {
		for i, guess := range guesses {
			began := time.Now()
			ask(p, "POST", "/guess", guessBody(guess))
			took[p*len(guesses)+i] = time.Since(began)
		}
	})
	worked = processor() - worked
	if err := r.store.View(t.Context(), func(tx *store.Tx) error {
		for p := range players {
			if v, err := r.service.Game(tx, fmt.Sprint("u", p), day); err != nil || v.Moves != len(guesses) {
				t.Errorf("player %d: %d guesses, %v", p, v.Moves, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(took)
	t.Logf("%d guesses, each %v of the processor: half within %v, 99 %% within %v, all within %v", len(took), worked/time.Duration(len(took)), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}
