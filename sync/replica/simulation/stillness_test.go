package simulation_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// stillness finds what stands still in the quiet phase.
type stillness struct {
	s       *sim
	began   time.Time
	reason  time.Time            // when there last was a reason to wait, or something changed in the cloud
	since   map[string]time.Time // node and sequence: since when a write waits without a reason
	changes int
}

func newStillness(s *sim) *stillness {
	return &stillness{s: s, began: time.Now(), reason: time.Now(), since: map[string]time.Time{}, changes: s.book.changes()}
}

// check looks at all nodes once. others reports whether something waits that is not poison.
func (st *stillness) check(others bool) {
	now := time.Now()
	if changes := st.s.book.changes(); changes != st.changes {
		st.changes, st.reason = changes, now
	}
	waits := map[string]bool{}
	for _, n := range st.s.nodes {
		l := n.up()
		if l == nil {
			continue
		}
		if l.replaying() {
			st.reason = now
			if now.Sub(st.began) > replays {
				st.s.violate("%s still waits for others after a restore of the cloud, %v after healing", n.name, now.Sub(st.began))
			}
			continue // what it knows of absent items decides only then
		}
		unexplained, reasons := l.unexplained()
		if reasons {
			st.reason = now
		}
		for _, seq := range unexplained {
			key := fmt.Sprint(n.name, " ", seq)
			waits[key] = true
			if st.since[key].IsZero() {
				st.since[key] = now
			}
			if stood := now.Sub(st.since[key]); stood > standsStill {
				st.s.violate("%s: write %d has waited for %v after healing, for no reason that has a name: %s", n.name, seq, stood, l.waiting())
				return
			}
		}
	}
	for key := range st.since {
		if !waits[key] {
			delete(st.since, key)
		}
	}
	if stood := now.Sub(st.reason); stood > standsStill {
		st.s.violate("nothing has happened for %v, %v after healing, and it is not over (writes wait: %v)", stood, now.Sub(st.began), others)
	}
}

// unexplained lists the batches that wait without a reason that has a name: not for a hold or a replay, not behind a batch that does, not
// behind poison. reasons reports whether some wait for a hold or a replay.
func (l *simLife) unexplained() (seqs []uint64, reasons bool) {
	poisoned, named := l.poisoned(), l.heldUp()
	var all []*outbox.Batch
	_ = l.store.View(context.Background(), func(tx *store.Tx) error {
		return tx.Side(outbox.SideOutbox).Each(nil, nil, func(k, v []byte) (bool, error) {
			u, err := outbox.Decode(outbox.ID{Worker: k[0], Seq: binary.BigEndian.Uint64(k[1:])}, v)
			if err == nil {
				all = append(all, u)
			}
			return true, err
		})
	})
	first := func(u *outbox.Batch) int { // what was given another number keeps its place, before all that was written later
		if renumbered(u.ID.Seq) {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b *outbox.Batch) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a.ID.Seq, b.ID.Seq))
	})
	behind := map[string]bool{} // items on which something waits for a reason
	for item := range poisoned {
		behind[item] = true
	}
	for _, u := range all {
		reasons = reasons || named[u.ID.Seq]
		waits := named[u.ID.Seq] || u.IsHeld()
		items := []string{}
		_ = u.EachPlace(func(table string, key attr.Item, shared bool) error {
			item := table + " " + keyText(key)
			items = append(items, item)
			waits = waits || behind[item]
			return nil
		})
		if !waits {
			seqs = append(seqs, u.ID.Seq)
			continue
		}
		for _, item := range items {
			behind[item] = true
		}
	}
	return seqs, reasons
}

// heldUp lists the batches that wait for a hold or a replay which ends in time.
func (l *simLife) heldUp() map[uint64]bool {
	out := map[uint64]bool{}
	st, err := l.rep.Status(context.Background())
	if err != nil {
		l.n.s.violate("%s: status: %v", l.n.name, err)
		return out
	}
	for _, w := range st.Workers {
		for _, p := range w.Parked {
			left := p.Until.Sub(l.n.now())
			if (p.Why == intent.WhyHold || p.Why == intent.WhyReplay) && left > 0 && left <= held {
				out[seqOf(p.WriteID)] = true
			}
		}
	}
	return out
}

// seqOf returns the sequence of a write's id, its last part.
func seqOf(id string) uint64 {
	seq, _ := strconv.ParseUint(id[strings.LastIndexByte(id, '.')+1:], 10, 64)
	return seq
}
