package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
)

// maxSnapshots is how many matches' snapshots are kept.
const maxSnapshots = 64

// snapshots are what streams begin with: made once for all that begin while nothing is committed.
type snapshots struct {
	s  *Server
	mu sync.Mutex
	of map[string]*snapshotEntry
}

type snapshotEntry struct {
	mu   sync.Mutex // held while it is made: the others wait for the one that does
	made bool
	seq  uint64
	wire *wire
}

// get returns the whole state of a match, or for "" that of all that are on, and the sequence of the journal that it
// holds at least. The wire is nil where there is nothing to tell.
func (n *snapshots) get(ctx context.Context, match string) (*wire, uint64, error) {
	e := n.entry(match)
	e.mu.Lock()
	defer e.mu.Unlock()
	seq := n.s.cfg.Journal.Seq() // before reading: what is newer comes once more, which does no harm
	if e.made && e.seq == seq {
		return e.wire, seq, nil
	}
	frames, err := n.frames(ctx, match)
	if err != nil {
		return nil, 0, err
	}
	e.made, e.seq, e.wire = true, seq, join(frames, seq)
	return e.wire, seq, nil
}

func (n *snapshots) entry(match string) *snapshotEntry {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.of[match]
	if e == nil {
		if len(n.of) >= maxSnapshots {
			clear(n.of)
		}
		e = &snapshotEntry{}
		n.of[match] = e
	}
	return e
}

func (n *snapshots) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.of)
}

func (n *snapshots) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.of)
}

// join makes one of several events. Only the last has an id: a client whose connection breaks in the middle has not
// seen it and asks again from where it was.
func join(frames []frame, seq uint64) *wire {
	if len(frames) == 0 {
		return nil
	}
	var all []byte
	for i, f := range frames {
		id := uint64(0)
		if i == len(frames)-1 {
			id = seq
		}
		all = append(all, newWire(f.name, id, f.data).plain...)
	}
	return &wire{plain: all}
}

func (n *snapshots) frames(ctx context.Context, match string) ([]frame, error) {
	if match == "" {
		return n.live(ctx)
	}
	app := n.s.cfg.Cricket
	events, err := app.Events(ctx, match)
	if err != nil {
		return nil, err
	}
	card, err := app.Card(ctx, match)
	if err != nil {
		return nil, err
	}
	frames := make([]frame, 0, len(events)+len(card.Innings)+1)
	for i := range events {
		if frames, err = appendFrame(frames, frameEvent, events[i]); err != nil {
			return nil, err
		}
	}
	for i := range card.Innings {
		if frames, err = appendFrame(frames, frameCard, card.Innings[i]); err != nil {
			return nil, err
		}
	}
	return n.display(ctx, frames, match)
}

// display adds the display of a match that has been read.
func (n *snapshots) display(ctx context.Context, frames []frame, match string) ([]frame, error) {
	display, err := n.s.cfg.Cricket.Display(ctx, match)
	if fault.Is(err, fault.NotFound) {
		return frames, nil
	}
	if err != nil {
		return nil, err
	}
	return appendFrame(frames, frameDisplay, display)
}

// live are the displays of the matches that are on, each with its match.
func (n *snapshots) live(ctx context.Context) (out []frame, err error) {
	on, err := n.s.cfg.Cricket.Live(ctx)
	if err != nil {
		return nil, err
	}
	for i := range on {
		id := on[i].MatchID
		one, err := n.display(ctx, nil, id)
		if err != nil {
			return nil, err
		}
		for j := range one {
			out = append(out, (&change{id, one[j]}).wide())
		}
	}
	return out, nil
}

func appendFrame[T cricket.Event | cricket.CardInnings | cricket.Display](frames []frame, name string, v T) ([]frame, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return append(frames, frame{name: name, data: data}), nil
}
