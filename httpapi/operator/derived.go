package operator

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/touchline/touchline/httpapi/page"
)

// Derived is the state of one kind of rows that an application computes from facts. Only kinds with something to say have one.
type Derived struct {
	App   string   `json:"app"`
	Title string   `json:"-"`               // of the application
	Name  string   `json:"name"`            // of the kind: "standings"
	Waits string   `json:"waits,omitempty"` // what counting waits for, in a sentence
	Held  []string `json:"held,omitempty"`  // why rows are not counted, each a sentence
	// Others counts rows that differ from what this node counts, and stay as they are: this program cannot prove that it wrote them.
	Others int    `json:"others,omitempty"`
	Failed string `json:"failed,omitempty"` // the error of the latest attempt, which is repeated
}

// Derivations is what the pages need from what derives rows.
type Derivations interface {
	// DerivedRules lists the kinds of rows with something to say.
	DerivedRules() []Derived
	// Differences returns the rows of a kind that stay as they are, or fault.NotFound.
	Differences(ctx context.Context, app, name string) (Differences, error)
	// Recount writes the differences that a person has seen, named by Differences.Seen. fault.Conflict: they have changed since.
	Recount(ctx context.Context, app, name, seen string) (written int, err error)
}

// Differences are rows of one kind that differ from what this node counts.
type Differences struct {
	Derived
	Seen string // names this list
	Rows []Difference
	More int // rows that are not listed; they are recounted too
}

// Difference is one row.
type Difference struct {
	Row   string // its key
	Is    string // the values that differ, as they are
	Shall string // as this node counts them
}

// lines returns what the Status page says about a kind of rows, and the address of its differences; empty: there are none.
func (d *Derived) lines(apps int) (lines []page.Counted) {
	name := strings.ToUpper(d.Name[:1]) + d.Name[1:]
	if apps > 1 {
		name = d.Title + ": " + d.Name
	}
	if d.Waits != "" {
		lines = append(lines, page.Counted{Text: fmt.Sprintf("%s: %s", name, d.Waits)})
	}
	if d.Others > 0 {
		lines = append(lines, page.Counted{
			Text: fmt.Sprintf("%s: %s not as this node counts them, and stay as they are: another program may have written them.", name, isOrAre(d.Others, "row")),
			Href: "/_/recount/" + url.PathEscape(d.App) + "/" + url.PathEscape(d.Name),
		})
	}
	for _, why := range d.Held {
		lines = append(lines, page.Counted{Text: fmt.Sprintf("%s: %s", name, why)})
	}
	if d.Failed != "" {
		lines = append(lines, page.Counted{Text: fmt.Sprintf("%s: counting failed and is tried again: %s", name, d.Failed)})
	}
	return lines
}

func isOrAre(n int, what string) string {
	if n == 1 {
		return Count(n, what) + " is"
	}
	return Count(n, what) + " are"
}
