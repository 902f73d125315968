package replay

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// The pace of play as measured on the real feed, and the breaks.
const (
	ballToBall   = 38 * time.Second
	overToOver   = 67 * time.Second // last ball of an over to the first of the next
	afterWicket  = 90 * time.Second // additional time until the new batter is ready
	breakAfter   = time.Minute      // last ball of an innings to "Innings Break"
	inningsBreak = 20 * time.Minute
	superBreak   = 10 * time.Minute // before a super over innings
	stumpsAfter  = 3 * time.Minute
	finishAfter  = 5 * time.Minute
	leaveAfter   = 10 * time.Minute // "Finished" until the match leaves /livescores
	tossBefore   = 30 * time.Minute
	demoBefore   = time.Minute

	firstBallHour = 10 // UTC, on each date of the match
	oversADay     = 90 // in multi-day matches, unless they would not fit the dates

	mostInLabel = 9 // labels are decimals: 7.10 would be 7.1
)

const (
	statusNotStarted = "NS"
	statusBreak      = "Innings Break"
	statusFinished   = "Finished"
)

// Moment is the state of a match from a time until the next moment. Everything the feed shows follows from it.
type Moment struct {
	At       time.Time
	Status   string
	Balls    int  // bowled so far
	Begun    int  // innings begun, including forfeited ones
	Closed   int  // innings over
	Toss     bool // toss and line-ups are known
	Live     bool // listed in /livescores
	Finished bool
}

// Start returns the time one minute before the first ball, with toss and line-ups known: a demo begins then.
func (m *Match) Start() time.Time { return m.balls[0].at.Add(-demoBefore) }

// End returns when the match is finished, with its result.
func (m *Match) End() time.Time {
	i := slices.IndexFunc(m.moments, func(mo Moment) bool { return mo.Finished })
	return m.moments[i].At
}

// MomentAt returns the state of the match at a time.
func (m *Match) MomentAt(t time.Time) Moment { return m.moments[m.moment(t)] }

// NextChange returns the first time after t at which an answer of the feed changes; ok is false if there is none.
func (m *Match) NextChange(t time.Time) (time.Time, bool) {
	i := m.moment(t) + 1
	if i == len(m.moments) {
		return time.Time{}, false
	}
	return m.moments[i].At, true
}

// moment returns the index of the moment at t; the first one also covers all time before it.
func (m *Match) moment(t time.Time) int {
	i := sort.Search(len(m.moments), func(i int) bool { return m.moments[i].At.After(t) })
	return max(i-1, 0)
}

// scheduler assigns a time to everything in a record.
type scheduler struct {
	m     *Match
	t     *recording.Match
	days  []time.Time // first ball of each date
	day   int         // index
	overs int         // overs begun today
	quota int         // overs planned today
	now   time.Time   // of the next ball
	last  time.Time   // of the previous ball
	next  Moment      // the moment as it would be written now
}

// schedule derives times and labels of the balls, and the moments of the match.
func (m *Match) schedule() error {
	s := &scheduler{m: m, t: m.rec}
	for _, d := range s.t.Dates {
		day, err := time.Parse(time.DateOnly, d)
		if err != nil {
			return err
		}
		s.days = append(s.days, day.Add(firstBallHour*time.Hour))
	}
	s.now, s.quota = s.days[0], quota(s.t, 0)
	s.next.Status = statusNotStarted
	s.write(s.days[0].Add(-24 * time.Hour))
	s.next.Toss = true
	s.write(s.days[0].Add(-tossBefore))
	for i := range s.t.Innings {
		s.innings(i)
	}
	if len(m.balls) == 0 {
		return fmt.Errorf("no ball was bowled")
	}
	s.next.Status, s.next.Finished = statusFinished, true
	s.next.Begun, s.next.Closed = len(s.t.Innings), len(s.t.Innings)
	s.write(s.last.Add(finishAfter))
	s.next.Live = false
	s.write(s.last.Add(finishAfter + leaveAfter))
	return nil
}

func (s *scheduler) write(at time.Time) {
	s.next.At = at
	s.m.moments = append(s.m.moments, s.next)
}

func (s *scheduler) innings(i int) {
	in := &s.t.Innings[i]
	if len(in.Overs) == 0 {
		return // forfeited: it begins and ends with the first ball of the next
	}
	if len(s.m.balls) > 0 {
		s.addBreak(i)
	}
	for o := range in.Overs {
		if o > 0 && s.overs >= s.quota {
			s.stumps()
		}
		s.overs++
		s.addOver(i, &in.Overs[o])
	}
}

// addBreak adds the time from one innings to the next.
func (s *scheduler) addBreak(i int) {
	s.next.Closed = s.next.Begun
	if s.overs >= s.quota {
		s.stumps()
		return
	}
	s.next.Status = statusBreak
	at := s.last.Add(breakAfter)
	s.write(at)
	if s.t.Innings[i].SuperOver {
		s.now = at.Add(superBreak)
	} else {
		s.now = at.Add(inningsBreak)
	}
}

// stumps ends the day. The quotas leave a date for all remaining overs.
func (s *scheduler) stumps() {
	s.next.Status = "Stump Day " + strconv.Itoa(s.day+1)
	s.write(s.last.Add(stumpsAfter))
	s.day++
	s.overs, s.quota = 0, quota(s.t, s.day)
	s.now = s.days[s.day]
}

func (s *scheduler) addOver(innings int, o *recording.Over) {
	s.next.Status = inningsStatus(s.t, innings)
	s.next.Begun, s.next.Closed, s.next.Live = innings+1, innings, true
	legal := 0
	for i := range o.Balls {
		d := &o.Balls[i]
		s.m.balls = append(s.m.balls, ball{
			d: d, at: s.now, innings: innings, over: o.No, last: i == len(o.Balls)-1,
			label: strconv.Itoa(o.No) + "." + strconv.Itoa(min(legal+1, mostInLabel)),
		})
		if d.Legal() {
			legal++
		}
		s.next.Balls++
		s.write(s.now)
		s.last = s.now
		s.now = s.now.Add(pause(d, i == len(o.Balls)-1))
	}
}

func pause(d *recording.Delivery, endsOver bool) time.Duration {
	p := ballToBall
	if endsOver {
		p = overToOver
	}
	if wicketsOn(d) > 0 {
		p += afterWicket
	}
	return p
}

// quota returns how many overs are bowled on a date, which the record does not say. A multi-day match has 90 a day,
// or as many as needed to fit its dates. A limited-overs match goes into its reserve day before the last tenth of
// the first innings: in the recorded one (1144528) rain came at 46.1 overs. The last date has all that is left.
func quota(t *recording.Match, day int) int {
	if day == len(t.Dates)-1 {
		return math.MaxInt
	}
	if !t.MultiDay() {
		return t.Overs * 9 / 10
	}
	total := 0
	for i := range t.Innings {
		total += len(t.Innings[i].Overs)
	}
	return max(oversADay, (total+len(t.Dates)-1)/len(t.Dates))
}

// inningsStatus returns the feed's status during an innings. It has none beyond the fourth: a second super over is again third and fourth.
func inningsStatus(t *recording.Match, i int) string {
	if t.Innings[i].SuperOver {
		i = 2 + i%2
	}
	return [...]string{"1st Innings", "2nd Innings", "3rd Innings", "4th Innings"}[min(i, 3)]
}

// wicketsOn counts the batters out on a ball; retired hurt is not out.
func wicketsOn(d *recording.Delivery) int {
	n := 0
	for _, w := range d.Wickets {
		if w.Kind.IsOut() {
			n++
		}
	}
	return n
}
