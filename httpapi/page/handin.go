package page

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The states of an entry that is handed in.
const (
	HandInReady   = "ready" // to be confirmed
	HandInCounted = "counted"
	HandInAlready = "already" // counted before
	HandInRefused = "refused"
	HandInLater   = "later" // not now: the file has to be handed in again
)

// HandIn is the content of the page where a file of entries is given to the node.
type HandIn struct {
	At      string // address of the page
	Problem string // why the file cannot be read; empty: it can
	Rows    []HandInRow
	Done    bool // they were carried out
	Again   bool // some were not, and may be later
	File    string

	Ask, Do string // what is confirmed, and the words of its button
	Sum     string // what became of them
}

// HandInRow is an entry.
type HandInRow struct {
	What  string    // what it asks for; empty: the node has no words for it
	At    time.Time // when it was made; in the future: now
	State string
	Words string // why it was refused
}

// Refuse notes that the entry was refused with a status: for now, if the node may accept it later.
func (r *HandInRow) Refuse(status int, words string) {
	r.State, r.Words = HandInRefused, words
	if status == http.StatusTooManyRequests || status >= http.StatusInternalServerError {
		r.State = HandInLater
	}
}

// Outcome says what became of the entry.
func (r *HandInRow) Outcome() string {
	switch r.State {
	case HandInCounted:
		return "counted"
	case HandInAlready:
		return "counted already"
	case HandInLater:
		return strings.TrimSpace("not yet: hand in the file again. " + r.Words)
	case HandInRefused:
		return "refused: " + r.Words
	default:
		return ""
	}
}

// Count says how many entries there are of each kind; ready are to be confirmed.
func (in *HandIn) Count(ready int) {
	if ready > 0 {
		in.Ask, in.Do = fmt.Sprintf("Record %s, as made at these times?", entries(ready)), "Record "+themOrIt(ready)
	}
	if !in.Done {
		return
	}
	n := map[string]int{}
	for i := range in.Rows {
		n[in.Rows[i].State]++
	}
	var said []string
	for _, part := range []struct{ state, words string }{{HandInCounted, "counted"}, {HandInAlready, "counted already"}, {HandInRefused, "refused"}, {HandInLater, "not yet"}} {
		if n[part.state] > 0 {
			said = append(said, fmt.Sprintf("%d %s", n[part.state], part.words))
		}
	}
	in.Sum = strings.Join(said, ", ") + "."
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func themOrIt(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
