package node_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// putExpiring creates a node's store with items that expire at the given times.
func putExpiring(t *testing.T, dir string, times ...time.Time) {
	t.Helper()
	var items []attr.Item
	for _, at := range times {
		items = append(items, attr.Item{"cacheKey": attr.S(at.String()), "ttl": attr.Int(at.Unix())})
	}
	putDisplay(t, dir, items...)
}

func putDisplay(t *testing.T, dir string, items ...attr.Item) {
	t.Helper()
	s, err := store.Open(filepath.Join(dir, "touchline.db"), store.Options{NoSync: true})
	if err == nil {
		err = cricketSchema().Apply(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		for _, it := range items {
			if _, err := tx.Put(store.PutItem{Table: tables.Display, Item: it}); err != nil {
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

// A running node sweeps expired items, at its start and periodically, and reports it.
func TestNodeSweeps(t *testing.T) {
	start := time.Date(2019, 7, 14, 9, 59, 0, 0, time.UTC)
	dir := t.TempDir()
	putExpiring(t, dir, start.Add(-time.Hour), start.Add(5*time.Minute), start.Add(time.Hour))
	c := clock.NewStepped(start)
	n, err := node.Open(t.Context(), dir, node.Parts{Clock: c, Log: slog.New(slog.DiscardHandler), Auth: keyed, Apps: []*app.App{cricketapp.New()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Join()()
	addr, end := runNode(t, n)
	for _, want := range []uint64{1, 1, 2} {
		if err := clock.Sleep(t.Context(), c, 4*time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := readStatus(t, addr).Chores.Swept; got != want {
			t.Errorf("at %s %d items are swept, want %d", c.Now(), got, want)
		}
	}
	end()
}

const operatorKey = "a-key-for-the-tests-alone"

// keyed admits holders of the operator's key.
func keyed(*store.Store) (*auth.Verifier, error) { return auth.New(auth.Config{APIKey: operatorKey}) }

func readStatus(t *testing.T, addr string) (st operator.NodeStatus) {
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

// A running node verifies all items, and reports when it has and what it found.
func TestNodeVerifiesItems(t *testing.T) {
	start := time.Date(2019, 7, 14, 9, 59, 0, 0, time.UTC)
	dir := t.TempDir()
	const state = "a state for the display"
	putDisplay(t, dir, attr.Item{"cacheKey": attr.S("final"), "state": attr.S(state)}, attr.Item{"cacheKey": attr.S("other")})
	damage(t, filepath.Join(dir, "touchline.db"), state)
	c := clock.NewStepped(start)
	var log bytes.Buffer
	n, err := node.Open(t.Context(), dir, node.Parts{Clock: c, Log: slog.New(slog.NewTextHandler(&log, nil)), Auth: keyed, Apps: []*app.App{cricketapp.New()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Join()()
	addr, end := runNode(t, n)
	if err := clock.Sleep(t.Context(), c, 4*time.Minute); err != nil {
		t.Fatal(err)
	}
	got := readStatus(t, addr).Chores.Verify
	if got.Ended.IsZero() || got.Items < 2 || got.Damaged != 2 || !slices.Equal(got.Where, []string{tables.Display, "journal"}) {
		t.Errorf("got %+v", got)
	}
	end()
	if n := strings.Count(log.String(), "items on disk are damaged"); n != 1 || !strings.Contains(log.String(), tables.Display) {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

// damage flips a bit of a text wherever it occurs in a file: in the item and in its journal record.
func damage(t *testing.T, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(b, []byte(text)) < 2 {
		t.Fatal("there is no such text")
	}
	b = bytes.ReplaceAll(b, []byte(text), append([]byte{text[0] ^ 1}, text[1:]...))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
