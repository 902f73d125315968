package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// Side says whose answers are expected where they differ.
type Side int

// The two sides. Everything that serves our store is Ours.
const (
	Local Side = iota
	Ours
)

// Run checks a target against the suite. It calls open for each case, for a target without tables.
func Run(t *testing.T, side Side, open func(testing.TB) Target) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(f.Name, func(t *testing.T) {
			for _, c := range f.Cases {
				t.Run(c.Name, func(t *testing.T) {
					runCase(t, f, c, open(t), func(s *Step, got Answer) { s.compare(t, f.Name, side, got) })
				})
			}
		})
	}
}

// Record is Run, but stores the answers instead of comparing them: as those of DynamoDB Local, or as those of our store for steps marked
// as different. It removes the mark if the answers no longer differ.
func Record(t *testing.T, side Side, f *File, open func(testing.TB) Target) {
	for _, c := range f.Cases {
		if side == Ours && !slices.ContainsFunc(c.Steps, func(s *Step) bool { return s.Differs != nil }) {
			continue
		}
		runCase(t, f, c, open(t), func(s *Step, got Answer) {
			switch {
			case side == Local:
				s.Want, s.Recorded = got, true
			case s.Differs != nil && got == s.Want:
				s.Differs = nil
			case s.Differs != nil:
				s.Differs.Ours = got
			}
		})
	}
}

func runCase(t testing.TB, f *File, c *Case, target Target, each func(*Step, Answer)) {
	r := runner{target: target, patterns: newPatterns(f.Lets)}
	for _, table := range f.Tables {
		if a, err := r.sendOnce(t.Context(), "CreateTable", table); err != nil || a.Refusal != "" {
			t.Fatalf("%s.txt: the table cannot be made: %v\n%s\n%s", f.Name, err, table, a)
		}
	}
	for _, s := range c.Steps {
		got, err := r.step(t.Context(), s)
		if err != nil {
			t.Fatalf("%s.txt:%d: %s: %v", f.Name, s.Line, s.Operation, err)
		}
		each(s, got)
	}
}

func (s *Step) compare(t *testing.T, file string, side Side, got Answer) {
	t.Helper()
	want := s.AnswerOf(side)
	switch {
	case !s.Recorded:
		t.Errorf("%s.txt:%d: no answer is recorded", file, s.Line)
	case got != want && s.Differs != nil && got == s.Want:
		t.Errorf("%s.txt:%d: %s\nno longer differs: take the note away\n%s", file, s.Line, s.head, got)
	case got != want:
		t.Errorf("%s.txt:%d: %s\n got  %s\n want %s", file, s.Line, s.head, got, want)
	}
}

// runner sends the requests of steps.
type runner struct {
	target Target
	patterns
}

// step runs a step, as often as it says.
func (r runner) step(ctx context.Context, s *Step) (Answer, error) {
	first, err := r.send(ctx, s, 1)
	for n := 2; err == nil && n <= s.Times; n++ {
		var a Answer
		if a, err = r.send(ctx, s, n); err == nil && a != first {
			return a, fmt.Errorf("the answer is another the %d. time: %s", n, a)
		}
	}
	return first, err
}

func (r runner) send(ctx context.Context, s *Step, n int) (a Answer, err error) {
	request := r.expand(s.Request, n)
	has := func(mode string) bool { return slices.Contains(s.Modes, mode) }
	switch {
	case s.Operation == "wait":
		return Answer{Body: "{}"}, r.wait(ctx, request)
	case has("segments"):
		a, err = r.segments(ctx, s, request)
	case has("pages") || has("all"):
		a, err = r.pages(ctx, s, request, has("pages"))
	default:
		return r.sendOnce(ctx, s.Operation, request, s.Modes...)
	}
	if err != nil {
		return refusal(err)
	}
	return a, nil
}

