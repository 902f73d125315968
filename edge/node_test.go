package edge_test

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

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func openNode(t *testing.T, c clock.Clock) *edge.Node {
	t.Helper()
	n, err := edge.Open(t.Context(), t.TempDir(), edge.Parts{Clock: c, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Between Open and Run a stepped clock stands, though another loop waits for an instant already: a match must not be
// over before the node looks.
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
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- n.Run(ctx, ln) }()
	if err := clock.Sleep(t.Context(), c, time.Minute); err != nil {
		t.Errorf("the clock does not go on with the node: %v", err)
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A node that is never run gives its store and the clock back.
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

// A node whose store has no room serves reads, is ready, and says what is wrong wherever it is asked.
func TestFullStoreIsTold(t *testing.T) {
	s, err := store.OpenMemory(store.Options{MaxSize: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	n, err := edge.Open(t.Context(), "", edge.Parts{Clock: clock.Real(), Store: s, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- n.Run(ctx, ln) }()
	client := &http.Client{Timeout: time.Minute}
	read := func(path string) string {
		resp, err := client.Get("http://" + ln.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %v", path, resp.StatusCode, err)
		}
		return string(body)
	}
	if got := read("/readyz?verbose"); !strings.Contains(got, "[+] store ok") {
		t.Errorf("with room: %s", got)
	}
	for i := 0; err == nil && i < 100; i++ {
		err = s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: cricket.TableDisplay, Item: attr.Item{
				"cacheKey": attr.S(strconv.Itoa(i)), "state": attr.S(strings.Repeat("x", 300_000)),
			}})
			return err
		})
	}
	if !fault.Is(err, fault.Full) {
		t.Fatalf("the store was not filled: %v", err)
	}
	if got := read("/readyz?verbose"); !strings.Contains(got, "[!] store: there is no room") || !strings.HasSuffix(got, "ready\n") {
		t.Errorf("without room: %s", got)
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
