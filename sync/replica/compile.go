package replica

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Compile implements store.Replicator: what the application writes becomes entries of the outbox, in the transaction in
// which it is written. An error refuses the write.
//
// Nothing in memory moves here but hints, for the transaction may still be undone.
func (r *Replica) Compile(tx *store.Tx, writes []store.Write) error {
	if err := r.admit(tx, writes); err != nil {
		return err
	}
	if writes[0].Atomic {
		return r.compileAll(tx, writes)
	}
	return r.compileOne(tx, &writes[0])
}

// compileOne makes the entry of a single write.
func (r *Replica) compileOne(tx *store.Tx, w *store.Write) error {
	c := compiling{work: r.newWork(tx)}
	s, err := c.subject(w)
	if err != nil || s.Write == nil {
		return err
	}
	e, err := intent.Compile(s.Write, s.Known, s.Pending, c.env)
	if err != nil || e == nil {
		return err
	}
	if err := c.add([]*intent.Entry{e}, w.Sending); err != nil {
		return err
	}
	return c.keep()
}

// compileAll makes the entries of a TransactWrite.
func (r *Replica) compileAll(tx *store.Tx, writes []store.Write) error {
	c := compiling{work: r.newWork(tx)}
	subjects := make([]intent.Subject, 0, len(writes))
	for i := range writes {
		if !writes[i].Sends {
			continue
		}
		s, err := c.subject(&writes[i])
		if err != nil {
			return err
		}
		if s.Write != nil {
			subjects = append(subjects, s)
		}
	}
	entries, err := intent.CompileAll(subjects, c.env)
	if err != nil {
		return err
	}
	sending := sendingOf(writes)
	var together []*intent.Entry
	for _, e := range entries {
		if e.Txn != 0 {
			together = append(together, e)
		} else if err := c.add([]*intent.Entry{e}, sending); err != nil {
			return err
		}
	}
	if len(together) > 0 {
		if err := c.add(together, sending); err != nil {
			return err
		}
	}
	return c.keep()
}

// sendingOf is what each action of a transaction asks for, together.
func sendingOf(writes []store.Write) (s store.Sending) {
	for i := range writes {
		s.After = append(s.After, writes[i].Sending.After...)
		s.Ahead = s.Ahead || writes[i].Sending.Ahead
	}
	return s
}

// compiling is work within an application's transaction: rows are the application's, and not touched.
type compiling struct{ *work }

// subject reads what is known of the item that a write is about. A Write of nil: nothing of it is to be sent.
func (c *compiling) subject(w *store.Write) (s intent.Subject, err error) {
	it := &workItem{item: item{spec: w.Spec, key: w.Key, raw: w.RawKey}}
	if have := c.items[it.id()]; have != nil {
		it = have
	} else if err := c.load(it, w); err != nil {
		return s, err
	}
	s = intent.Subject{Write: w, Known: it.sh.known}
	if it.unknown {
		if s.Write = asCreate(w); s.Write == nil {
			return s, nil
		}
	}
	s.Pending, err = c.entries(it)
	return s, err
}

// load is work.item for a transaction that must not be made to see what it would not: the row is in the write.
func (c *compiling) load(it *workItem, w *store.Write) error {
	sh, same, err := readShadow(c.tx, &it.item)
	if err != nil {
		return err
	}
	if sh == nil {
		sh, it.unknown = &shadow{}, w.Old != nil
	}
	if same {
		if sh.known.Item, err = w.Old.Decode(); err != nil {
			return err
		}
	}
	it.sh = sh
	c.items[it.id()] = it
	c.order = append(c.order, it)
	return nil
}

// asCreate is a write to a row that the cloud has never had, from the time before there was one: what goes there is the
// row as a whole, and its delete is nobody's business.
func asCreate(w *store.Write) *store.Write {
	if w.New == nil && w.Op != 0 {
		return nil
	}
	whole := *w
	whole.Old, whole.Request.Update, whole.Bound.Update = nil, "", nil
	if w.Op != 0 {
		whole.Op, whole.Request, whole.Bound = store.OpPut, store.Request{}, expr.Bound{}
	}
	return &whole
}

// add puts entries into the outbox as one unit, or folds the one entry into what waits before it.
func (c *compiling) add(entries []*intent.Entry, sending store.Sending) error {
	it, err := c.item(entries[0].Table, entries[0].Key)
	if err != nil {
		return err
	}
	u := &unit{Unit: intent.Unit{Entries: entries}, id: unitID{lane: c.r.laneOf(&it.item, sending.Ahead), seq: entries[0].Seq}}
	if err := c.behind(u, sending.After); err != nil {
		return err
	}
	if len(entries) == 1 && len(u.after) == 0 {
		if err := c.fold(it, u); err != nil {
			return err
		}
	}
	c.r.hint(u.id)
	return c.put(u)
}

