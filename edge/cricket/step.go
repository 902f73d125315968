package cricket

import (
	"slices"
	"time"
)

// The times of the pipeline.
const (
	holdFor     = 5 * time.Second  // unchanged that long, in two readings, an event is sure
	resultWait  = 3 * time.Minute  // after which a match without a believable winner is over all the same
	baselineGap = 5 * time.Minute  // a longer silence is caught up with without alerts
	staleAfter  = 90 * time.Second // an older ball is news no more
	burstBalls  = 3                // more new balls in one reading are a feed catching up
	tornPolls   = 6                // so many readings may disagree with their balls before the balls count anyway
	keepOpen    = 15 * time.Minute // a finished match stays live, in case the feed re-opens it
	abandonWait = 30 * time.Minute // an abandoned match may go on yet
	idleLife    = 12 * time.Hour   // a match that has not begun so long after its time is not coming
	keepEnded   = 24 * time.Hour   // an ended row stays readable
)

// Outcome is what a tick writes.
type Outcome struct {
	State   State
	Events  []Event // newly sure; at most one of them is an alert
	Display Display
	Cards   []CardInnings // of every innings; the caller writes what changed
}

// Options are the choices of whoever runs the node.
type Options struct {
	Alerts map[EventType]bool // alerts that the catalogue leaves open, switched on; alerts of its default, switched off
}

// Step takes one reading of the feed into the state of its match. It is a pure function: the same state, reading,
// options and now give the same outcome, in a replay as in the field.
func Step(prev State, s *Snapshot, _ Options, now time.Time) Outcome {
	next := prev
	all := Detect(&prev, s)
	known := prev.Emitted.unpack()
	fresh := slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool { return c.Key == "" || known.has(c.Key) })
	baseline := prev.PreviousStatus == "" || now.Sub(prev.LastTickAt) > baselineGap
	next.Torn = tornCount(prev.Torn, s)
	var sure []confirmed
	if next.Torn == 0 || next.Torn > tornPolls {
		first := Pending{Since: now, Burst: newBalls(prev, s) > burstBalls, Baseline: baseline}
		sure, next.Pending = confirm(prev.Pending, fresh, s, first)
	}
	events := next.decide(sure, now)
	for i := range events {
		known.add(events[i].Key)
	}
	next.Emitted = known.pack()
	next.Memory = prev.Memory.after(&prev, s)
	next.remember(s, now)
	next.register(s, now)
	next.reopen(s)
	next.finish(events, now)
	return Outcome{State: next, Events: events, Display: s.display(&next, all, now), Cards: s.cards()}
}

func tornCount(before int, s *Snapshot) int {
	if s.torn() {
		return min(before+1, tornPolls+1)
	}
	return 0
}

// newBalls counts the balls that the last tick did not have.
func newBalls(prev State, s *Snapshot) int {
	n := 0
	for i := len(s.Balls) - 1; i >= 0 && s.Balls[i].ID > prev.PreviousBallID; i-- {
		n++
	}
	return n
}

// confirmed is a candidate that has held.
type confirmed struct {
	Candidate
	dropped string // the rule that keeps it from being an alert, if one does already
}

// confirm splits the fresh candidates into those that are sure now and those that are held on; first is how one is
// held that was not seen before. What was pending and is no longer in the reading is withdrawn by being left out.
func confirm(pending []Pending, fresh []Candidate, s *Snapshot, first Pending) (sure []confirmed, held []Pending) {
	now := first.Since
	for _, c := range fresh {
		p := first
		p.Key, p.Mark = c.Key, c.Mark
		if i := slices.IndexFunc(pending, func(q Pending) bool { return q.Key == c.Key && q.Mark == c.Mark }); i >= 0 {
			p = pending[i]
		}
		p.Seen = min(p.Seen+1, 2)
		if !hasHeld(p, now) || !believable(c, s, p, now) {
			held = append(held, p)
			continue
		}
		if c.Type == EventResult && !s.settled() {
			c.Type, c.Text = EventResult, s.scoresText() // without a winner that nobody would believe
		}
		sure = append(sure, confirmed{c, staleness(c, p, s)})
	}
	return sure, held
}

// hasHeld tells whether an event was the same in two readings, long enough apart.
func hasHeld(p Pending, now time.Time) bool { return p.Seen >= 2 && now.Sub(p.Since) >= holdFor }

// tellsState are the events that a node joining late tells all the same.
func tellsState(t EventType) bool { return ruleOf(t).priority == 1 && t != EventHatTrick }

// believable holds a result back until the scores bear it out, though not for ever.
func believable(c Candidate, s *Snapshot, p Pending, now time.Time) bool {
	if c.Key != resultKey || s.settled() {
		return true
	}
	wait := resultWait
	if phase, _ := s.Status.Phase(); phase == PhaseAbandoned {
		wait = abandonWait
	}
	return now.Sub(p.Since) >= wait
}

// staleness names the rule by which an event is no news: its ball was old when it was first seen, or it came in the
// older part of a burst.
func staleness(c Candidate, p Pending, s *Snapshot) string {
	if p.Baseline && !tellsState(c.Type) {
		return "baseline"
	}
	if c.BallID == 0 {
		return ""
	}
	if p.Since.Add(s.Skew).Sub(c.SeenAt) > staleAfter {
		return "stale"
	}
	last := s.Balls[len(s.Balls)-1]
	if p.Burst && (c.Innings != last.Innings || ballsOf(c.Over, 10) < (last.Over-2)*10) {
		return "burst"
	}
	return ""
}

// register makes the row of a match: idle before play, live from then on, ended when play is not coming.
func (st *State) register(s *Snapshot, now time.Time) {
	switch {
	case st.Status == ActiveEnded:
	case st.MatchPhase != PhasePrematch && st.MatchPhase != "":
		st.Status = ActiveLive
	case now.Sub(s.StartsAt) > idleLife:
		st.end(now)
	default:
		st.Status = ActiveIdle
	}
}

func (st *State) end(now time.Time) {
	st.Status = ActiveEnded
	st.TTL = now.Add(keepEnded).Unix()
}

// reopen follows a feed that changes its mind after the result was told: a match that goes on is live again, and
// another result is shown. Neither is told once more.
func (st *State) reopen(s *Snapshot) {
	if st.FinishedAt.IsZero() {
		return
	}
	switch phase, known := s.Status.Phase(); {
	case known && phase != PhaseCompleted && phase != PhaseAbandoned:
		st.FinishedAt, st.Result = time.Time{}, ""
	case s.settled():
		_, st.Result = s.result()
	}
}

// finish notes a confirmed result, and ends the match when it has stood long enough.
func (st *State) finish(events []Event, now time.Time) {
	for i := range events {
		if events[i].Key == resultKey {
			st.FinishedAt, st.Result = now, events[i].Text
		}
	}
	if !st.FinishedAt.IsZero() && st.Status == ActiveLive && now.Sub(st.FinishedAt) >= keepOpen {
		st.end(now)
	}
}
