package pickem

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// An event takes picks until an hour before its start, by the clock and by its state.
func TestLock(t *testing.T) {
	lock := start.Add(-time.Hour)
	for _, c := range []struct {
		name  string
		now   time.Time
		state State
		open  bool
	}{
		{"a day before", lock.Add(-24 * time.Hour), Upcoming, true},
		{"the last instant", lock.Add(-time.Millisecond), Upcoming, true},
		{"at the lock", lock, Upcoming, false},
		{"behind it", lock.Add(time.Hour), Upcoming, false},
		{"locked by hand", lock.Add(-24 * time.Hour), Broadcast, false},
	} {
		r := newRig(t)
		id, matches := r.card("2024-03-03", []int{5}, "sam")
		r.now = c.now
		r.must(func(tx *store.Tx) error { _, err := r.SetState(tx, id, c.state); return err })
		if err := r.pick("sam", id, matches[0], 1); (err == nil) != c.open || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v, want open %t", c.name, err, c.open)
		}
	}
}

// A node whose clock is an hour slow refuses picks after the lock by the cloud's clock. One whose clock is an hour fast does not lock early.
func TestPickAfterTheStartByAWrongClock(t *testing.T) {
	for _, c := range []struct {
		name         string
		local, cloud time.Duration // relative to the lock
		open         bool
	}{
		{"an hour late", -59 * time.Minute, 30 * time.Second, false},
		{"an hour early", 59 * time.Minute, -time.Minute, true},
	} {
		r := newRig(t)
		id, matches := r.card("2024-03-03", []int{5}, "sam")
		r.now = start.Add(-time.Hour + c.local)
		r.Skew = func() time.Duration { return c.cloud - c.local }
		if err := r.pick("sam", id, matches[0], 1); (err == nil) != c.open {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := r.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		e := read(r, func(tx *store.Tx) (Card, error) { return r.load(tx, id, everybody) })
		if e.State != Upcoming {
			t.Errorf("%s: the state is %s within the minute after the lock", c.name, e.State)
		}
	}
}

// On the night when the clocks go forward, an event at 20:00 in New York locks at 19:00 there, which is an hour earlier in UTC than a
// day before.
func TestDaylightSavingDoesNotCloseAnHourEarly(t *testing.T) {
	for text, want := range map[string]string{
		"2024-03-09T20:00:00-05:00": "2024-03-10T00:00:00Z",
		"2024-03-10T20:00:00-04:00": "2024-03-10T23:00:00Z",
		"2024-11-03T20:00:00-05:00": "2024-11-04T00:00:00Z",
	} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t)
		r.now = at.Add(-48 * time.Hour)
		r.must(func(tx *store.Tx) error {
			c, err := r.CreateEvent(tx, NewEvent{Date: text[:10], Name: "x", StartsAt: at})
			if got := c.LockAt.Format(time.RFC3339); err == nil && got != want {
				t.Errorf("%s locks at %s, want %s", text, got, want)
			}
			return err
		})
	}
}

