package poll

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// job is a recurring task of a loop.
type job struct {
	name string
	// due returns when to run next, given the last run (zero: none); on is false while there is nothing to do.
	due      func(last time.Time) (at time.Time, on bool)
	run      run
	eager    bool // it may run again at once: it knows whether there is something to do
	seeks    bool // it runs even without a slot, to get one
	rare     bool // after a failure it is tried again soon, not only when it is next due
	last     time.Time
	again    time.Time // for rare jobs: when to retry a run that did not do the work; zero: it did
	logged   string    // the error logged last; "": it has succeeded since
	loggedAt time.Time
}

// run does a job's work once.
type run func(ctx context.Context, now time.Time) error

// each returns the due of a job that always runs.
func each(interval time.Duration) func(time.Time) (time.Time, bool) {
	return func(last time.Time) (time.Time, bool) { return onGrid(last, interval), true }
}

// onGrid returns the next multiple of interval by the clock, so that a restarted node polls at the same times.
// Without a last run it is now.
func onGrid(last time.Time, interval time.Duration) time.Time {
	if last.IsZero() {
		return last
	}
	return last.Truncate(interval).Add(interval)
}

// shortest is the minimum time between two runs of a job.
const shortest = 500 * time.Millisecond

// never returns a time later than any other.
func never() time.Time { return time.Unix(1<<40, 0) }

// loop runs jobs when they are due, in order, until ctx ends. wake makes it check again; pause is called after
// each round. may reports whether a job may run at all.
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
				j.last = at // a slightly late timer does not shift the whole series
			}
			p.finish(ctx, j, now, j.attempt(ctx, now))
		}
		pause()
		if err := p.Clock.Wait(ctx, p.soonest(jobs, may), wake); err != nil {
			return
		}
	}
}

// attempt runs the job and sets when it is tried again if it did not do its work. It returns what went wrong.
func (j *job) attempt(ctx context.Context, now time.Time) error {
	err := j.run(ctx, now)
	switch {
	case errors.Is(err, errNotWhole):
		j.again = now.Add(wholeAgain)
	case j.rare && err != nil:
		j.again = now.Add(rareAgain)
	default:
		j.again = time.Time{}
	}
	if errors.Is(err, errElsewhere) || errors.Is(err, errNotWhole) {
		return nil
	}
	return err
}

// next returns when a job runs next. A job that is due again at once waits a little: whatever stopped its progress probably still does.
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

// rareAgain is when a rare job that did not do its work is tried again: each try may cost a call or more of the feed's hourly budget.
const rareAgain = 5 * time.Minute

// wholeAgain is when a job looks again whether a table has been read from the cloud.
const wholeAgain = 5 * time.Second

// errElsewhere means that another node does the job. It is not a failure; but that node may end before it is done.
var errElsewhere = errors.New("another node runs this job")

// soonest returns when the next job runs, and publishes the next run of each.
func (p *Poller) soonest(jobs []*job, may func(*job) bool) time.Time {
	first := never()
	for _, j := range jobs {
		at, on := next(j, may)
		if !on {
			p.plan(j.name, time.Time{})
			continue
		}
		if at.IsZero() { // run now; to the clock zero means never
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

// logEvery is how often a job that keeps failing with changing errors is logged: a lost connection has several texts.
const logEvery = 10 * time.Minute

// finish records the outcome of a run. A repeated error is not logged again: the log would fill a disk that is
// already full. How many matches have the error does not matter either.
func (p *Poller) finish(ctx context.Context, j *job, now time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.jobs[j.name]
	s.Name, s.LastRun, s.Runs = j.name, now, s.Runs+1
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.Failed++
		s.LastError = errorText(err)
		if s.LastError != j.logged && (j.logged == "" || now.Sub(j.loggedAt) >= logEvery) {
			j.logged, j.loggedAt = s.LastError, now
			p.Log.Error("cricket "+j.name, "err", s.LastError)
		}
	case s.LastError != "":
		s.LastError, j.logged = "", ""
		p.Log.Info("cricket " + j.name + " works again")
	}
	p.jobs[j.name] = s
}

// maxErrors is how many different errors of a run are reported.
const maxErrors = 5

// errorText returns the text of an error; for joined errors each distinct text once, sorted, up to maxErrors.
func errorText(err error) string {
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
	if len(texts) > maxErrors {
		texts = append(texts[:maxErrors], "and others")
	}
	return strings.Join(texts, "\n")
}
