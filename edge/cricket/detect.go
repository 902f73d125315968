package cricket

import (
	"slices"
	"time"
)

// Candidate is an event as one snapshot of the feed has it. It is an Event to be once it has held: the snapshot may
// be corrected within seconds. One without a key is for the banner alone.
type Candidate struct {
	Event
	SeenAt  time.Time // when the feed says it happened
	Mark    string    // what it was read from; when that changes, the hold begins again
	Subject string    // who it is about (the batter out, the winner): the same key with another is another fact; "?" is any
	Quiet   bool      // never an alert, whatever is switched on
}

// detection is one look at a snapshot.
type detection struct {
	s        *Snapshot
	m        Memory     // after this snapshot
	recorded keySet     // keys of what was recorded
	recent   *time.Time // nil: everything is told in full; else what is recorded and older is not, or without its text
	known    keySet     // the same where rows may have told what balls tell; nil otherwise
	spells   *spells
	hauls    map[int64]int // wickets of each bowler in the innings before
	out      []Candidate
}

// detect finds everything that has happened in a match as the snapshot has it, in order. It knows nothing of what was
// announced before: keys do. So a poll that was missed, a restart and a second poller all find the same events. What the
// snapshot cannot show comes from prev: an interruption that is over, balls that it leaves out.
//
// With a time it leaves out what is recorded and older than that, for nobody asks for it again; of what must stay true it
// returns all but the text.
func detect(prev *State, s *Snapshot, recorded keySet, recent *time.Time) *detection {
	d := &detection{s: s, recorded: recorded, recent: recent, spells: newSpells(s, &prev.Memory), hauls: map[int64]int{}}
	d.m = prev.Memory.next(prev, s, recorded)
	d.known = d.m.known(recorded)
	d.beforePlay()
	for i := range s.Innings {
		d.innings(&s.Innings[i])
	}
	d.rememberedHatTricks()
	d.superOverAhead()
	d.standstill()
	d.ending()
	return d
}

// past reports whether an event was recorded and is no news, not even for the banner.
func (d *detection) past(at time.Time, family string, numbers ...int64) bool {
	return d.recent != nil && at.Before(*d.recent) && d.recorded.holds(family, numbers...)
}

func (d *detection) add(c Candidate) { d.out = append(d.out, c) }

// innings adds what happened in one innings.
func (d *detection) innings(in *Innings) {
	s := d.s
	balls := s.ballsIn(in.No)
	d.start(in, balls)
	d.missing(in)
	d.revised(in)
	if s.IsSuperOver(in.No) && (in.No-s.regulation())%2 == 1 {
		d.add(s.superOver((in.No-s.regulation()+1)/2, in.No, s.begunAt(in)))
	}
	t := newTally(d, in, balls)
	for i := range balls {
		t.ball(&balls[i])
	}
	t.rows()
	if cause := s.Ended(in); cause != CauseNone {
		d.inningsEnd(in, cause)
	}
	if in.No == 2 {
		d.followOn()
	}
	if s.last(in) && s.Ended(in) == CauseNone {
		t.nineties()
	}
	for player, bowl := range t.bowl {
		d.hauls[player] += bowl.wickets
	}
}

// ballsIn is the run of balls of one innings.
func (s *Snapshot) ballsIn(innings int) []Ball {
	from, _ := slices.BinarySearchFunc(s.Balls, innings, func(b Ball, n int) int { return b.Innings - n })
	to, _ := slices.BinarySearchFunc(s.Balls, innings+1, func(b Ball, n int) int { return b.Innings - n })
	return s.Balls[from:to]
}

// agrees reports whether score and balls of an innings say the same. They are a ball apart for a moment in many
// replies; what only one of them shows waits for the next.
func (s *Snapshot) agrees(in *Innings) bool {
	balls := s.ballsIn(in.No)
	if len(balls) == 0 {
		return true // no balls were asked for, or none was bowled
	}
	runs, wickets, legal := in.Penalty, 0, 0
	for i := range balls {
		b := &balls[i]
		runs += b.Total()
		if b.Wicket {
			wickets++
		}
		if b.Legal() {
			legal++
		}
	}
	return runs == in.Runs && wickets <= in.Wickets && legal == s.legal(in)
}

// inconsistent reports whether the innings in play disagrees with its balls.
func (s *Snapshot) inconsistent() bool {
	in := s.current()
	return in != nil && !s.agrees(in)
}
