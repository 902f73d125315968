package cricket

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Holds, waits and limits of the pipeline.
const (
	holdFor           = 5 * time.Second  // an event is confirmed once it was the same for so long, in two snapshots
	rowHold           = 12 * time.Second // for milestones that only a row shows: feeds correct most rows within ten seconds
	waverHold         = 12 * time.Second // for what must stay true, of a feed that took a wicket back lately: it corrects most within ten seconds
	waverFor          = time.Hour        // how long such a feed is expected to do so again
	statusHold        = 30 * time.Second // for events that only the feed's status shows: it flaps
	offHold           = 5 * time.Minute  // for postponed and cancelled: followers then wait for another time
	targetHold        = 15 * time.Second // the score alone says that the match is over
	resultWait        = 3 * time.Minute  // then a match is over even without a believable winner
	tieWait           = 10 * time.Minute // for a super over after the scores were level
	baselineGap       = 5 * time.Minute  // after a longer gap a node catches up without alerts
	staleAfter        = 90 * time.Second // an older ball is no longer news
	burstBalls        = 3                // with more new balls in one snapshot the feed is catching up
	inconsistentPolls = 6                // after so many snapshots that disagree with their balls, the balls count anyway
	keepOpen          = 15 * time.Minute // a finished match stays live, in case the feed reopens it
	lastCall          = 2 * time.Minute  // the least time between a correction still waiting for room and the end of its match
	abandonWait       = 30 * time.Minute // play may resume in an abandoned match
	idleLife          = 12 * time.Hour   // a match that has not begun so long after its scheduled start is given up
	KeepEnded         = 24 * time.Hour   // how long an ended row stays readable
	noticeFor         = 2 * time.Minute  // how long a correction stays in the banner
)

// maxHeld bounds the events held at once; those that alert may exceed it by half. Events beyond it are left to a
// later snapshot, which shows them again.
const maxHeld = 24

// Options are the operator's choices.
type Options struct {
	Alerts map[EventType]bool // optional alerts switched on, default alerts switched off
	Shared bool               // other nodes show this node's matches: their rows carry the display
}

// Outcome is what a tick writes.
type Outcome struct {
	State   State
	Events  []Event  // newly confirmed; at most one of them is an alert
	Cleared []string // keys of withdrawn events, whose rows are deleted
	Revised []Event  // events whose rows now read differently
	Kept    bool     // the snapshot was not accepted: display and fixture stay as they are
	Display Display
	Cards   []CardInnings // innings that may have changed; the caller writes those that did
	Shown   *Snapshot     // the snapshot as shown, with the accepted status
}

// Step applies one snapshot of the feed to the state of its match. It is a pure function: the same state,
// snapshot, options and now give the same outcome, in a replay as in production.
func Step(prev State, s *Snapshot, o Options, now time.Time) Outcome {
	next := prev
	s = s.sanitize().distinct().withSides(prev.Sides).withoutBalls(&prev)
	if !next.accept(s) {
		next.LastTickAt = now
		next.finish(nil, now)
		return Outcome{State: next, Kept: true}
	}
	next.Stamp = s.stamp() // the feed's own, before steady changes it
	s = s.dateLines().steady(prev.PreviousScore).ballsTimed()
	shown := next.settleStatus(s)
	known := prev.Seen.unpack()
	d := detect(&prev, s, known)
	all := d.out
	var out Outcome
	if prev.Status != ActiveEnded {
		out = next.decideEvents(&prev, s, all, known, o, now)
	}
	next.Memory = d.m
	next.remember(shown, now)
	next.register(&prev, s, now)
	next.follow(all, s, known, now)
	next.finish(out.Events, now)
	out.State, out.Shown = next, shown
	out.Display, out.Cards = next.display(shown, all, now), shown.cardsSince(&prev)
	return out
}

