package intent

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
)

func TestWhatIsCoalesced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		one, two  op
		fold      bool
		update    string
		condition string
	}{
		{"two sets", update("t", "i", "SET x = :x", "", ":x", 1), update("t", "i", "SET x = :x, y = :x", "", ":x", 2), true, "SET #0 = :0, #1 = :1", ""},
		{"two adds", update("t", "i", "ADD n :n", "", ":n", 1), update("t", "i", "ADD n :n", "", ":n", 2), true, "ADD #0 :0", ""},
		{"a set and an add", update("t", "i", "SET n = :n", "", ":n", 1), update("t", "i", "ADD n :n", "", ":n", 2), true, "SET #0 = :0", ""},
		{"an add and a removal", update("t", "i", "ADD n :n", "", ":n", 1), update("t", "i", "REMOVE n", ""), true, "REMOVE #0", ""},
		{"a put and an update", put("t", "i", "", "x", 1), update("t", "i", "SET x = x + :x", "", ":x", 2), true, "", ""},
		{"IF idle SET active with IF active SET", update("t", "i", "SET s = :a", "s = :i", ":a", "active", ":i", "idle"), update("t", "i", "SET y = :y", "s = :a", ":y", 1, ":a", "active"), true, "SET #0 = :2, #1 = :3", "(s = :1)"},
		{"a condition on what the earlier does not set", update("t", "i", "SET y = :a", "", ":a", 1), update("t", "i", "SET y = :y", "s = :a", ":y", 1, ":a", "idle"), false, "", ""},
		{"a condition on what the earlier adds to", update("t", "i", "ADD n :a", "", ":a", 1), update("t", "i", "SET y = :y", "n = :a", ":y", 1, ":a", 1), false, "", ""},
		{"one that would go on alone", update("t", "i", "SET y = :a", "s = :i", ":a", 1, ":i", "idle"), update("t", "i", "SET x = :a", "", ":a", 1), false, "", ""},
		{"into a list", update("t", "i", "SET l[0] = :a", "", ":a", 1), update("t", "i", "SET l[0] = :a", "", ":a", 2), false, "", ""},
		{"computed", update("t", "i", "SET x = x + :a", "", ":a", 1), update("t", "i", "SET x = x + :a", "", ":a", 1), false, "", ""},
		{"a delete behind an update", update("t", "i", "SET x = :x", "s = :i", ":x", 1, ":i", "idle"), remove("t", "i", ""), true, "", "(s = :1)"},
		{"a put behind a delete", remove("t", "i", ""), put("t", "i", "", "x", 1), false, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.node("a")
			a.write(put("t", "i", "", "s", "idle", "n", 0, "x", 0, "l", []int{1}))
			a.drain()
			one, two := a.write(c.one), a.write(c.two)
			if one == nil || two == nil {
				t.Fatal("a write is refused here")
			}
			view := a.view("t", "i")
			f, ok := Coalesce(one, two, true, nil)
			if ok != c.fold {
				t.Fatalf("folded: %v", ok)
			}
			if !ok {
				return
			}
			if f.Update != c.update || f.Condition != c.condition || f.Seq != two.Seq || len(f.Folds) != 1 || f.Folds[0] != one.Seq {
				t.Errorf("folded into %+v", f)
			}
			a.queue = []*Entry{f}
			if got := a.view("t", "i"); !attr.EqualItems(got, view) {
				t.Errorf("the view is %s, was %s", show(got), show(view))
			}
			a.drain()
			a.result(one, OutApplied, "")
			if got := w.item("t", "i"); !attr.EqualItems(got, view) {
				t.Errorf("the cloud has %s, the view was %s", show(got), show(view))
			}
		})
	}
}

// TestCoalescedOrNot: whatever is folded, cloud, view and refusals end the same as if each write were sent alone.
func TestCoalescedOrNot(t *testing.T) {
	t.Parallel()
	ops := []op{
		update("t", "i", "SET x = :x", "", ":x", 1), update("t", "i", "SET x = :x REMOVE y", "", ":x", 2), update("t", "i", "ADD n :n", "", ":n", 3),
		update("t", "i", "SET y = :y", "x = :x", ":y", 4, ":x", 1), update("t", "i", "REMOVE x, n", ""), put("t", "i", "", "x", 1, "y", 5),
		update("t", "i", "SET y = x", "attribute_exists(x)"), put("t", "i", "attribute_not_exists(pk)", "x", 6), remove("t", "i", ""),
		put("t", "i", "x = :x", "x", 7).with(":x", 1), update("t", "i", "ADD n :n", "n > :n", ":n", 1),
		update("t", "i", "SET x = :x", "", ":x", 8).reading(), remove("t", "i", "attribute_exists(y)"),
	}
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(rapid.IntRange(0, len(ops)-1), 1, 8).Draw(rt, "writes")
		base, remote := rapid.Bool().Draw(rt, "base"), rapid.Bool().Draw(rt, "remote change")
		var ends [2]string
		var views [2]string
		for fold := range 2 {
			w := newWorld(rt)
			a := w.node("a")
			if base {
				a.write(put("t", "i", "", "x", 1, "n", 1))
				a.drain()
			}
			for _, i := range script {
				e := a.write(ops[i])
				if e == nil || fold == 0 || len(a.queue) < 2 {
					continue
				}
				last := len(a.queue) - 2
				if remote && e.Condition != "" && a.queue[last].Condition != "" {
					continue // together they are refused together: alone the later one might succeed
				}
				if f, ok := Coalesce(a.queue[last], e, last == 0, nil); ok {
					a.queue = append(a.queue[:last], f)
				}
			}
			views[fold] = show(a.view("t", "i"))
			if remote && base {
				w.foreignSet("t", "i", "x", 9)
			}
			a.drain()
			ends[fold] = show(w.item("t", "i"))
			for seq := uint64(1<<40 + 1); seq <= a.seq; seq++ {
				if _, ok := a.done[seq]; !ok {
					rt.Fatalf("entry %d is nowhere", seq-1<<40)
				}
			}
		}
		if ends[0] != ends[1] || views[0] != views[1] {
			rt.Fatalf("alone %s, folded %s; views %s, %s", ends[0], ends[1], views[0], views[1])
		}
	})
}

func (o op) with(pairs ...any) op { o.values = values(pairs...); return o }
