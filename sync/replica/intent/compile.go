package intent

import (
	"strconv"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

const (
	sidecarRoom = 8 << 10                  // of DynamoDB's item limit, reserved for our attributes
	ttlHorizon  = 5 * 365 * 24 * time.Hour // an expiry further back is not a TTL, as in the store
	aheadLimit  = 5 * time.Minute          // a stamp of policy newest further ahead is ignored
)

// Compile returns the entry for one write, before the write is applied to the store, or nil if nothing is to be sent. An error of
// kind fault.Invalid, in DynamoDB's words, refuses the write. pending holds the item's entries so far, in order.
func Compile(w *store.Write, known Known, pending []*Entry, env Env) (*Entry, error) {
	if w.Seq == 0 || w.Op == 0 || !w.Sends {
		return nil, nil
	}
	pending = live(pending)
	if err := checkWrite(w); err != nil {
		return nil, err
	}
	e := &Entry{
		Write: Write{
			Seq: w.Seq, Digits: digits(env.Rand), Group: w.Txn, Table: w.Spec.Name, Policy: w.Spec.Policy, Key: w.Key,
			Op: w.Op, At: env.Now, Read: w.Read,
		},
		Progress: Progress{Proof: env.Transactions},
	}
	item, err := decode(w)
	if err != nil {
		return nil, err
	}
	if w.Spec.Lock != "" {
		e.Lock = w.Spec.LockOf(item)
		e.Fence, _ = item[AttrFence].Int()
	}
	e.Life, e.Behind = lifeBehind(known, pending, w.Old != nil, env)
	e.operation(w, item)
	e.replaceExpired(w, known, pending, item, env)
	if e.Policy == store.PolicyNewest {
		e.stampNow(known, pending, env)
	}
	if err := checkSize(w, item); err != nil {
		return nil, err
	}
	return e, checkTexts(e, w.Bound.Update, env)
}

// operation records what was asked. For policy state that is the image, whatever made it, under the fence alone.
func (e *Entry) operation(w *store.Write, item attr.Item) {
	if e.Policy == store.PolicyState {
		if e.Op != store.OpDelete {
			e.Op, e.Item = store.OpPut, item
		}
		return
	}
	if e.Op == store.OpPut {
		e.Item = item
	}
	e.Update, e.Condition, e.Params = renumber(w.Request, w.Bound)
}

// decode returns the item the write is about: as it will be, or for a delete as it was.
func decode(w *store.Write) (attr.Item, error) {
	image := w.New
	if w.Op == store.OpDelete {
		image = w.Old
	}
	if image == nil {
		return nil, nil
	}
	return image.Decode()
}

// live drops the entries that readers do not see because they wait for an operator.
func live(pending []*Entry) []*Entry {
	out := pending
	for i, e := range pending {
		if !e.isQuarantined() {
			continue
		}
		out = append([]*Entry(nil), pending[:i]...)
		for _, e := range pending[i:] {
			if !e.isQuarantined() {
				out = append(out, e)
			}
		}
		break
	}
	return out
}

// isQuarantined reports whether an entry is quarantined or behind a quarantined one.
func (e *Entry) isQuarantined() bool { return e.Held == HoldPoison || e.Held == HoldTail }

// lifeOf returns the life of a confirmed image.
func lifeOf(k Known) Life {
	switch {
	case k.Item == nil:
		return Life{}
	case foreign(k.Side.Life):
		return Life{Kind: LifeForeign, ID: k.Side.Life}
	}
	return Life{Kind: LifeOurs, ID: k.Side.Life}
}

// lifeBehind returns the life that an entry behind the pending ones stands on: the life of the view it was written on. A delete that
// is doubtful there ends no life, and a doubtful create begins none. seen says that the application found an item. It matters for
// an entry that is moving to a life which no base shows yet: the view computed here lacks that entry, but readers see it.
func lifeBehind(k Known, pending []*Entry, seen bool, env Env) (life Life, behind uint64) {
	v, _ := view(k, pending, env)
	if last := len(pending) - 1; v.item == nil && seen && last >= 0 &&
		pending[last].Op != store.OpDelete && pending[last].Life.Kind != LifeNone {
		return pending[last].Life, pending[last].Behind
	}
	if v.behind != 0 {
		v.life.ID = ""
	}
	return v.life, v.behind
}

// creates reports whether the entry begins a life.
func (e *Entry) creates() bool {
	return e.Op != store.OpDelete && (e.Life.Kind == LifeNone && !e.removes() || e.ReplacesExpired)
}

// removes reports whether the entry is an update that only removes or deletes. Without an item it does nothing.
func (e *Entry) removes() bool {
	if e.Op != store.OpUpdate || e.Update == "" {
		return false
	}
	c := expr.SplitUpdate(e.Update)
	return c.Set == "" && c.Add == ""
}

// replaceExpired marks a write that brings back an item past its TTL: it becomes a Put with a new life.
func (e *Entry) replaceExpired(w *store.Write, known Known, pending []*Entry, item attr.Item, env Env) {
	if e.Op == store.OpDelete || w.Atomic || len(pending) > 0 || !expired(w.Spec, known.Item, env.Now) ||
		expired(w.Spec, item, env.Now) {
		return
	}
	e.ReplacesExpired, e.Item = true, item
	e.Was = attr.Item{w.Spec.TTL: known.Item[w.Spec.TTL]}
}

// expired reports whether an item is past its TTL, by the store's rules.
func expired(spec *store.TableSpec, it attr.Item, now time.Time) bool {
	if spec == nil || spec.TTL == "" || it == nil {
		return false
	}
	limit, ok := it[spec.TTL].Int()
	at := now.Unix()
	return ok && limit < at && limit > at-int64(ttlHorizon/time.Second)
}

// stampNow gives the entry a time later than everything it was written on. It ignores times too far ahead.
func (e *Entry) stampNow(known Known, pending []*Entry, env Env) {
	e.Provisional = !env.Synced
	e.Stamp = env.Now.UnixMicro()
	if t := Whole(known.Side.Time); t >= uint64(e.Stamp) && t <= uint64(limitOf(env)) {
		e.Stamp = int64(t) + 1
	}
	for _, p := range pending {
		e.Stamp = max(e.Stamp, p.Stamp+1)
	}
}

// limitOf returns the latest stamp that is accepted.
func limitOf(env Env) int64 { return env.Now.Add(aheadLimit).UnixMicro() }

// renumber rewrites a request's expressions with our own placeholders, #0, #1, :0, :1 in order of use, so that ours can be added.
// It puts the condition in parentheses.
func renumber(r store.Request, b expr.Bound) (update, condition string, p expr.Params) {
	numbers := map[string]string{}
	rename := func(placeholder string) string {
		if to, ok := numbers[placeholder]; ok {
			return to
		}
		var to string
		if placeholder[0] == '#' {
			to = "#" + strconv.Itoa(len(p.Names))
			if p.Names == nil {
				p.Names = map[string]string{}
			}
			p.Names[to] = r.Params.Names[placeholder]
		} else {
			to = ":" + strconv.Itoa(len(p.Values))
			if p.Values == nil {
				p.Values = attr.Item{}
			}
			p.Values[to] = r.Params.Values[placeholder]
		}
		numbers[placeholder] = to
		return to
	}
	if r.Update != "" {
		update = expr.Rewrite(r.Update, rename)
	}
	if r.Condition != "" {
		condition = expr.Rewrite(r.Condition, rename)
		if b.Condition != nil && !b.Condition.IsEnclosed() {
			condition = "(" + condition + ")"
		}
	}
	return update, condition, p
}
