package poll

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
)

// Which nodes poll. Nodes that share a cloud each take a slot, which is a lease; those without one stand by. The holder of
// the first slot leads: it registers matches and finds unannounced ones. The matches are spread over the slots, and every
// node requests the live list for its own, at a pace that leaves the others theirs: the feed's budget is per token.
const (
	slots     = 8
	slotEvery = 5 * time.Second  // between two checks of the slots
	awayWait  = 5 * time.Second  // between two tries while the locks cannot be reached
	gaveWait  = time.Minute      // a match just given away is not taken back because its row still names this node
	soleWait  = 45 * time.Second // a listed match without a row goes to the leader after that: its assigned node does not see it
)

// slot is this node's slot among the polling nodes. The live loop owns it.
type slot struct {
	lease  Lease     // nil: no slot
	no     int       // 0: the node leads
	nodes  []string  // the nodes with a slot, including this one, sorted
	looked time.Time // when nodes was read
	away   bool      // the locks could not be reached
	tryAt  time.Time // no attempt before then
}

// leads reports whether this node has the first slot.
func (s *slot) leads() bool { return s.lease != nil && s.no == 0 }

// sit keeps the node's slot, moves up to a lower free one, or takes the first free one if it has none. It
// returns an error if the locks cannot be reached and the node has no slot.
func (p *Poller) sit(ctx context.Context) error {
	now, s := p.Clock.Now(), &p.slot
	if s.away && now.Before(s.tryAt) {
		return errAway
	}
	var err error
	if s.lease != nil { // makes no request while the lease lasts
		s.lease, err = p.takeLock(ctx, tables.FeedSlot(s.no))
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
		p.seeTicks(ctx)
	}
	return nil
}

// moveUp takes the first free slot below the node's own, or the first free one if it has none.
func (p *Poller) moveUp(ctx context.Context) error {
	s := &p.slot
	for no := range slots {
		if s.lease != nil && no >= s.no {
			break
		}
		lease, err := p.takeLock(ctx, tables.FeedSlot(no))
		if err != nil {
			return err
		}
		if lease == nil {
			continue
		}
		if s.lease != nil {
			_ = s.lease.Release(context.WithoutCancel(ctx)) // otherwise it expires
		}
		s.lease, s.no = lease, no
		break
	}
	return nil
}

// errAway means that the locks could not be reached a moment ago.
var errAway = errors.New("the locks cannot be reached")

// lookAround reads which nodes have slots, and assigns the matches again. If a slot cannot be read, the previous
// nodes count: the node's own lease shows whether the locks can be reached.
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
	// Every node assigns the matches by itself and must see the same state: by rows from before others took theirs,
	// a match that one node gives up might be assigned to nobody.
	if err := p.adopt(ctx); err != nil {
		p.divide() // by what is known; the orchestrator meets the error too, and reports it
	}
}

// moving reports whether a match is assigned to another node than its owner, as far as known here.
func (p *Poller) moving() bool {
	now := p.Clock.Now()
	for _, w := range p.watched {
		if to := p.assigned[w.id]; w.state.Status != cricket.ActiveEnded && to != "" && to != p.ownerOf(w, now) {
			return true
		}
	}
	return false
}

// divide assigns the known matches to the slots.
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

// ownerOf returns the node that polls a match, as far as known here.
func (p *Poller) ownerOf(w *watch, now time.Time) string {
	switch {
	case w.lease != nil:
		return p.Node
	case w.state.InstanceID == p.Node && !w.gave.IsZero() && now.Sub(w.gave) < gaveWait:
		return "" // its row will tell whose it is now
	default:
		return w.state.InstanceID
	}
}

// giveAway releases the matches that are now assigned to other nodes, except those with pending events or a result.
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

// slotted returns the run of a job that needs a slot. A node without one releases its matches and polls nothing.
// While the locks cannot be reached, a node that may observe continues for its own readers.
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
			if err := p.adopt(ctx); err != nil { // what is known of other nodes' matches is outdated
				return err
			}
		}
		return f(ctx, now)
	}
}

// readers returns how many nodes share the feed's budget: this one, and those with matches assigned to them. A
// leader without matches also reads the list, now and then, to find unannounced ones.
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

// letGo releases the leases of all matches.
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