// display builds the display that phones show, with a recent correction in the banner.
func (st *State) display(shown *Snapshot, all []Candidate, now time.Time) Display {
	d := shown.display(st, all, now)
	n := st.Notice
	if n == nil || now.Sub(n.At) > noticeFor || d.Result != "" {
		return d
	}
	if d.KeyEvent == nil || d.KeyEvent.At.Before(n.At) {
		d.KeyEvent = &KeyEvent{Key: n.Key, Type: WireType(EventCorrection), Text: n.Text, At: n.At}
	}
	return d
}

// cardsSince returns the scorecards that may have changed. In play these are the innings whose score moved; at a
// pause all of them, because scorers also correct earlier innings.
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

// decideEvents decides which events this snapshot confirms, which of them alert, and which recorded ones are no longer true.
func (st *State) decideEvents(
	prev *State, s *Snapshot, all []Candidate, known keySet, o Options, now time.Time,
) Outcome {
	st.Inconsistent = inconsistentCount(prev.Inconsistent, s)
	if st.Inconsistent > 0 && st.Inconsistent <= inconsistentPolls {
		return Outcome{}
	}
	facts, moved, changed := s.recognise(all, st.Announced.facts(), known)
	if changed {
		st.Announced = packAnnounced(facts)
	}
	var fresh []Candidate
	for i := range all {
		if all[i].Key != "" && !known.has(all[i].Key) {
			fresh = append(fresh, all[i])
		}
	}
	against, byKey := st.challengeFacts(all, s, known, now)
	r := round{state: st, snap: s, options: o, now: now, challenges: byKey, told: map[string]bool{}, owed: st.Announced.withdrawnKeys()}
	r.first = Pending{
		Since: now.UnixMilli(), Burst: newBalls(prev, s) > burstBalls,
		Baseline: prev.PreviousStatus == "" || now.Sub(prev.LastTickAt) > baselineGap,
	}
	candidates := append(fresh, against...)
	r.noteWavering(prev.Pending, candidates)
	sure, held := r.confirm(prev.Pending, candidates)
	events, later := r.decide(sure, held)
	st.countStale(events)
	st.Pending = append(held, later...)
	for i := range events {
		known.add(events[i].Key)
	}
	cleared, revised := r.settleFacts(sure, events, known)
	if len(events)+len(cleared) > 0 || prev.Seen == nil || changed {
		st.Seen = known.pack()
	}
	return Outcome{Events: events, Cleared: cleared, Revised: append(moved, revised...)}
}

// maxStale bounds the count of alerts that were old news.
const maxStale = 99

// countStale counts the alerts dropped as old news since the last alert of play: if there are several and nothing else, the feed's
// times are late, and phones hear nothing of the match.
func (st *State) countStale(events []Event) {
	for i := range events {
		switch e := &events[i]; {
		case e.Alert && e.Type != EventCorrection:
			st.Stale = 0
		case e.Dropped == StaleRule && !e.Alert:
			st.Stale = min(st.Stale+1, maxStale)
		}
	}
}

// round is the work on one snapshot.
type round struct {
	state      *State
	snap       *Snapshot
	options    Options
	now        time.Time
	first      Pending              // the Pending of an event not seen before
	challenges map[string]challenge // by key of the correction
	told       map[string]bool      // keys announced to phones, by their own alert or another's
	owed       map[string]bool      // keys whose events were announced and then withdrawn
	wavers     bool                 // the feed took back a wicket lately
}

// noteWavering notes whether the feed takes wickets back: now, or within the last hour.
func (r *round) noteWavering(held []Pending, candidates []Candidate) {
	if r.hasTakenBack(held, candidates) {
		r.state.WaveredAt = r.now
	}
	r.wavers = !r.state.WaveredAt.IsZero() && r.now.Sub(r.state.WaveredAt) < waverFor
}

