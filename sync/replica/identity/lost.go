package identity

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// lostQueue describes what was queued when this node found that a copy or a later state of it has been active. Waiting entries may have
// been sent there. Each is looked for in the cloud before it is sent, and goes out under a new sequence if it was not sent
// there.
type lostQueue struct {
	Below   uint64   `json:"below"`            // entries below this sequence were queued then
	Fork    uint64   `json:"fork"`             // entries after this sequence are in this history only
	Parted  uint64   `json:"parted,omitempty"` // and those after this one too, unless a state of it that wrote the row no more has sent them
	Settled uint64   `json:"settled"`          // what the other history had settled
	Next    uint64   `json:"next"`             // the next of the new sequences
	FromRow bool     `json:"told"`             // Fork and Settled come from the node's row
	Flagged bool     `json:"flagged"`          // all of the entries are flagged
	Marked  []uint64 `json:"marked,omitempty"` // batches that may have been on their way when they were flagged
	After   []byte   `json:"after,omitempty"`  // before that: batches up to this place in the outbox are flagged
	Twice   []span   `json:"twice,omitempty"`  // numbers that earlier losses assigned twice
}

// newIncarnation leaves a history that is not this node's alone. above is an incarnation seen in it; row is what the cloud knows of
// it, nil if not known yet.
//
// Two incarnations begin. The first is reserved for the sequences that waiting entries get when they are renumbered: above all
// earlier marks of this node, and below everything written from now on.
func (id *Identity) newIncarnation(ctx context.Context, above uint64, row *nodeRow) error {
	written := uint64(0)
	err := id.changeState(ctx, func(tx *store.Tx, s *identityState) (err error) {
		s.Leaving = true
		written, err = tx.LastWritten()
		return err
	})
	if err != nil {
		return err
	}
	kept, err := id.Store.BeginIncarnation(ctx, above)
	if err != nil {
		return err
	}
	id.Failpoint("identity-incarnation")
	now, err := id.Store.BeginIncarnation(ctx, kept)
	if err != nil {
		return err
	}
	return id.changeState(ctx, func(_ *store.Tx, s *identityState) error {
		was := s.Lost
		s.Leaving = false
		s.noteGap(span{After: written, Below: now<<incarnationShift + 1})
		s.Lost = &lostQueue{
			Below: now << incarnationShift, Fork: math.MaxUint64,
			Next: kept<<incarnationShift | 1<<(incarnationShift-1), // above what was journaled between the two
		}
		if was != nil {
			s.Lost.inherit(was)
		}
		if row != nil {
			s.learnLoss(row)
		}
		return nil
	})
}

// learnLost takes from the node's row what a loss noticed at Open could not know.
func (id *Identity) learnLost(ctx context.Context, row *nodeRow) error {
	if lost := id.stateNow().Lost; lost == nil || lost.FromRow || row == nil {
		return nil
	}
	return id.changeState(ctx, func(_ *store.Tx, s *identityState) error {
		s.learnLoss(row)
		return nil
	})
}

// flagLost flags what waits as part of a lost history, before anything is sent. It can be interrupted and resumed.
func (id *Identity) flagLost(ctx context.Context) error {
	lost := id.stateNow().Lost
	if lost == nil || lost.Flagged {
		return nil
	}
	id.Box.Flags.Add(1) // for batches that workers already hold
	defer id.Box.Flags.Add(1)
	for done := false; !done; {
		err := id.changeState(ctx, func(tx *store.Tx, s *identityState) (err error) {
			if s.Lost.After == nil {
				if s.Lost.Marked, err = id.Box.AllMarked(tx); err != nil {
					return err
				}
			}
			s.Lost.After, err = outbox.FlagLost(tx, s.Lost.After, s.Lost.Below)
			done = s.Lost.After == nil
			s.Lost.Flagged = done
			return err
		})
		if err != nil {
			return err
		}
		id.Failpoint("identity-flagged")
	}
	return nil
}

// NewSequence returns a sequence and digits for an entry of a lost history that was not sent there (intent.OutRenumber): above everything
// it has ever waited behind on its item, below everything written now. Call it in the transaction that stores the entry, for each
// entry of the batch in order.
func (id *Identity) NewSequence(tx *store.Tx) (seq uint64, digits uint32, err error) {
	s, err := stateOf(tx)
	if err != nil {
		return 0, 0, err
	}
	if s.Lost == nil {
		return 0, 0, fault.New(fault.Internal, "no_lost_timeline", "an entry needs a new sequence, but no history of this node was lost")
	}
	seq = s.Lost.Next
	s.Lost.Next++
	data, err := json.Marshal(&s)
	if err != nil {
		return 0, 0, err
	}
	return seq, uint32(id.Rand()%intent.MaxDigits) + 1, tx.Side(Side).Set([]byte(keyState), data)
}

// Describe fills in env what is known of this node's histories, and of how far nodes have settled.
func (id *Identity) Describe(env *intent.Env) {
	env.Settled, env.Past = id.settledOf, id.pastOf
	if lost := id.stateNow().Lost; lost != nil {
		env.Lost, env.Fork, env.Parted = min(lost.Settled, lost.Fork), lost.Fork, lost.Parted
		env.FirstRenumbered, env.Twice, env.Never = lost.first(), lost.twice, lost.never
	}
}

// LostMarked is outbox.Outbox.Lost.
func (id *Identity) LostMarked() func(seq uint64) bool {
	lost := id.stateNow().Lost
	if lost == nil {
		return nil
	}
	return func(seq uint64) bool { return slices.Contains(lost.Marked, seq) }
}

// first returns the first of the new sequences.
func (l *lostQueue) first() uint64 {
	return l.Next>>incarnationShift<<incarnationShift | 1<<(incarnationShift-1)
}
