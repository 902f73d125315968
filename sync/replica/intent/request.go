package intent

import (
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Defaults for Env.
const (
	ManyMarks = 8                // with more marks on an item, a send removes settled ones
	SignedFor = 15 * time.Minute // lifetime of a signed request
)

const (
	rowsFor = 30 * 24 * time.Hour // expiry of tombstones and proofs

	unansweredFor = rowsFor - 24*time.Hour // after that long nothing that depends on those rows is sent again
	pruneLimit    = 64                     // marks that one send removes
)

// request is a call under construction. Our placeholders use letters where an entry's use numbers: :a is ours, :0 is the entry's.
type request struct {
	call  Call
	conds []string
	sets  []string
	drops []string
}

func (r *request) name(placeholder, name string) string {
	if r.call.Names == nil {
		r.call.Names = map[string]string{}
	}
	r.call.Names[placeholder] = name
	return placeholder
}

func (r *request) value(placeholder string, v attr.Value) string {
	if r.call.Values == nil {
		r.call.Values = attr.Item{}
	}
	r.call.Values[placeholder] = v
	return placeholder
}

func (r *request) must(condition string) { r.conds = append(r.conds, condition) }

// addOperation adds what the application asked for.
func (r *request) addOperation(e *Entry, update bool) {
	if e.Condition != "" {
		r.must(e.Condition)
	}
	used := func(placeholder string) string {
		if placeholder[0] == '#' {
			r.name(placeholder, e.Names[placeholder])
		} else {
			r.value(placeholder, e.Values[placeholder])
		}
		return placeholder
	}
	expr.Rewrite(e.Condition, used)
	if update {
		expr.Rewrite(e.Update, used)
	}
}

// partition returns the placeholder of the partition key: a condition on it tests whether the item exists.
func (r *request) partition(e *Entry, env Env) string {
	return r.name("#p", partitionName(e, env))
}

// partitionName returns the name of the partition key, or of any key attribute if the table is no longer declared.
func partitionName(e *Entry, env Env) string {
	if spec := env.Spec(e.Table); spec != nil {
		return spec.Key.Partition.Name
	}
	names := make([]string, 0, len(e.Key))
	for name := range e.Key {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// markGuard refuses the entry if it, or a later entry of this node, has been applied.
func (r *request) markGuard(e *Entry, env Env) {
	a, mark := r.name("#a", AttrMark+env.Node), r.value(":a", e.Mark())
	r.must("(attribute_not_exists(" + a + ") OR " + a + " < " + mark + ")")
}

// lifeGuard ties an entry to the life it was journaled on.
func (r *request) lifeGuard(e *Entry, life Life, env Env) {
	switch {
	case life.Kind == LifeNone:
		r.must("attribute_not_exists(" + r.partition(e, env) + ")")
	case life.ID != "" || life.Kind == LifeOurs:
		r.must(r.name("#c", AttrLife) + " = " + r.value(":c", attr.S(life.ID)))
	default:
		r.must("attribute_exists(" + r.partition(e, env) + ") AND attribute_not_exists(" + r.name("#c", AttrLife) + ")")
	}
}

// countGuard permits the write only on the image it was computed from.
func (r *request) countGuard(known Known) string {
	n := r.name("#n", AttrCount)
	if known.Side.Count == 0 {
		return "attribute_not_exists(" + n + ")"
	}
	return n + " = " + r.value(":n", attr.Int(int64(known.Side.Count)))
}

// fenceGuard refuses the writes of a former holder. On tables of policies other than state the application writes this condition
// itself.
func (r *request) fenceGuard(e *Entry) {
	if e.Policy == store.PolicyState && e.Fence != 0 {
		f := r.name("#f", AttrFence)
		r.must("(attribute_not_exists(" + f + ") OR " + f + " <= " + r.value(":f", attr.Int(e.Fence)) + ")")
	}
}

// timeGuard lets the later of two writes win. A time too far ahead does not count.
func (r *request) timeGuard(e *Entry, env Env) {
	if e.hasTimeGuard() {
		t := r.name("#t", AttrTime)
		r.must("(attribute_not_exists(" + t + ") OR " + t + " < " + r.value(":t", e.stamp()) + " OR " + t + " > " +
			r.value(":l", attr.Int(limitOf(env))) + ")")
	}
}

// hasTimeGuard reports whether the entry has a time guard: a delete beats every update of its life without one.
func (e *Entry) hasTimeGuard() bool { return e.Policy == store.PolicyNewest && e.Op != store.OpDelete }

// build returns the call of an entry with all its guards. known is the base of its item.
func build(e *Entry, known Known, env Env) Call {
	r := &request{call: Call{Op: e.Op, Table: e.Table, Key: e.Key}}
	switch {
	case e.Op == store.OpDelete:
		r.addOperation(e, false)
		r.delete(e, env)
	case e.Op == store.OpPut || e.ReplacesExpired:
		r.call.Op = store.OpPut
		r.addOperation(e, false)
		r.put(e, known, env)
	case e.Life.Kind == LifeNone && e.removes():
		r.addOperation(e, false)
		r.nothing(e, env)
	default:
		r.addOperation(e, true)
		r.update(e, known, env)
	}
	r.turnGuard(e, known, env)
	return r.build()
}

func (r *request) build() Call {
	r.call.Condition = strings.Join(r.conds, " AND ")
	return r.call
}

// nothing sends an update that has no effect without an item; with its marks the update would create one. It sends a delete of the
// missing item under the entry's condition; an existing item refuses that and shows itself. In a transaction only the
// condition is sent.
func (r *request) nothing(e *Entry, env Env) {
	r.call.Op = store.OpDelete
	if e.Txn != 0 {
		r.call.Op = 0
	}
	r.lifeGuard(e, e.Life, env)
}

func (r *request) delete(e *Entry, env Env) {
	if e.Life.Kind == LifeNone { // in a transaction, when its item is gone
		r.nothing(e, env)
		return
	}
	r.markGuard(e, env)
	r.lifeGuard(e, e.Life, env)
	r.fenceGuard(e)
	u := r.name("#u", AttrHold)
	r.must("(attribute_not_exists(" + u + ") OR " + u + " < " + r.value(":m", attr.Int(env.Now.UnixMilli())) + ")")
}

// put sends the whole item, with the sidecar of the base it was computed from.
func (r *request) put(e *Entry, known Known, env Env) {
	r.markGuard(e, env)
	side := Sidecar{Life: e.lifeID(env.Node), Count: 1}.withoutMarks(nil, env)
	switch {
	case e.ReplacesExpired:
		r.expiredGuard(e, known, env)
	case e.Life.Kind == LifeNone:
		r.lifeGuard(e, e.Life, env)
	default:
		r.lifeGuard(e, e.Life, env)
		r.must(r.countGuard(known))
		if known.Side.Life != e.Life.ID {
			// The entry has moved, and the base is not here yet. Another life's count may be the same, but its marks are not. So the
			// send is refused, and the answer shows what is there.
			r.must(r.name("#c", AttrLife) + " = " + r.value(":b", attr.S(known.Side.Life)))
		}
		side = known.Side.withoutMarks(prunable(known, env), env)
		side.Life, side.Count = e.Life.ID, known.Side.Count+1
		if e.Life.ID == "" {
			side.Life = e.label(env)
		}
	}
	r.fenceGuard(e)
	r.timeGuard(e, env)
	side.Marks[env.Node] = e.Mark()
	if e.hasTimeGuard() {
		side.Time = e.stamp()
	}
	if e.repeats(env) {
		side.Hold = holdUntil(env)
	}
	r.call.Item = side.Join(e.Item)
}
