package intent

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Coalesce folds an entry into the next one on the same item if neither was ever attempted and the effect and conditions stay the
// same: the later entry is unconditional, or the earlier one sets everything its condition reads. Example: SET a = 1, then
// SET a = 2, become SET a = 2. The folded entry has the later sequence and replaces both; the arguments are not changed. first
// means that nothing waits before the earlier entry: otherwise a rejection there could take along one of the two but not the other.
func Coalesce(earlier, later *Entry, first bool, exprs *expr.Cache) (folded *Entry, ok bool) {
	if !earlier.fresh() || !later.fresh() || earlier.Policy != later.Policy || earlier.Lock != later.Lock || earlier.Fence != later.Fence || later.creates() || earlier.Op == store.OpDelete ||
		!later.follows(earlier) {
		return nil, false
	}
	f := *later
	f.Life, f.Behind, f.ReplacesExpired, f.Was, f.At = earlier.Life, earlier.Behind, earlier.ReplacesExpired, earlier.Was, earlier.At
	if f.Yields = earlier.Yields; !f.Yields.IsZero() {
		f.NotBefore, f.Why = earlier.NotBefore, earlier.Why
	}
	f.Read = earlier.Read || later.Read
	f.Folds = append(slices.Clone(earlier.Folds), earlier.Seq)
	f.Folds = append(f.Folds, later.Folds...)
	if f.Begun = earlier.Begun; f.Begun == 0 && earlier.creates() {
		f.Begun = earlier.Seq
	}
	if earlier.Policy == store.PolicyState { // an older image counts as settled once there is a newer one
		return &f, later.Op == store.OpPut || !earlier.creates()
	}
	if !earlier.covers(later, exprs) || earlier.Condition != "" && later.Condition == "" && !earlier.carries(later) {
		return nil, false // an entry that would go on without the earlier one must not fall with it
	}
	if !first && earlier.falls() != later.falls() {
		return nil, false
	}
	switch {
	case later.Op == store.OpDelete:
		if earlier.creates() { // nothing would be left to carry the condition
			return nil, false
		}
		f.takeCondition(earlier)
	case later.Op == store.OpPut:
		f.takeCondition(earlier)
	case earlier.Op == store.OpPut:
		item, err := later.apply(earlier.Item, exprs)
		if err != nil {
			return nil, false
		}
		f.Op, f.Item = store.OpPut, item
		f.takeCondition(earlier)
	default:
		return f.merge(earlier, later, exprs)
	}
	if f.ReplacesExpired && f.Op == store.OpPut {
		f.Update = ""
	}
	return &f, true
}

// fresh reports whether an entry may still be changed: it was never sent, and it is alone.
func (e *Entry) fresh() bool {
	return e.Sent == 0 && e.Txn == 0 && e.Held == HoldNone && !e.lost && !e.replay && !e.Late && e.Label == "" && !e.Dead
}

// follows reports whether an entry was written on top of the earlier one's result.
func (e *Entry) follows(earlier *Entry) bool {
	if earlier.creates() {
		return e.Behind == earlier.Seq
	}
	return e.Behind == earlier.Behind && e.Life == earlier.Life
}

// covers reports whether the later entry's condition holds on everything that e leaves behind: e sets every path that it reads.
func (e *Entry) covers(later *Entry, exprs *expr.Cache) bool {
	switch {
	case later.Condition == "":
		return true
	case e.Op == store.OpPut || e.ReplacesExpired:
		return later.holds(e.Item, exprs)
	}
	theirs, err := later.bind(exprs)
	if err != nil {
		return false
	}
	mine, err := e.bind(exprs)
	if err != nil || mine.Update == nil {
		return false
	}
	changes, ok := mine.Update.Changes()
	if !ok {
		return false
	}
	left, known := maps.Clone(e.Key), map[string]bool{}
	for name := range e.Key {
		known[name] = true
	}
	for _, c := range changes {
		switch c.Verb {
		case "SET":
			left[c.Name], known[c.Name] = c.Value, true
		case "REMOVE":
			known[c.Name] = true
		}
	}
	for _, p := range theirs.Condition.Places() {
		if !known[p[0]] {
			return false
		}
	}
	return later.holds(left, exprs)
}

