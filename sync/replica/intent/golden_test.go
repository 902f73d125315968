package intent

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// golden holds the expected requests. With UPDATE_GOLDEN=1 the test rewrites it.
var golden = filepath.Join("testdata", "requests.txt")

// TestRequests compares every kind of request, expressions included, with the golden text.
func TestRequests(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	scene := func(name string, f func(w *world, a *node)) {
		w := newWorld(t)
		a := w.node("a")
		w.cloud.items[at("locks", attr.Item{"lockKey": attr.S("match:1")})] = values("lockKey", "match:1", "fence", 5)
		fmt.Fprintf(&b, "== %s\n", name)
		f(w, a)
		for range 4 { // what is sent first, and then
			u := a.batch()
			if u == nil {
				break
			}
			act := u.Next(a.bases(u), a.env())
			for _, c := range act.Calls {
				b.WriteString(text(c))
			}
			for _, r := range act.Reads {
				fmt.Fprintf(&b, "GetItem %s %s\n", r.Table, attr.AppendJSON(nil, r.Key))
			}
			if !a.step(arrive) {
				fmt.Fprintf(&b, "parked: %s\n", act.Why)
				break
			}
		}
		b.WriteByte('\n')
	}
	cond := func(o op) op { o.condition = "x = :x"; maps.Copy(o.values, values(":x", 0)); return o }
	ours := func(w *world, _ *node) { w.made("b", "i", "a") }
	scene("update of an item of ours", func(w *world, a *node) {
		ours(w, a)
		a.write(cond(update("t", "i", "SET y = :y ADD n :n", "", ":y", 1, ":n", 2)))
	})
	scene("update that creates", func(w *world, a *node) { a.write(update("t", "i", "SET y = :y", "", ":y", 1)) })
	scene("update that creates, unanswered", func(w *world, a *node) { a.write(update("t", "i", "SET y = :y", "", ":y", 1)); a.step(loseRequest) })
	scene("update that creates, of an older version, unanswered", func(w *world, a *node) {
		w.older = true
		a.write(update("t", "i", "SET y = :y", "", ":y", 1))
		a.step(loseRequest)
	})
	scene("update that creates, unanswered, no transactions", func(w *world, a *node) {
		w.transactions = false
		a.write(update("t", "i", "SET y = :y", "", ":y", 1))
		a.step(loseRequest)
	})
	scene("update of a foreign item", func(w *world, a *node) {
		w.foreignPut("t", "i", "m", map[string]int{"a": 1})
		a.learn("t", "i")
		a.write(update("t", "i", "SET m.a = :y, z = :y", "", ":y", 1))
	})
	scene("update of a foreign item, unanswered", func(w *world, a *node) {
		w.foreignPut("t", "i", "m", map[string]int{"a": 1})
		a.learn("t", "i")
		a.write(update("t", "i", "SET m.a = :y, z = :y", "", ":y", 1))
		a.step(loseRequest)
	})
	scene("put", func(w *world, a *node) { ours(w, a); a.write(put("t", "i", "attribute_exists(pk)", "y", 1)) })
	scene("put that others have overtaken twice", func(w *world, a *node) {
		ours(w, a)
		a.write(put("t", "i", "attribute_exists(pk)", "y", 1)).Refused = turnTries
	})
	scene("update that has let a put pass", func(w *world, a *node) {
		ours(w, a)
		w.foreignSet("t", "i", AttrTurn, w.now.Add(turnFor).UnixMilli())
		a.learn("t", "i")
		a.write(cond(update("t", "i", "SET y = :y", "", ":y", 1)))
		a.step(arrive)
		w.now = w.now.Add(firstYield)
		w.foreignSet("t", "i", AttrTurn, nil)
	})
	scene("put that creates", func(w *world, a *node) { a.write(put("t", "i", "attribute_not_exists(pk)", "y", 1)) })
	scene("put over a foreign item", func(w *world, a *node) {
		w.foreignPut("t", "i", "x", 0)
		a.learn("t", "i")
		a.write(put("t", "i", "", "y", 1))
	})
	scene("put in the place of an expired item", func(w *world, a *node) {
		a.write(put("t", "i", "", "ttl", w.now.Unix()-5))
		a.drain()
		a.write(put("t", "i", "", "ttl", w.now.Unix()+500))
	})
	scene("delete of an own item", func(w *world, a *node) { w.made("a", "i"); a.write(cond(remove("t", "i", ""))) })
	scene("delete of another node's item that it has not settled", func(w *world, a *node) {
		ours(w, a)
		w.node("b").seq = 1 << 40
		a.write(remove("t", "i", ""))
	})
	scene("delete of a foreign item", func(w *world, a *node) {
		w.foreignPut("t", "i", "x", 0)
		a.learn("t", "i")
		a.write(cond(remove("t", "i", "")))
	})
	scene("newest: update, delete", func(w *world, a *node) {
		a.write(put("newest", "i", "", "x", 0))
		a.write(update("newest", "i", "SET y = :y", "", ":y", 1))
		a.write(remove("newest", "i", ""))
	})
	scene("state: first image, image", func(w *world, a *node) {
		a.write(put("state", "1", "", "s", 1, "_f", 5))
		a.write(put("state", "1", "attribute_exists(pk)", "s", 2, "_f", 5))
	})
	scene("state: first image, no transactions", func(w *world, a *node) {
		w.transactions = false
		a.write(put("state", "1", "", "s", 1, "_f", 5))
	})
	scene("the mark is closed", func(w *world, a *node) {
		w.made("a", "i")
		a.write(cond(update("t", "i", "SET y = :y", "", ":y", 1)))
		a.step(loseRequest)
		w.foreignSet("t", "i", "x", 9)
	})
	scene("transaction", func(w *world, a *node) {
		ours(w, a)
		a.mustTransact(cond(update("t", "i", "SET y = :y", "", ":y", 1)), put("u", "i", "", "x", 1), check("t", "k", "attribute_not_exists(pk)"))
	})
	scene("transaction, closed", func(w *world, a *node) {
		ours(w, a)
		a.mustTransact(cond(update("t", "i", "SET y = :y", "", ":y", 1)), put("u", "i", "", "x", 1))
		a.step(loseRequest)
		w.foreignSet("t", "i", "x", 9)
	})
	scene("more than eight marks", func(w *world, a *node) {
		for i := range 9 {
			n := w.node("n" + attr.Int(int64(i)).Str())
			n.learn("t", "i")
			n.write(update("t", "i", "ADD n :n", "", ":n", 1))
			n.drain()
		}
		a.learn("t", "i")
		a.write(update("t", "i", "ADD n :n REMOVE q", "", ":n", 1))
	})
	got := b.String()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		line, kept := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(line), len(kept)) {
			if line[i] != kept[i] {
				t.Fatalf("line %d is\n%s\nwas\n%s", i+1, line[i], kept[i])
			}
		}
		t.Fatalf("%d lines, %d are kept", len(line), len(kept))
	}
}

// text formats a call for people.
func text(c Call) string {
	var b strings.Builder
	name := c.Op.String()
	if c.Op == 0 {
		name = "ConditionCheck"
	}
	fmt.Fprintf(&b, "%s %s %s\n", name, c.Table, attr.AppendJSON(nil, c.Key))
	if c.Op == store.OpPut {
		fmt.Fprintf(&b, "  item %s\n", attr.AppendJSON(nil, c.Item))
	}
	if c.Update != "" {
		fmt.Fprintf(&b, "  %s\n", c.Update)
	}
	if c.Condition != "" {
		fmt.Fprintf(&b, "  IF %s\n", c.Condition)
	}
	var with []string
	for _, placeholder := range slices.Sorted(maps.Keys(c.Names)) {
		with = append(with, placeholder+" "+c.Names[placeholder])
	}
	for _, placeholder := range slices.Sorted(maps.Keys(c.Values)) {
		with = append(with, placeholder+" "+c.Values[placeholder].String())
	}
	if len(with) > 0 {
		fmt.Fprintf(&b, "  with %s\n", strings.Join(with, ", "))
	}
	return b.String()
}
