package presence

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// Change is what a journal record means to a game, whichever node made it.
type Change struct {
	Game  string
	Entry bool // a new entry, such as a goal
	Ended bool // the game was finished
	On    bool // it goes on again
}

// batch is how many records are read at once.
const batch = 64

// Follow reads the journal from its end on, until ctx ends: of what is in it, entries that come after the end of their game are counted. of
// returns what a record means.
func (b *Board) Follow(ctx context.Context, s *store.Store, of func(r *store.Record) Change) error {
	sig := clock.NewSignal()
	stop := s.Watch(sig)
	defer stop()
	for after := s.Seq(); ; {
		records, err := s.Journal(ctx, after, batch)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case len(records) == 0:
			after = max(after, s.FirstSeq()-1)
			if b.clock.Wait(ctx, time.Time{}, sig) != nil {
				return nil
			}
			continue
		}
		for i := range records {
			b.applyChange(of(&records[i]))
		}
		after = records[len(records)-1].Seq
	}
}

// applyChange takes in a change.
func (b *Board) applyChange(c Change) {
	if c.Game == "" || !c.Entry && !c.Ended && !c.On {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.game(c.Game)
	switch {
	case c.Ended:
		b.end(g)
	case c.On:
		g.final = nil
	case c.Entry && g.final != nil:
		g.final.late++
		g.final.lateAt = b.clock.Now()
	}
}
