package hacktrackerapp

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// The marker of a deleted game stays for exactly thirty days, so that rows that other nodes bring meanwhile are removed too.
func TestDeletedGamesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New()
		s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, a.Schema().Tables...)
		in, err := a.Open(t.Context(), &app.Host{Store: s, Clock: clock.Real(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		service, table := &hacktracker.Service{Handle: hacktracker.Rows("hacktracker-prod")}, "hacktracker-prod"
		var game string
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			b := service.Open(tx, "ana")
			b.Enrol("ana@example.org", "Ana")
			b.Make(b.NewTeam("", body(map[string]any{"name": "Default", "teamType": "PERSONAL"})))
			game = b.Make(b.NewGame("", nil))
			b.DeleteGame(game)
			return b.Err()
		}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, run := range in.Loops {
				if err := run(ctx); err != nil {
					t.Error(err)
				}
			}
		}()
		kept := func() (is bool) {
			t.Helper()
			if err := s.View(t.Context(), func(tx *store.Tx) error {
				it, err := tx.Get(table, attr.Item{"PK": attr.S("GAME#" + game), "SK": attr.S("DELETED")})
				is = it != nil
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return is
		}
		for _, step := range []struct {
			after time.Duration
			kept  bool
		}{{time.Minute, true}, {29 * 24 * time.Hour, true}, {2 * 24 * time.Hour, false}} {
			<-time.After(step.after)
			synctest.Wait()
			if kept() != step.kept {
				t.Errorf("%v later: %t", step.after, !step.kept)
			}
		}
		cancel()
		<-done
	})
}
