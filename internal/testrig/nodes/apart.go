package nodes

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store/attr"
)

// Apart is two nodes in a bubble that are cut off and rejoined. It tracks the writes that were confirmed to users.
type Apart struct {
	*Fleet
	Table string
	Trace []string // what was done, with results
	Wrong []string
	said  map[string][]said // confirmed values, by row and attribute
}

// said is a value that was confirmed as written. It is over once it was overwritten where it was known.
type said struct {
	value, at string
	over      bool
}

// NewApart starts two nodes with an application whose given table is observed.
func NewApart(t *testing.T, o Options, table string) *Apart {
	t.Helper()
	w := ApartOf(Two(t, o), table)
	w.Pass(10 * time.Second)
	return w
}

// ApartOf observes a table of a fleet in a bubble.
func ApartOf(f *Fleet, table string) *Apart {
	return &Apart{Fleet: f, Table: table, said: map[string][]said{}}
}

// Settle waits until both nodes have what the cloud has.
func (w *Apart) Settle() {
	w.T.Helper()
	equal := func(at string) bool {
		w.Cloud.Expire(w.Clock.Wall())
		return maps.EqualFunc(w.Rows(at, w.Table), w.Rows("", w.Table), attr.EqualItems)
	}
	w.Pass(time.Minute)
	for range 24 {
		if equal("a") && equal("b") {
			return
		}
		w.Pass(5 * time.Minute)
	}
	w.T.Fatal("the nodes do not converge to what the cloud has")
}

// Bad records a fault.
func (w *Apart) Bad(format string, args ...any) {
	w.Wrong = append(w.Wrong, fmt.Sprintf(format, args...))
}

// SetFault cuts nodes off or rejoins them: "cut", "cut both", "heal", "heal both", or "mute", when requests of a node arrive but answers
// do not.
func (w *Apart) SetFault(what, at string) {
	w.Trace = append(w.Trace, what+" "+at)
	if what == "mute" {
		w.Links[at].SetMode(simcloud.OneWayIn)
		return
	}
	what, both := strings.CutSuffix(what, " both")
	names := []string{at}
	if both { // the other node follows
		names = append(names, slices.DeleteFunc(slices.Sorted(maps.Keys(w.Base)), func(name string) bool { return name == at })...)
	}
	if what == "cut" {
		w.Cut(names...)
	} else {
		w.Heal(names...)
	}
}

// Asks sends a request to a node, with an Idempotency-Key unless it is empty, and reports whether it succeeded.
func (w *Apart) Asks(at, user, method, path, body, key string, headers ...string) (answer string, ok bool) {
	w.T.Helper()
	if key != "" {
		headers = append(headers, "Idempotency-Key", key)
	}
	status, answer := w.Ask(at, user, method, path, body, headers...)
	w.Trace = append(w.Trace, fmt.Sprintf("%s %s %s %s %s %s %s: %d %.120s", w.Clock.Wall().Format("15:04:05.000"), at, user, method, path, body, key, status, answer))
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		w.Bad("%s %s %s at %s: %d %s", method, path, body, at, status, answer)
	}
	w.Pass(10 * time.Millisecond)
	return answer, status < http.StatusBadRequest
}

// Read parses JSON.
func (w *Apart) Read(answer string, into any) {
	w.T.Helper()
	if err := json.Unmarshal([]byte(answer), into); err != nil {
		w.T.Fatalf("%v: %s", err, answer)
	}
}

// Makes requests a node to create something, and returns a field of the answer, or "" if it was not created.
func (w *Apart) Makes(at, user, path, body, key, name string) string {
	w.T.Helper()
	answer, ok := w.Asks(at, user, http.MethodPost, path, body, key)
	if !ok {
		return ""
	}
	var m map[string]any
	w.Read(answer, &m)
	return fmt.Sprint(m[name])
}

// Does is Asks for a request that changes attributes of a row: their new values count as confirmed from then on. "a.b" is an entry of a
// map.
func (w *Apart) Does(at, user, method, path, body, key, row string, names ...string) (answer string, ok bool) {
	w.T.Helper()
	before := w.Rows(at, w.Table)
	if answer, ok = w.Asks(at, user, method, path, body, key); ok {
		w.Says(at, row, before, names...)
	}
	return answer, ok
}

// Says records the values of a row's attributes at a node as confirmed; before holds the rows before the change.
func (w *Apart) Says(at, row string, before map[string]attr.Item, names ...string) {
	w.T.Helper()
	after := w.Rows(at, w.Table)
	for _, name := range names {
		reg, is := row+"\x00"+name, Shown(before[row], name)
		known := 0 // how many confirmed values the previous one can be: if more than one, it is unknown which; a missing value says nothing
		for _, s := range w.said[reg] {
			if s.value == is && is != "" && is != `{"NULL":true}` {
				known++
			}
		}
		for i := range w.said[reg] {
			if s := &w.said[reg][i]; s.at == at || s.value == is && known == 1 {
				s.over = true
			}
		}
		w.said[reg] = append(w.said[reg], said{value: Shown(after[row], name), at: at})
	}
}

