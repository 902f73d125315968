package replica_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	kinds "github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// ifIdle sets an item active if it is idle: it loses if somebody else was first.
func ifIdle(tx *store.Tx, k attr.Item) error {
	u := store.UpdateItem{Table: "data", Key: k, Update: "SET #s = :active", Condition: "#s = :idle"}
	u.Names = map[string]string{"#s": "status"}
	u.Values = attr.Item{":active": attr.S("active"), ":idle": attr.S("idle")}
	_, err := tx.Update(u)
	return err
}

// refused returns a node with a refused write: an item was idle here, but a foreign writer had changed it in the cloud.
func refused(t *testing.T, change ...func(*replica.Config)) (n *node, foreign simcloud.Foreign, seq uint64) {
	c := newCloud()
	n = newNode(t, c, "a", change...)
	n.put("data", Item("p", "s", "status", "idle"))
	n.run()
	n.drained()
	foreign = simcloud.Foreign{Cloud: c, Name: "console"}
	image := maps.Clone(n.conn.cloud.Item("data", key("p", "s")))
	image["status"] = attr.S("taken")
	if err := foreign.Put("data", image); err != nil {
		t.Fatal(err)
	}
	seq = n.update(func(tx *store.Tx) error { return ifIdle(tx, key("p", "s")) })
	n.drained()
	return n, foreign, seq
}

func (n *node) conflicts(state conflict.State) []*conflict.Record {
	n.t.Helper()
	found, _, err := n.r.Conflicts().List(context.Background(), conflict.Query{State: state})
	if err != nil {
		n.t.Fatal(err)
	}
	return found
}

