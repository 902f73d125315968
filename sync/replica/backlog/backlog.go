// Package backlog says which writes of a group of items, such as the rows of one game, are not in the cloud. It only reads: the outbox, and the
// conflict log for what the cloud has refused.
package backlog

import (
	"cmp"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

const (
	// MostRefused is how many refusals of a group are listed.
	MostRefused = 10
	// scannedConflicts bounds the open conflicts that are looked at, the newest first.
	scannedConflicts = 500
	// scannedBatches bounds the batches of each worker that are looked at, the oldest first.
	scannedBatches = 1000
	// readBatches bounds the batches of a partition that are read; those beyond it are counted only.
	readBatches = 500
)

// Unsent is what of a group of items is not in the cloud. A transaction counts as one write.
type Unsent struct {
	Writes     int       `json:"writes"`                 // that the cloud has not confirmed
	Unanswered int       `json:"unanswered,omitempty"`   // of these, sent without an answer: the cloud may have them
	Oldest     time.Time `json:"unsyncedSince,omitzero"` // when the oldest of them was made; zero: none waits, or unknown
	Refused    []Refusal `json:"refused,omitempty"`      // not accepted by the cloud and not decided yet, newest first, at most MostRefused
	More       int       `json:"refusedBesides,omitempty"`

	First  outbox.ID `json:"-"` // batch of the oldest, as it was written; zero: none waits
	Tables []string  `json:"-"` // of that batch

	earliest uint64
}

// Refusal is a write that the cloud did not accept.
type Refusal struct {
	Conflict uint64 `json:"conflict"`
	Text     string `json:"text"` // one sentence, without values of the item
}

// Whole reports whether the cloud has everything that this node has.
func (u *Unsent) Whole() bool { return u.Writes == 0 && len(u.Refused) == 0 }

// count adds a batch, unless it waits for an operator: that is on record as refused.
func (u *Unsent) count(b *outbox.Batch) {
	if b.IsHeld() {
		return
	}
	u.Writes++
	if b.MayApply() {
		u.Unanswered++
	}
	e := b.Entries[0]
	if seq := e.Earliest(); u.earliest == 0 || seq < u.earliest {
		u.earliest, u.First, u.Tables = seq, b.ID, b.Tables()
	}
	if clock.WasSet(e.At) && (u.Oldest.IsZero() || e.At.Before(u.Oldest)) {
		u.Oldest = e.At
	}
}

func (u *Unsent) refuse(c *conflict.Record) {
	if len(u.Refused) == MostRefused {
		u.More++
		return
	}
	u.Refused = append(u.Refused, Refusal{Conflict: c.ID, Text: c.Text})
}

// UnsentOf returns what of a partition, given by its key attribute, is not in the cloud as of the transaction. Its cost depends on the rows of the
// partition, not on the length of the queue.
func UnsentOf(tx *store.Tx, table string, partition attr.Item) (u Unsent, err error) {
	ids, err := outbox.WaitingIn(tx, table, partition)
	if err != nil {
		return u, err
	}
	slices.SortFunc(ids, func(a, b outbox.ID) int { return cmp.Compare(a.Seq, b.Seq) })
	for i, id := range ids {
		if i == readBatches {
			u.Writes += len(ids) - i
			break
		}
		b, err := outbox.Get(tx, id)
		if err != nil {
			return u, err
		}
		if b != nil {
			u.count(b)
		}
	}
	err = eachOpen(tx, table, func(c *conflict.Record) {
		if slices.ContainsFunc(c.Entries(), func(e *intent.Entry) bool { return e.Table == table && isIn(e.Key, partition) }) {
			u.refuse(c)
		}
	})
	return u, err
}

// isIn reports whether a key is in a partition.
func isIn(key, partition attr.Item) bool {
	for name, v := range partition {
		if !key[name].Equal(v) {
			return false
		}
	}
	return true
}

// eachOpen calls fn with the open conflicts of a table, or of all if it is empty, the newest first.
func eachOpen(tx *store.Tx, table string, fn func(*conflict.Record)) error {
	st, err := conflict.ReadStatus(tx)
	if err != nil || st.Open == 0 {
		return err
	}
	log, err := conflict.Open(tx)
	if err != nil {
		return err
	}
	open, _, err := log.List(conflict.Query{State: conflict.StateOpen, Table: table, Limit: scannedConflicts})
	for _, c := range open {
		fn(c)
	}
	return err
}

// Groups is what of all items is not in the cloud, by group.
type Groups struct {
	By map[string]*Unsent
	// Cut is set if so much waits that not all of it was counted.
	Cut bool
}

// All groups everything that waits. of names the group of an item; "" is a group as any other. A transaction counts in each of its groups that
// has a name, or else in the one without. The cost is bounded: of a long queue, only the oldest writes of each worker count.
func All(tx *store.Tx, of func(table string, key attr.Item) string) (g Groups, err error) {
	g.By = map[string]*Unsent{}
	g.Cut, err = outbox.EachOldest(tx, scannedBatches, func(b *outbox.Batch) {
		for _, name := range groupsOf(b.Entries, of) {
			g.group(name).count(b)
		}
	})
	if err != nil {
		return g, err
	}
	err = eachOpen(tx, "", func(c *conflict.Record) {
		for _, name := range groupsOf(c.Entries(), of) {
			g.group(name).refuse(c)
		}
	})
	for name, u := range g.By {
		if u.Whole() {
			delete(g.By, name)
		}
	}
	return g, err
}

func (g *Groups) group(name string) *Unsent {
	if g.By[name] == nil {
		g.By[name] = &Unsent{}
	}
	return g.By[name]
}

// groupsOf returns the groups of a transaction, each once.
func groupsOf(entries []*intent.Entry, of func(table string, key attr.Item) string) (names []string) {
	for _, e := range entries {
		if name := of(e.Table, e.Key); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = []string{""}
	}
	return names
}
