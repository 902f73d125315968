package operator

import (
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// State is a node's state, for its operator.
type State struct {
	At       time.Time      `json:"at"` // time of the node's clock
	Version  string         `json:"version"`
	Problems []string       `json:"problems"` // what needs attention, in plain words, worst first
	Streams  Streams        `json:"streams"`
	Apps     map[string]any `json:"apps"` // what each application reports, by name

	Node         NodeStatus  `json:"node"`
	Applications []AppStatus `json:"applications"`
	Derived      []Derived   `json:"derived,omitempty"`
	Games        UnsentGames `json:"games"` // those that are not all in the cloud

	// Only on the page; the API has routes of its own for these.
	Sync SyncStatus `json:"-"`

	Conflicts []conflict.View `json:"-"` // the newest open ones
	Tables    []page.Table    `json:"-"` // of the applications
}

// Streams counts event streams.
type Streams struct {
	Open  int `json:"open"`
	Limit int `json:"limit"`
}

// AppStatus is the state of an application as its server knows it.
type AppStatus struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	NotReady string `json:"notReady,omitempty"` // reason; empty: ready
	Problems int    `json:"problems"`           // how many of State.Problems are its
	Requests uint64 `json:"requests"`           // answered since the start
	Failed   uint64 `json:"failed"`             // of these, answered with a server error other than 503
}

// Words returns the state in a few words.
func (a *AppStatus) Words() string {
	switch {
	case a.NotReady != "":
		return "not ready: " + a.NotReady
	case a.Problems > 0:
		return Count(a.Problems, "problem") + ", see above"
	}
	return "ok"
}

// Part is what one application adds to the State.
type Part struct {
	Problems []string
	Tables   []page.Table
	Status   any // as JSON
}

// CheckCloud is the check of the space for writes that wait for the cloud. It passes offline too, so its name must not suggest that the
// cloud is reachable.
const CheckCloud = "cloud backlog"

// CheckStanding is the check that writes and reads move while the cloud can be reached. It only warns.
const CheckStanding = "cloud sync"

// Check is a readiness check. A nil Err means ready; otherwise clients see its text. With a Warning the node is ready, but needs
// attention.
type Check struct {
	Name    string
	App     string // application that it belongs to; empty: the node
	Err     error
	Warning string
}

const (
	almostFull = 0.9       // share of the open stream limit
	lowOnDisk  = 256 << 20 // bytes by which the database can grow
)

// DeriveProblems sets Problems: the node's, then those of its applications.
func (s *State) DeriveProblems(checks []Check, apps []string) {
	p := Problems{At: s.At, All: []string{}}
	for _, c := range checks {
		switch {
		case c.Err != nil:
			p.Add("This node is not ready (%s): %v.", c.Name, c.Err)
		case c.Warning != "" && c.Name != CheckCloud && c.Name != CheckStanding: // their warnings are among the cloud's alarms
			p.Add("This node's %s: %s.", c.Name, c.Warning)
		}
	}
	for i := range s.Node.Damages {
		p.Add("%s", s.Node.Damages[i].Words())
	}
	if v := &s.Node.Chores.Verify; v.Damaged > 0 {
		p.Add("Damaged on disk: %d items, index entries or journal records (%s). Run touchline check, restore the last backup, and check the disk.", v.Damaged, strings.Join(v.Where, ", "))
	}
	if d := s.Node.Disk; d != nil && d.Grow >= 0 && d.Grow < lowOnDisk {
		p.Add("The disk is almost full: the database can grow by only %s. Free some space.", Size(d.Grow))
	}
	p.Cloud(&s.Sync)
	for i := range s.Node.FallenLocks {
		p.Add("%s", s.Node.FallenLocks[i].Words(s.At))
	}
	p.leftOut(&s.Node.LeftOut)
	p.All = append(p.All, apps...)
	if float64(s.Streams.Open) >= almostFull*float64(s.Streams.Limit) {
		p.Add("%d of %d streams are open: new readers will be turned away (http.max_streams).", s.Streams.Open, s.Streams.Limit)
	}
	s.Problems = p.All
}
