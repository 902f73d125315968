package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// handClock is a clock moved by hand.
type handClock struct {
	clock.Clock
	mu  sync.Mutex
	now time.Time
}

func (c *handClock) Wall() time.Time { return c.Now() }

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newSetAt(t testing.TB) (*Set, *handClock) {
	t.Helper()
	c := &handClock{now: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)}
	return NewSet(c, "t"), c
}

// lead38 is how long before its start a replay at speed 38, a ball per second, appears in the feed.
const lead38 = time.Minute / 38

// A replay appears a minute of play before it starts: not in play, with the toss known.
func TestSetLead(t *testing.T) {
	d, c := newSetAt(t)
	id := start(t, d, StartReplay{RecordingID: "1192877", Speed: 2}).ID
	for range 29 {
		data := shown(t, d, id)
		if data["status"] != "NS" || data["toss_won_team_id"] == nil || ballsOf(data) != 0 {
			t.Fatalf("before the start: %v, toss %v, %d balls", data["status"], data["toss_won_team_id"], ballsOf(data))
		}
		if at, _ := data["starting_at"].(string); at[:16] != "2026-11-21T09:30" {
			t.Fatalf("it starts at %s", at)
		}
		c.add(time.Second)
	}
	c.add(21 * time.Second)
	if data := shown(t, d, id); data["status"] != "1st Innings" || ballsOf(data) != 1 {
		t.Errorf("after its first ball: %v, %d balls", data["status"], ballsOf(data))
	}
	if !d.Has(id) || d.Has("1192877") {
		t.Error("Has does not report the replay, or reports its recording")
	}
}

// The first answer of a feed with faults is true: not in play, with the toss known and without balls.
func TestSetLeadWithFaults(t *testing.T) {
	d, _ := newSetAt(t)
	for seed := range uint64(20) {
		id := start(t, d, StartReplay{RecordingID: "1192877", Speed: 100, Faults: seed + 1}).ID
		data := shown(t, d, id)
		if data["status"] != "NS" || data["toss_won_team_id"] == nil || ballsOf(data) != 0 {
			t.Errorf("seed %d: %v, toss %v, %d balls", seed+1, data["status"], data["toss_won_team_id"], ballsOf(data))
		}
	}
}

