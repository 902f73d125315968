package outbox

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Compile turns the application's writes into outbox entries, in the transaction that makes them: one batch for a single write, one
// for all writes of a TransactWrite that go to the cloud together. In memory only hints change.
//
//	UPDATE a SET n = n + 1            -> a batch of one entry, folded into the one before it if that was never sent
//	TransactWrite(put a, put b)       -> a batch of two entries, with a place in the queues of a and of b
func (b *Outbox) Compile(tx *store.Tx, writes []store.Write) error {
	if writes[0].Atomic {
		return b.compileAll(tx, writes)
	}
	return b.compileOne(tx, &writes[0])
}

// compileOne compiles a single write.
func (b *Outbox) compileOne(tx *store.Tx, w *store.Write) error {
	c := compiling{b.Begin(tx)}
	s, err := c.subject(w)
	if err != nil || s.Write == nil {
		return err
	}
	e, err := intent.Compile(s.Write, s.Known, s.Pending, c.Env)
	if err != nil || e == nil {
		return err
	}
	if err := c.add([]*intent.Entry{e}, w.Sending); err != nil {
		return err
	}
	return c.storeBatches()
}

// compileAll compiles a TransactWrite.
func (b *Outbox) compileAll(tx *store.Tx, writes []store.Write) error {
	c := compiling{b.Begin(tx)}
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
	entries, err := intent.CompileAll(subjects, c.Env)
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
	return c.storeBatches()
}

// sendingOf merges what the actions of a transaction ask for.
func sendingOf(writes []store.Write) (s store.Sending) {
	for i := range writes {
		s.After = append(s.After, writes[i].Sending.After...)
		s.Ahead = s.Ahead || writes[i].Sending.Ahead
	}
	return s
}

// compiling is work within an application's transaction. The rows belong to the application and are not changed.
type compiling struct{ *Work }

// subject reads the state of the item that a write is about. A nil Write means that nothing is to be sent.
func (c *compiling) subject(w *store.Write) (s intent.Subject, err error) {
	it := &WorkItem{Item: Item{Spec: w.Spec, Key: w.Key, Raw: w.RawKey}}
	if have := c.items[it.ID()]; have != nil {
		it = have
	} else if err := c.load(it, w); err != nil {
		return s, err
	}
	s = intent.Subject{Write: w, Known: it.Remote.Known}
	if it.Unknown {
		if s.Write = asCreate(w); s.Write == nil {
			return s, nil
		}
	}
	s.Pending, err = c.Entries(it)
	return s, err
}

// load is Work.Load for a transaction that must not be made to see expired items: the row is in the write.
func (c *compiling) load(it *WorkItem, w *store.Write) error {
	sh, same, err := ReadRemote(c.Tx, &it.Item)
	if err != nil {
		return err
	}
	if sh == nil {
		sh, it.Unknown = &Remote{}, w.Old != nil
	}
	if same {
		if sh.Known.Item, err = w.Old.Decode(); err != nil {
			return err
		}
	}
	it.Remote = sh
	c.items[it.ID()] = it
	c.Order = append(c.Order, it)
	return nil
}

// asCreate handles a write to a row that predates the cloud and was never sent. The whole row is sent; its delete need not be.
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

// add puts entries into the outbox as one batch, or folds a single entry into the batch waiting before it.
func (c *compiling) add(entries []*intent.Entry, sending store.Sending) error {
	it, err := c.Load(entries[0].Table, entries[0].Key)
	if err != nil {
		return err
	}
	u := &Batch{Batch: intent.Batch{Entries: entries}, ID: ID{Worker: c.box.WorkerOf(&it.Item, sending.Ahead), Seq: entries[0].Seq}}
	if err := c.waitBehind(u, sending.After); err != nil {
		return err
	}
	if len(entries) == 1 && len(u.After) == 0 {
		if err := c.fold(it, u); err != nil {
			return err
		}
	}
	c.box.Hint(u.ID)
	return c.Put(u)
}

