package poll

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
)

// Who polls. The nodes that share a cloud each take a seat, which is a lease; those without one stand by. Who has the first
// slot leads: it registers matches and finds those that nobody has announced. The matches are spread over the seats, and
// every node reads the live list for those that it has, at a pace that leaves the others theirs: the feed's budget is per
// token.
const (
	slots     = 8
	slotEvery = 5 * time.Second  // between two looks at who sits
	awayWait  = 5 * time.Second  // between two tries while the locks cannot be reached
	gaveWait  = time.Minute      // a match that was given away is not taken back so soon because its row still says ours
	soleWait  = 45 * time.Second // a match of the list that has no row is the leader's after that: its node does not see it
)

// slot is this node's place among those that poll. Of the live loop alone.
type slot struct {
	lease  Lease     // nil: none
	no     int       // 0: the node leads
	nodes  []string  // that have a seat, this one among them, in order
	looked time.Time // at them
	away   bool      // the locks could not be reached
	tryAt  time.Time // they are not tried before
}

// leads reports whether this node has the first seat.
func (s *slot) leads() bool { return s.lease != nil && s.no == 0 }

// sit keeps the node's seat, moves up to a lower one that is free, or takes the first free one where it has none. The error
// is that the locks cannot be reached and that there is no seat.
func (p *Poller) sit(ctx context.Context) error {
	now, s := p.Clock.Now(), &p.slot
	if s.away && now.Before(s.tryAt) {
		return errAway
	}
	var err error
	if s.lease != nil { // no question to anybody while it lasts
		s.lease, err = p.hold(ctx, tables.FeedSlot(s.no))
	}
	look := s.lease == nil || now.Sub(s.looked) >= slotEvery
	if err == nil && look && (s.lease == nil || s.no > 0) {
		err = p.moveUp(ctx)
	}
	if s.lease == nil {
		s.away = err != nil
		s.tryAt = now.Add(awayWait)
		return err
	}
	s.away = false
	if look {
		s.looked = now
		p.lookAround(ctx)
	}
	return nil
}

// moveUp takes the first free seat below the node's own, or any where it has none.
func (p *Poller) moveUp(ctx context.Context) error {
	s := &p.slot
	for no := range slots {
		if s.lease != nil && no >= s.no {
			break
		}
		lease, err := p.hold(ctx, tables.FeedSlot(no))
		if err != nil {
			return err
		}
		if lease == nil {
			continue
		}
		if s.lease != nil {
			_ = s.lease.Release(context.WithoutCancel(ctx)) // else it runs out by itself
		}
		s.lease, s.no = lease, no
		break
	}
	return nil
}

// errAway is that the locks could not be reached a moment ago.
var errAway = errors.New("the locks cannot be reached")

// lookAround sees who else has a seat, and spreads the matches anew. A seat that cannot be looked at counts as before: the
// node's own lease reports whether the locks can be reached.
func (p *Poller) lookAround(ctx context.Context) {
	nodes := []string{p.Node}
	for no := range slots {
		if no == p.slot.no {
			continue
		}
		node, err := p.holder(ctx, tables.FeedSlot(no))
		if err != nil {
			nodes = append(nodes, p.slot.nodes...)
			break
		}
		nodes = append(nodes, node)
	}
	slices.Sort(nodes)
	before := p.slot.nodes
	p.slot.nodes = slices.DeleteFunc(slices.Compact(nodes), func(node string) bool { return node == "" })
	if slices.Equal(before, p.slot.nodes) && !p.moving() {
		p.divide()
		return
	}
	// Everybody spreads the matches alone, and has to see the same for it: by rows from before others took theirs, what one
	// gives up may be the share of nobody.
	if err := p.adopt(ctx); err != nil {
		p.divide() // by what is known; the orchestrator meets the error too, and tells it
	}
}

// moving reports whether a match is another node's than it is to be, as far as is known here.
func (p *Poller) moving() bool {
	now := p.Clock.Now()
	for _, w := range p.watched {
		if to := p.assigned[w.id]; w.state.Status != cricket.ActiveEnded && to != "" && to != p.ownerOf(w, now) {
			return true
		}
	}
	return false
}

// divide spreads the matches that are known over the seats.
func (p *Poller) divide() {
	now := p.Clock.Now()
	var claims []claim
	for _, w := range p.watched {
		if w.state.Status != cricket.ActiveEnded {
			claims = append(claims, claim{w.id, p.ownerOf(w, now)})
		}
	}
	p.assigned = spread(p.slot.nodes, claims)
}

// ownerOf is the node that looks after a match, as far as is known here.
func (p *Poller) ownerOf(w *watch, now time.Time) string {
	switch {
	case w.lease != nil:
		return p.Node
	case w.state.InstanceID == p.Node && !w.gave.IsZero() && now.Sub(w.gave) < gaveWait:
		return "" // whose it is now its row will say
	default:
		return w.state.InstanceID
	}
}

// giveAway lets go of the matches that are another node's share: it has come since they were taken. Not of one in which
// something is about to be told.
func (p *Poller) giveAway(ctx context.Context, now time.Time) error {
	var errs []error
	for _, w := range p.sorted() {
		to := p.assigned[w.id]
		if w.lease == nil || to == "" || to == p.Node || len(w.state.Pending) > 0 || !w.state.FinishedAt.IsZero() || w.cleaned {
			continue
		}
		errs = append(errs, w.lease.Release(context.WithoutCancel(ctx)))
		w.lease, w.took, w.gave = nil, source{}, now
		p.count(func(s *Status) { s.GivenAway++ })
	}
	return errors.Join(errs...)
}

// slotted makes the run of a job that needs a seat. A node without one lets its matches go: it reads nothing that it could take
// into them. While the locks cannot be reached a node that may observe goes on, for its own readers.
func (p *Poller) slotted(f run) run {
	return func(ctx context.Context, now time.Time) error {
		had := p.slot.lease != nil
		err := p.sit(ctx)
		switch {
		case err != nil && p.Observe != nil:
			p.observing = true
			return errors.Join(p.letGo(ctx), f(ctx, now))
		case err != nil || p.slot.lease == nil:
			p.observing = false
			return errors.Join(err, p.letGo(ctx))
		}
		p.observing = false
		ctx, cancel := p.slot.lease.Context(ctx)
		defer cancel()
		if !had {
			if err := p.adopt(ctx); err != nil { // what is known of others' matches is from before
				return err
			}
		}
		return f(ctx, now)
	}
}

// readers is how many nodes read the live list for matches that they have, by the shares: each of them has its part of the
// feed's budget. The leader reads it too, now and then, to find what nobody has announced.
func (p *Poller) readers() int {
	if p.OwnBudget {
		return 1
	}
	busy := map[string]bool{p.Node: true}
	for _, node := range p.assigned {
		busy[node] = true
	}
	return len(busy)
}

// letGo gives the leases of all matches back.
func (p *Poller) letGo(ctx context.Context) error {
	var errs []error
	for _, w := range p.sorted() {
		if w.lease != nil {
			errs = append(errs, w.lease.Release(context.WithoutCancel(ctx)))
			w.lease, w.took = nil, source{}
		}
	}
	return errors.Join(errs...)
}
