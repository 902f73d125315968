package cricket

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The times of the pipeline.
const (
	holdFor           = 5 * time.Second  // unchanged that long, in two snapshots, an event is sure
	statusHold        = 30 * time.Second // what only the feed's word for the match says: words flap
	offHold           = 5 * time.Minute  // nobody plays today: the word that ends a match for us
	targetHold        = 15 * time.Second // the score alone says that the match is over
	resultWait        = 3 * time.Minute  // after which a match without a believable winner is over all the same
	baselineGap       = 5 * time.Minute  // a longer silence is caught up with without alerts
	staleAfter        = 90 * time.Second // an older ball is news no more
	burstBalls        = 3                // more new balls in one snapshot are a feed catching up
	inconsistentPolls = 6                // so many snapshots may disagree with their balls before the balls count anyway
	keepOpen          = 15 * time.Minute // a finished match stays live, in case the feed re-opens it
	lastCall          = 2 * time.Minute  // a match whose corrections wait for room ends no sooner than so long after
	abandonWait       = 30 * time.Minute // an abandoned match may go on yet
	idleLife          = 12 * time.Hour   // a match that has not begun so long after its time is not coming
	KeepEnded         = 24 * time.Hour   // an ended row stays readable
	noticeFor         = 2 * time.Minute  // a correction stays in the banner
)

// maxHeld is how many events are held at once, and half as many again if phones are told of them. What is more waits for
// a later snapshot, which tells it again.
const maxHeld = 24

// Options are the choices of whoever runs the node.
type Options struct {
	Alerts map[EventType]bool // alerts that the catalogue leaves open, switched on; alerts of its default, switched off
	Shared bool               // other nodes show the matches of this one: their rows carry the display
}

// Outcome is what a tick writes.
type Outcome struct {
	State   State
	Events  []Event  // newly sure; at most one of them is an alert
	Cleared []string // keys of events that were taken back, their rows are to go
	Revised []Event  // what the rows of events say from now on that were something else
	Kept    bool     // the snapshot is doubted: display and fixture stay as they are
	Display Display
	Cards   []CardInnings // of the innings that may have changed; the caller writes what did
	Shown   *Snapshot     // the snapshot as it is shown, with the status that is believed
}

// Step takes one snapshot of the feed into the state of its match. It is a pure function: the same state, snapshot,
// options and now give the same outcome, in a replay as in the field.
func Step(prev State, s *Snapshot, o Options, now time.Time) Outcome {
	return step(prev, s, o, now, true)
}

// step is Step. It may look at the whole match with all its words instead of at what is new, and comes to the same.
func step(prev State, s *Snapshot, o Options, now time.Time, brief bool) Outcome {
	next := prev
	s = s.sanitize().distinct().withSides(prev.Sides)
	if !next.accept(s) {
		next.LastTickAt = now
		next.finish(nil, now)
		return Outcome{State: next, Kept: true}
	}
	next.Stamp = s.stamp() // the feed's own
	s = s.steady(prev.PreviousScore)
	shown := next.settleStatus(s)
	known := prev.Seen.unpack()
	var recent *time.Time
	if since := shown.bannerSince(now); brief {
		recent = &since
	}
	d := detect(&prev, s, known, recent)
	all := d.out
	var out Outcome
	if prev.Status != ActiveEnded {
		out = next.judge(&prev, s, all, known, o, now)
	}
	next.Memory = d.m
	next.remember(shown, now)
	next.register(s, now)
	next.follow(all, s, known, now)
	next.finish(out.Events, now)
	out.State, out.Shown = next, shown
	out.Display, out.Cards = next.display(shown, all, now), shown.cardsSince(&prev)
	return out
}

// display is the snapshot as phones show it, with a correction in the banner for a while.
func (st *State) display(shown *Snapshot, all []Candidate, now time.Time) Display {
	d := shown.display(st, all, now)
	n := st.Notice
	if n == nil || now.Sub(n.At) > noticeFor || d.Result != "" {
		return d
	}
	if d.KeyEvent == nil || d.KeyEvent.At.Before(n.At) {
		d.KeyEvent = &KeyEvent{Key: n.Key, Type: wireType(EventCorrection), Text: n.Text, At: n.At}
	}
	return d
}