// waitBehind makes a batch wait for everything that waits on other items now.
func (c *compiling) waitBehind(u *Batch, items []store.ItemRef) error {
	if len(items) == 0 {
		return nil
	}
	own := map[*WorkItem]bool{}
	if err := c.EachItem(u, func(it *WorkItem) { own[it] = true }); err != nil {
		return err
	}
	for _, ref := range items {
		spec := c.box.Spec(ref.Table)
		if spec == nil || !spec.Sends() {
			continue
		}
		it, err := c.waiting(spec, ref.Key)
		if err != nil {
			return err
		}
		if it != nil && !own[it] {
			own[it] = true
			u.After = append(u.After, intent.Ref{Table: ref.Table, Key: ref.Key})
		}
	}
	return nil
}

// waiting returns an item if something waits on it.
func (c *compiling) waiting(spec *store.TableSpec, key attr.Item) (*WorkItem, error) {
	it, err := ItemOf(c.Tx, spec, key)
	if err != nil {
		return nil, err
	}
	wi := c.items[it.ID()]
	if wi == nil {
		sh, _, err := ReadRemote(c.Tx, it)
		if err != nil || sh == nil || len(sh.Pending) == 0 {
			return nil, err
		}
		wi = &WorkItem{Item: *it, Remote: sh} // keep its base as long as something waits
		c.items[it.ID()] = wi
		c.Order = append(c.Order, wi)
	}
	if len(wi.Remote.Pending) == 0 {
		return nil, nil //nolint:nilnil // nothing waits
	}
	return wi, nil
}

// fold merges the item's last batch into u if no part of it was sent and nobody can see the difference. For state, only the newest
// image is kept. Entries from before this run are left alone: if the file is an older state of itself, another copy has
// sent them.
func (c *compiling) fold(it *WorkItem, u *Batch) error {
	if len(it.Remote.Pending) == 0 {
		return nil
	}
	last, err := c.Batch(it.Remote.Pending[len(it.Remote.Pending)-1].ID)
	if err != nil || last == nil || len(last.Entries) != 1 || len(last.After) > 0 || last.Entries[0].Txn != 0 || len(last.Entries[0].Folds) >= c.box.Folds {
		return err
	}
	if !attr.EqualItems(last.Entries[0].Key, it.Key) || last.Entries[0].Table != it.Spec.Name ||
		last.Entries[0].Seq <= c.box.RunAfter() {
		return nil
	}
	if !last.IsUntouched() {
		return nil
	}
	folded, ok := intent.Coalesce(last.Entries[0], u.Entries[0], len(it.Remote.Pending) == 1, c.Env.Exprs)
	if !ok {
		return nil
	}
	if folded.Policy == store.PolicyState {
		folded.Folds = nil     // an older image is done once there is a newer one
		if folded.Begun != 0 { // except that the first names the life, and is not settled before that is created
			folded.Folds = []uint64{folded.Begun}
		}
	}
	u.Entries[0] = folded
	if last.ID.Worker == c.box.Express() {
		u.ID.Worker = last.ID.Worker
	}
	c.Gone = append(c.Gone, last)
	delete(c.dirty, last.ID)
	it.Remote.Pending = it.Remote.Pending[:len(it.Remote.Pending)-1]
	return nil
}

// storeBatches writes batches and remote images. The application writes the rows itself.
func (c *compiling) storeBatches() error {
	for _, u := range c.Gone {
		if err := Drop(c.Tx, u, c.tally); err != nil {
			return err
		}
	}
	for _, id := range c.dirtyIDs() {
		u := c.batches[id]
		if err := Put(c.Tx, u, c.tally); err != nil {
			return err
		}
		if err := NoteFolds(c.Tx, u); err != nil {
			return err
		}
	}
	for _, it := range c.Order {
		if it.Dirty {
			if err := KeepRemote(c.Tx, &it.Item, it.Remote); err != nil {
				return err
			}
		}
	}
	if c.err != nil {
		return c.err
	}
	return c.tally.AddToCounts(c.Tx)
}
