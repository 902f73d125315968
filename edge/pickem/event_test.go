package pickem

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// The original's example rows, with the event's key in each of the three forms in which it is printed, are served by all five access patterns.
func TestSeedsTable(t *testing.T) {
	for _, id := range []string{"2024-03-03#aew-revolution", "2024-03-03-aew-revolution", "2023-03-03-aew-revolution"} {
		r := newRig(t)
		for row := range strings.SplitSeq(strings.ReplaceAll(seedRows, "EVENTID", id), "\n") {
			item, err := attr.ParseJSON([]byte(row))
			if err != nil {
				t.Fatal(err)
			}
			r.must(func(tx *store.Tx) error { _, err := tx.Put(store.PutItem{Table: tableName, Item: item}); return err })
		}
		events := read(r, func(tx *store.Tx) ([]Listed, error) { all, _, err := r.Events(tx, "sam", 20, nil); return all, err })
		if len(events) != 1 || events[0].ID != id || events[0].State != Scored || events[0].Date != "2024-03-03" || events[0].Picked != "1 of 1" {
			t.Errorf("events: %+v", events)
		}
		st := read(r, func(tx *store.Tx) ([]Standing, error) { return r.Standings(tx, "2024") })
		if len(st) != 1 || st[0] != (Standing{Placed{1, "sam", "Sam Hogarth", 140, 10}, 1}) {
			t.Errorf("standings: %+v", st)
		}
		c := read(r, func(tx *store.Tx) (Card, error) { return r.Event(tx, id, "sam") })
		if len(c.Matches) != 1 || c.Matches[0].Result != (Result{true, 1}) || !c.Matches[0].Preshow || len(c.Predictions) != 1 || c.Predictions[0].Points != 140 {
			t.Errorf("event: %+v", c)
		}
		if other := read(r, func(tx *store.Tx) (Card, error) { return r.load(tx, id, "max") }); len(other.all) != 0 || len(other.Matches) != 1 {
			t.Errorf("the event for another user: %+v", other)
		}
		p := read(r, func(tx *store.Tx) (Profile, error) { return r.Profile(tx, "sam", "max") })
		if p.Name != "Sam Hogarth" || p.Standings["2024"].Points != 140 || len(p.Events) != 1 {
			t.Errorf("the user: %+v", p)
		}
	}
}

const seedRows = `{"PK":{"S":"USER#sam"},"SK":{"S":"USER"},"type":{"S":"user"},"name":{"S":"Sam Hogarth"}}
{"PK":{"S":"USER#sam"},"SK":{"S":"STANDINGS#2024"},"type":{"S":"standings"},"GSI_PK":{"S":"STANDINGS#2024"},"GSI_SK":{"S":"SCORE#00140#sam"},"belongsto":{"S":"USER#sam"},"eplayed":{"N":"1"},"mcorrect":{"N":"10"},"points":{"N":"140"}}
{"PK":{"S":"USER#sam"},"SK":{"S":"EVENT#EVENTID"},"type":{"S":"prediction"},"GSI_PK":{"S":"EVENT#EVENTID"},"GSI_SK":{"S":"SCORE#140#sam"},"belongsto":{"S":"USER#sam"},"mcorrect":{"N":"10"},"points":{"N":"140"},"predictions":{"M":{"03973653-e1f9-4262-86d5-02cbfd2cf962":{"N":"1"}}}}
{"PK":{"S":"EVENT"},"SK":{"S":"EVENT#EVENTID"},"type":{"S":"event"},"GSI_PK":{"S":"EVENT#EVENTID"},"GSI_SK":{"S":"EVENT"},"date":{"S":"2024/03/03"},"name":{"S":"AEW Revolution"},"state":{"S":"scored"}}
{"PK":{"S":"EVENT#EVENTID"},"SK":{"S":"MATCH#03973653-e1f9-4262-86d5-02cbfd2cf962"},"type":{"S":"match"},"GSI_PK":{"S":"EVENT#EVENTID"},"GSI_SK":{"S":"MATCH#01"},"id":{"S":"03973653-e1f9-4262-86d5-02cbfd2cf962"},"championships":{"L":[]},"name":{"S":"Tag Team"},"points":{"N":"5"},"preshow":{"BOOL":true},"result":{"N":"1"},"teams":{"L":[{"M":{"members":{"L":[{"S":"Sting"},{"S":"Darby Allin"}]},"champion":{"BOOL":true}}},{"M":{"members":{"L":[{"S":"Matthew Jackson"}]},"name":{"S":"The Young Bucks"}}}]}}`

