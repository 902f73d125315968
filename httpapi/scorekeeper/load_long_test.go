//go:build long

package scorekeeper

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
)

// Sixty-four players guess six times each, all at once: no guess is lost.
func TestManyGuessAtOnce(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	base, _ := web.Run(t, r.server)
	const players = 64
	guesses := []string{"crane", "slate", "moist", "proud", "brick", "vexed"}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: players}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	took := make([]time.Duration, players*len(guesses))
	var all sync.WaitGroup
	for p := range players {
		all.Go(func() {
			for i, guess := range guesses {
				req, err := http.NewRequestWithContext(t.Context(), "POST", base+"/scorekeeper/guess", bytes.NewReader([]byte(guessBody(guess))))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", fmt.Sprint("Bearer u", p))
				began := time.Now()
				resp, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
				took[p*len(guesses)+i] = time.Since(began)
				if resp.StatusCode != http.StatusOK {
					t.Errorf("player %d, guess %d: %d", p, i, resp.StatusCode)
				}
			}
		})
	}
	all.Wait()
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
	t.Logf("%d guesses: half within %v, 99 %% within %v, all within %v", len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}