// cardsSince makes the scorecards that may have changed: in play those of the innings whose score moved, at a pause
// all of them, for a scorer corrects what is past.
func (s *Snapshot) cardsSince(prev *State) []CardInnings {
	phase := s.phase()
	var out []CardInnings
	for i := range s.Innings {
		in := &s.Innings[i]
		if phase == PhaseLive && !s.last(in) && slices.Contains(prev.PreviousScore, scoreOf(in)) {
			continue
		}
		out = append(out, s.card(in))
	}
	return out
}

// judge finds what became sure with this snapshot, what phones are told of it, and what was not so.
func (st *State) judge(
	prev *State, s *Snapshot, all []Candidate, known keySet, o Options, now time.Time,
) Outcome {
	var fresh []Candidate
	for i := range all {
		if all[i].Key != "" && !known.has(all[i].Key) {
			fresh = append(fresh, all[i])
		}
	}
	against, byKey := st.challenged(prev, all, s, known, now)
	st.Inconsistent = inconsistentCount(prev.Inconsistent, s)
	if st.Inconsistent > 0 && st.Inconsistent <= inconsistentPolls {
		return Outcome{}
	}
	r := round{state: st, snap: s, options: o, now: now, challenges: byKey, told: map[string]bool{}, owed: st.Announced.withdrawn()}
	r.first = Pending{
		Since: now.UnixMilli(), Burst: newBalls(prev, s) > burstBalls,
		Baseline: prev.PreviousStatus == "" || now.Sub(prev.LastTickAt) > baselineGap,
	}
	sure, held := r.confirm(prev.Pending, append(fresh, against...))
	events, later := r.decide(sure)
	st.Pending = append(held, later...)
	for i := range events {
		known.add(events[i].Key)
	}
	cleared, revised := r.settleFacts(sure, events, known)
	if len(events)+len(cleared) > 0 || prev.Seen == nil {
		st.Seen = known.pack()
	}
	return Outcome{Events: events, Cleared: cleared, Revised: revised}
}

// round is one snapshot's way through the rules.
type round struct {
	state      *State
	snap       *Snapshot
	options    Options
	now        time.Time
	first      Pending              // how an event is held that was not seen before
	challenges map[string]challenge // by key of the correction
	told       map[string]bool      // keys that phones are told, by an alert of their own or another's
	owed       map[string]bool      // keys that phones were told are not so
}

func inconsistentCount(before int, s *Snapshot) int {
	if s.inconsistent() {
		return min(before+1, inconsistentPolls+1)
	}
	return 0
}

// newBalls counts the balls that the last tick did not have; by the score where balls are not known.
func newBalls(prev *State, s *Snapshot) int {
	if len(s.Balls) == 0 {
		n := 0
		for i := range s.Innings {
			n += s.legal(&s.Innings[i])
		}
		for _, p := range prev.PreviousScore {
			n -= ballsOf(p.Overs, s.BallsPerOver())
		}
		return n
	}
	n := 0
	for i := len(s.Balls) - 1; i >= 0 && s.Balls[i].ID > prev.PreviousBallID; i-- {
		n++
	}
	return n
}

// confirmed is a candidate that has held.
type confirmed struct {
	Candidate
	held    Pending
	dropped string // the rule that keeps it from being an alert, if one does already
	full    bool   // the hour has no room for it
}

// confirm splits candidates into those that are sure now and those that are held on. What was pending and is no longer
// in the snapshot is withdrawn by being left out.
func (r *round) confirm(pending []Pending, candidates []Candidate) (sure []confirmed, held []Pending) {
	for _, c := range candidates {
		p := r.first
		p.Key, p.Mark = c.Key, digest(c.Mark, c.Subject)
		if i := slices.IndexFunc(pending, func(q Pending) bool { return q.Key == c.Key && q.Mark == p.Mark }); i >= 0 {
			p = pending[i]
		}
		p.Seen = min(p.Seen+1, 2)
		if r.longSettled(&c, p, len(held)) {
			sure = append(sure, confirmed{Candidate: c, held: p, dropped: "baseline"})
			continue
		}
		if !r.hasHeld(p, c.Type) || !r.believable(&c, p) {
			if len(held) < maxHeld || len(held) < maxHeld+maxHeld/2 && (ruleOf(c.Type).alert || c.Type == EventCorrection) {
				held = append(held, p)
			}
			continue
		}
		if c.Key == resultKey {
			r.snap.nameWinner(&c)
		}
		sure = append(sure, confirmed{Candidate: c, held: p, dropped: r.staleness(&c, p)})
	}
	return sure, held
}

