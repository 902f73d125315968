package operator

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/httpapi/page"
)

// LeftOut lists what the node leaves out: stored rows that an application cannot decode, and journal records that a consumer cannot handle.
type LeftOut struct {
	Rows    int          `json:"rows"`    // rows that readers have met and could not decode, still as they were then
	More    bool         `json:"more"`    // there are more rows than are counted
	Records int          `json:"records"` // changes that consumers could not handle
	Shown   []LeftOutRow `json:"shown"`   // the first of them
}

// LeftOutRow is a row that is left out.
type LeftOutRow struct {
	Table    string    `json:"table"`
	Row      string    `json:"row"`                // its key; only its beginning if the key is secret
	Consumer string    `json:"consumer,omitempty"` // that cannot handle the row's change; empty: readers cannot decode the row
	Why      string    `json:"why"`
	Since    time.Time `json:"since"`
}

// LeftOutShown is how many of these rows the status names.
const LeftOutShown = 50

func (p *Problems) leftOut(l *LeftOut) {
	if l.Rows > 0 {
		more := ""
		if l.More {
			more = "More than "
		}
		verb := "are"
		if l.Rows == 1 && !l.More {
			verb = "is"
		}
		p.Add("%s%s cannot be read and %s left out of all lists and counts: see below which, and correct or delete them in the table.", more, Count(l.Rows, "stored row"), verb)
	}
	if l.Records > 0 {
		p.Add("%s could not be worked on, so that what depends on them may be out of date: see below. They are tried again from time to time.", Count(l.Records, "change"))
	}
}

// leftOutTable lists the rows; ok is false if there are none.
func leftOutTable(s *State) (t page.Table, ok bool) {
	t = page.Table{ID: "leftout", Title: "Rows left out", Heads: []string{"Table", "Row", "Why", "Since"}}
	l := &s.Node.LeftOut
	for i := range l.Shown {
		r := &l.Shown[i]
		why := r.Why
		if r.Consumer != "" {
			why = fmt.Sprintf("the consumer %s cannot handle its change: %s", r.Consumer, r.Why)
		}
		t.Rows = append(t.Rows, []string{r.Table, r.Row, why, Clock(r.Since, s.At)})
	}
	if hidden := l.Rows + l.Records - len(l.Shown); hidden > 0 {
		t.Rows = append(t.Rows, []string{"", fmt.Sprintf("and %d more", hidden), "", ""})
	}
	return t, len(t.Rows) > 0
}