func start(t testing.TB, d *Set, r StartReplay) Playing {
	t.Helper()
	p, err := d.Start(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func control(t testing.TB, d *Set, id string, c Control) Playing {
	t.Helper()
	p, err := d.Control(id, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shown returns a match as the set's feed shows it, nil if the feed does not have it.
func shown(t testing.TB, d *Set, id string) map[string]any {
	t.Helper()
	w := httptest.NewRecorder()
	d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, prefix+"/fixtures/"+id+"?api_token=t&include=balls,runs", http.NoBody))
	if w.Code == http.StatusNotFound {
		return nil
	}
	body, err := io.ReadAll(w.Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s %v", w.Code, body, err)
	}
	var reply struct{ Data map[string]any }
	if err := json.Unmarshal(body, &reply); err != nil {
		t.Fatal(err)
	}
	return reply.Data
}

func ballsOf(data map[string]any) int {
	list, _ := data["balls"].([]any)
	return len(list)
}

// The cursor is floor((now - startedAt) / msPerBall). On the last ball of an innings it stands still for
// ceil(20 minutes / msPerBall) balls, or for the requested break instead of 20 minutes.
func TestSetCursor(t *testing.T) {
	speeds := []float64{0.5, 1, 30, 400}
	if testing.Short() {
		speeds = []float64{1, 30}
	}
	for i, speed := range speeds {
		d, c := newSetAt(t)
		asked := []time.Duration{0, 90 * time.Second}[i%2]
		p := start(t, d, StartReplay{RecordingID: "1343760", Speed: speed, Break: asked})
		first := 0 // balls of the first innings
		m, err := Load("1343760")
		if err != nil {
			t.Fatal(err)
		}
		for first < len(m.balls) && m.balls[first].innings == 0 {
			first++
		}
		ms := 38_000 / speed
		rest := asked
		if asked == 0 {
			rest = 20 * time.Minute
		}
		frozen := int(math.Ceil(float64(rest.Milliseconds()) / ms))
		lead := time.Duration(float64(time.Minute) / speed)
		if !p.StartedAt.Equal(c.Now().Add(lead)) {
			t.Errorf("speed %g: it starts at %s, started at %s", speed, p.StartedAt, c.Now())
		}
		c.add(lead)
		began := p.StartedAt
		for n := range (len(m.balls) + frozen + 3) * 3 {
			c.add(time.Duration(ms / 3 * float64(time.Millisecond)))
			ticks := int(math.Floor(float64(c.Now().Sub(began)) / float64(time.Millisecond) / ms))
			want := min(ticks, first)
			if ticks >= first+frozen {
				want = min(ticks-frozen, len(m.balls))
			}
			got := d.List()[0]
			if n%3 == 2 { // on a tick, where rounding may fall to either side
				continue
			}
			if got.Cursor != want {
				t.Fatalf("speed %g, tick %d: cursor %d, want %d", speed, ticks, got.Cursor, want)
			}
			if inBreak := ticks >= first && ticks < first+frozen; (got.Status == "Innings Break") != inBreak {
				t.Fatalf("speed %g, tick %d: status %s, in a break %t", speed, ticks, got.Status, inBreak)
			}
			if n%50 == 0 && ballsOf(shown(t, d, p.ID)) != want {
				t.Fatalf("tick %d: the feed has %d balls, want %d", ticks, ballsOf(shown(t, d, p.ID)), want)
			}
		}
		if speed == 1 && p.MsPerBall != 38_000 {
			t.Errorf("%+v", p)
		}
	}
}

func TestSetControls(t *testing.T) {
	d, c := newSetAt(t)
	id := start(t, d, StartReplay{RecordingID: "1144530", Speed: 38}).ID // a ball a second
	c.add(lead38 + 10*time.Second + 300*time.Millisecond)
	step := func(name string, p Playing, cursor int, status string) {
		t.Helper()
		if p.Cursor != cursor || p.Status != status {
			t.Errorf("%s: cursor %d, %s; want %d, %s", name, p.Cursor, p.Status, cursor, status)
		}
		if got := ballsOf(shown(t, d, id)); got != cursor {
			t.Errorf("%s: the feed has %d balls, want %d", name, got, cursor)
		}
	}
	now := func() Playing { return d.List()[0] }
	step("playing", now(), 10, "playing")
	step("pause", control(t, d, id, Control{Action: "pause"}), 10, "paused")
	c.add(time.Hour)
	step("an hour later", now(), 10, "paused")
	step("play", control(t, d, id, Control{Action: "play"}), 10, "playing")
	c.add(600 * time.Millisecond)
	step("just before the next ball", now(), 10, "playing")
	c.add(200 * time.Millisecond)
	step("just after it", now(), 11, "playing")
	step("seek", control(t, d, id, Control{Action: "seek", Position: 100}), 100, "playing")
	c.add(2500 * time.Millisecond)
	step("playing on from there", now(), 102, "playing")
	step("half the speed", control(t, d, id, Control{Action: "speed", Speed: 19}), 102, "playing")
	c.add(1100 * time.Millisecond)
	step("the remaining half a ball takes a second", now(), 103, "playing")
	step("seek back", control(t, d, id, Control{Action: "seek", Position: 5}), 5, "playing")
	c.add(4100 * time.Millisecond)
	step("playing on", now(), 7, "playing")
	step("to the end", control(t, d, id, Control{Action: "seek", Position: now().Balls}), now().Balls, "playing")
	c.add(5 * time.Minute)
	step("over", now(), now().Balls, "finished")
	step("stop", control(t, d, id, Control{Action: "stop"}), now().Balls, "stopped")
	if _, err := d.Control(id, Control{Action: "play"}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("play after stop: %v", err)
	}
	if shown(t, d, id)["status"] != "Aban." {
		t.Errorf("a stopped match is %v", shown(t, d, id)["status"])
	}
	if err := d.Remove(id); err != nil || len(d.List()) != 0 || shown(t, d, id) != nil {
		t.Errorf("remove: %v", err)
	}
}

func TestSetRefuses(t *testing.T) {
	d, _ := newSetAt(t)
	id := start(t, d, StartReplay{RecordingID: "1144530"}).ID
	for _, tt := range []struct {
		do   func() error
		kind fault.Kind
	}{
		{func() error { _, err := d.Start(StartReplay{RecordingID: "7"}); return err }, fault.NotFound},
		{func() error { _, err := d.Start(StartReplay{RecordingID: "1144530", Speed: math.NaN()}); return err }, fault.Invalid},
		{func() error { _, err := d.Start(StartReplay{RecordingID: "1144530", Speed: -1}); return err }, fault.Invalid},
		{func() error { _, err := d.Control("7", Control{Action: "play"}); return err }, fault.NotFound},
		{func() error { _, err := d.Control(id, Control{Action: "rewind"}); return err }, fault.Invalid},
		{func() error { _, err := d.Control(id, Control{Action: "seek", Position: -1}); return err }, fault.Invalid},
		{func() error { _, err := d.Control(id, Control{Action: "seek", Position: 9999}); return err }, fault.Invalid},
		{func() error { _, err := d.Control(id, Control{Action: "speed"}); return err }, fault.Invalid},
		{func() error { return d.Remove("7") }, fault.NotFound},
		{func() error { return d.Load([]byte("{")) }, fault.Damaged},
		{func() error { return d.Load([]byte(`{"plays":[{"id":"1144530001","tapeId":"1144530","speed":1}]}`)) }, fault.Damaged},
	} {
		if err := tt.do(); fault.KindOf(err) != tt.kind {
			t.Errorf("%v, want kind %d", err, tt.kind)
		}
	}
	if len(d.List()) != 1 {
		t.Errorf("%d replays", len(d.List()))
	}
	for range maxPlays - 1 {
		start(t, d, StartReplay{RecordingID: "1343760"})
	}
	if _, err := d.Start(StartReplay{RecordingID: "1343760"}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("one too many: %v", err)
	}
}

// After a thousand replays a set starts more, each with an id that no earlier one had.
func TestSetAfterManyReplays(t *testing.T) {
	d, _ := newSetAt(t)
	if err := d.Load([]byte(`{"started":998,"plays":[]}`)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1144530999", "11445301000", "11445301001"} {
		p := start(t, d, StartReplay{RecordingID: "1144530"})
		if p.ID != want || p.MatchID != want {
			t.Errorf("id %s, match %s, want %s", p.ID, p.MatchID, want)
		}
		if err := d.Remove(p.ID); err != nil {
			t.Error(err)
		}
	}
	recordings := List()
	for _, one := range recordings {
		for _, other := range recordings {
			if one.ID != other.ID && strings.HasPrefix(other.ID, one.ID) {
				t.Errorf("a replay of %s can have the id of one of %s", one.ID, other.ID)
			}
		}
	}
}

// Several replays share one feed. A recording played twice is two matches, each with its own balls.
func TestSetFeed(t *testing.T) {
	d, c := newSetAt(t)
	one := start(t, d, StartReplay{RecordingID: "1144530", Speed: 38})
	c.add(20 * time.Second)
	two := start(t, d, StartReplay{RecordingID: "1144530", Speed: 38})
	three := start(t, d, StartReplay{RecordingID: "1192877", Speed: 38})
	c.add(lead38 + 10*time.Second + 500*time.Millisecond)
	ask := func(path string) string {
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, prefix+path, http.NoBody))
		return w.Body.String()
	}
	var live struct {
		Data []struct {
			ID    int64
			Balls []struct {
				Updated time.Time `json:"updated_at"`
			}
		}
	}
	if err := json.Unmarshal([]byte(ask("/livescores?api_token=t&include=balls")), &live); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, m := range live.Data {
		got[fmt.Sprint(m.ID)] = len(m.Balls)
		if age := c.Now().Sub(m.Balls[len(m.Balls)-1].Updated); age < 0 || age > time.Second {
			t.Errorf("the newest ball of %d is %s old", m.ID, age)
		}
	}
	if diff := cmp.Diff(map[string]int{one.ID: 30, two.ID: 10, three.ID: 10}, got); diff != "" {
		t.Errorf("balls (-want +got):\n%s", diff)
	}
	if list := ask("/fixtures?api_token=t&filter[starts_between]=2026-11-21,2026-11-21"); !strings.Contains(list, `"total":3`) {
		t.Errorf("fixtures: %.200s", list)
	}
	if !strings.Contains(ask("/livescores?api_token=x"), "Unauthenticated") {
		t.Error("a wrong token was accepted")
	}
}

