package scorekeeperapp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

const prod = "scorekeeper-prod"

// unfinished is a cloud whose readings of the application's table can fail, while single rows are read and all is written.
type unfinished struct {
	remote.Cloud
	fail *atomic.Bool
}

func (c unfinished) Read(ctx context.Context, r remote.Reading) (remote.Page, error) {
	if r.Table == prod && c.fail.Load() {
		return remote.Page{}, &intent.Error{Class: intent.Throttled}
	}
	return c.Cloud.Read(ctx, r)
}

// What does not move although the cloud can be reached is a warning of the readiness check, an alarm on the Status page and a metric. The node
// stays ready, since it serves what it has. Nothing is said before three intervals have passed, and nothing once all moves again.
func TestStandstillIsShown(t *testing.T) {
	tests := []struct {
		name    string
		set     func(f *fleet, fail *atomic.Bool, broken bool)
		words   []string
		late    int // the metrics: 1 if nothing is read, and if nothing is sent
		stands  int
		arrives bool // what the node writes arrives meanwhile
	}{
		{
			name:    "the table may be written and not read",
			set:     func(f *fleet, _ *atomic.Bool, broken bool) { f.Links["a"].DenyReads(prod, broken) },
			words:   []string{"What others write to scorekeeper-prod does not arrive here; not read completely for ", "this node may not read them"},
			late:    1,
			arrives: true,
		},
		{
			name:    "no reading is complete",
			set:     func(_ *fleet, fail *atomic.Bool, broken bool) { fail.Store(broken) },
			words:   []string{"What others write to scorekeeper-prod does not arrive here; not read completely for ", "throttled"},
			late:    1,
			arrives: true,
		},
		{
			name:   "writes wait for a missing table",
			set:    func(f *fleet, _ *atomic.Bool, broken bool) { f.Cloud.Hide(prod, broken) },
			words:  []string{"Nothing is sent to the table scorekeeper-prod (1 write waits): no table"},
			late:   1,
			stands: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fail := &atomic.Bool{}
				f := &fleet{nodes.Two(t, nodes.Options{App: New, Parts: func(p *node.Parts) { p.Cloud.Items = unfinished{p.Cloud.Items, fail} }})}
				f.Pass(2 * time.Minute)
				f.shows("while all moves", nil, 0, 0)
				tt.set(f, fail, true)
				f.Pass(time.Second)
				today := f.Clock.Now().UTC().Format(scorekeeper.Day)
				f.Want("a", nodes.Boss, "PUT", "/scorekeeper/puzzles", fmt.Sprintf(`{"date":%q,"word":"manna"}`, today))
				f.Pass(5 * time.Minute)
				f.shows("after five minutes", tt.words, tt.late, tt.stands)
				written := func() bool { return f.Cloud.Item(prod, scorekeeper.AnswerKey(today))["word"].Equal(attr.S("manna")) }
				if tt.arrives && !written() {
					t.Error("the write has not arrived")
				}
				tt.set(f, fail, false)
				f.Pass(20 * time.Minute) // pauses between checks of a missing table are minutes
				f.shows("when all moves again", nil, 0, 0)
				if !written() {
					t.Error("the write has not arrived in the end")
				}
			})
		})
	}
}

// shows checks what node a says about what does not move: nothing, or all of the words.
func (f *fleet) shows(when string, words []string, late, stands int) {
	f.T.Helper()
	status, ready := f.Ask("a", "", "GET", "/readyz?verbose", "")
	if status != http.StatusOK || !strings.HasSuffix(ready, "\nready\n") {
		f.T.Errorf("%s: not ready: %d %s", when, status, ready)
	}
	if len(words) == 0 && strings.Contains(ready, "[!]") {
		f.T.Errorf("%s: %s", when, ready)
	}
	page := f.Want("a", nodes.Boss, "GET", "/_/hub", "")
	for _, part := range words {
		if _, warning, _ := strings.Cut(ready, "[!] "); !strings.Contains(warning, part) {
			f.T.Errorf("%s: the readiness check does not warn that %q: %s", when, part, ready)
		}
		if !strings.Contains(page, part) {
			f.T.Errorf("%s: the Status page does not say %q: %s", when, part, page)
		}
	}
	metrics := f.Want("a", nodes.Boss, "GET", "/metrics", "")
	for name, want := range map[string]int{"feed_late": late, "table_stands": stands} {
		got := 0
		for line := range strings.Lines(metrics) {
			if strings.HasPrefix(line, "touchline_sync_"+name+"{") && strings.Contains(line, prod) && strings.HasSuffix(line, " 1\n") {
				got = 1
			}
		}
		if got != want {
			f.T.Errorf("%s: the metric %s is %d, want %d", when, name, got, want)
		}
	}
}
