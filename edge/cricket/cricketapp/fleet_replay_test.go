package cricketapp

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
)

// Of two nodes with a replay set each, only one reads its set. The other refuses to start a replay and names the first node. It
// gets no slot, because it cannot read the first node's matches.
func TestOneReplaySetOfAFleetIsRead(t *testing.T) { synctest.Test(t, playOneReplaySetOfAFleetIsRead) }

func playOneReplaySetOfAFleetIsRead(t *testing.T) {
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
		n, err := openPlayed(t.Context(), longDir(t), node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Cloud: &c},
			DefaultSettings(), Outside{Feed: d.feed, Replays: d})
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = n
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx, web.NewPipes()) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			wait.Until(t, "the first node leads", func() bool { return n.poller.Status().Leading }, func() any { return n.poller.Status() })
		}
	}
	ask := replay.StartReplay{RecordingID: "1192877", Speed: 1}
	var err error
	wait.Until(t, "a start at the node on standby names the node that reads", func() bool {
		if _, err = nodes[1].Replays.Start(ask); !fault.Is(err, fault.Conflict) {
			t.Fatalf("a start at the node on standby: %v", err)
		}
		return strings.Contains(err.Error(), nodes[0].host.Node)
	}, func() any { return err })
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