// A set that was saved and loaded shows the same as the original, whatever was done to it. Only a seek moves the cursor.
func TestSetSaves(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, c := newSetAt(t)
		id := start(t, d, StartReplay{
			RecordingID: "1343760", Speed: rapid.SampledFrom([]float64{1, 30, 300}).Draw(rt, "speed"),
			Break: time.Duration(rapid.IntRange(0, 2).Draw(rt, "break")) * time.Minute,
		}).ID
		for range rapid.IntRange(0, 6).Draw(rt, "steps") {
			c.add(time.Duration(rapid.IntRange(0, 600_000).Draw(rt, "ms")) * time.Millisecond)
			ask := Control{
				Action: rapid.SampledFrom([]string{"play", "pause", "seek", "speed", "faults"}).Draw(rt, "action"),
				Speed:  rapid.SampledFrom([]float64{0.5, 1, 20, 1000}).Draw(rt, "to"), Faults: uint64(rapid.IntRange(0, 3).Draw(rt, "seed")),
				Position: rapid.IntRange(0, 52).Draw(rt, "position"),
			}
			before := d.List()[0].Cursor
			p, err := d.Control(id, ask)
			if err != nil {
				rt.Fatal(err)
			}
			if want := before; ask.Action == "seek" && p.Cursor != ask.Position || ask.Action != "seek" && p.Cursor != want {
				rt.Fatalf("%+v: cursor %d, was %d", ask, p.Cursor, before)
			}
		}
		raw, err := d.Save()
		if err != nil {
			rt.Fatal(err)
		}
		other := NewSet(c, "t")
		if err := other.Load(raw); err != nil {
			rt.Fatalf("%v: %s", err, raw)
		}
		for range 5 {
			c.add(time.Duration(rapid.IntRange(0, 900_000).Draw(rt, "later")) * time.Millisecond)
			if diff := cmp.Diff(d.List(), other.List()); diff != "" {
				rt.Fatalf("(-kept +loaded):\n%s", diff)
			}
		}
		if len(raw) > 4096 {
			rt.Fatalf("%d bytes", len(raw))
		}
	})
}