// Reordering keeps picks. Changing the teams makes another match, and the user is told. Deleting a match leaves no gap in the order.
func TestCardChanges(t *testing.T) {
	r := newRig(t)
	id, m := r.card("2024-03-03", []int{1, 2, 3}, "sam")
	for _, match := range m {
		r.picks("sam", id, match, 1)
	}
	var changed Match
	r.must(func(tx *store.Tx) error {
		if _, err := r.Order(tx, id, []string{m[2], m[0], m[1]}); err != nil {
			return err
		}
		if err := r.DeleteMatch(tx, id, m[0]); err != nil {
			return err
		}
		if _, err := r.ChangeMatch(tx, id, m[2], func(m *Details) { m.Points, m.Name = 7, "Main" }); err != nil {
			return err
		}
		var err error
		changed, err = r.ChangeMatch(tx, id, m[1], func(m *Details) { m.Teams = []Team{{Members: []string{"A"}}, {Members: []string{"X"}}} })
		return err
	})
	c := read(r, func(tx *store.Tx) (Card, error) { return r.Event(tx, id, "sam") })
	if len(c.Matches) != 2 || c.Matches[0].ID != m[2] || c.Matches[0].Place != "MATCH#01" || c.Matches[1].ID != changed.ID || c.Matches[1].Place != "MATCH#02" {
		t.Errorf("%+v", c.Matches)
	}
	if changed.ID == m[1] || len(c.Dropped) != 1 || c.Dropped[0] != "Match 2" || c.Mine.Picks[m[2]] != 1 {
		t.Errorf("dropped %v, picks %v", c.Dropped, c.Mine.Picks)
	}
	// do I still need to pick? yes, one
	if all := read(r, func(tx *store.Tx) ([]Listed, error) { all, _, err := r.Events(tx, "sam", 20, nil); return all, err }); all[0].Picked != "1 of 2" {
		t.Errorf("picked %s", all[0].Picked)
	}
	r.picks("sam", id, changed.ID, 0)
	if c := read(r, func(tx *store.Tx) (Card, error) { return r.Event(tx, id, "sam") }); c.Dropped != nil {
		t.Errorf("picked again, dropped %v", c.Dropped)
	}
}

// The points of a card have at most three digits.
func TestPointsAreBounded(t *testing.T) {
	r := newRig(t)
	id, _ := r.card("2024-03-03", []int{100, 100, 100, 100, 100, 100, 100, 100, 100})
	add := func(points int) error {
		return r.try(func(tx *store.Tx) error {
			_, err := r.AddMatch(tx, id, "", Details{Name: "x", Points: points, Teams: []Team{{Members: []string{"A"}}, {Members: []string{"B"}}}})
			return err
		})
	}
	if add(100) == nil || add(0) == nil || add(99) != nil || add(1) == nil {
		t.Error("the limit of a card is not exactly 999 points")
	}
}

