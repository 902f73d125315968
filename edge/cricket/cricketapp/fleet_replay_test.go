package cricketapp

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/hang"
)

// Of two nodes with a replay set each, only one reads its set. The other refuses to start a replay and names the first node. It
// gets no slot, because it cannot read the first node's matches.
func TestOneReplaySetOfAFleetIsRead(t *testing.T) {
	items, cloud := simulated(t)
	cloud.Config.LeaseTTL = 5 * time.Minute // the first node stays the first, however busy the machine is
	var nodes [2]*played
	for i := range nodes {
		d, err := newReplaySet(clock.Real(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		c := *cloud
		c.Items = &simItems{Cloud: items.Cloud}
		n, err := openPlayed(t.Context(), t.TempDir(), node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Cloud: &c},
			DefaultSettings(), Outside{Feed: d.feed, Replays: d})
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = n
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx, ln) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		for deadline := time.Now().Add(hang.Limit(time.Minute)); i == 0 && !n.poller.Status().Leading; <-time.After(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the first node does not lead: %+v", n.poller.Status())
			}
		}
	}
	ask := replay.StartReplay{RecordingID: "1192877", Speed: 1}
	for deadline := time.Now().Add(hang.Limit(time.Minute)); ; <-time.After(10 * time.Millisecond) {
		_, err := nodes[1].Replays.Start(ask)
		if !fault.Is(err, fault.Conflict) || time.Now().After(deadline) {
			t.Fatalf("a start at the node on standby: %v", err)
		}
		if strings.Contains(err.Error(), nodes[0].host.Node) {
			break
		}
	}
	if _, err := nodes[0].Replays.Start(ask); err != nil {
		t.Error(err)
	}
	if n := len(nodes[1].Replays.List()); n != 0 {
		t.Errorf("%d replays that no node reads", n)
	}
	if st := nodes[1].poller.Status(); st.Seat != 0 {
		t.Errorf("the second node has slot %d", st.Seat)
	}
}
