package poll

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// stubLease is a lease whose fence can be raised; raised is called then.
type stubLease struct {
	fence    int64
	raised   func()
	released bool
}

func (l *stubLease) Fence() int64 { return l.fence }

func (l *stubLease) Deadline() time.Time { return time.Time{} }

func (l *stubLease) Context(parent context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(parent)
}

func (l *stubLease) RaiseFence(_ context.Context, above int64) error {
	l.fence = above + 1
	if l.raised != nil {
		l.raised()
	}
	return nil
}

func (l *stubLease) Release(context.Context) error {
	l.released = true
	return nil
}

// stubLocks is locks that cannot be reached.
type stubLocks struct{ err error }

func (l stubLocks) Hold(context.Context, string) (Lease, error) { return nil, l.err }

func (l stubLocks) Holder(context.Context, string) (string, error) { return "", l.err }

func guarded(t *testing.T) *Poller {
	t.Helper()
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Define(t.Context(), tables.All()...); err != nil {
		t.Fatal(err)
	}
	return New(Config{
		Node: "a", Leases: stubLocks{err: errors.New("away")}, Match: matches.NewService(s, cricket.Options{}), Data: s,
		Clock: clock.Real(), Log: slog.New(slog.DiscardHandler),
	})
}

// A write refused by a higher fence raises the lock's and is repeated once with it, but not after the lease has ended meanwhile: another node
// may hold the lock by then.
func TestRefusedWriteIsRepeatedUnderItsLeaseOnly(t *testing.T) {
	for _, ends := range []bool{false, true} {
		p := guarded(t)
		ctx, end := context.WithCancel(t.Context())
		lease := &stubLease{fence: 5}
		if ends {
			lease.raised = end
		}
		var fences []int64
		err := p.writeFenced(ctx, lease, func(by matches.Owner) error {
			fences = append(fences, by.Fence)
			if by.Fence <= 9 {
				return &matches.FencedOffError{MatchID: "1", Fence: 9}
			}
			return nil
		})
		want := []int64{5, 10}
		if ends {
			want = want[:1]
		}
		if !slices.Equal(fences, want) || (err != nil) != ends {
			t.Errorf("the lease ends meanwhile: %v: written under %v, want %v; %v", ends, fences, want, err)
		}
		end()
	}
}

// A node that cannot read who has the slots keeps the nodes that it knows: it does not take their matches.
func TestUnreadableSlotsChangeNothing(t *testing.T) {
	p := guarded(t)
	p.slot = slot{lease: &stubLease{fence: 1}, nodes: []string{"a", "b", "c"}}
	p.lookAround(t.Context())
	if want := []string{"a", "b", "c"}; !slices.Equal(p.slot.nodes, want) {
		t.Errorf("the nodes are %v, want %v", p.slot.nodes, want)
	}
}

// A match whose events are held is not given away: the node that has seen them announces them. The next node would not know of them.
func TestMatchWithHeldEventsStays(t *testing.T) {
	p := guarded(t)
	held, quiet := &stubLease{fence: 1}, &stubLease{fence: 1}
	p.watched["1"] = &watch{id: "1", lease: held, state: cricket.State{Status: cricket.ActiveLive, Pending: []cricket.Pending{{}}}}
	p.watched["2"] = &watch{id: "2", lease: quiet, state: cricket.State{Status: cricket.ActiveLive}}
	p.assigned = map[string]string{"1": "b", "2": "b"}
	if err := p.giveAway(t.Context(), p.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	if held.released || p.watched["1"].lease == nil {
		t.Error("a match with held events was given away")
	}
	if !quiet.released || p.watched["2"].lease != nil {
		t.Error("a quiet match was kept: this test tests nothing")
	}
}

// What the list of fixtures says of a match is cached ahead only until the match is polled.
func TestPolledMatchIsNotCachedAhead(t *testing.T) {
	p := guarded(t)
	_, registered, err := p.Match.Register(t.Context(), "1", matches.Owner{Node: "a", Fence: 1})
	if err != nil || !registered {
		t.Fatal(registered, err)
	}
	snapshot := func(id string) cricket.Snapshot {
		return cricket.Snapshot{
			MatchID: id, Status: "NS", Type: "T20I", Overs: 20, StartsAt: time.Now().Add(time.Hour), Raw: []byte(`{"id":1}`),
			League: cricket.League{ID: 3, Name: "League"}, Teams: [2]cricket.Team{{ID: 1, Name: "Pakistan"}, {ID: 39, Name: "Sri Lanka"}},
		}
	}
	var rows []matches.CachedFixture
	err = p.Data.View(t.Context(), func(tx *store.Tx) (err error) {
		rows, err = uncached(tx, []cricket.Snapshot{snapshot("1"), snapshot("2"), snapshot("2")})
		return err
	})
	if err != nil || len(rows) != 1 || rows[0].MatchID != "2" {
		t.Errorf("cached ahead: %+v, %v", rows, err)
	}
}