// behind has a unit stand behind what waits on other items now.
func (c *compiling) behind(u *unit, items []store.ItemRef) error {
	if len(items) == 0 {
		return nil
	}
	own := map[*workItem]bool{}
	if err := c.eachItem(u, func(it *workItem) { own[it] = true }); err != nil {
		return err
	}
	for _, ref := range items {
		spec := c.r.spec(ref.Table)
		if spec == nil || !spec.Sends() {
			continue
		}
		it, err := c.waiting(spec, ref.Key)
		if err != nil {
			return err
		}
		if it != nil && !own[it] {
			own[it] = true
			u.after = append(u.after, intent.Ref{Table: ref.Table, Key: ref.Key})
		}
	}
	return nil
}

// waiting returns an item if something waits on it.
func (c *compiling) waiting(spec *store.TableSpec, key attr.Item) (*workItem, error) {
	it, err := itemOf(c.tx, spec, key)
	if err != nil {
		return nil, err
	}
	wi := c.items[it.id()]
	if wi == nil {
		sh, _, err := readShadow(c.tx, it)
		if err != nil || sh == nil || len(sh.pending) == 0 {
			return nil, err
		}
		wi = &workItem{item: *it, sh: sh} // with its base: that is kept as long as something waits
		c.items[it.id()] = wi
		c.order = append(c.order, wi)
	}
	if len(wi.sh.pending) == 0 {
		return nil, nil //nolint:nilnil // nothing waits
	}
	return wi, nil
}

// fold takes the last unit of the item into u where nothing of it was sent and nobody sees the difference. Of state only
// the newest image is kept that way. What was written before this run is left alone: where the file is an older state of
// itself, that has been sent by another.
func (c *compiling) fold(it *workItem, u *unit) error {
	if len(it.sh.pending) == 0 {
		return nil
	}
	last, err := c.unit(it.sh.pending[len(it.sh.pending)-1].unitID)
	if err != nil || last == nil || len(last.Entries) != 1 || len(last.after) > 0 || last.Entries[0].Txn != 0 || len(last.Entries[0].Folds) >= c.r.limits.Folds {
		return err
	}
	if !attr.EqualItems(last.Entries[0].Key, it.key) || last.Entries[0].Table != it.spec.Name ||
		last.Entries[0].Seq <= c.r.runAfter() {
		return nil
	}
	if !last.untouched() {
		return nil
	}
	folded, ok := intent.Coalesce(last.Entries[0], u.Entries[0], len(it.sh.pending) == 1, c.env.Exprs)
	if !ok {
		return nil
	}
	if folded.Policy == store.PolicyState {
		folded.Folds = nil     // an older image is done when there is a newer one
		if folded.Begun != 0 { // but the first names the life: it is not settled before that is made
			folded.Folds = []uint64{folded.Begun}
		}
	}
	u.Entries[0] = folded
	if last.id.lane == c.r.express() {
		u.id.lane = last.id.lane
	}
	c.gone = append(c.gone, last)
	delete(c.dirty, last.id)
	it.sh.pending = it.sh.pending[:len(it.sh.pending)-1]
	return nil
}

// keep writes units and shadows. The rows follow by the application's own hand.
func (c *compiling) keep() error {
	for _, u := range c.gone {
		if err := dropUnit(c.tx, u, c.tally); err != nil {
			return err
		}
	}
	for _, id := range c.dirtyUnits() {
		u := c.units[id]
		if err := putUnit(c.tx, u, c.tally); err != nil {
			return err
		}
		if err := foldInto(c.tx, u); err != nil {
			return err
		}
	}
	for _, it := range c.order {
		if it.dirty {
			if err := c.r.keepShadow(c.tx, &it.item, it.sh); err != nil {
				return err
			}
		}
	}
	if c.err != nil {
		return c.err
	}
	return c.tally.keep(c.tx)
}

// Expire implements store.Replicator: an item past its TTL stays, hidden, until the cloud has it no more. What the cloud
// never had, or has no more, goes.
func (r *Replica) Expire(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error) {
	it, err := itemOf(tx, spec, key)
	if err != nil {
		return false, err
	}
	sh, same, err := readShadow(tx, it)
	if err != nil || sh == nil {
		return err == nil, err
	}
	if sh.known.Item != nil && len(sh.pending) == 0 {
		r.askAfter(spec.Name, key)
	}
	return !same && sh.known.Item == nil && len(sh.pending) == 0, nil
}

// ghostReads is how many items past their TTL wait to be looked for at once, of those that one sweep comes by: the cloud
// takes its time, and no rule need read what nobody is interested in any more.
const ghostReads = 64

// askAfter has it looked for in the cloud whether an item past its TTL has gone there. Which of many is chance, so that none
// is left out for ever. Nothing but a hint: the caller's transaction may be undone.
func (r *Replica) askAfter(table string, key attr.Item) {
	if !r.net.online() || r.cfg.Rand()%4 != 0 {
		return
	}
	r.books.mu.Lock()
	defer r.books.mu.Unlock()
	if len(r.books.reads) < ghostReads {
		r.books.reads = append(r.books.reads, intent.Ref{Table: table, Key: key})
		r.errands.get().Set()
	}
}
