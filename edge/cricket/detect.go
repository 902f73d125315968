package cricket

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Candidate is an event as one snapshot shows it. It becomes an Event once it has held, because the snapshot may
// be corrected within seconds. A candidate without a key is only for the banner.
type Candidate struct {
	Event
	SeenAt  time.Time // when the event happened, by the feed's clock
	Mark    string    // the data it was found in; a change restarts the hold
	Subject string    // who it is about (the batter out, the winner): with another subject the same key is another fact; "?" matches any
	Quiet   bool      // never alerts, whatever is switched on
	Untimed bool      // SeenAt is an estimate, which makes nothing old news
	Was     string    // its key in earlier versions, if that held the feed's id of a ball
}

// place returns the place of the ball that made the event, 0 if only score or rows show it.
func (c *Candidate) place() int64 {
	if c.BallID == 0 {
		return 0
	}
	return eventPlace(&c.Event)
}

// eventPlace returns the place of an event's ball by its label.
func eventPlace(e *Event) int64 {
	over, _, _ := strings.Cut(e.Over, ".")
	n, err := strconv.Atoi(over)
	if err != nil {
		return 0
	}
	return placeOf(e.Innings, n, ballInOver(e.Over))
}

// detection is the detection of events in one snapshot.
type detection struct {
	s        *Snapshot
	m        Memory // as of this snapshot
	recorded keySet // keys of recorded events
	known    keySet // recorded, if rows may have shown events before their balls; nil otherwise
	spells   *spells
	hauls    map[int64]int // wickets of each bowler in earlier innings
	putOff   int           // how often the match was given another time
	out      []Candidate
}

// detect finds everything that has happened in a match according to the snapshot, in order. It does not depend on
// what was announced: keys tell events apart. So after a missed poll or a restart, and in a second poller, the same
// events are found. prev supplies what the snapshot cannot show: an interruption that is over, balls it leaves out.
func detect(prev *State, s *Snapshot, recorded keySet) *detection {
	d := &detection{s: s, recorded: recorded, spells: newSpells(s, &prev.Memory), hauls: map[int64]int{}, putOff: prev.PutOff}
	d.m = prev.Memory.next(prev, s, recorded)
	d.known = d.m.knownKeys(recorded)
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

func (d *detection) add(c Candidate) { d.out = append(d.out, c) }

// innings adds the events of one innings.
func (d *detection) innings(in *Innings) {
	s := d.s
	balls := s.ballsIn(in.No)
	d.start(in, balls)
	d.missing(in)
	d.reportRevision(in)
	if s.IsSuperOver(in.No) && (in.No-s.regulation())%2 == 1 {
		d.add(s.superOver((in.No-s.regulation()+1)/2, in.No, s.begunAt(in)))
	}
	t := newTally(d, in, balls)
	for i := range balls {
		t.ball(&balls[i])
	}
	t.rows()
	if cause := s.CauseOfEnd(in); cause != CauseNone {
		d.inningsEnd(in, cause)
	}
	if in.No == 2 {
		d.followOn()
	}
	if s.last(in) && s.CauseOfEnd(in) == CauseNone {
		t.nineties()
	}
	for player, bowl := range t.bowl {
		d.hauls[player] += bowl.wickets
	}
}

// ballsIn returns the balls of one innings.
func (s *Snapshot) ballsIn(innings int) []Ball {
	from, _ := slices.BinarySearchFunc(s.Balls, innings, func(b Ball, n int) int { return b.Innings - n })
	to, _ := slices.BinarySearchFunc(s.Balls, innings+1, func(b Ball, n int) int { return b.Innings - n })
	return s.Balls[from:to]
}

// agrees reports whether score and balls of an innings agree. In many replies they are briefly a ball apart;
// what only one of them shows waits for the next snapshot.
func (s *Snapshot) agrees(in *Innings) bool {
	balls := s.ballsIn(in.No)
	if len(balls) == 0 {
		return true // balls were not requested, or none was bowled
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

// inconsistent reports whether score and balls of the current innings disagree.
func (s *Snapshot) inconsistent() bool {
	in := s.current()
	return in != nil && !s.agrees(in)
}
