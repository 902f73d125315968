package intent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	conditions := func(n int) string { return strings.TrimSuffix(strings.Repeat("a = :v OR ", n), " OR ") }
	for _, c := range []struct {
		name string
		op   op
		want string // empty: accepted
	}{
		{"a put of a life", put("t", "i", "", "_c", "x"), "reserved for replication: _c"},
		{"a put of a mark", put("t", "i", "", "_a_b", 1), "reserved for replication: _a_b"},
		{"a set of a count", update("t", "i", "SET #n = :v", "", ":v", 1).named("#n", "_n"), "reserved for replication: _n"},
		{"a condition on a time", update("t", "i", "SET x = :v", "#n = :v", ":v", 1).named("#n", "_t"), "reserved for replication: _t"},
		{"the fence is the application's", update("t", "i", "SET #n = :v", "", ":v", 1).named("#n", "_f"), ""},
		{"other names that begin so", put("t", "i", "", "_count", 1), ""},
		{"ADD of newest", update("newest", "i", "ADD n :v", "", ":v", 1), "not allowed in a table of policy newest; operator or function: ADD"},
		{"list_append of newest", update("newest", "i", "SET n = list_append(:v, :v)", "", ":v", []int{1}), "operator or function: list_append"},
		{"SET of newest", update("newest", "i", "SET n = :v", "", ":v", 1), ""},
		{"an item that leaves no room", put("t", "i", "", "x", strings.Repeat("x", attr.MaxItemSize-sidecarRoom)), "Item size has exceeded the maximum allowed size"},
		{"an item that does", put("t", "i", "", "x", strings.Repeat("x", attr.MaxItemSize-sidecarRoom-10)), ""},
		{"an update that leaves no room", update("t", "i", "SET x = :v", "", ":v", strings.Repeat("x", attr.MaxItemSize-sidecarRoom)), "Item size to update has exceeded the maximum allowed size"},
		{"295 operators", put("t", "i", conditions(148)).with2(":v", 1), "Invalid ConditionExpression: The expression contains too many operators; operator count: 301"},
		{"200 operators", put("t", "i", conditions(100)).with2(":v", 1), ""},
		{
			"a condition of 4,065 bytes", put("t", "i", strings.Repeat("a", 4060)+" = :v").with2(":v", 1),
			"Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: ",
		},
	} {
		w := newWorld(t)
		a := w.node("a")
		if c.op.condition != "" { // its condition must not be refused by the item
			a.known[at(c.op.table, key("i"))] = Known{Item: attr.Item{"pk": attr.S("i"), "a": attr.Int(1), strings.Repeat("a", 4060): attr.Int(1)}, Side: Sidecar{Life: "a.1.1", Count: 1}}
		}
		s, ok := a.prepareUnjudged(c.op)
		if !ok {
			t.Fatal(c.name)
		}
		e, err := Compile(s.Write, s.Known, s.Pending, a.env())
		switch {
		case c.want == "" && (err != nil || e == nil):
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// with2 sets values of a put's condition.
func (o op) with2(pairs ...any) op { o.values = values(pairs...); return o }

// prepareUnjudged is prepare for a write whose condition the test guarantees.
func (n *node) prepareUnjudged(o op) (Subject, bool) {
	if strings.Contains(o.condition, "#") {
		condition := o.condition
		o.condition = "(" + condition + ") OR attribute_not_exists(pk) OR attribute_exists(pk)"
	}
	return n.prepare(o, n.seq+1, false)
}

func TestRenumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	a.known[at("t", key("i"))] = Known{Item: attr.Item{"pk": attr.S("i"), "v": attr.Int(1), "v2": attr.M(attr.Item{})}, Side: Sidecar{Life: "b.1.1", Count: 3}}
	e := a.write(op{
		op: store.OpUpdate, table: "t", id: "i", update: "SET #name=:val,\n  b = :other REMOVE #c.d", condition: "(#name = :val OR v <= :one)",
		values: values(":val", 1, ":other", 2, ":one", 1), names: map[string]string{"#name": "name", "#c": "v2"},
	})
	if e.Update != "SET #0=:0, b = :1 REMOVE #1.d" && e != nil {
		t.Errorf("%q", e.Update)
	}
	a.queue = nil
	got := a.write(op{
		op: store.OpUpdate, table: "t", id: "i", update: "SET #a=:c,\n  b = :m", condition: "(#a = :c OR v <= :a)",
		values: values(":c", 1, ":m", 2, ":a", 1), names: map[string]string{"#a": "name"},
	})
	if got.Update != "SET #0=:0, b = :1" || got.Condition != "(#0 = :0 OR v <= :2)" ||
		fmt.Sprint(got.Names, got.Values) != fmt.Sprint(map[string]string{"#0": "name"}, values(":0", 1, ":1", 2, ":2", 1)) {
		t.Errorf("%q IF %q with %v %v", got.Update, got.Condition, got.Names, got.Values)
	}
	a.drainOne()
}

// drainOne sends the first entry to a cloud that has its item: placeholders of the application with the same names as ours do
// not clash.
func (n *node) drainOne() {
	k := at("t", key("i"))
	n.w.cloud.items[k] = n.known[k].Side.Join(n.known[k].Item)
	n.drain()
	if n.w.item("t", "i")["b"].IsZero() {
		n.w.t.Errorf("the cloud has %s", show(n.w.item("t", "i")))
	}
}

func TestSidecar(t *testing.T) {
	t.Parallel()
	image := attr.Item{
		"pk": attr.S("i"), "_c": attr.S("a.1.5"), "_n": attr.Int(7), "_a_a": number("%d.%09d", 5, 1), "_a_x-y": attr.Int(3),
		"_t": attr.Int(99), "_u": attr.Int(123), "_r": attr.Int(77), "_f": attr.Int(4), "_other": attr.S("stays"),
	}
	item, side := Split(image)
	if len(item) != 3 || side.Life != "a.1.5" || side.Count != 7 || len(side.Marks) != 2 || side.Hold != 123 || !side.Time.Equal(attr.Int(99)) ||
		!side.Turn.Equal(attr.Int(77)) {
		t.Errorf("split into %v and %+v", item, side)
	}
	if back := side.Join(item); !attr.EqualItems(back, image) {
		t.Errorf("joined to %v", back)
	}
	if len(image) != 10 || len(item) != 3 {
		t.Error("an image was changed")
	}
	if it, s := Split(nil); it != nil || !s.IsZero() || s.Join(nil) != nil {
		t.Error("no image is not no item")
	}
	if it, s := Split(attr.Item{"pk": attr.S("i")}); len(it) != 1 || !s.IsZero() {
		t.Error("an item without sidecar")
	}
}

func TestMarksAreOrdered(t *testing.T) {
	t.Parallel()
	one := &Entry{Write: Write{Seq: 1<<40 + 1, Digits: MaxDigits}}
	two := &Entry{Write: Write{Seq: 1<<40 + 2, Digits: 1}}
	marks := []attr.Value{one.Mark(), one.closedMark(), two.Mark(), two.closedMark()}
	for i := range marks[1:] {
		if order, ok := attr.Compare(marks[i], marks[i+1]); !ok || order >= 0 {
			t.Errorf("%s is not below %s", marks[i], marks[i+1])
		}
	}
	if Whole(one.closedMark()) != one.Seq {
		t.Error("the sequence of a mark")
	}
}

func TestWriteIDs(t *testing.T) {
	t.Parallel()
	id := WriteID("node.with.dots", 3<<40+17)
	if id != fmt.Sprintf("node.with.dots.3.%d", uint64(3<<40+17)) {
		t.Errorf("the write id is %s", id)
	}
	if node, seq, ok := maker(id); !ok || node != "node.with.dots" || seq != 3<<40+17 {
		t.Errorf("made by %s, %d, %v", node, seq, ok)
	}
	for _, life := range []string{"", "~" + id, "x", "x.y", "a.b.c"} {
		if _, _, ok := maker(life); ok {
			t.Errorf("%q has a creator", life)
		}
	}
}

func TestDoubtful(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	one := a.write(update("t", "i", "SET x = :y", "x = :x", ":x", 0, ":y", 1))
	a.write(update("t", "i", "SET z = :y", "", ":y", 1))
	w.foreignSet("t", "i", "x", 9)
	a.learn("t", "i")
	view, doubtful := View(a.known[at("t", key("i"))], a.queue, a.env())
	if show(view) != `{"x":{"N":"9"},"z":{"N":"1"}}` || len(doubtful) != 1 || doubtful[0] != one.Seq {
		t.Errorf("the view is %s, doubtful %d", show(view), doubtful)
	}
	w.foreignSet("t", "i", "x", 0)
	a.learn("t", "i")
	if _, doubtful := View(a.known[at("t", key("i"))], a.queue, a.env()); len(doubtful) != 0 {
		t.Errorf("doubtful still: %d", doubtful)
	}
}
