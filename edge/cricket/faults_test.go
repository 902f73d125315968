package cricket_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store/attr"
)

// followed is what phones and the record have at the end of a match.
type followed struct {
	state   cricket.State
	display cricket.Display
	rows    map[string]cricket.Event // cricket-events
	alerts  []cricket.Event          // in order
	biggest int                      // largest size of the row of active-matches, in bytes
}

// follow polls a recorded match until the rules have ended it, through feed faults unless the seed is 0. It polls every two and
// a half seconds; without faults it skips quiet times, up to four minutes each. take checks every tick.
func follow(t *testing.T, id string, seed uint64, balls bool) followed {
	t.Helper()
	m, err := replay.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	now := clock.NewStepped(m.Start())
	defer now.Join()()
	feed, err := sportmonks.New(sportmonks.Config{
		BaseURL: "http://127.0.0.1/api/v2.0", Token: "demo", Clock: now, CallsPerHour: 1 << 30,
		Transport: replay.Transport(replay.NewFeed(m, now, "demo", seed)),
	})
	if err != nil {
		t.Fatal(err)
	}
	p := followed{rows: map[string]cricket.Event{}}
	deadline := m.End().Add(45 * time.Minute)
	owed, quiet := true, 4*time.Minute
	if seed != 0 {
		quiet = 20 * time.Second // faults differ from poll to poll, so more polls meet more of them
	}
	for p.state.Status != cricket.ActiveEnded {
		if now.Now().After(deadline) {
			t.Fatalf("%s, seed %d: still %s %s after its end", id, seed, p.state.Status, p.state.PreviousStatus)
		}
		r, err := feed.Fixture(t.Context(), id, balls)
		if err == nil && len(r.Snapshots) == 1 {
			r.Snapshots[0].NoBalls = !balls // as the poller does
			if owed = owed || !r.Unchanged; owed || !p.state.Quiet() {
				p.take(t, &r.Snapshots[0], now.Now())
				owed = false
			} else {
				p.state.LastTickAt = now.Now() // as Touch does
			}
		}
		pause := 2500 * time.Millisecond
		if at, more := m.NextChange(now.Now()); p.state.Quiet() && !owed && more {
			pause = max(pause, min(at.Sub(now.Now()), quiet))
		}
		_ = clock.Sleep(t.Context(), now, pause)
	}
	return p
}

func (p *followed) take(t *testing.T, s *cricket.Snapshot, now time.Time) {
	t.Helper()
	out := cricket.Step(p.state, s, cricket.Options{}, now)
	p.state = out.State
	if !out.Kept {
		p.display = out.Display
	}
	for _, key := range out.Cleared {
		delete(p.rows, key)
	}
	for _, e := range out.Revised {
		row, is := p.rows[e.Key]
		if !is {
			t.Errorf("%s is revised, but was not recorded", e.Key)
		}
		e.At, e.Alert, e.Dropped, e.Owed = row.At, row.Alert, row.Dropped, row.Owed
		p.rows[e.Key] = e
	}
	alerts := 0
	for _, e := range out.Events {
		if _, twice := p.rows[e.Key]; twice {
			t.Errorf("%s is recorded twice", e.Key)
		}
		p.rows[e.Key] = e
		if e.Alert {
			alerts++
			p.alerts = append(p.alerts, e)
		}
	}
	if alerts > 1 {
		t.Errorf("%d alerts in one tick at %s", alerts, now)
	}
	item, err := attr.Marshal(&p.state)
	if err != nil {
		t.Fatal(err)
	}
	p.biggest = max(p.biggest, attr.Size(item))
	p.state = cricket.State{} // the next tick may be the first of another process
	if err := attr.Unmarshal(item, &p.state); err != nil {
		t.Fatal(err)
	}
}

// hours checks the limits of alerts within any hour: twelve of news, and fifteen with those owed.
func (p *followed) hours(t *testing.T) {
	t.Helper()
	for i := range p.alerts {
		all, news := 0, 0
		for j := i; j >= 0 && p.alerts[i].At.Sub(p.alerts[j].At) < time.Hour; j-- {
			if all++; !p.alerts[j].Owed {
				news++
			}
		}
		if all > 15 || news > 12 {
			t.Errorf("%d alerts within an hour before %s, %d of them of news", all, p.alerts[i].At, news)
		}
	}
}

// isStamp reports whether a path is one of the time stamps, which are different when a ball was revised.
func isStamp(p cmp.Path) bool {
	name := p.Last().String()
	return name == ".UpdatedAt" || name == ".At"
}

// compare checks the display, alerts and rows of a match under feed faults against those of the same match without faults.
func compare(t *testing.T, clean, faulty *followed) {
	t.Helper()
	if diff := cmp.Diff(clean.display, faulty.display, cmp.FilterPath(isStamp, cmp.Ignore())); diff != "" {
		t.Errorf("display (-clean +faulty):\n%s", diff)
	}
	faulty.hours(t)
	seen := map[string]int{}
	for i, e := range faulty.alerts {
		if seen[e.Key]++; seen[e.Key] > 1 && !e.Owed {
			t.Errorf("%s was announced %d times", e.Key, seen[e.Key])
		}
		if e.Type == cricket.EventCorrection {
			continue
		}
		if row, is := clean.rows[e.Key]; is && row.Type == e.Type && (row.Type != cricket.EventWicket || core(row.Text) == core(e.Text)) {
			continue
		}
		if !corrected(faulty, &faulty.alerts[i]) {
			t.Errorf("%s was announced as %q and never corrected; it is %q", e.Key, e.Text, clean.rows[e.Key].Text)
		}
	}
	for key, row := range clean.rows {
		if _, is := faulty.rows[key]; !is && cricket.MustLast(row.Type) {
			t.Errorf("%s (%q) is missing", key, row.Text)
		}
	}
	if last := faulty.rows["result"]; !last.Alert {
		t.Errorf("the result was not announced: %+v", last)
	}
}

// core returns the second word of a text, which is the batter's name in that of a wicket.
func core(text string) string {
	text, _, _ = strings.Cut(text, " · ")
	if words := strings.Fields(text); len(words) > 1 {
		return words[1]
	}
	return text
}

func corrected(p *followed, e *cricket.Event) bool {
	for _, row := range p.rows {
		if row.Type == cricket.EventCorrection && row.Detail == e.Key && row.At.After(e.At) {
			return true
		}
	}
	return false
}

func TestUnderFaults(t *testing.T) {
	seeds, matches := uint64(2), []string{"1192877", "1216517"}
	if testing.Short() {
		seeds, matches = 1, []string{"1343760"}
	}
	for _, id := range matches {
		clean := follow(t, id, 0, true)
		clean.hours(t)
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", id, seed+1), func(t *testing.T) {
				t.Parallel()
				faulty := follow(t, id, seed+1, true)
				compare(t, &clean, &faulty)
				t.Logf("%d alerts clean, %d faulty, row of %d and %d bytes", len(clean.alerts), len(faulty.alerts), clean.biggest, faulty.biggest)
			})
		}
	}
}