// Two nodes that are cut off may together add more points to a card than allowed. Keys keep their digits; points are not capped.
func TestKeysKeepTheirDigits(t *testing.T) {
	r := newRig(t)
	id, _ := r.card("2024-03-03", []int{100, 100, 100, 100, 100, 100, 100, 100, 100, 99}, "sam")
	elsewhere := Match{ID: "m", Place: cardPlace(11), Details: Details{Name: "x", Points: 100, Teams: []Team{{Members: []string{"A"}}, {Members: []string{"B"}}}}}
	r.must(func(tx *store.Tx) error {
		p := r.plan(tx)
		p.putMatch(id, &elsewhere, nil)
		return p.Err()
	})
	c := read(r, func(tx *store.Tx) (Card, error) { return r.Event(tx, id, "sam") })
	for i := range c.Matches {
		r.picks("sam", id, c.Matches[i].ID, 1)
	}
	r.results(id, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	r.score(id)
	if it := r.item(predictionKey("sam", id)); it["GSI_SK"].Str() != "SCORE#999#sam" || number(it["points"]) != 1099 {
		t.Errorf("%v", it)
	}
	if got := standingScore(100_001, "sam"); got != "SCORE#99999#sam" {
		t.Error(got)
	}
}

func TestEventID(t *testing.T) {
	for name, want := range map[string]string{
		"AEW Revolution": "2024-03-03-aew-revolution", " A & B!": "2024-03-03-a-b", "日本": "2024-03-03-event",
		strings.Repeat("x", 70): "2024-03-03-" + strings.Repeat("x", 60), strings.Repeat("y", 59) + " z": "2024-03-03-" + strings.Repeat("y", 59),
	} {
		if got := EventID("2024-03-03", name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// Cards around today are read often; the whole table is, too, from two hours before a lock, or from the lock by an admin, until the event is
// scored.
func TestInterest(t *testing.T) {
	const id = "2024-03-03-aew-revolution"
	early, today := start.AddDate(0, -2, 0), start.Add(-4*time.Hour)
	tests := []struct {
		name   string
		at     time.Time
		locked bool // by an admin
		scored bool
		want   string
	}{
		{"two months before", early, false, false, "EVENT, picks false"},
		{"two months before, locked by an admin", early, true, false, "EVENT EVENT#" + id + ", picks true"},
		{"hours before", today, false, false, "EVENT EVENT#" + id + ", picks false"},
		{"hours before, locked by an admin", today, true, false, "EVENT EVENT#" + id + ", picks true"},
		{"hours before, locked by an admin and scored", today, true, true, "EVENT EVENT#" + id + ", picks false"},
		{"around the lock", start.Add(-2 * time.Hour), false, false, "EVENT EVENT#" + id + ", picks true"},
	}
	for _, tt := range tests {
		r := newRig(t)
		if got, _ := r.card("2024-03-03", []int{5}, "sam"); got != id {
			t.Fatal(got)
		}
		r.now = tt.at
		if tt.locked {
			r.must(func(tx *store.Tx) error { _, err := r.SetState(tx, id, Broadcast); return err })
		}
		if tt.scored {
			r.results(id, 1)
			r.score(id)
		}
		var got []string
		for _, v := range read(r, func(tx *store.Tx) ([]attr.Value, error) { return r.Cards(tx, nil) }) {
			got = append(got, v.Str())
		}
		picks := read(r, func(tx *store.Tx) ([]attr.Value, error) { return r.Picks(tx, nil) })
		whole := len(picks) == 1 && picks[0].IsZero()
		if is := fmt.Sprintf("%s, picks %t", strings.Join(got, " "), whole); is != tt.want || len(picks) > 1 {
			t.Errorf("%s: %s, want %s", tt.name, is, tt.want)
		}
	}
}

// Keys have five digits for the points of a year, so a year has no more events than these can count.
func TestAYearHasAHundredEvents(t *testing.T) {
	r := newRig(t)
	create := func(date string) error {
		return r.try(func(tx *store.Tx) error {
			day, err := time.Parse(Day, date)
			if err == nil {
				_, err = r.CreateEvent(tx, NewEvent{Date: date, Name: "x", StartsAt: day})
			}
			return err
		})
	}
	for i := range maxYearEvents {
		if err := create(start.AddDate(0, 0, i).Format(Day)); err != nil {
			t.Fatal(err)
		}
	}
	if err := create("2024-01-01"); !fault.Is(err, fault.Invalid) {
		t.Errorf("one more: %v", err)
	}
	if err := create("2023-12-31"); err != nil {
		t.Errorf("of another year: %v", err)
	}
	if years := read(r, r.Years); !slices.Equal(years, []string{"2024", "2023"}) {
		t.Errorf("years %v", years)
	}
}
