package matches_test

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// Live returns the matches that are registered and under way, in the order of their starts.
func TestLive(t *testing.T) {
	ctx := t.Context()
	s := storetest.Open(t, tables.All()...)
	service, at := matches.NewService(s, cricket.Options{}), time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	fixture := func(id string, hour int, p cricket.Phase) matches.Fixture {
		return matches.Fixture{MatchID: id, Phase: p, StartTime: at.Add(time.Duration(hour) * time.Hour)}
	}
	all := []matches.Fixture{
		fixture("1", 3, cricket.PhaseLive), fixture("2", 1, cricket.PhaseInterrupted), fixture("3", 2, cricket.PhasePrematch), fixture("4", 0, cricket.PhaseCompleted),
		fixture("5", 0, cricket.PhaseAbandoned), fixture("6", 0, cricket.PhaseLive), fixture("7", 1, cricket.PhaseBreak),
	}
	if err := s.Update(ctx, func(tx *store.Tx) error { return putFixtures(tx, all...) }); err != nil {
		t.Fatal(err)
	}
	if live, err := service.Live(ctx); err != nil || len(live) != 0 {
		t.Errorf("nothing is registered: %v %v", live, err)
	}
	by := matches.Owner{Node: "n", Fence: 1}
	for _, id := range []string{"1", "2", "3", "4", "5", "7", "8"} { // 6 was never registered, 8 has no fixture
		if _, _, err := service.Register(ctx, id, by); err != nil {
			t.Fatal(err)
		}
	}
	live, err := service.Live(ctx)
	var ids []string
	for i := range live {
		ids = append(ids, live[i].MatchID)
	}
	if want := []string{"2", "7", "1"}; err != nil || !slices.Equal(ids, want) {
		t.Errorf("live are %v, want %v (%v)", ids, want, err)
	}
	if err := service.CleanUp(ctx, "1", by); err != nil {
		t.Fatal(err)
	}
	if live, err := service.Live(ctx); err != nil || len(live) != 2 {
		t.Errorf("after one has ended %d are live (%v)", len(live), err)
	}
}
