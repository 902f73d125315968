package intent

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// update sends the operation together with our attributes.
func (r *request) update(e *Entry, known Known, env Env) {
	r.markGuard(e, env)
	r.lifeGuard(e, e.Life, env)
	r.fenceGuard(e)
	r.timeGuard(e, env)
	switch {
	case e.Life.Kind == LifeNone:
		r.begin(e.lifeID(env.Node))
	case e.Life.Kind == LifeForeign && e.Life.ID == "":
		r.begin(e.label(env))
		if e.Unsure {
			r.requireUnchanged(e.Was)
		}
	}
	r.count()
	r.sets = append(r.sets, r.name("#a", AttrMark+env.Node)+" = :a")
	if e.hasTimeGuard() {
		r.sets = append(r.sets, r.name("#t", AttrTime)+" = :t")
	}
	if e.repeats(env) {
		r.holdLife(env)
	}
	r.prune(e, known, env)
	c := expr.SplitUpdate(e.Update)
	c.Set = join(c.Set, r.sets)
	c.Remove = join(c.Remove, r.drops)
	r.call.Update = c.String()
}

func join(first string, more []string) string {
	if first != "" {
		more = slices.Insert(slices.Clone(more), 0, first)
	}
	return strings.Join(more, ", ")
}

// begin names the life if it has no name.
func (r *request) begin(life string) {
	c := r.name("#c", AttrLife)
	r.sets = append(r.sets, c+" = if_not_exists("+c+", "+r.value(":d", attr.S(life))+")")
}

func (r *request) count() {
	n := r.name("#n", AttrCount)
	r.value(":z", attr.Int(0))
	r.value(":o", attr.Int(1))
	r.sets = append(r.sets, n+" = if_not_exists("+n+", :z) + :o")
}

// repeats reports whether a copy of the entry's create may be on its way that no proof would refuse.
func (e *Entry) repeats(env Env) bool {
	return e.Late || e.Unsure && e.Txn == 0 && e.creates() && !e.proves(env)
}

// holdLife keeps nodes from deleting the life while a copy of a create may be on its way.
func (r *request) holdLife(env Env) {
	r.sets = append(r.sets, r.name("#u", AttrHold)+" = "+r.value(":u", attr.Int(holdUntil(env))))
}

func holdUntil(env Env) int64 { return env.Now.Add(env.signedFor()).UnixMilli() }

// requireUnchanged permits a repeated operation on a foreign life only if everything it touches still has the values from before its first
// send: a foreign writer may have adopted its effect and removed the mark.
func (r *request) requireUnchanged(was attr.Item) {
	for i, text := range slices.Sorted(maps.Keys(was)) {
		steps := expr.ParsePlace(text)
		for k := range steps {
			steps[k] = r.name("#w"+strconv.Itoa(i)+"w"+strconv.Itoa(k), steps[k])
		}
		path := strings.Join(steps, ".")
		if held := was[text].List(); len(held) == 1 {
			r.must(path + " = " + r.value(":w"+strconv.Itoa(i), held[0]))
		} else {
			r.must("attribute_not_exists(" + path + ")")
		}
	}
}

// prune removes marks that are settled on all nodes.
func (r *request) prune(e *Entry, known Known, env Env) {
	if e.met.noPrune || e.Life.ID == "" || known.Side.Life != e.Life.ID {
		return
	}
	nodes := prunable(known, env)
	if len(nodes) == 0 || len(e.Update)+32*len(nodes) > maxText/2 || len(e.Condition) > maxText/2 {
		return
	}
	for i, node := range nodes {
		r.drops = append(r.drops, r.name("#r"+strconv.Itoa(i), AttrMark+node))
	}
	r.must(r.countGuard(known))
}

