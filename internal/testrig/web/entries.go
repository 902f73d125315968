package web

import (
	"net/http"
	"strings"
	"testing"
)

// Entry is a write that pages queue: a request of Who to a path of a route. Other is somebody else who may send it too; empty: the entry is its
// maker's own, and a page sends it in no other session.
type Entry struct {
	Who, Other          string
	Method, Route, Path string
	Body                string
}

// ReadEntries reads entries, each a line "who other METHOD /route/:of /path/of body". Without another, other is -.
func ReadEntries(lines ...string) (all []Entry) {
	for _, line := range lines {
		parts := append(strings.SplitN(line, " ", 6), "")
		e := Entry{Who: parts[0], Other: parts[1], Method: parts[2], Route: parts[3], Path: parts[4], Body: parts[5]}
		if e.Other == "-" {
			e.Other = ""
		}
		all = append(all, e)
	}
	return all
}

// Entries is an application whose pages queue writes.
type Entries struct {
	Handler http.Handler
	Seq     func() uint64                         // of the store's last record
	As      func(who string) (name, value string) // the header by which a user is signed in; empty: none
	After   func()                                // called after each entry when it is first sent; may be nil
	Mount   string
	Devices [2]string // ids of two devices
	Hash    string    // of the first one's
}

// CheckOnce sends entries as a page of a device does, in their order, and then all of them again, late and in the same order: as their makers, as
// others, and from a browser that has got another id since. Nothing may change by that, and no maker may be refused.
func (a *Entries) CheckOnce(t *testing.T, entries []Entry) {
	t.Helper()
	for i := range entries {
		e := &entries[i]
		before := a.Seq()
		if w := a.send(e, i, e.Who, a.Devices[0]); w.status >= http.StatusMultipleChoices || a.Seq() == before {
			t.Errorf("%s %s by %s: %d %s, %d records", e.Method, e.Path, e.Who, w.status, w.body, a.Seq()-before)
		}
		if a.After != nil {
			a.After()
		}
	}
	for i := range entries {
		e := &entries[i]
		for _, again := range []struct{ who, device string }{{e.Who, a.Devices[0]}, {e.Other, a.Devices[0]}, {e.Who, a.Devices[1]}} {
			if again.who == "" {
				continue
			}
			before := a.Seq()
			w := a.send(e, i, again.who, again.device)
			if refused := w.status >= http.StatusMultipleChoices; refused && again.who == e.Who || a.Seq() != before {
				t.Errorf("again: %s %s by %s: %d %s, %d records", e.Method, e.Path, again.who, w.status, w.body, a.Seq()-before)
			}
		}
	}
}

// CheckCovered checks that there is an entry for each route that changes something, or a reason why pages queue no write to it.
func CheckCovered(t *testing.T, routes []string, entries []Entry, unqueued map[string]string) {
	t.Helper()
	covered := map[string]bool{}
	for i := range entries {
		covered[entries[i].Method+" "+entries[i].Route] = true
	}
	for _, route := range routes {
		switch _, told := unqueued[route]; {
		case covered[route] && told:
			t.Errorf("%s is queued after all", route)
		case !covered[route] && !told && !strings.HasPrefix(route, http.MethodGet):
			t.Errorf("%s: replay it, or say why pages do not queue it", route)
		}
		delete(covered, route)
	}
	for route := range covered {
		t.Errorf("there is no route %s", route)
	}
}

type said struct {
	status int
	body   string
}

func (a *Entries) send(e *Entry, n int, who, device string) said {
	// keys are ULIDs, which applications may take as ids: one for each entry
	key := "01K4D2Z9C0ZZZZZZZZZZZZZ" + string([]byte{'0' + byte(n/100), '0' + byte(n/10%10), '0' + byte(n%10)})
	headers := []string{
		"Idempotency-Key", key, "Touchline-Device", a.Hash, "Touchline-Entries", "1 0 store", "Touchline-Occurred-Ago", "1", "Sec-Fetch-Site", "same-origin",
	}
	cookies := "touchline_device=" + device
	switch name, value := a.As(who); name {
	case "":
	case "Cookie":
		cookies += "; " + value
	default:
		headers = append(headers, name, value)
	}
	w := Ask(a.Handler, e.Method, a.Mount+e.Path, e.Body, append(headers, "Cookie", cookies)...)
	return said{w.Code, w.Body.String()}
}
