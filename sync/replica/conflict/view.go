package conflict

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// View is a record as shown to operators, and by an application to its users.
type View struct {
	Head

	Table   string       `json:"table"` // of its first write, like the next three
	Key     attr.Item    `json:"key"`
	WriteID string       `json:"writeId"`
	Policy  store.Policy `json:"policy"`
	Writes  int          `json:"writes"` // decided together, including the tail

	// Only when queried by id.
	Decided []Write `json:"decided,omitempty"`
	Tail    []Write `json:"tail,omitempty"`
}

// Write is one write of a record, as shown.
type Write struct {
	WriteID   string            `json:"writeId"`
	Table     string            `json:"table"`
	Key       attr.Item         `json:"key"`
	At        time.Time         `json:"at"`
	Op        string            `json:"op"` // put, update or delete
	Item      attr.Item         `json:"item,omitzero"`
	Update    string            `json:"update,omitempty"`
	Condition string            `json:"condition,omitempty"`
	Names     map[string]string `json:"names,omitempty"`
	Values    attr.Item         `json:"values,omitzero"`
	Sent      int               `json:"sent"` // number of sends
	Fence     int64             `json:"fence,omitempty"`
	Met       attr.Item         `json:"met,omitzero"`  // the cloud's item as the refusal showed it
	Base      attr.Item         `json:"base,omitzero"` // the cloud's item as known before
}

// SecretFunc reports whether an item's values may be shown only to its owner at the moment.
type SecretFunc func(tx *store.Tx, key attr.Item) (bool, error)

// Conflicts lists records without their writes, newest first; next is the number to continue before, 0 at the end.
func (d *Log) Conflicts(ctx context.Context, q Query) (out []View, next uint64, err error) {
	found, next, err := d.List(ctx, q)
	for _, c := range found {
		out = append(out, d.view(c))
	}
	return out, next, err
}

// Conflict returns one record with its writes and images, except those that an application keeps secret. An unknown id is
// fault.NotFound.
func (d *Log) Conflict(ctx context.Context, id uint64) (View, error) {
	c, err := d.Find(ctx, id)
	return d.whole(ctx, c, err)
}

// Decide applies an operator's decision, "retry" or "discard", and returns the record as it is afterwards.
func (d *Log) Decide(ctx context.Context, id uint64, verb string) (View, error) {
	do := d.Retry
	switch verb {
	case "retry":
	case "discard":
		do = d.Discard
	default:
		return View{}, fault.New(fault.NotFound, "not_found", "A conflict can be retried or discarded.")
	}
	c, err := do(ctx, id)
	return d.whole(ctx, c, err)
}

func (d *Log) whole(ctx context.Context, c *Record, err error) (View, error) {
	if err != nil {
		return View{}, err
	}
	out := d.view(c)
	secret, err := d.isSecret(ctx, c)
	if err != nil || secret {
		out.Note = "the values are not shown: for now they are their owner's alone"
		return out, err
	}
	for i := range c.Decided {
		w := d.write(c.Decided[i].Entry)
		w.Met, w.Base = c.Decided[i].Met, c.Decided[i].Base
		out.Decided = append(out.Decided, w)
	}
	for _, e := range c.Tail {
		out.Tail = append(out.Tail, d.write(e))
	}
	return out, nil
}

// isSecret reports whether a record contains an item whose values must not be shown.
func (d *Log) isSecret(ctx context.Context, c *Record) (yes bool, err error) {
	err = d.store.View(ctx, func(tx *store.Tx) (err error) {
		for _, e := range c.Entries() {
			if rule := d.secret[e.Table]; rule != nil && !yes && err == nil {
				yes, err = rule(tx, e.Key)
			}
		}
		return err
	})
	return yes, err
}

func (d *Log) view(c *Record) View {
	first := c.Decided[0].Entry
	return View{
		Head: c.Head, Table: first.Table, Key: first.Key, WriteID: intent.WriteID(d.store.Node(), first.Seq), Policy: first.Policy,
		Writes: len(c.Decided) + len(c.Tail),
	}
}

func (d *Log) write(e *intent.Entry) Write {
	ops := map[store.Op]string{store.OpPut: "put", store.OpUpdate: "update", store.OpDelete: "delete"}
	return Write{
		WriteID: intent.WriteID(d.store.Node(), e.Seq), Table: e.Table, Key: e.Key, At: e.At, Op: ops[e.Op], Item: e.Item,
		Update: e.Update, Condition: e.Condition, Names: e.Names, Values: e.Values, Sent: e.Sent, Fence: e.Fence,
	}
}
