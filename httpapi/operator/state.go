package operator

import (
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// State is how a node is doing, for its operator.
type State struct {
	At       time.Time      `json:"at"` // the node's
	Version  string         `json:"version"`
	Problems []string       `json:"problems"` // what a person should look at, in plain words, the worst first
	Streams  Streams        `json:"streams"`
	Apps     map[string]any `json:"apps"` // what each application says of itself, by name

	Node         NodeStatus  `json:"node"`
	Applications []AppStatus `json:"applications"`

	// Of the page alone: the routes of the cloud have them.
	Sync SyncStatus `json:"-"`

	Conflicts []conflict.View `json:"-"` // open ones, the newest
	Tables    []page.Table    `json:"-"` // the applications'
}

// Streams counts event streams.
type Streams struct {
	Open  int `json:"open"`
	Limit int `json:"limit"`
}

// AppStatus is how an application does, as far as its server knows.
type AppStatus struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	NotReady string `json:"notReady,omitempty"` // why; empty: it is ready
	Problems int    `json:"problems"`           // of State.Problems
	Requests uint64 `json:"requests"`           // answered since the start
	Failed   uint64 `json:"failed"`             // of these, by an error of ours: 500, 502 and the like
}

// Words are how it does, in a line.
func (a *AppStatus) Words() string {
	switch {
	case a.NotReady != "":
		return "not ready: " + a.NotReady
	case a.Problems > 0:
		return Count(a.Problems, "problem") + ", see above"
	}
	return "ok"
}

// Part is what one application adds.
type Part struct {
	Problems []string
	Tables   []page.Table
	Status   any // as JSON
}

// CheckCloud names the check of the room for what waits for the cloud. It is good offline too, so it must not read as if
// the cloud were there.
const CheckCloud = "cloud backlog"

// Check is one answer to the question whether the node is ready. A nil Err is a yes. Its text is shown to whoever
// asks. With a Warning the node is ready all the same, but a person should look.
type Check struct {
	Name    string
	App     string // whose it is; empty: the node's
	Err     error
	Warning string
}

const (
	almostFull = 0.9       // of the streams that may be open
	lowOnDisk  = 256 << 20 // bytes by which the database can still grow
)

// Judge puts the node's own problems around those of its applications.
func (s *State) Judge(checks []Check, apps []string) {
	p := Problems{At: s.At, All: []string{}}
	for _, c := range checks {
		switch {
		case c.Err != nil:
			p.Add("This node is not ready (%s): %v.", c.Name, c.Err)
		case c.Warning != "" && c.Name != CheckCloud: // which says it with its other alarms
			p.Add("This node's %s: %s.", c.Name, c.Warning)
		}
	}
	if v := &s.Node.Chores.Verify; v.Damaged > 0 {
		p.Add("%d items, index entries or journal records on disk are not what was written (%s).", v.Damaged, strings.Join(v.Where, ", "))
	}
	if d := s.Node.Disk; d != nil && d.Grow >= 0 && d.Grow < lowOnDisk {
		p.Add("The disk is almost full: the database can grow by %s.", Size(d.Grow))
	}
	p.Cloud(&s.Sync)
	p.All = append(p.All, apps...)
	if float64(s.Streams.Open) >= almostFull*float64(s.Streams.Limit) {
		p.Add("%d of %d streams are open: readers will be turned away (http.max_streams).", s.Streams.Open, s.Streams.Limit)
	}
	s.Problems = p.All
}