// Shown returns an attribute of a row as text: "" if the row lacks it, "gone" if there is no row. "a.b" is an entry of a map, null if the
// map lacks it.
func Shown(it attr.Item, name string) string {
	if attribute, member, ok := strings.Cut(name, "."); ok {
		in := it[attribute].Map()
		return string(attr.AppendValueJSON(nil, in[member]))
	}
	switch {
	case it == nil:
		return "gone"
	case it[name].IsZero():
		return ""
	}
	return string(attr.AppendValueJSON(nil, it[name]))
}

// Joined rejoins the nodes and returns the cloud's rows once all work is done. Both nodes must have the same rows.
func (w *Apart) Joined() (cloud map[string]attr.Item) {
	w.T.Helper()
	w.SetFault("heal both", "")
	w.Pass(40 * time.Minute)
	return w.Equal()
}

// Equal returns the cloud's rows. Nothing may wait at a node, and all must have the same rows.
func (w *Apart) Equal() (cloud map[string]attr.Item) {
	w.T.Helper()
	w.Cloud.Expire(w.Clock.Wall()) // nodes hide what has expired
	cloud = w.Rows("", w.Table)
	for at := range w.Base {
		var st struct{ Waiting int }
		if w.Read(w.Want(at, Boss, http.MethodGet, "/_/api/sync", ""), &st); st.Waiting > 0 {
			w.Bad("%d writes wait at %s", st.Waiting, at)
		}
		rows := w.Rows(at, w.Table)
		for _, k := range slices.Sorted(maps.Keys(cloud)) {
			if !attr.EqualItems(rows[k], cloud[k]) {
				w.Bad("%s has %s %s, the cloud %s", at, k, attr.AppendJSON(nil, rows[k]), attr.AppendJSON(nil, cloud[k]))
			}
			delete(rows, k)
		}
		for k := range rows {
			w.Bad("%s has %s, the cloud nothing", at, k)
		}
	}
	return cloud
}

// Lost records each attribute that is not among the last confirmed values, unless a person is asked about its row, or it is excused.
func (w *Apart) Lost(cloud map[string]attr.Item, asked string, excused func(row, name, is string, said []string) bool) {
	for _, reg := range slices.Sorted(maps.Keys(w.said)) {
		row, name, _ := strings.Cut(reg, "\x00")
		is := Shown(cloud[row], name)
		var last []string
		for _, s := range w.said[reg] {
			if !s.over {
				last = append(last, s.value)
			}
		}
		if !slices.Contains(last, is) && !strings.Contains(asked, row) && !excused(row, name, is, last) {
			w.Bad("%s %s is %q, and was said to be one of %q", row, name, is, last)
		}
	}
}

// Conflict is a conflict that a person is asked to decide.
type Conflict struct {
	Node, Code, State, Note string
	Decided, Tail           []Write
}

// Write is one of the writes in a conflict.
type Write struct {
	Op     string
	Key    struct{ PK, SK struct{ S string } }
	Item   map[string]map[string]any
	Update string
}

// String returns the conflict's node, code, note and writes.
func (c *Conflict) String() string {
	var out []string
	for i, write := range slices.Concat(c.Decided, c.Tail) {
		behind := ""
		if i >= len(c.Decided) {
			behind = "behind it "
		}
		out = append(out, behind+write.Op+" "+write.Key.PK.S+" "+write.Key.SK.S+" "+write.Update)
	}
	return c.Node + " " + c.Code + " " + c.Note + ", " + strings.Join(out, ", ")
}

// Asked returns the open conflicts at both nodes. Those decided by rules are in the trace.
func (w *Apart) Asked() (open []Conflict) {
	w.T.Helper()
	for _, at := range slices.Sorted(maps.Keys(w.Base)) {
		var list struct{ Items []struct{ ID uint64 } }
		w.Read(w.Want(at, Boss, http.MethodGet, "/_/api/conflicts?state=all&limit=100", ""), &list)
		for _, item := range list.Items {
			c := Conflict{Node: at}
			w.Read(w.Want(at, Boss, http.MethodGet, fmt.Sprint("/_/api/conflicts/", item.ID), ""), &c)
			if w.Trace = append(w.Trace, c.State+" "+c.String()); c.State == "open" {
				open = append(open, c)
			}
		}
	}
	return open
}

// Report returns what is wrong and what was done, or "" if nothing is wrong. names are pairs of an id and the name that replaces it.
func (w *Apart) Report(names ...string) string {
	if w.Wrong == nil {
		return ""
	}
	return strings.NewReplacer(names...).Replace(strings.Join(append(w.Wrong, w.Trace...), "\n"))
}