// hasTakenBack reports whether a wicket that was held or recorded is not in the snapshot, or a recorded one is another batter's. A
// wicket whose batter is named late was not taken back.
func (r *round) hasTakenBack(held []Pending, candidates []Candidate) bool {
	for _, p := range held {
		family, _ := splitKey(p.Key)
		stands := func(c Candidate) bool { return c.Key == p.Key }
		if family == familyWicket && !slices.ContainsFunc(candidates, stands) {
			return true
		}
	}
	for _, ch := range r.challenges {
		family, _ := splitKey(ch.fact.key)
		if family == familyWicket && (ch.now == nil || !ch.fact.sameHero(ch.now)) {
			return true
		}
	}
	return false
}

func inconsistentCount(before int, s *Snapshot) int {
	if s.inconsistent() {
		return min(before+1, inconsistentPolls+1)
	}
	return 0
}

// newBalls counts the balls since the last tick; from the score if there are no balls.
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
	same := prev.sameBalls(s)
	n := 0
	for i := len(s.Balls) - 1; i >= 0 && !same[i] && s.Balls[i].ID != prev.PreviousBallID; i-- {
		n++
	}
	return n
}

// confirmed is a candidate whose hold has passed.
type confirmed struct {
	Candidate
	held    Pending
	dropped string // the rule that already rules out an alert, if any
	full    bool   // the running hour has no room for it
}

// confirm splits candidates into those that are confirmed and those that stay held. Pending events that the
// snapshot no longer has are withdrawn by being left out.
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
		if !r.hasHeld(p, &c) || !r.believable(&c, p) {
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

// hasHeld reports whether an event was the same in two snapshots far enough apart. A feed that wavers has to stand by what must stay
// true for longer: what it takes back costs two alerts. Corrections are not held longer.
func (r *round) hasHeld(p Pending, c *Candidate) bool {
	hold := holdOf(c.Type)
	if lasting := ruleOf(c.Type).lasting && c.Key != resultKey; lasting && r.wavers {
		hold = max(hold, waverHold)
	}
	return p.Seen >= 2 && r.now.UnixMilli()-p.Since >= hold.Milliseconds()
}

// holdOf returns how long an event is held. Events from the feed's status are held longer than most wrong statuses last.
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

// longSettled reports whether a joining node may record an event without a hold: phones are not told of it, and
// the feed will hardly correct it any more. The same applies when maxHeld events are held already.
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

// age returns how old an event was when it was first seen.
func (r *round) age(c *Candidate, p Pending) time.Duration {
	return time.UnixMilli(p.Since).Add(r.snap.Skew).Sub(c.SeenAt)
}

// tellsState reports whether a node that joins late still announces the event.
func tellsState(t EventType) bool { return ruleOf(t).priority == 1 && t != EventHatTrick }

// staleness returns the name of the rule that makes an event old news, "" if none does.
func (r *round) staleness(c *Candidate, p Pending) string {
	s := r.snap
	phase := s.phase()
	switch {
	case r.owes(c):
		return "" // late is better than never
	case p.Baseline && !tellsState(c.Type):
		return "baseline"
	case (phase == PhaseAbandoned || phase == PhasePostponed) && isSuspended(c.Type):
		return "abandoned"
	case c.BallID != 0 && !c.Untimed && r.age(c, p) > staleAfter, s.overtaken(c.Key):
		return StaleRule
	case p.Burst && s.olderOvers(c):
		return "burst"
	default:
		return ""
	}
}

// isSuspended reports whether an abandoned match holds an event back: play may resume, or the status may be wrong.
func isSuspended(t EventType) bool {
	switch t {
	case EventCancelled, EventPostponed, EventDelayed, EventCorrection:
		return false
	default:
		return !tellsState(t)
	}
}

// overtaken reports whether a milestone is old news: the batter has reached the next one, or is out before a hundred.
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

// nextMilestone returns the milestone after runs.
func nextMilestone(runs int64) int64 { return runs - runs%50 + 50 }

// olderOvers reports whether an event is in the older part of a burst: before the last two overs or in an earlier
// innings. How an innings ended, and what the next one needs, stays news until the third over of the next.
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
