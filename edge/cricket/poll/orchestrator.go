package poll

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
)

const (
	orchestrateEvery = 30 * time.Second
	soon             = 45 * time.Minute // a match is registered that long before its start
	lateStart        = 12 * time.Hour   // a match that should have started is still waited for that long
)

// orchestrateDue: every thirty seconds, and at once after leagues or fixtures were synced.
func (p *Poller) orchestrateDue(last time.Time) (time.Time, bool) {
	if last.IsZero() || p.synced.Load() {
		return time.Time{}, true
	}
	return onGrid(last, orchestrateEvery), true
}

// orchestrate reads the registered matches, of this node and of others, and registers those about to start.
// Matches already in play are found by the live list.
func (p *Poller) orchestrate(ctx context.Context, now time.Time) error {
	p.synced.Store(false)
	if err := p.rename(ctx); err != nil {
		return err
	}
	if err := p.adopt(ctx); err != nil {
		return err
	}
	if !p.slot.leads() {
		return nil // the leader does the rest
	}
	return errors.Join(p.endUnknown(ctx), p.register(ctx, now))
}

// adopt watches the matches registered in the store: those from earlier runs of this node, and those of other nodes, which
// are taken over once they have been silent long enough. It drops matches that another node has ended or whose row was
// deleted.
func (p *Poller) adopt(ctx context.Context) error {
	active, err := p.Match.Active(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	var fresh []string
	for _, st := range active {
		if st.MatchID == "" || st.Status != cricket.ActiveIdle && st.Status != cricket.ActiveLive {
			continue // an unknown format
		}
		known[st.MatchID] = true
		w := p.watched[st.MatchID]
		switch {
		case w == nil:
			w = p.watchOf(st.MatchID)
			w.state, w.listed = st, st.Status == cricket.ActiveLive // until the list says otherwise
			w.seeTick(p.Clock.Now())
			fresh = append(fresh, st.MatchID)
		case w.lease == nil:
			w.state = st
			w.seeTick(p.Clock.Now())
		}
	}
	if err := p.noteEnded(ctx); err != nil {
		return err
	}
	defer p.divide()
	var errs []error
	for _, w := range p.sorted() {
		if !known[w.id] && w.state.Status != "" && w.state.Status != cricket.ActiveEnded && !w.putOff() {
			errs = append(errs, p.drop(ctx, w))
		}
	}
	return errors.Join(append(errs, p.recall(ctx, fresh))...)
}

// seeTicks notes which matches of other nodes are being polled. The orchestrator, which reads the same, runs too seldom for that.
func (p *Poller) seeTicks(ctx context.Context) {
	active, err := p.Match.Active(ctx)
	if err != nil {
		return // the orchestrator meets the error too, and reports it
	}
	for i := range active {
		if w := p.watched[active[i].MatchID]; w != nil && w.lease == nil && w.state.Status != "" {
			w.state.InstanceID, w.state.LastTickAt = active[i].InstanceID, active[i].LastTickAt
			w.seeTick(p.Clock.Now())
		}
	}
}

// noteEnded notes which matches other nodes have ended: they may stay in the list for a while. One that ended without a decision may
// be played after all.
func (p *Poller) noteEnded(ctx context.Context) error {
	return p.Data.View(ctx, func(tx *store.Tx) error {
		ids, err := matches.DecidedIDs(tx)
		for _, id := range ids {
			p.ended[id] = true
		}
		return err
	})
}

// recall reads from the fixtures what the rows of adopted matches do not have.
func (p *Poller) recall(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var all []matches.Fixture
	err := p.Data.View(ctx, func(tx *store.Tx) (err error) {
		all, err = matches.Fixtures{}.Batch(tx, ids...)
		return err
	})
	for i := range all {
		if w := p.watched[all[i].MatchID]; w != nil {
			w.league, w.starts = all[i].LeagueID, all[i].StartTime
		}
	}
	return err
}

// register creates rows for the matches that start soon.
func (p *Poller) register(ctx context.Context, now time.Time) error {
	var ahead []matches.Fixture
	err := p.Data.View(ctx, func(tx *store.Tx) (err error) {
		wall := p.Clock.Wall()
		ahead, err = matches.Fixtures{}.Ahead(tx, wall.Add(-lateStart), wall.Add(soon))
		return err
	})
	if err != nil {
		return err
	}
	var errs []error
	for i := range ahead {
		f := &ahead[i]
		if f.MatchID == "" || f.Phase != cricket.PhasePrematch || p.watched[f.MatchID] != nil ||
			!p.activeLeague(f.LeagueID, f.LeagueCode) {
			continue
		}
		if p.unknown(f.MatchID) {
			_, err := p.cleanOne(ctx, f.MatchID) // withdrawn from the feed before it was registered
			errs = append(errs, err)
			continue
		}
		errs = append(errs, p.registerOne(ctx, f, now))
	}
	return errors.Join(errs...)
}

func (p *Poller) registerOne(ctx context.Context, f *matches.Fixture, now time.Time) error {
	lease, err := p.takeLock(ctx, tables.MatchLock(f.MatchID))
	if err != nil || lease == nil {
		return err
	}
	held, cancel := lease.Context(ctx)
	defer cancel()
	st, done, err := p.Match.Register(held, f.MatchID, matches.Owner{Node: p.Node, Fence: lease.Fence()})
	if err != nil || !done {
		return errors.Join(err, lease.Release(ctx)) // an ended row, or one that the next run will adopt
	}
	delete(p.ended, f.MatchID)
	w := p.watchOf(f.MatchID)
	w.lease, w.league, w.starts, w.touched = lease, f.LeagueID, f.StartTime, now
	w.state = st
	return nil
}
