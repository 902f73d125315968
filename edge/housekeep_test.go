package edge_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// putExpiring makes the store of a node that kept two states for the display, one of them too long.
func putExpiring(t *testing.T, dir string, times ...time.Time) {
	t.Helper()
	s, err := store.Open(filepath.Join(dir, "touchline.db"), store.Options{NoSync: true})
	if err == nil {
		err = migrations.Apply(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		for _, at := range times {
			it := attr.Item{"cacheKey": attr.S(at.String()), "ttl": attr.Int(at.Unix())}
			if _, err := tx.Put(store.PutItem{Table: cricket.TableDisplay, Item: it}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A running node sweeps what its clock says is over, as it starts and from time to time, and shows it.
func TestNodeSweeps(t *testing.T) {
	start := time.Date(2019, 7, 14, 9, 59, 0, 0, time.UTC)
	dir := t.TempDir()
	putExpiring(t, dir, start.Add(-time.Hour), start.Add(5*time.Minute), start.Add(time.Hour))
	c := clock.NewStepped(start)
	n, err := edge.Open(t.Context(), dir, edge.Parts{Clock: c, Log: slog.New(slog.DiscardHandler), Auth: keyed})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Join()()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- n.Run(ctx, ln) }()
	for _, want := range []uint64{1, 1, 2} {
		if err := clock.Sleep(t.Context(), c, 4*time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := readStatus(t, ln.Addr().String()).Chores.Swept; got != want {
			t.Errorf("at %s %d items are swept, want %d", c.Now(), got, want)
		}
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

const operatorKey = "a-key-for-the-tests-alone"

// keyed lets in who has the operator's key.
func keyed(*store.Store) (*auth.Verifier, error) { return auth.New(auth.Config{APIKey: operatorKey}) }

func readStatus(t *testing.T, addr string) (st httpapi.NodeStatus) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/statusz", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", operatorKey)
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&st); err != nil {
		t.Fatal(err)
	}
	return st
}
