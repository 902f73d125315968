package node_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func openNode(t *testing.T, c clock.Clock) *node.Node {
	t.Helper()
	n, err := node.Open(t.Context(), t.TempDir(), node.Parts{Clock: c, Log: slog.New(slog.DiscardHandler), Apps: []*app.App{cricketapp.New()}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// memoryNode opens a node over a store in memory.
func memoryNode(t *testing.T, o store.Options) (*store.Store, *node.Node) {
	t.Helper()
	s, err := store.OpenMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	n, err := node.Open(t.Context(), "", node.Parts{Clock: clock.Real(), Store: s, Log: slog.New(slog.DiscardHandler), Apps: []*app.App{cricketapp.New()}})
	if err != nil {
		t.Fatal(err)
	}
	return s, n
}

// runNode runs a node on a free port until end is called, which waits for it and reports its error.
func runNode(t *testing.T, n *node.Node) (addr string, end func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- n.Run(ctx, ln) }()
	return ln.Addr().String(), func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// readiness returns the answer of /readyz?verbose.
func readiness(t *testing.T, addr string) (status int, body string) {
	t.Helper()
	resp, err := (&http.Client{Timeout: time.Minute}).Get("http://" + addr + "/readyz?verbose")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

// Between Open and Run a stepped clock stands still, even if another loop waits for an instant: a match must not be over before the
// node sees it.
func TestClockWaitsForTheNode(t *testing.T) {
	start := time.Date(2019, 7, 14, 9, 59, 0, 0, time.UTC)
	c := clock.NewStepped(start)
	n := openNode(t, c)
	defer c.Join()()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := clock.Sleep(short, c, time.Minute); !errors.Is(err, context.DeadlineExceeded) || !c.Now().Equal(start) {
		t.Errorf("the clock went on to %s without the node (%v)", c.Now(), err)
	}
	_, end := runNode(t, n)
	if err := clock.Sleep(t.Context(), c, time.Minute); err != nil {
		t.Errorf("the clock does not go on with the node: %v", err)
	}
	end()
}

// A node that never runs releases its store and the clock.
func TestCloseWithoutRun(t *testing.T) {
	c := clock.NewStepped(time.Unix(0, 0))
	n := openNode(t, c)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	defer c.Join()()
	if err := clock.Sleep(t.Context(), c, time.Minute); err != nil {
		t.Error(err)
	}
}

// A node whose store is full serves reads, is ready, and reports the problem everywhere.
func TestFullStoreIsTold(t *testing.T) {
	s, n := memoryNode(t, store.Options{MaxSize: 4 << 20})
	addr, end := runNode(t, n)
	if status, body := readiness(t, addr); status != http.StatusOK || !strings.Contains(body, "[+] store ok") {
		t.Errorf("with room: %d %s", status, body)
	}
	var err error
	for i := 0; err == nil && i < 100; i++ {
		err = s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: tables.Display, Item: attr.Item{
				"cacheKey": attr.S(strconv.Itoa(i)), "state": attr.S(strings.Repeat("x", 300_000)),
			}})
			return err
		})
	}
	if !fault.Is(err, fault.Full) {
		t.Fatalf("the store was not filled: %v", err)
	}
	status, body := readiness(t, addr)
	if status != http.StatusOK || !strings.Contains(body, "[!] store: there is no room") || !strings.HasSuffix(body, "ready\n") {
		t.Errorf("without room: %d %s", status, body)
	}
	end()
}

// A node with a missing table is not ready, and names it.
func TestMissingTableIsTold(t *testing.T) {
	s, n := memoryNode(t, store.Options{})
	addr, end := runNode(t, n)
	if status, body := readiness(t, addr); status != http.StatusOK || !strings.Contains(body, "[+] tables ok") {
		t.Errorf("before: %d %s", status, body)
	}
	unprotect := func(set *store.TableSettings) error { set.Protected = false; return nil }
	err := errors.Join(s.UpdateTable(t.Context(), store.TableChange{Table: tables.Devices, Settings: unprotect}),
		s.DropTable(t.Context(), tables.Devices))
	if err != nil {
		t.Fatal(err)
	}
	if status, body := readiness(t, addr); status != http.StatusServiceUnavailable || !strings.Contains(body, "[-] tables: table cricket-devices is missing") {
		t.Errorf("without a table: %d %s", status, body)
	}
	end()
}

// cricketSchema returns the schema of a node with cricket, an application with many tables.
func cricketSchema() migrations.Schema { return node.Schema([]*app.App{cricketapp.New()}) }
