package sportmonks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/edge/cricket"
)

// fakeFixture builds a fixture of the feed, with its balls in the given order.
type fakeFixture struct {
	id    int
	score int
	balls []fakeBall
}

type fakeBall struct{ id, innings, runs, revision int }

func (b fakeBall) text() string {
	return fmt.Sprintf(`{"resource":"balls","id":%d,"scoreboard":"S%d","ball":%d.%d,"batsman_id":%d,"bowler_id":9,`+
		`"batsman":{"id":%d,"fullname":"Batter No %d"},"score":{"id":%d,"name":"%d Runs","runs":%d,"ball":true},`+
		`"updated_at":"2026-10-09T13:06:%02d.000000Z"}`,
		b.id, b.innings, b.id/6, b.id%6+1, b.id%11+1, b.id%11+1, b.id%11+1, 60+b.runs, b.runs, b.runs, b.revision%60)
}

func (f *fakeFixture) text() string {
	rows := make([]string, len(f.balls))
	for i, b := range f.balls {
		rows[i] = b.text()
	}
	return fmt.Sprintf(`{"resource":"fixtures","id":%d,"runs":[{"inning":1,"score":%d,"overs":0.3}],"balls":[%s],"note":null}`,
		f.id, f.score, strings.Join(rows, ","))
}

func listText(fixtures []fakeFixture) string {
	rows := make([]string, len(fixtures))
	for i := range fixtures {
		rows[i] = fixtures[i].text()
	}
	return `{"data":[` + strings.Join(rows, ", ") + `]}`
}

// The memory of earlier replies never changes a result: whatever the feed adds, revises, deletes, doubles or shuffles, a
// reply decodes as it would without memory.
func TestMemoryNeverShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fixtures := []fakeFixture{{id: 1}, {id: 2}, {id: 3}}
		withMemory := newDecoder()
		var last []known
		next := 0
		for range rapid.IntRange(1, 12).Draw(t, "replies") {
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				next++
				change(t, &fixtures, next)
			}
			body := []byte(listText(fixtures))
			got, err := withMemory.reply(body, last)
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := newDecoder().reply(body, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(snapshotsOf(fresh), snapshotsOf(got)); diff != "" {
				t.Fatalf("without memory (-) and with (+):\n%s\n%s", diff, body)
			}
			last = got.fixtures
		}
	})
}

func snapshotsOf(r *reply) []cricket.Snapshot {
	var out []cricket.Snapshot
	for i := range r.fixtures {
		out = append(out, r.fixtures[i].snap)
	}
	return out
}

func change(t *rapid.T, fixtures *[]fakeFixture, next int) {
	i := rapid.IntRange(0, len(*fixtures)-1).Draw(t, "fixture")
	f := &(*fixtures)[i]
	at := rapid.IntRange(0, len(f.balls)).Draw(t, "at")
	switch rapid.SampledFrom([]string{"add", "add", "add", "insert", "revise", "delete", "double", "swap", "leave", "score"}).Draw(t, "change") {
	case "add":
		f.balls = append(f.balls, fakeBall{id: next, innings: 1 + next/40, runs: next % 7})
	case "insert":
		f.balls = slices.Insert(f.balls, at, fakeBall{id: next, innings: 1, runs: next % 7})
	case "revise":
		if at < len(f.balls) {
			f.balls[at].revision++
			f.balls[at].runs = next % 7
		}
	case "delete":
		if at < len(f.balls) {
			f.balls = slices.Delete(f.balls, at, at+1)
		}
	case "double":
		if at < len(f.balls) {
			twice := f.balls[at]
			twice.runs++
			f.balls = append(f.balls, twice)
		}
	case "swap":
		if at > 0 && at < len(f.balls) {
			f.balls[at], f.balls[at-1] = f.balls[at-1], f.balls[at]
		}
	case "leave":
		if len(*fixtures) > 1 {
			*fixtures = slices.Delete(*fixtures, i, i+1)
		}
	case "score":
		f.score = next
	}
}

// Unchanged balls are not decoded again: this keeps a Test at top speed cheap.
func TestUnchangedBallsAreTaken(t *testing.T) {
	f := fakeFixture{id: 1}
	for i := range 200 {
		f.balls = append(f.balls, fakeBall{id: i, innings: 1, runs: i % 7})
	}
	d := newDecoder()
	first, err := d.reply([]byte(`{"data":`+f.text()+`}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	before := first.fixtures[0].balls
	for i := range before.balls {
		before.balls[i].Outcome = "taken" // only balls that are not decoded again keep it
	}
	f.score = 99
	f.balls = slices.Delete(f.balls, 20, 22)
	f.balls[50].revision = 7
	f.balls = slices.Insert(f.balls, 100, fakeBall{id: 5000, innings: 1})
	f.balls = append(f.balls, fakeBall{id: 201, innings: 1})
	second, err := d.reply([]byte(`{"data":`+f.text()+`}`), first.fixtures)
	if err != nil {
		t.Fatal(err)
	}
	var decoded []int64
	for _, b := range second.fixtures[0].balls.balls {
		if b.Outcome != "taken" {
			decoded = append(decoded, b.ID)
		}
	}
	if want := []int64{52, 5000, 201}; !slices.Equal(decoded, want) {
		t.Errorf("decoded %v, want %v", decoded, want)
	}
}

// The least recently used memory is evicted when there are too many.
func TestMemoriesAreBounded(t *testing.T) {
	m := &memories{byKey: map[string]*memory{}}
	for i := range maxMemories + 10 {
		m.put(strconv.Itoa(i), &memory{body: span{size: i + 1}})
	}
	if len(m.byKey) != maxMemories {
		t.Errorf("%d kept, want %d", len(m.byKey), maxMemories)
	}
	if m.memoryOf("9").body.size != 0 || m.memoryOf("10").body.size == 0 {
		t.Error("the evicted memories were not the oldest")
	}
	if m.memoryOf("10").body.size != 0 {
		t.Error("a memory was taken out twice")
	}
}