// sendOnce sends one request.
func (r runner) sendOnce(ctx context.Context, operation, request string, modes ...string) (Answer, error) {
	data, err := r.target.Do(ctx, operation, []byte(request))
	if err != nil {
		return refusal(err)
	}
	answer, err := decode(data)
	if err != nil {
		return Answer{}, fmt.Errorf("the answer is not JSON: %w: %s", err, data)
	}
	tidy(operation, modes, answer)
	return Answer{Body: canonical(answer)}, nil
}

// limitOfPages ends a Query or Scan that loops.
const limitOfPages = 1000

// walk requests pages until there are no more. The error may be a refusal.
func (r runner) walk(ctx context.Context, operation string, body map[string]any) (pages []map[string]any, err error) {
	for len(pages) < limitOfPages {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		if data, err = r.target.Do(ctx, operation, data); err != nil {
			return nil, err
		}
		page, err := decode(data)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		if page["LastEvaluatedKey"] == nil {
			return pages, nil
		}
		body["ExclusiveStartKey"] = page["LastEvaluatedKey"]
	}
	return nil, errors.New("there is no end to the pages")
}

// pages returns all pages, joined or separately.
func (r runner) pages(ctx context.Context, s *Step, request string, each bool) (Answer, error) {
	body, err := decode([]byte(request))
	if err != nil {
		return Answer{}, err
	}
	pages, err := r.walk(ctx, s.Operation, body)
	if err != nil || !each {
		return Answer{Body: canonical(join(s, pages))}, err
	}
	out := make([]any, len(pages))
	for i, page := range pages {
		tidy(s.Operation, s.Modes, page)
		out[i] = page
	}
	return Answer{Body: canonical(map[string]any{"Pages": out})}, nil
}

// join joins pages into one.
func join(s *Step, pages []map[string]any) map[string]any {
	var items []any
	for _, page := range pages {
		list, _ := page["Items"].([]any)
		items = append(items, list...)
	}
	out := map[string]any{"Count": total(pages, "Count"), "ScannedCount": total(pages, "ScannedCount")}
	if items != nil {
		out["Items"] = items
	}
	tidy(s.Operation, s.Modes, out)
	return out
}

func total(pages []map[string]any, name string) (sum int64) {
	for _, page := range pages {
		if n, ok := page[name].(json.Number); ok {
			v, _ := n.Int64()
			sum += v
		}
	}
	return sum
}

// segments joins all pages of all segments.
func (r runner) segments(ctx context.Context, s *Step, request string) (Answer, error) {
	body, err := decode([]byte(request))
	if err != nil {
		return Answer{}, err
	}
	n, ok := body["TotalSegments"].(json.Number)
	if !ok {
		return Answer{}, errors.New("TotalSegments is missing")
	}
	segments, err := n.Int64()
	var all []map[string]any
	for i := range segments {
		part := maps.Clone(body)
		part["Segment"] = i
		pages, err := r.walk(ctx, s.Operation, part)
		if err != nil {
			return Answer{}, err
		}
		all = append(all, pages...)
	}
	return Answer{Body: canonical(join(s, all))}, err
}

// wait polls a table's state until it no longer changes, or the table is gone.
func (r runner) wait(ctx context.Context, request string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		a, err := r.sendOnce(ctx, "DescribeTable", request)
		if err != nil || a.Refusal == "ResourceNotFoundException" {
			return err
		}
		// DynamoDB Local has been seen to fail (InternalFailure) while it builds an index.
		if a.Refusal == "" && !changing(a.Body) {
			return nil
		}
		pause, stop := context.WithTimeout(ctx, 10*time.Millisecond)
		<-pause.Done()
		stop()
	}
}

// changing reports whether a description has a transient state.
func changing(body string) bool {
	return slices.ContainsFunc([]string{"CREATING", "UPDATING", "DELETING", "BACKFILLING"}, func(state string) bool {
		return strings.Contains(body, `Status":"`+state)
	})
}
