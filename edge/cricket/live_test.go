package cricket

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// The matches that are on are those that are registered and under way, however many fixtures there are beside them.
func TestLive(t *testing.T) {
	ctx := t.Context()
	s := storetest.Open(t, Tables()...)
	service, at := NewService(s, Options{}), time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	fixture := func(id string, hour int, p Phase) Fixture {
		return Fixture{MatchID: id, Phase: p, StartTime: at.Add(time.Duration(hour) * time.Hour)}
	}
	all := []Fixture{
		fixture("1", 3, PhaseLive), fixture("2", 1, PhaseInterrupted), fixture("3", 2, PhasePrematch), fixture("4", 0, PhaseCompleted),
		fixture("5", 0, PhaseAbandoned), fixture("6", 0, PhaseLive), fixture("7", 1, PhaseBreak),
	}
	if err := s.Update(ctx, func(tx *store.Tx) error { return Fixtures{}.Put(tx, all...) }); err != nil {
		t.Fatal(err)
	}
	if live, err := service.Live(ctx); err != nil || len(live) != 0 {
		t.Errorf("nothing is registered: %v %v", live, err)
	}
	by := Owner{Node: "n", Fence: 1}
	for _, id := range []string{"1", "2", "3", "4", "5", "7", "8"} { // 6 was never registered, 8 has no fixture
		if _, err := service.Register(ctx, id, by); err != nil {
			t.Fatal(err)
		}
	}
	live, err := service.Live(ctx)
	var ids []string
	for i := range live {
		ids = append(ids, live[i].MatchID)
	}
	if want := []string{"2", "7", "1"}; err != nil || !slices.Equal(ids, want) {
		t.Errorf("on are %v, want %v (%v)", ids, want, err)
	}
	if err := service.CleanUp(ctx, "1", by); err != nil {
		t.Fatal(err)
	}
	if live, err := service.Live(ctx); err != nil || len(live) != 2 {
		t.Errorf("with one ended %d are on (%v)", len(live), err)
	}
}
