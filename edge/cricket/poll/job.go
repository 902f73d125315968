package poll

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// job is one thing that is done again and again by a loop.
type job struct {
	name string
	// due returns when it is to run next, given when it ran last (zero: never); on is false while it has nothing to do.
	due   func(last time.Time) (at time.Time, on bool)
	run   run
	eager bool // it may run twice at the same instant: it knows itself whether there is something to do
	seeks bool // it runs also while this node does not hold the lease of the live list, to get it
	// rare: after a run that failed it is not left until it would be due, but tried again at a pace of its own.
	rare  bool
	last  time.Time
	fails int       // runs in a row that failed
	again time.Time // rare, after a run that did not do the work: when it is tried again; zero: the run did
	told  string    // the error of it that was logged last; "": it has worked since
	tells time.Time // when that was
}

// run does a job's work once.
type run func(ctx context.Context, now time.Time) error

// each makes the due of a job that always runs.
func each(interval time.Duration) func(time.Time) (time.Time, bool) {
	return func(last time.Time) (time.Time, bool) { return onGrid(last, interval), true }
}

// onGrid is the next multiple of an interval, by the clock: a node that was started anew polls at the same instants as
// one that was not. At once if there was none before.
func onGrid(last time.Time, interval time.Duration) time.Time {
	if last.IsZero() {
		return last
	}
	return last.Truncate(interval).Add(interval)
}

// shortest is the least time between two runs of a job.
const shortest = 500 * time.Millisecond

// never is later than anything.
func never() time.Time { return time.Unix(1<<40, 0) }

// loop runs jobs when they are due, in their order where several are, until ctx ends. The signal has it look again; each
// round ends with pause. may reports whether a job may run at all.
func (p *Poller) loop(ctx context.Context, jobs []*job, wake *clock.Signal, pause func(), may func(*job) bool) {
	for ctx.Err() == nil {
		for _, j := range jobs {
			now := p.Clock.Now()
			at, on := next(j, may)
			if !on || now.Before(at) || ctx.Err() != nil {
				continue
			}
			j.last = now
			if behind := now.Sub(at); !at.IsZero() && behind < time.Second {
				j.last = at // a timer that is late by a little does not set the whole row back
			}
			err := j.run(ctx, now)
			p.putOff(ctx, j, now, err)
			if errors.Is(err, errElsewhere) {
				err = nil
			}
			p.finish(ctx, j, now, err)
		}
		pause()
		if err := p.Clock.Wait(ctx, p.soonest(jobs, may), wake); err != nil {
			return
		}
	}
}

// next is when a job runs next. One that is due again at the instant it ran waits a little: whatever kept it from
// getting on would keep it now.
func next(j *job, may func(*job) bool) (at time.Time, on bool) {
	if !may(j) {
		return time.Time{}, false
	}
	at, on = j.due(j.last)
	if !j.again.IsZero() {
		at = j.again
	}
	if soon := j.last.Add(shortest); !j.last.IsZero() && !j.eager && at.Before(soon) {
		at = soon
	}
	return at, on
}

// How soon a rare job that failed is tried again: each is a call or more of the feed's hour, unless it fails before it
// asks.
const (
	againFirst = 30 * time.Second
	againLast  = 10 * time.Minute
)

// errElsewhere is that another node does a job. It is no failure; that node may end before it has done it.
var errElsewhere = errors.New("another node does it")

// putOff notes when a rare job that has not done its work is tried again.
func (p *Poller) putOff(ctx context.Context, j *job, now time.Time, err error) {
	switch {
	case !j.rare || ctx.Err() != nil:
	case errors.Is(err, errElsewhere):
		j.fails, j.again = 0, now.Add(p.jitter(j, againLast))
	case err != nil:
		wait := againLast
		if j.fails < 5 { // 30 s, 1, 2, 4, 8 min
			wait = againFirst << j.fails
		}
		j.fails++
		j.again = now.Add(p.jitter(j, wait))
	default:
		j.done()
	}
}

// done forgets that a job has failed.
func (j *job) done() { j.fails, j.again = 0, time.Time{} }

// jitter spreads what several nodes put off at one instant, by a quarter less or more, within the bounds. It is the same
// for the same node, job and count: a run on a stepped clock can be repeated.
func (p *Poller) jitter(j *job, wait time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s %s %d", p.Node, j.name, j.fails)
	part := float64(h.Sum32())/(1<<32) - 0.5
	return min(max(wait+time.Duration(part*float64(wait)/2), againFirst), againLast)
}

// soonest is when the next job runs, and notes it for all of them.
func (p *Poller) soonest(jobs []*job, may func(*job) bool) time.Time {
	first := never()
	for _, j := range jobs {
		at, on := next(j, may)
		if !on {
			p.plan(j.name, time.Time{})
			continue
		}
		if at.IsZero() { // at once; to a clock it would mean never
			at = p.Clock.Now()
		}
		if at.Before(first) {
			first = at
		}
		p.plan(j.name, at)
	}
	return first
}

func (p *Poller) plan(name string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.jobs[name]
	s.Name, s.NextRun = name, at
	p.jobs[name] = s
}

// toldEvery is how often a job that goes on failing, by one error and another, is logged: being cut off has several texts.
const toldEvery = 10 * time.Minute

// finish notes how a job went. The same error again is not news: a full disk would else be filled by its log. Nor is it
// how many matches have it.
func (p *Poller) finish(ctx context.Context, j *job, now time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.jobs[j.name]
	s.Name, s.LastRun, s.Runs = j.name, now, s.Runs+1
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.Failed++
		s.LastError = told(err)
		if s.LastError != j.told && (j.told == "" || now.Sub(j.tells) >= toldEvery) {
			j.told, j.tells = s.LastError, now
			p.Log.Error("cricket "+j.name, "err", s.LastError)
		}
	case s.LastError != "":
		s.LastError, j.told = "", ""
		p.Log.Info("cricket " + j.name + " works again")
	}
	p.jobs[j.name] = s
}

// maxTold is how many different errors of one run are told.
const maxTold = 5

// told returns the text of an error; of several joined each text once, in order, and not too many.
func told(err error) string {
	var texts []string
	var collect func(err error)
	collect = func(err error) {
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range several.Unwrap() {
				collect(one)
			}
			return
		}
		texts = append(texts, err.Error())
	}
	collect(err)
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) > maxTold {
		texts = append(texts[:maxTold], "and others")
	}
	return strings.Join(texts, "\n")
}
