package sportmonks_test

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
)

// A recorded match through the client, ball by ball: at every reading the balls of an innings, as they are
// understood here, add up to the feed's own score line. This one was tied, and so was its super over.
func TestBallsReconcileWithTheScoreLines(t *testing.T) { playMatch(t, "1144530") }

func playMatch(t *testing.T, id string) {
	t.Helper()
	m, err := replay.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	c := clock.NewStepped(m.Start())
	defer c.Join()()
	server := httptest.NewServer(replay.NewFeed(m, c, token))
	defer server.Close()
	client := newClient(t, sportmonks.Config{BaseURL: server.URL + "/api/v2.0", Clock: c})
	readings := 0
	for c.Now().Before(m.End()) {
		r, err := client.Fixture(t.Context(), id, true)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Unchanged {
			readings++
			reconcile(t, &r.Snapshots[0])
		}
		if err := clock.Sleep(t.Context(), c, 40*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if readings < 10 {
		t.Errorf("only %d readings", readings)
	}
}

func reconcile(t *testing.T, s *cricket.Snapshot) {
	t.Helper()
	runs, wickets, legal := map[int]int{}, map[int]int{}, map[int]int{}
	for i := range s.Balls {
		b := &s.Balls[i]
		runs[b.Innings] += b.Total()
		if b.Wicket {
			wickets[b.Innings]++
		}
		if b.Legal() {
			legal[b.Innings]++
		}
		if s.Players[b.BatterID].Last == "" || s.Players[b.BowlerID].Last == "" {
			t.Fatalf("ball %d: nobody knows %d or %d", b.ID, b.BatterID, b.BowlerID)
		}
	}
	for _, in := range s.Innings {
		if runs[in.No]+in.Penalty != in.Runs || wickets[in.No] > in.Wickets || wickets[in.No] < in.Wickets-1 {
			t.Fatalf("innings %d at %v: balls say %d and %d penalty for %d, the line %d for %d", in.No, s.ReadAt,
				runs[in.No], in.Penalty, wickets[in.No], in.Runs, in.Wickets)
		}
		bpo := s.BallsPerOver()
		if overs := fmt.Sprintf("%d.%d", legal[in.No]/bpo, legal[in.No]%bpo); overs != in.Overs {
			t.Fatalf("innings %d at %v: %s overs by the balls, %s by the line", in.No, s.ReadAt, overs, in.Overs)
		}
	}
}