// takeCondition gives the folded entry the earlier one's condition, with the values it needs, and no update.
func (e *Entry) takeCondition(earlier *Entry) {
	e.Update, e.Condition, e.Params = "", earlier.Condition, expr.Params{}
	use := func(placeholder string) string {
		if placeholder[0] == '#' {
			if e.Names == nil {
				e.Names = map[string]string{}
			}
			e.Names[placeholder] = earlier.Names[placeholder]
		} else {
			if e.Values == nil {
				e.Values = attr.Item{}
			}
			e.Values[placeholder] = earlier.Values[placeholder]
		}
		return placeholder
	}
	expr.Rewrite(e.Condition, use)
}

// merge combines two updates into one, if both change whole attributes by values.
func (e *Entry) merge(earlier, later *Entry, exprs *expr.Cache) (*Entry, bool) {
	first, err := earlier.bind(exprs)
	if err != nil {
		return nil, false
	}
	second, err := later.bind(exprs)
	if err != nil {
		return nil, false
	}
	one, ok := first.Update.Changes()
	two, ok2 := second.Update.Changes()
	if !ok || !ok2 {
		return nil, false
	}
	byName := map[string]expr.Change{}
	for _, c := range one {
		byName[c.Name] = c
	}
	for _, c := range two {
		before, had := byName[c.Name]
		if had {
			if c, ok = combineChanges(before, c); !ok {
				return nil, false
			}
		}
		byName[c.Name] = c
	}
	e.takeCondition(earlier)
	e.write(byName)
	if e.ReplacesExpired {
		item, err := later.apply(earlier.Item, exprs)
		if err != nil {
			return nil, false
		}
		e.Item = item
	}
	if earlier.creates() && !e.creates() { // the later one removes all that the earlier one sets, so it would create no item
		return nil, false
	}
	return e, len(e.Update) <= maxText/2
}

// combineChanges combines two changes of the same attribute.
func combineChanges(before, c expr.Change) (expr.Change, bool) {
	switch {
	case c.Verb == "SET" || c.Verb == "REMOVE":
		return c, true
	case c.Verb == "DELETE":
		return c, false
	case before.Verb == "REMOVE":
		return expr.Change{Verb: "SET", Name: c.Name, Value: c.Value}, true
	}
	sum, err := attr.Add(before.Value, c.Value)
	return expr.Change{Verb: before.Verb, Name: c.Name, Value: sum}, err == nil && before.Verb != "DELETE"
}

// write builds the update from changes, with placeholders numbered after those of the condition.
func (e *Entry) write(changes map[string]expr.Change) {
	if e.Names == nil {
		e.Names = map[string]string{}
	}
	if e.Values == nil {
		e.Values = attr.Item{}
	}
	n, v := free("#", maps.Keys(e.Names)), free(":", maps.Keys(e.Values))
	parts := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		c := changes[name]
		text := "#" + strconv.Itoa(n)
		e.Names[text] = name
		n++
		if c.Verb != "REMOVE" {
			value := ":" + strconv.Itoa(v)
			e.Values[value] = c.Value
			v++
			if c.Verb == "SET" {
				text += " ="
			}
			text += " " + value
		}
		parts[c.Verb] = append(parts[c.Verb], text)
	}
	e.Update = expr.Clauses{
		Set: strings.Join(parts["SET"], ", "), Remove: strings.Join(parts["REMOVE"], ", "),
		Add: strings.Join(parts["ADD"], ", "), Delete: strings.Join(parts["DELETE"], ", "),
	}.String()
}

// free returns the first number above all used ones.
func free(sign string, used func(yield func(string) bool)) int {
	next := 0
	for placeholder := range used {
		if n, err := strconv.Atoi(strings.TrimPrefix(placeholder, sign)); err == nil {
			next = max(next, n+1)
		}
	}
	return next
}