func TestConflictIsRecorded(t *testing.T) {
	n, _, seq := refused(t)
	found := n.conflicts(conflict.StateOpen)
	if len(found) != 1 {
		t.Fatalf("%d conflicts, want one", len(found))
	}
	c, err := n.r.Conflicts().Find(t.Context(), found[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	d := &c.Decided[0]
	if c.Kind != conflict.KindRefused || c.Code == "" || c.Text == "" || c.At.IsZero() || d.Entry.Seq != seq || !strings.HasSuffix(d.Entry.Condition, "= :1)") {
		t.Errorf("%+v of %+v, want entry %d", *c, *d.Entry, seq)
	}
	if d.Met["status"].Str() != "taken" || d.Base["status"].Str() != "idle" {
		t.Errorf("met %v, base %v", d.Met, d.Base)
	}
	if got := n.get("data", key("p", "s")); got["status"].Str() != "taken" {
		t.Errorf("readers see %v instead of the cloud's item", got)
	}
	err = n.r.Wait(t.Context(), seq)
	if settled, ok := errors.AsType[*replica.SettledError](err); !ok || settled.Conflict != c.ID {
		t.Errorf("Wait returned %v, want conflict %d", err, c.ID)
	}
	if st := n.status(); st.Conflicts.Open != 1 || st.Conflicts.Kept != 1 || st.Waiting != 0 {
		t.Errorf("%+v", st.Conflicts)
	}
}

// A record is shown with its writes and images, and listed without them. What an application keeps secret appears in neither.
func TestConflictAsShown(t *testing.T) {
	secret := false
	n, _, seq := refused(t, func(c *replica.Config) {
		c.Secret = map[string]conflict.SecretFunc{"data": func(_ *store.Tx, k attr.Item) (bool, error) { return secret && k["pk"].Str() == "p", nil }}
	})
	listed, _, err := n.r.Conflicts().Conflicts(t.Context(), conflict.Query{State: conflict.StateAny})
	if err != nil || len(listed) != 1 || listed[0].Decided != nil || listed[0].Writes != 1 {
		t.Fatalf("%+v, %v", listed, err)
	}
	text := func() string {
		t.Helper()
		c, err := n.r.Conflicts().Conflict(t.Context(), listed[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	id := fmt.Sprintf(`"writeId":%q,`, intent.WriteID(n.store.Node(), seq))
	for _, want := range []string{
		`{"id":1,"at":"`, `"kind":"conflict","state":"open","code":"`, `"table":"data","key":{"pk":{"S":"p"},"sk":{"S":"s"}},` + id + `"policy":"`, `"writes":1,"decided":[{` + id,
		`"op":"update","update":"SET `, `"sent":1`, `"met":{`, `"status":{"S":"taken"}`, `"base":{"pk":`,
	} {
		if got := text(); !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	secret = true
	if got := text(); !strings.Contains(got, "the values are not shown") || strings.Contains(got, "taken") || strings.Contains(got, "decided\"") {
		t.Errorf("a secret is shown: %s", got)
	}
	if c, err := n.r.Conflicts().Decide(t.Context(), 1, "discard"); err != nil || c.State != conflict.StateDiscarded || c.Decided != nil {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := n.r.Conflicts().Decide(t.Context(), 1, "forget"); !kinds.Is(err, kinds.NotFound) {
		t.Errorf("an unknown verb: %v", err)
	}
}

// A retry is a write like any other: refused here if its condition fails, otherwise sent under its own number.
func TestRetryConflict(t *testing.T) {
	n, foreign, seq := refused(t)
	id := n.conflicts(conflict.StateOpen)[0].ID
	_, err := n.r.Conflicts().Retry(t.Context(), id)
	if f, ok := errors.AsType[*kinds.Error](err); !ok || f.Kind != kinds.Conflict || f.Code != "retry_refused" {
		t.Fatalf("a retry with a failing condition: %v", err)
	}
	if open := n.conflicts(conflict.StateOpen); len(open) != 1 || n.status().Waiting != 0 {
		t.Fatal("a refused retry changed something")
	}
	image := maps.Clone(n.conn.cloud.Item("data", key("p", "s")))
	image["status"] = attr.S("idle")
	if err := foreign.Put("data", image); err != nil {
		t.Fatal(err)
	}
	n.update(func(tx *store.Tx) error { // the cloud's answer brings the idle item here
		u := store.UpdateItem{Table: "data", Key: key("p", "s"), Update: "SET seen = :y"}
		u.Values = attr.Item{":y": attr.Int(1)}
		_, err := tx.Update(u)
		return err
	})
	n.drained()
	c, err := n.r.Conflicts().Retry(t.Context(), id)
	if err != nil || c.State != conflict.StateRetried || len(c.NewSeqs) != 1 || c.NewSeqs[0] <= seq || c.ClosedAt.IsZero() {
		t.Fatalf("%+v %v", c, err)
	}
	n.drained()
	if got := n.conn.cloud.Item("data", key("p", "s")); got["status"].Str() != "active" {
		t.Errorf("the cloud has %v", got)
	}
	n.same("data")
	for _, again := range []func(context.Context, uint64) (*conflict.Record, error){n.r.Conflicts().Retry, n.r.Conflicts().Discard} {
		if _, err := again(t.Context(), id); !kinds.Is(err, kinds.Conflict) {
			t.Errorf("a decided conflict was decided again: %v", err)
		}
	}
	if _, err := n.r.Conflicts().Retry(t.Context(), 99); !kinds.Is(err, kinds.NotFound) {
		t.Errorf("an unknown conflict: %v", err)
	}
}

func TestDiscardConflict(t *testing.T) {
	n, _, _ := refused(t)
	id := n.conflicts(conflict.StateOpen)[0].ID
	before := len(n.conn.sent())
	c, err := n.r.Conflicts().Discard(t.Context(), id)
	if err != nil || c.State != conflict.StateDiscarded {
		t.Fatalf("%+v %v", c, err)
	}
	if kept, err := n.r.Conflicts().Find(t.Context(), id); err != nil || kept.State != conflict.StateDiscarded || kept.ClosedAt.IsZero() {
		t.Errorf("%+v %v: the record must stay", kept, err)
	}
	if st := n.status(); st.Conflicts.Open != 0 || st.Conflicts.Kept != 1 || len(n.conn.sent()) != before {
		t.Errorf("%+v", st.Conflicts)
	}
}

// The application's own decision is written like any of its writes, and no person is asked.
func TestMergeHandler(t *testing.T) {
	var seen conflict.MergeCase
	n, _, _ := refused(t, func(c *replica.Config) {
		c.Merge = map[string]conflict.MergeFunc{"data": func(m conflict.MergeCase) ([]store.WriteItem, bool) {
			seen = m
			u := &store.UpdateItem{Table: "data", Key: m.Entries[0].Key, Update: "SET waiting = :w"}
			u.Values = attr.Item{":w": m.Items[0].View["status"]}
			return []store.WriteItem{{Update: u}}, true
		}}
	})
	n.drained()
	if len(n.conflicts(conflict.StateOpen)) != 0 {
		t.Fatal("a person is still asked")
	}
	merged := n.conflicts(conflict.StateResolved)
	if len(merged) != 1 || len(merged[0].NewSeqs) != 1 {
		t.Fatalf("%+v", merged)
	}
	it := seen.Items[0]
	if it.Base["status"].Str() != "idle" || it.View["status"].Str() != "active" || it.Remote["status"].Str() != "taken" || it.Remote["_c"].Kind() != (attr.Value{}).Kind() {
		t.Errorf("the handler saw %+v", it)
	}
	got, _ := intent.Split(n.conn.cloud.Item("data", key("p", "s")))
	if got["status"].Str() != "taken" || got["waiting"].Str() != "active" {
		t.Errorf("the cloud has %v", got)
	}
	n.same("data")
}

// The cloud's item may be read here before the write is sent, which removes the write from the view. The handler still sees the images
// from before that, for this write and for one behind it, with the present row as what both are decided on.
func TestMergeHandlerBehindAReading(t *testing.T) {
	var seen []conflict.MergeItem
	n := newNode(t, newCloud(), "a", func(c *replica.Config) {
		c.Merge = map[string]conflict.MergeFunc{"data": func(m conflict.MergeCase) ([]store.WriteItem, bool) {
			seen = append(seen, m.Items[0])
			u := &store.UpdateItem{Table: "data", Key: m.Entries[0].Key, Update: "SET merged = :m", Condition: "attribute_not_exists(merged)"}
			u.Values = attr.Item{":m": m.Items[0].View["status"]}
			if !m.Items[0].Remote["merged"].IsZero() {
				return nil, true
			}
			return []store.WriteItem{{Update: u}}, true
		}}
	})
	set := func(from, to string) {
		n.update(func(tx *store.Tx) error {
			u := store.UpdateItem{Table: "data", Key: key("p", "s"), Update: "SET #s = :to", Condition: "#s = :from"}
			u.Names, u.Values = map[string]string{"#s": "status"}, attr.Item{":from": attr.S(from), ":to": attr.S(to)}
			_, err := tx.Update(u)
			return err
		})
	}
	n.put("data", Item("p", "s", "status", "idle"))
	n.run()
	n.drained()
	n.conn.setFault(func(int, []intent.Call) fault {
		return fault{before: &intent.Error{Class: intent.Throttled, Err: errors.New("a test")}}
	})
	set("idle", "active")
	set("active", "done")
	for _, status := range []string{"taken", "sold"} { // of several reads the first counts
		image := maps.Clone(n.conn.cloud.Item("data", key("p", "s")))
		image["status"] = attr.S(status)
		if err := (simcloud.Foreign{Cloud: n.conn.cloud, Name: "console"}).Put("data", image); err != nil {
			t.Fatal(err)
		}
		if err := n.r.ReadNow(t.Context(), "data", key("p", "s")); err != nil {
			t.Fatal(err)
		}
		if got := n.get("data", key("p", "s")); got["status"].Str() != status {
			t.Fatalf("readers see %v", got)
		}
	}
	if st := n.status(); st.Doubtful == 0 || len(seen) > 0 {
		t.Fatalf("%d writes are out of the view, %d decided", st.Doubtful, len(seen))
	}
	n.conn.setFault(nil)
	n.drained()
	for i, it := range seen {
		if it.Base["status"].Str() != "idle" || it.View["status"].Str() != "done" || it.Remote["status"].Str() != "sold" {
			t.Errorf("decision %d: the handler saw %+v", i, it)
		}
		if merged := it.Remote["merged"].Str(); i == 0 && merged != "" || i > 0 && merged != "done" {
			t.Errorf("decision %d is based on %v", i, it.Remote)
		}
	}
	if got := n.conn.cloud.Item("data", key("p", "s")); len(seen) == 0 || len(n.conflicts(conflict.StateOpen)) > 0 || got["merged"].Str() != "done" {
		t.Errorf("%d decisions, the cloud has %v", len(seen), got)
	}
}

// What a handler cannot decide, or writes that are refused, are left to a person.
func TestMergeHandlerWithoutAnAnswer(t *testing.T) {
	for name, handler := range map[string]conflict.MergeFunc{
		"none": func(conflict.MergeCase) ([]store.WriteItem, bool) { return nil, false },
		"refused": func(m conflict.MergeCase) ([]store.WriteItem, bool) {
			return []store.WriteItem{{Put: &store.PutItem{Table: "data", Item: m.Entries[0].Key, Condition: "attribute_not_exists(pk)"}}}, true
		},
	} {
		n, _, _ := refused(t, func(c *replica.Config) { c.Merge = map[string]conflict.MergeFunc{"data": handler} })
		open := n.conflicts(conflict.StateOpen)
		if len(open) != 1 || (open[0].Note != "") != (name == "refused") {
			t.Errorf("%s: %+v", name, open)
		}
		if got := n.conn.cloud.Item("data", key("p", "s")); got["status"].Str() != "taken" {
			t.Errorf("%s: the cloud has %v", name, got)
		}
	}
}

// poisoned returns a node with a write that the cloud refuses as invalid, whatever the item, and one behind it.
func poisoned(t *testing.T) (n *node, seqs []uint64) {
	n = newNode(t, newCloud(), "a")
	n.put("data", Item("p", "s", "n", 1))
	n.run()
	n.drained()
	left, written := make(chan struct{}), make(chan struct{})
	leaves := sync.OnceFunc(func() { close(left) })
	n.conn.setFault(func(_ int, calls []intent.Call) fault {
		f := poison(calls, "bad")
		if f.before != nil {
			leaves()
		}
		f.wait = written
		return f
	})
	seqs = append(seqs, n.update(func(tx *store.Tx) error {
		u := store.UpdateItem{Table: "data", Key: key("p", "s"), Update: "SET bad = :v"}
		u.Values = attr.Item{":v": attr.S("poison")}
		_, err := tx.Update(u)
		return err
	}))
	<-left // else both would go as one
	seqs = append(seqs, n.add("data", key("p", "s"), 5))
	close(written)
	n.until("it is quarantined", func() bool { return n.status().Conflicts.Quarantined == 1 })
	return n, seqs
}

func poison(calls []intent.Call, word string) fault {
	for _, c := range calls {
		if strings.Contains(c.Update, word) || strings.Contains(strings.Join(valuesOf(c.Names), " "), word) {
			return fault{before: &intent.Error{Class: intent.Validation, Err: errors.New("a test: not valid")}}
		}
	}
	return fault{}
}

func valuesOf(m map[string]string) (out []string) {
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

func TestQuarantine(t *testing.T) {
	for _, verb := range []string{"discard", "retry"} {
		t.Run(verb, func(t *testing.T) {
			n, seqs := poisoned(t)
			n.put("data", Item("other", "s", "v", 1))
			n.until("the rest flows", func() bool {
				return n.conn.cloud.Item("data", key("other", "s")) != nil && n.status().Waiting == int64(len(seqs))
			})
			c := n.conflicts(conflict.StateOpen)[0]
			if c.Kind != conflict.KindQuarantine || c.Decided[0].Entry.Seq != seqs[0] || len(c.Tail) != 1 || c.Tail[0].Seq != seqs[1] {
				t.Fatalf("%+v, tail %v", c, c.Tail)
			}
			if st := n.status(); st.Waiting != 2 || len(st.Alarms) == 0 {
				t.Errorf("%d wait, alarms %q", st.Waiting, st.Alarms)
			}
			late := n.add("data", key("p", "s"), 100) // stands behind, and in no record
			n.conn.setFault(nil)
			decide, want, state := n.r.Conflicts().Discard, int64(101), conflict.StateDiscarded
			if verb == "retry" {
				decide, want, state = n.r.Conflicts().Retry, 106, conflict.StateRetried
			}
			done, err := decide(t.Context(), c.ID)
			if err != nil || done.State != state {
				t.Fatalf("%+v %v", done, err)
			}
			n.drained()
			if err := n.r.Wait(t.Context(), late); err != nil {
				t.Errorf("the write behind it: %v", err)
			}
			got := n.conn.cloud.Item("data", key("p", "s"))
			if v, _ := got["n"].Int(); v != want || (got["bad"].Str() == "poison") != (verb == "retry") {
				t.Errorf("the cloud has %v, want n = %d", got, want)
			}
			n.same("data")
			if st := n.status(); st.Conflicts.Quarantined != 0 || st.Conflicts.Kept != 1 {
				t.Errorf("%+v", st.Conflicts)
			}
		})
	}
}

// The figures of the status, as scraped.
func TestMetrics(t *testing.T) {
	n, _, _ := refused(t)
	n.stop()
	n.put("data", Item("q", "s"))
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(n.r.Collector())
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = valueOf(m)
		}
	}
	for name, want := range map[string]float64{
		"touchline_sync_waiting_writes data": 1, "touchline_sync_open_conflicts": 1, "touchline_sync_conflict_records": 1,
		"touchline_sync_quarantined_writes": 0, "touchline_sync_budget_level": 0, "touchline_sync_incarnation": 1, "touchline_sync_clone_alarm": 0,
		"touchline_sync_table_stopped data": 0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v", name, v, ok, want)
		}
	}
	since := time.Since(time.UnixMilli(int64(got["touchline_sync_unsynced_since_seconds"] * 1000)))
	if since < 0 || since > time.Minute || got["touchline_sync_replay_log_writes"] < 1 {
		t.Errorf("unsynced for %s, %v in the replay log", since, got["touchline_sync_replay_log_writes"])
	}
}

func valueOf(m *dto.Metric) float64 {
	if m.GetCounter() != nil {
		return m.GetCounter().GetValue()
	}
	return m.GetGauge().GetValue()
}
