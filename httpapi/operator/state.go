package operator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/certs"
)

// State is how a node is doing, for its operator.
type State struct {
	At       time.Time      `json:"at"` // the node's
	Version  string         `json:"version"`
	Problems []string       `json:"problems"` // what a person should look at, in plain words, the worst first
	Streams  Streams        `json:"streams"`
	Apps     map[string]any `json:"apps"` // what each application says of itself, by name

	// Of the page alone: the routes of the cloud have them.
	Sync SyncStatus `json:"-"`

	Certificate certs.State  `json:"-"` // zero: plain HTTP
	Conflicts   []Conflict   `json:"-"` // open ones, the newest
	Tables      []page.Table `json:"-"` // the applications'
}

// Streams counts event streams.
type Streams struct {
	Open  int `json:"open"`
	Limit int `json:"limit"`
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
	Err     error
	Warning string
}

const almostFull = 0.9 // of the streams that may be open

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
	p.Cloud(&s.Sync)
	p.All = append(p.All, apps...)
	if float64(s.Streams.Open) >= almostFull*float64(s.Streams.Limit) {
		p.Add("%d of %d streams are open: readers will be turned away (http.max_streams).", s.Streams.Open, s.Streams.Limit)
	}
	s.Problems = p.All
}

// Page is the operator's page.
func (s *State) Page() page.OperatorInput {
	node := page.Table{ID: "node", Title: "Node", Heads: []string{"What", "Figure"}, Rows: [][]string{
		{"Version", s.Version}, {"Streams", fmt.Sprintf("%d of %d", s.Streams.Open, s.Streams.Limit)},
	}}
	if c := &s.Certificate; c.Kind != "" {
		node.Rows = append(node.Rows, []string{"Certificate", fmt.Sprintf("%s, until %s, for %s", c.Kind, c.NotAfter.Format(time.DateOnly), strings.Join(c.Names, ", "))})
	}
	// A new slice: a state is kept, and shown to several at once.
	tables := slices.Concat(s.Tables, []page.Table{cloudTable(s)}, cloudTables(s), []page.Table{node})
	return page.OperatorInput{At: Clock(s.At, s.At), Problems: s.Problems, Tables: tables}
}
