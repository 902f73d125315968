package poll_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/testrig/machine"
)

// atMachine is the rig's service as a node writes through it: with the times of that node's machine.
type atMachine struct {
	*ticks
	machine *machine.Clock
	setNow  func(*machine.Clock) // has the store read a machine's clock; nil: the rig's
	turn    *sync.Mutex          // one node writes at a time
}

func (m *atMachine) write(f func() error) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.setNow(m.machine)
	defer m.setNow(nil)
	return f()
}

func (m *atMachine) Tick(ctx context.Context, s *cricket.Snapshot, by matches.Owner) (st cricket.State, err error) {
	err = m.write(func() (err error) {
		st, err = m.ticks.Tick(ctx, s, by)
		return err
	})
	return st, err
}

func (m *atMachine) Touch(ctx context.Context, id string, by matches.Owner) error {
	return m.write(func() error { return m.ticks.Touch(ctx, id, by) })
}

func (m *atMachine) Register(ctx context.Context, id string, by matches.Owner) (st cricket.State, done bool, err error) {
	err = m.write(func() (err error) {
		st, done, err = m.ticks.Register(ctx, id, by)
		return err
	})
	return st, done, err
}

// feedAt is the rig's feed as a node reads it: answers have the time of that node's loops.
type feedAt struct {
	*script
	machine *machine.Clock
}

func (f feedAt) Livescores(ctx context.Context, balls bool) (sportmonks.Reading, error) {
	r, err := f.script.Livescores(ctx, balls)
	r.At = f.machine.Now()
	return r, err
}

func (f feedAt) Fixture(ctx context.Context, id string, balls bool) (sportmonks.Reading, error) {
	r, err := f.script.Fixture(ctx, id, balls)
	r.At = f.machine.Now()
	return r, err
}

// machines gives every configuration a machine of its own, with a clock that is ahead.
func (r *rig) machines(configs []*poll.Config, ahead ...time.Duration) (all []*machine.Clock) {
	turn := &sync.Mutex{}
	for i, c := range configs {
		m := machine.New(r.clock)
		m.Set(ahead[i])
		c.Feed = feedAt{r.feed, m}
		c.Clock, c.Match = m, &atMachine{ticks: r.ticks, machine: m, turn: turn, setNow: func(of *machine.Clock) { r.writer.Store(of) }}
		all = append(all, m)
	}
	return all
}

// takenOver is the longest time for which a match may stay unread after its holder died, with locks of ten seconds.
const takenOver = 36 * time.Second

// unreleased are locks that are never given back, as those of a holder that is killed.
type unreleased struct{ poll.Leases }

func (l unreleased) Hold(ctx context.Context, key string) (poll.Lease, error) {
	held, err := l.Leases.Hold(ctx, key)
	if held == nil || err != nil {
		return nil, err
	}
	return kept{held}, nil
}

type kept struct{ poll.Lease }

func (kept) Release(context.Context) error { return errCut }

// A match is taken over as soon as ever if the clock of the holder that was killed, stopped or cut off was wrong, if it was set while both ran,
// or if the other node's is wrong. While both run, neither takes the match for silent.
func TestTakeoverWithWrongClocks(t *testing.T) {
	for _, end := range []string{"killed", "stopped", "cut off"} {
		t.Run(end, func(t *testing.T) { testTakeover(t, end) })
	}
}

func testTakeover(t *testing.T, end string) {
	tests := []struct {
		name            string
		holder, other   time.Duration // how far their clocks are ahead
		holderSetTo     time.Duration // after 75 s
		otherSetBackFor time.Duration // after 75 s
	}{
		{"equal", 0, 0, 0, 0},
		{"the holder is an hour ahead", time.Hour, 0, time.Hour, 0},
		{"the holder is an hour behind", -time.Hour, 0, -time.Hour, 0},
		{"the other is an hour ahead", 0, time.Hour, 0, 0},
		{"the holder is six hours ahead and set right", 6 * time.Hour, 0, 0, 0},
		{"both are set back", 0, 0, -10 * time.Minute, 10 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.locks.term = 10 * time.Second
			r.inPlay()
			a, b := r.config, r.second()
			machines := r.machines([]*poll.Config{&a, &b}, tt.holder, tt.other)
			const died = 5 * time.Minute
			holder := life{config: a, until: died}
			switch end {
			case "killed":
				holder.config.Leases = unreleased{a.Leases}
			case "cut off":
				holder = life{config: a}
				holder.config.Leases = cutLocks{a.Leases, r, died, time.Hour}
			}
			var silent time.Duration // the longest that node b has seen
			var watching *poll.Poller
			r.meanwhile = func() {
				_ = r.clock.Wait(t.Context(), midday().Add(75*time.Second), nil)
				machines[0].Set(tt.holderSetTo)
				machines[1].Set(tt.other - tt.otherSetBackFor)
				for r.clock.Now().Before(midday().Add(died)) {
					_ = r.clock.Wait(t.Context(), r.clock.Now().Add(time.Second), nil)
					for _, m := range watching.Status().Matches {
						silent = max(silent, machines[1].Wall().Sub(m.SilentSince))
					}
				}
			}
			r.began = func(all []*poll.Poller) { watching = all[1] }
			r.run(8*time.Minute, holder, life{config: b, from: 10 * time.Second})
			at, by := r.ticks.at["1"], r.ticks.by["1"]
			first := slices.Index(by, "b")
			if first < 1 || slices.Contains(by[first:], "a") {
				t.Fatalf("ticked by %v", by)
			}
			if at[first] < died {
				t.Errorf("taken over at %s from a holder that ran until %s", at[first], died)
			}
			if silence := at[first] - died; silence > takenOver {
				t.Errorf("taken over %s after the holder died", silence)
			}
			if silent > takenOver {
				t.Errorf("the other node took the match for silent for %s while its holder ran", silent)
			}
		})
	}
}

// A node whose clock is set reads the live list at the same pace as before.
func TestPaceAfterTheClockIsSet(t *testing.T) {
	for _, set := range []time.Duration{-6 * time.Hour, -10 * time.Minute, 10 * time.Minute, 6 * time.Hour} {
		t.Run(set.String(), func(t *testing.T) {
			r := newRig(t)
			r.inPlay()
			a := r.config
			m := r.machines([]*poll.Config{&a}, 0)[0]
			r.meanwhile = func() {
				_ = r.clock.Wait(t.Context(), midday().Add(2*time.Minute), nil)
				m.Set(set)
			}
			r.run(20*time.Minute, life{config: a})
			at := r.feed.asked("list with balls")
			if last := at[len(at)-1]; last < 20*time.Minute-5*time.Second {
				t.Errorf("the list was read last at %s", last)
			}
			if longest := slices.Max(gaps(at, time.Minute)); longest > 5*time.Second {
				t.Errorf("the list was not read for %s", longest)
			}
			ticked := r.ticks.at["1"]
			if longest := slices.Max(gaps(ticked, time.Minute)); longest > 5*time.Second {
				t.Errorf("the match was not ticked for %s", longest)
			}
			st, _ := r.state("1")
			if age := m.Wall().Sub(st.LastTickAt); age < 0 || age > time.Minute {
				t.Errorf("the row's last tick is %s old by the clock as it is now", age)
			}
		})
	}
}
