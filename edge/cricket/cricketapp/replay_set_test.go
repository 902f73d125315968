package cricketapp

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/storetest"
)

// Replays that admins have started continue after a restart of the node.
func TestReplaysSurviveARestart(t *testing.T) {
	s := storetest.Open(t)
	if err := schema().Apply(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	now := clock.NewStepped(time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC))
	start := func() *replaySet {
		t.Helper()
		d, err := newReplaySet(now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.open(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := start()
	seen := 0
	first.wake = func() { seen++ }
	kept, err := first.Start(replay.StartReplay{RecordingID: "1192877", Speed: 2, Faults: 7})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := first.Start(replay.StartReplay{RecordingID: "1144530", Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if kept, err = first.Control(kept.ID, replay.Control{Action: "seek", Position: 60}); err != nil {
		t.Fatal(err)
	}
	if err := first.Remove(gone.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Start(replay.StartReplay{RecordingID: "none", Speed: 1}); err == nil || seen != 4 {
		t.Errorf("%d of 4 changes were reported, %v", seen, err)
	}
	again := start().List()
	if diff := cmp.Diff([]replay.Playing{kept}, again); diff != "" {
		t.Errorf("replays after a restart (-before +after):\n%s", diff)
	}
	if _, err := start().Start(replay.StartReplay{RecordingID: "none", Speed: 1}); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown recording: %v, want fault.NotFound", err)
	}
	if n := len(start().List()); n != 1 {
		t.Errorf("a refused start left %d replays, want 1", n)
	}
}