// prunable returns the nodes whose marks on an item are no longer needed. While a restored cloud is being replayed there are none: a
// node sends again what it reported settled, under the same mark.
func prunable(known Known, env Env) []string {
	if len(known.Side.Marks) <= cmp.Or(env.Marks, ManyMarks) || env.Past == nil || env.Replaying {
		return nil
	}
	var nodes []string
	for node, mark := range known.Side.Marks {
		if seq := Whole(mark); node != env.Node && seq > 0 && env.Past(node, seq) {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return nodes[:min(len(nodes), pruneLimit)]
}

// withoutMarks returns the sidecar that a Put writes again: without the given marks, a hold that is over, or a turn.
func (s Sidecar) withoutMarks(without []string, env Env) Sidecar {
	marks := make(map[string]attr.Value, len(s.Marks)+1)
	maps.Copy(marks, s.Marks)
	s.Marks = marks
	for _, node := range without {
		delete(s.Marks, node)
	}
	if s.Hold < env.Now.UnixMilli() {
		s.Hold = 0
	}
	s.Turn = attr.Value{}
	return s
}

// expiredGuard permits creating an item in place of one past its TTL, or of none.
func (r *request) expiredGuard(e *Entry, known Known, env Env) {
	var old string
	if e.Life.ID == "" {
		old = "attribute_not_exists(" + r.name("#c", AttrLife) + ")"
	} else {
		old = r.name("#c", AttrLife) + " = " + r.value(":c", attr.S(e.Life.ID))
	}
	for name, v := range e.Was {
		old += " AND " + r.name("#e", name) + " = " + r.value(":e", v)
	}
	r.must("((" + old + " AND " + r.countGuard(known) + ") OR attribute_not_exists(" + r.partition(e, env) + "))")
}

// labelCall names a foreign life, under the application's condition, before it is deleted or replaced.
func labelCall(e *Entry, env Env) Call {
	r := &request{call: Call{Op: store.OpUpdate, Table: e.Table, Key: e.Key}}
	r.addOperation(e, false)
	r.lifeGuard(e, Life{Kind: LifeForeign}, env)
	r.call.Update = "SET " + r.name("#c", AttrLife) + " = " + r.value(":d", attr.S(e.label(env)))
	return r.build()
}

// closeCall raises the entry's mark so that no copy of the entry can apply on a life where one could.
func closeCall(e *Entry, on Life, env Env) Call {
	r := &request{call: Call{Op: store.OpUpdate, Table: e.Table, Key: e.Key}}
	r.markGuard(e, env)
	r.lifeGuard(e, on, env)
	if on.ID == "" {
		r.begin(e.label(env))
	}
	r.count()
	r.sets = append(r.sets, "#a = "+r.value(":x", e.closedMark()))
	if e.creates() || e.Late {
		r.holdLife(env)
	}
	r.call.Update = "SET " + strings.Join(r.sets, ", ")
	return r.build()
}

// leaveCall closes the mark that an entry had in a lost timeline.
func leaveCall(e *Entry, env Env) Call {
	c := closeCall(e, e.Life, env)
	c.Values[":x"] = e.leftMark(env)
	return c
}

// holdCall keeps nodes from deleting a life while copies of its create may arrive.
func holdCall(e *Entry, on Life, env Env) Call {
	r := &request{call: Call{Op: store.OpUpdate, Table: e.Table, Key: e.Key}}
	r.lifeGuard(e, on, env)
	r.count()
	r.holdLife(env)
	r.call.Update = "SET " + strings.Join(r.sets, ", ")
	return r.build()
}

// syncRef names a row of our own table.
func syncRef(id string, env Env) Ref {
	return Ref{Table: env.SyncTable, Key: attr.Item{SyncKey: attr.S(id)}}
}

// row returns a Put of a row in our own table, which expires when nobody can ask for it any more.
func row(id string, env Env) Call {
	ref := syncRef(id, env)
	return Call{
		Op: store.OpPut, Table: ref.Table, Key: ref.Key,
		Item: attr.Item{SyncKey: attr.S(id), SyncTTL: attr.Int(env.Now.Add(rowsFor).Round(time.Second).Unix())},
	}
}

// deadCall writes the tombstone of a life.
func deadCall(life string, env Env) Call { return row(DeadID(life), env) }

// movedCall records that a create moves to another life. When that life ends, the create's mark goes with it. Without this row, a
// restored snapshot with the create in its queue could not know that it was sent.
func movedCall(e *Entry, env Env) Call { return row(MovedID(e.lifeID(env.Node)), env) }

// absent makes a call conditional on the absence of its row.
func absent(c Call) Call {
	c.Condition = "attribute_not_exists(#p)"
	c.Names = map[string]string{"#p": SyncKey}
	return c
}

// proofCall writes the proof of a transaction or, if closed, the proof that it can never apply.
func proofCall(e *Entry, closed bool, env Env) Call {
	c := row(e.proofID(env), env)
	if closed {
		c.Item[syncClosed] = attr.Bool(true)
	}
	return absent(c)
}

// madeCall writes the proof of a create, or closes it so that no copy can apply any more, because the create is decided or has moved
// to another life. Its mark distinguishes it from another history's create of the same number.
func madeCall(e *Entry, closed, moved bool, env Env) Call {
	c := row(MadeID(e.lifeID(env.Node)), env)
	c.Item[syncMark] = e.Mark()
	if closed {
		c.Item[syncClosed] = attr.Bool(true)
	}
	if moved {
		c.Item[syncMoved] = attr.Bool(true)
	}
	return absent(c)
}

// aliveCheck makes a create conditional on the absence of its tombstone.
func aliveCheck(e *Entry, env Env) Call {
	ref := syncRef(DeadID(e.lifeID(env.Node)), env)
	return absent(Call{Table: ref.Table, Key: ref.Key})
}

// lockRef names the lock whose fence the entry carries.
func lockRef(e *Entry, env Env) Ref {
	return Ref{Table: env.LockTable, Key: attr.Item{lockKey: attr.S(e.Lock)}}
}

// lockCheck makes a first image conditional on the lock's current fence.
func lockCheck(e *Entry, env Env) Call {
	ref := lockRef(e, env)
	return Call{
		Table: ref.Table, Key: ref.Key, Condition: "#f = :f",
		Params: expr.Params{Names: map[string]string{"#f": lockFence}, Values: attr.Item{":f": attr.Int(e.Fence)}},
	}
}

// checkCall returns a ConditionCheck of the transaction.
func checkCall(c *Check) Call {
	return Call{Table: c.Table, Key: c.Key, Condition: c.Condition, Params: c.Params}
}
