package edge_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/clock"
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
