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

// lostQueue is what was queued when this node found that another copy of it, or a later state of itself, has been at
// work: what waits may have been sent there. Every such entry is looked for in the cloud before it is sent, and what was
// not sent there goes out under a new sequence.
type lostQueue struct {
	Below   uint64   `json:"below"`            // entries below this sequence were queued then
	Fork    uint64   `json:"fork"`             // those behind this sequence are of this history alone
	Settled uint64   `json:"settled"`          // what the other history had settled
	Next    uint64   `json:"next"`             // the next of the new sequences
	Told    bool     `json:"told"`             // the row of the node was there to tell Fork and Settled
	Flagged bool     `json:"flagged"`          // all of them have their flag
	Marked  []uint64 `json:"marked,omitempty"` // units that may have been on their way when they got it
	After   []byte   `json:"after,omitempty"`  // else: those up to this place in the outbox have
	Twice   []span   `json:"twice,omitempty"`  // numbers that earlier losses have parted
}

// newIncarnation leaves a history that is not this node's alone. above is an incarnation that was seen of it, row what the
// cloud knows of it; nil: that is not known yet.
//
// Two incarnations begin: the first keeps the sequences that the entries waiting here get when they are sent anew, so that
// these are above all earlier marks of this node and below whatever is written from now on.
func (id *Identity) newIncarnation(ctx context.Context, above uint64, row *nodeRow) error {
	err := id.changeState(ctx, func(_ *store.Tx, s *identityState) error {
		s.Leaving = true
		return nil
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
		s.Lost = &lostQueue{
			Below: now << incarnationShift, Fork: math.MaxUint64,
			Next: kept<<incarnationShift | 1<<(incarnationShift-1), // above what was journaled between the two
		}
		if was != nil {
			s.Lost.inherit(was)
		}
		if row != nil {
			s.tell(row)
		}
		return nil
	})
}

// tellLost takes from the node's row what a loss that was noticed at open could not know.
func (id *Identity) tellLost(ctx context.Context, row *nodeRow) error {
	if lost := id.stateNow().Lost; lost == nil || lost.Told || row == nil {
		return nil
	}
	return id.changeState(ctx, func(_ *store.Tx, s *identityState) error {
		s.tell(row)
		return nil
	})
}

// flagLost flags what waits as of a history that is lost, before anything is sent. It can be interrupted.
func (id *Identity) flagLost(ctx context.Context) error {
	lost := id.stateNow().Lost
	if lost == nil || lost.Flagged {
		return nil
	}
	id.Box.Flags.Add(1) // what lanes have on its way from before
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

// NewSequence returns a sequence and digits to an entry of a lost history that was not sent there (intent.OutRenumber):
// above all that it has ever waited behind on its item, below all that is written now. It is called in the transaction
// that stores the entry, for each entry of the batch in their order.
func (id *Identity) NewSequence(tx *store.Tx) (seq uint64, digits uint32, err error) {
	s, err := stateOf(tx)
	if err != nil {
		return 0, 0, err
	}
	if s.Lost == nil {
		return 0, 0, fault.New(fault.Internal, "no_lost_timeline", "a new sequence for an entry, and no history of this node was lost")
	}
	seq = s.Lost.Next
	s.Lost.Next++
	data, err := json.Marshal(&s)
	if err != nil {
		return 0, 0, err
	}
	return seq, uint32(id.Rand()%intent.MaxDigits) + 1, tx.Side(Side).Set([]byte(keyState), data)
}

// Describe puts into the protocol's surroundings what is known of this node's histories, and of how far nodes have settled.
func (id *Identity) Describe(env *intent.Env) {
	env.Settled, env.Past = id.settledOf, id.pastOf
	if lost := id.stateNow().Lost; lost != nil {
		env.Lost, env.Fork, env.FirstRenumbered, env.Twice, env.Never = min(lost.Settled, lost.Fork), lost.Fork, lost.first(), lost.twice, lost.never
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

// first is the first of the new sequences.
func (l *lostQueue) first() uint64 {
	return l.Next>>incarnationShift<<incarnationShift | 1<<(incarnationShift-1)
}
