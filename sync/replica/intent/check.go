package intent

import (
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// invalid returns an error that no retry can cure, as DynamoDB words it.
func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

// checkWrite refuses writes that a table which sends cannot accept, whatever the item.
func checkWrite(w *store.Write) error {
	if w.Op == store.OpPut {
		for _, name := range []string{AttrLife, AttrCount, AttrTime, AttrHold, AttrTurn} {
			if has, err := w.New.Has(name); err != nil {
				return err
			} else if has {
				return errReserved(name)
			}
		}
	}
	if w.Bound.Update != nil {
		if err := checkNames(w.Bound.Update.Attributes()); err != nil {
			return err
		}
	}
	if w.Bound.Condition != nil {
		if err := checkNames(w.Bound.Condition.Attributes()); err != nil {
			return err
		}
	}
	if w.Spec.Policy == store.PolicyNewest && w.Bound.Update != nil {
		return checkNewest(w.Bound.Update)
	}
	return nil
}

func checkNames(names []string) error {
	for _, name := range names {
		if IsReserved(name) {
			return errReserved(name)
		}
	}
	return nil
}

func errReserved(name string) error {
	return invalid("One or more parameter values were invalid: Attribute name is reserved for replication: %s", name)
}

// checkNewest refuses operations whose result depends on the order of arrival.
func checkNewest(u *expr.Update) error {
	_, _, add, del, appends := u.Verbs()
	var what string
	switch {
	case add:
		what = "ADD"
	case del:
		what = "DELETE"
	case appends:
		what = "list_append"
	default:
		return nil
	}
	return invalid("Invalid UpdateExpression: The operator or function is not allowed in a table of policy newest; operator or function: %s", what)
}

// sizeWorthCounting: an item with a shorter encoding cannot be near the limit.
const sizeWorthCounting = attr.MaxItemSize / 4

// checkSize refuses an item that leaves no room for our attributes, or that contains marks of its own.
func checkSize(w *store.Write, item attr.Item) error {
	if w.Op == store.OpPut {
		for name := range item {
			if IsReserved(name) {
				return errReserved(name)
			}
		}
	}
	if len(w.New) < sizeWorthCounting || attr.Size(item) <= attr.MaxItemSize-sidecarRoom {
		return nil
	}
	if w.Op == store.OpUpdate {
		return invalid("Item size to update has exceeded the maximum allowed size")
	}
	return attr.TooLarge()
}

const (
	maxText      = 4096 // bytes of an expression in DynamoDB
	fewOperators = 900  // a shorter text, in bytes, has no room for 300 operators
)

// checkTexts refuses expressions that leave no room for ours. It builds the widest request that may be sent for the entry
// and has it parsed if it is near the limits.
func checkTexts(e *Entry, u *expr.Update, env Env) error {
	widest := *e
	if e.Policy == store.PolicyNewest && e.Stamp == 0 {
		widest.Stamp = 1
	}
	widest.Late = true
	known := Known{Side: Sidecar{Life: e.Life.ID, Count: 1, Turn: attr.Int(env.Now.Add(turnFor).UnixMilli())}}
	if u != nil && e.Life.Kind == LifeForeign && e.Life.ID == "" {
		widest.Was, widest.Unsure = attr.Item{}, true
		for _, p := range u.Places() {
			widest.Was[p.String()] = attr.L()
		}
	}
	c := build(&widest, known, env)
	for _, text := range []struct{ form, text string }{{"UpdateExpression", c.Update}, {"ConditionExpression", c.Condition}} {
		if len(text.text) > maxText {
			return invalid("Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %d", text.form, len(text.text))
		}
	}
	if len(c.Update) < fewOperators && len(c.Condition) < fewOperators {
		return nil
	}
	_, err := expr.Bind(expr.Request{Update: c.Update, Condition: c.Condition, Params: c.Params})
	return err
}