// The state changes a minute after the lock, when picks made in time have reached the cloud. Others' picks are shown once the cloud has confirmed
// the state.
func TestBroadcastIsWrittenAMinuteAfterTheLock(t *testing.T) {
	r := newRig(t)
	id, matches := r.card("2024-03-03", []int{5}, "sam", "max")
	r.picks("sam", id, matches[0], 1)
	inCloud := Upcoming
	r.Confirmed = func(*store.Tx, string, attr.Item) (attr.Item, error) {
		e := Event{ID: id, State: inCloud}
		return e.row(), nil
	}
	look := func(at time.Duration) (next time.Duration, c Card) {
		r.now = start.Add(-time.Hour + at)
		next, err := r.Maintain(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return next, read(r, func(tx *store.Tx) (Card, error) { return r.Event(tx, id, "max") })
	}
	if next, c := look(20 * time.Second); next != 40*time.Second || c.State != Upcoming || c.Predictions != nil {
		t.Errorf("look again in %v, %s, %v", next, c.State, c.Predictions)
	}
	if _, c := look(time.Minute); c.State != Broadcast || c.Predictions != nil {
		t.Errorf("not confirmed: %s, %v", c.State, c.Predictions)
	}
	secret := func(tx *store.Tx) (bool, error) { return r.Secret(tx, predictionKey("sam", id)) }
	if !read(r, secret) {
		t.Error("not confirmed: conflicts show picks")
	}
	inCloud = Broadcast
	if _, c := look(2 * time.Minute); len(c.Predictions) != 1 {
		t.Errorf("confirmed: %v", c.Predictions)
	}
	if read(r, secret) {
		t.Error("confirmed: conflicts hide picks")
	}
}

// Moving the start earlier may lock an event at once. Moving it later does not open it again; only setting the state does.
func TestStartMoved(t *testing.T) {
	r := newRig(t)
	id, matches := r.card("2024-03-03", []int{5}, "sam")
	move := func(at time.Time) error {
		return r.try(func(tx *store.Tx) error { _, err := r.ChangeEvent(tx, id, NewEvent{StartsAt: at}); return err })
	}
	if err := move(start.Add(-24 * time.Hour).Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := r.pick("sam", id, matches[0], 1); !fault.Is(err, fault.Conflict) {
		t.Errorf("moved earlier: %v", err)
	}
	r.must(func(tx *store.Tx) error { _, err := r.SetState(tx, id, Broadcast); return err })
	if err := move(start); !fault.Is(err, fault.Conflict) {
		t.Errorf("a locked event is moved: %v", err)
	}
}

// Writes that the cloud refuses: a pick after the lock is reported to its user, two first rows are merged by match with the later pick counting,
// the locks of two nodes are one, and anything else goes to a person.
func TestMerge(t *testing.T) {
	row := func(at string, picks map[string]int) attr.Item {
		all := attr.Item{}
		for m, p := range picks {
			all[m] = attr.Int(int64(p))
		}
		it := predictionKey("sam", event)
		it["updatedAt"], it["predictions"] = attr.S(at), attr.M(all)
		it["type"], it["GSI_PK"], it["GSI_SK"] = attr.S("prediction"), attr.S(prefixEvent+event), attr.S(eventScore(0, "sam"))
		return it
	}
	r := newRig(t)
	here := Upcoming // the event's state at this node
	get := func(attr.Item) (attr.Item, error) { return (&Event{ID: event, State: here}).row(), nil }
	ask := func(k, base, view, remote attr.Item) ([]store.WriteItem, bool) {
		again := []store.WriteItem{{Put: &store.PutItem{Item: view}}}
		return r.Merge([]table.Refused{{Key: k, Base: base, View: view, Remote: remote, Again: again}}, nil, get)
	}
	early, late := "2024-03-03T10:00:00.000Z", "2024-03-03T11:00:00.000Z"
	ours, k := row(late, map[string]int{"m1": 1, "m2": 0}), predictionKey("sam", event)

	for name, remote := range map[string]attr.Item{"the first pick": nil, "a change": row(early, map[string]int{"m1": 0})} {
		w, ok := ask(k, remote, ours, remote)
		if !ok || len(w) != 1 || !toldLate(w) {
			t.Errorf("late, %s: %+v %t", name, w, ok)
		}
	}
	r.card("2024-03-03", []int{5}, "sam")
	w, _ := ask(k, nil, ours, nil)
	r.must(func(tx *store.Tx) error { return tx.TransactWrite(store.TransactWrite{Items: w}) })
	if again, ok := r.Merge([]table.Refused{{Key: w[0].Update.Key, Again: w}}, nil, get); !ok || !toldLate(again) {
		t.Errorf("a refused note of a late pick: %+v %t", again, ok)
	}
	if again, ok := r.Merge([]table.Refused{{Key: k, Base: ours, View: ours, Again: []store.WriteItem{r.Drop(k)}}}, nil, get); ok {
		t.Errorf("a foreign program's delete was not left to a person: %+v", again)
	}
	r.must(func(tx *store.Tx) error { _, err := r.SetState(tx, event, Broadcast); return err })
	if c := read(r, func(tx *store.Tx) (Card, error) { return r.Event(tx, event, "sam") }); !c.NotCounted {
		t.Error("the user is not told")
	}

	for _, c := range []struct {
		name   string
		remote attr.Item
		want   map[string]int
	}{
		{"ours is later", row(early, map[string]int{"m1": 0, "m3": 1}), map[string]int{"m1": 1, "m2": 0}},
		{"theirs is later", row(late+"Z", map[string]int{"m1": 0}), map[string]int{"m2": 0}},
		{"nothing to add", row(late, map[string]int{"m1": 1, "m2": 0}), nil},
	} {
		w, ok := ask(k, nil, ours, c.remote)
		got := map[string]int{}
		if len(w) == 2 {
			u := w[1].Update
			for short, m := range u.Names {
				got[m] = number(u.Values[":p"+short[2:]])
			}
		}
		if !ok || len(got) != len(c.want) || w != nil && w[0].Check == nil {
			t.Errorf("%s: %v %t, want %v", c.name, got, ok, c.want)
		}
		for m, p := range c.want {
			if got[m] != p {
				t.Errorf("%s: %s is %d, want %d", c.name, m, got[m], p)
			}
		}
	}

	pick := func(match string, team *int, at string) table.Refused {
		when, _ := time.Parse(stamp, at)
		return table.Refused{Key: k, Again: []store.WriteItem{r.change("sam", event, map[string]*int{match: team}, when)}}
	}
	first := table.Refused{Key: k, View: ours, Remote: row("2024-03-03T12:00:00.000Z", map[string]int{"m1": 0, "m2": 1, "m4": 1}), Again: []store.WriteItem{r.Create(ours)}}
	w, ok := r.Merge([]table.Refused{first}, []table.Refused{pick("m3", new(2), late), pick("m2", nil, "2024-03-03T13:00:00.000Z"), pick("m4", new(1), "2024-03-03T13:00:00.000Z")}, get)
	if !ok || len(w) != 2 || !strings.Contains(w[1].Update.Update, "REMOVE predictions") || len(w[1].Update.Names) != 3 || w[1].Update.Values[":at"].Str() != "2024-03-03T13:00:00.000Z" {
		t.Errorf("picks after the first row: %+v %t", w[1].Update, ok)
	}

	here = Broadcast
	if w, ok := ask(k, nil, ours, row(early, map[string]int{"m1": 0})); !ok || len(w) != 1 || !toldLate(w) {
		t.Errorf("two first rows meet after the lock: %+v %t", w, ok)
	}
	match := matchKey(event, "m1")
	if w, ok := ask(match, nil, match, match); w != nil || !ok {
		t.Errorf("one form sent to two nodes: %+v %t", w, ok)
	}
	if _, ok := ask(match, match, match, match); ok {
		t.Error("a change of a match was not left to a person")
	}
	moved := (&Event{ID: event, State: Broadcast, StartsAt: start}).row()
	if _, ok := ask(eventKey(event), (&Event{ID: event, State: Upcoming}).row(), moved, (&Event{ID: event, State: Broadcast}).row()); ok {
		t.Error("a moved start was not left to a person")
	}

	state := func(s State) attr.Item { e := Event{ID: event, State: s}; return e.row() }
	if w, ok := ask(eventKey(event), state(Upcoming), state(Broadcast), state(Broadcast)); w != nil || !ok {
		t.Errorf("two locks: %+v %t", w, ok)
	}
	if w, ok := ask(eventKey(event), state(Upcoming), state(Broadcast), state(Scored)); w != nil || !ok {
		t.Errorf("a lock of a scored event: %+v %t", w, ok)
	}
	points := table.Refused{Key: predictionKey("sam", event), Again: updates("SET GSI_SK = :0, points = :1")}
	standing, result := table.Refused{Key: standingsKey("sam", "2024")}, table.Refused{Key: matchKey(event, "m1"), Again: updates("SET #0 = :0 ADD edition :1")}
	due := table.Refused{Key: eventKey(event), Base: state(Upcoming), View: state(Broadcast), Remote: moved, Again: updates("SET startsAt = :0, #1 = :1")}
	mark, scored := table.Refused{Key: eventKey(event), Again: updates("SET scoring = :0")}, table.Refused{Key: eventKey(event), Again: updates("REMOVE scoring SET #0 = :0")}
	counted := table.Refused{Key: predictionKey("sam", event), Again: updates("SET derivedBy = :0, #0 = :1")}
	place := table.Refused{Key: matchKey(event, "m1"), Again: updates("SET GSI_SK = :0")}
	for name, c := range map[string]struct {
		all, tail []table.Refused
		ok        bool
	}{
		"a lock by a start that was moved": {[]table.Refused{due}, nil, true}, "that lock with a later result": {[]table.Refused{due}, []table.Refused{result}, false},
		"a scoring": {[]table.Refused{points, standing}, []table.Refused{scored}, true}, "points": {[]table.Refused{counted}, nil, true}, "the mark of a scoring": {[]table.Refused{mark}, []table.Refused{points}, true},
		"a scoring with a later result": {[]table.Refused{scored}, []table.Refused{result}, false}, "a result": {[]table.Refused{result, mark}, nil, false}, "a place": {[]table.Refused{place}, nil, false},
	} {
		if w, ok := r.Merge(c.all, c.tail, get); w != nil || ok != c.ok {
			t.Errorf("%s: %+v %t", name, w, ok)
		}
	}
	if _, ok := ask(eventKey(event), state(Broadcast), state(Upcoming), state(Scored)); ok {
		t.Error("two states were not left to a person")
	}
	if _, ok := ask(userKey("sam"), nil, userKey("sam"), userKey("sam")); ok {
		t.Error("two users were not left to a person")
	}
}

// A pick may first be sent up to a minute after the lock; points of a scoring, and other writes, at any time. A pick that was not sent in time is
// reported to its user, even if another node's picks are in the cloud.
func TestPicksAreSentUpToAMinuteBehindTheLock(t *testing.T) {
	r := newRig(t)
	id, matches := r.card("2024-03-03", []int{5}, "sam")
	want := start.Add(-time.Hour).Add(time.Minute)
	pick := 1
	picks := map[string]*int{matches[0]: &pick}
	k := predictionKey("sam", id)
	for _, c := range []struct {
		name   string
		key    attr.Item
		item   attr.Item
		update string
		want   time.Time
	}{
		{"a first pick", k, r.first("sam", id, picks, r.now).Put.Item, "", want},
		{"a change", k, nil, "SET updatedAt = :0, predictions.#0 = :1", want},
		{"points", k, nil, "SET GSI_SK = :key, points = :points, mcorrect = :correct", time.Time{}},
		{"a lock that is not due", eventKey(id), nil, "SET startsAt = :0, #1 = :1", time.Unix(0, 0)},
		{"a person's lock", eventKey(id), nil, "SET #1 = :1", time.Time{}},
		{"a user", userKey("sam"), userKey("sam"), "", time.Time{}},
		{"the event", eventKey(id), eventKey(id), "", time.Time{}},
		{"no such event", predictionKey("sam", "2024-01-01-none"), k, "", time.Time{}},
	} {
		if got := read(r, func(tx *store.Tx) (time.Time, error) { return r.SendBy(tx, c.key, c.item, c.update) }); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	r.now = start.Add(-time.Hour)
	if by := read(r, func(tx *store.Tx) (time.Time, error) { return r.SendBy(tx, eventKey(id), nil, setLock) }); !by.IsZero() {
		t.Errorf("a due lock: %v", by)
	}
	w, ok := r.Merge([]table.Refused{{Key: k, View: k, Remote: k, Late: true, Again: []store.WriteItem{r.first("sam", id, picks, r.now)}}}, nil, func(attr.Item) (attr.Item, error) { return nil, nil })
	if !ok || len(w) != 1 || !toldLate(w) {
		t.Errorf("not sent in time: %+v %t", w, ok)
	}
}

func updates(text string) []store.WriteItem {
	return []store.WriteItem{{Update: &store.UpdateItem{Update: text}}}
}

// toldLate reports whether writes tell sam of picks that do not count.
func toldLate(w []store.WriteItem) bool {
	return len(w) == 1 && w[0].Update != nil && w[0].Update.Condition == "" && strings.HasPrefix(w[0].Update.Key["SK"].Str(), prefixLate) && userOf(w[0].Update.Key) == "sam"
}