func digest(texts ...string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(texts, "\x00")))
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// hasHeld reports whether an event was the same in two snapshots, long enough apart.
func (r *round) hasHeld(p Pending, t EventType) bool {
	return p.Seen >= 2 && r.now.UnixMilli()-p.Since >= holdOf(t).Milliseconds()
}

// holdOf is how long an event is held: what a word of the feed makes for longer than most words are wrong.
func holdOf(t EventType) time.Duration {
	switch t {
	case EventPostponed, EventCancelled:
		return offHold
	case EventDelayed, EventInterrupted, EventResumed, EventStumps,
		EventDrinks, EventLunch, EventTea, EventDinner:
		return statusHold
	default:
		return holdFor
	}
}

// longSettled reports whether a node that joins need not hold an event: phones are not told of it, and nobody will
// correct it. Nor is what there is no room for held then.
func (r *round) longSettled(c *Candidate, p Pending, held int) bool {
	if !p.Baseline || p.Seen > 1 || tellsState(c.Type) || r.owes(c) {
		return false
	}
	in := r.snap.current()
	if in == nil || c.Innings == 0 {
		return false
	}
	return c.Innings < in.No || c.BallID != 0 && r.age(c, p) > staleAfter || held >= maxHeld
}

// age is how old an event was when it was first seen.
func (r *round) age(c *Candidate, p Pending) time.Duration {
	return time.UnixMilli(p.Since).Add(r.snap.Skew).Sub(c.SeenAt)
}

// tellsState are the events that a node joining late tells all the same.
func tellsState(t EventType) bool { return ruleOf(t).priority == 1 && t != EventHatTrick }

// staleness names the rule by which an event is no news.
func (r *round) staleness(c *Candidate, p Pending) string {
	s := r.snap
	phase := s.phase()
	switch {
	case r.owes(c):
		return "" // late is better than never
	case p.Baseline && !tellsState(c.Type):
		return "baseline"
	case phase == PhaseAbandoned && suspended(c.Type):
		return "abandoned"
	case c.BallID != 0 && r.age(c, p) > staleAfter, s.overtaken(c.Key):
		return StaleRule
	case p.Burst && s.olderOvers(c):
		return "burst"
	default:
		return ""
	}
}

// suspended reports whether an abandoned match holds an event back: it may go on, or never have been abandoned.
func suspended(t EventType) bool {
	switch t {
	case EventCancelled, EventPostponed, EventDelayed, EventCorrection:
		return false
	default:
		return !tellsState(t)
	}
}

// overtaken reports whether a milestone is old news: the batter has reached the next, or is out.
func (s *Snapshot) overtaken(key string) bool {
	family, numbers := splitKey(key)
	if family != familyMilestone {
		return false
	}
	row := s.battingRow(int(numbers[1]), numbers[2])
	if row == nil {
		return false
	}
	return int64(row.Runs) >= nextMilestone(numbers[0]) || numbers[0] < 100 && row.Out
}

// nextMilestone is the milestone after one.
func nextMilestone(runs int64) int64 { return runs - runs%50 + 50 }

// olderOvers reports whether an event came in the older part of a burst: before its last two overs or in an innings before.
// How an innings ended, and what the next one needs, is news into the third over of that.
func (s *Snapshot) olderOvers(c *Candidate) bool {
	in := s.current()
	if in == nil || c.Innings == 0 {
		return false
	}
	newest := s.legal(in) - 2*s.BallsPerOver()
	if c.Over == "" {
		return c.Innings < in.No && newest > 0
	}
	return c.Innings != in.No || ballsOf(c.Over, s.BallsPerOver()) < newest
}

// register makes the row of a match: idle before play, live from then on, ended when play is not coming.
func (st *State) register(s *Snapshot, now time.Time) {
	switch {
	case st.Status == ActiveEnded:
	case s.Status.NotPlayed():
		if st.Seen.Has(statusKey(s.Status.word())) {
			st.end(now)
		}
	case st.MatchPhase != PhasePrematch && st.MatchPhase != "":
		st.Status = ActiveLive
	case len(s.Innings) == 0 && !s.StartsAt.IsZero() && now.Sub(s.StartsAt) > idleLife:
		st.end(now)
	default:
		st.Status = ActiveIdle
	}
}

func (st *State) end(now time.Time) {
	st.Status = ActiveEnded
	st.TTL = now.Add(KeepEnded).Unix()
}
