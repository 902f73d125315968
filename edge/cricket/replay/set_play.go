package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// saved is the saved state of a replay.
type saved struct {
	ID          string        `json:"id"`
	RecordingID string        `json:"tapeId"`
	StartedAt   time.Time     `json:"startedAt"`
	Lead        time.Duration `json:"lead,omitempty"` // how long before StartedAt it was started, in nanoseconds
	Speed       float64       `json:"speed"`
	Break       time.Duration `json:"break,omitempty"` // in nanoseconds; 0: twenty minutes
	Faults      uint64        `json:"faults,omitempty"`
	Paused      bool          `json:"paused,omitempty"`
	Held        time.Duration `json:"held,omitempty"`    // of a paused replay: the time to its next ball, in nanoseconds
	Stopped     *time.Time    `json:"stopped,omitempty"` // when it was stopped
	Runs        []run         `json:"runs"`
}

// run is a stretch of play at one pace: ball First is bowled at At, the next one MsPerBall later, and so on
// until the first ball of the next run.
type run struct {
	First     int       `json:"first"`
	At        time.Time `json:"at"`
	MsPerBall float64   `json:"msPerBall"`
	Skipped   bool      `json:"skipped,omitempty"` // skipped by a seek: without breaks
}

// play is a replay.
type play struct {
	saved
	recorded *Match
	match    *Match // with the times of the replay
	breaks   []bool // by ball: whether an innings or a day begins with it
	show     *show
}

// never is when the next ball of a paused replay is bowled.
const never = 10 * 365 * 24 * time.Hour

func newPlay(recorded *Match, state saved) (*play, error) {
	p := &play{saved: state, recorded: recorded, breaks: make([]bool, len(recorded.balls)+1)}
	for i := 1; i < len(recorded.moments); i++ {
		if b := recorded.moments[i].Balls; b > 0 && b == recorded.moments[i-1].Balls && b < len(recorded.balls) {
			p.breaks[b] = true
		}
	}
	own := *recorded.rec
	own.ID = state.ID
	p.match = &Match{rec: &own, balls: slices.Clone(recorded.balls)}
	if _, err := fmt.Sscan(own.ID, &p.match.id); err != nil {
		return nil, fault.Wrap(err, fault.Damaged, "bad_deck", "%s is not a match id", own.ID)
	}
	p.match.number()
	p.match.static = newStatic(&own, state.StartedAt)
	return p, nil
}

// sound reports whether the runs of a saved replay are consistent.
func (p *play) sound() bool {
	if len(p.Runs) == 0 || p.Runs[0].First != 0 || p.StartedAt.IsZero() {
		return false
	}
	for i, r := range p.Runs {
		if r.First < 0 || r.First > len(p.recorded.balls) || !(r.MsPerBall > 0) || i > 0 && r.First < p.Runs[i-1].First {
			return false
		}
	}
	return true
}

func (p *play) ms() float64 { return msPerBall / p.Speed }

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// rest returns the length of a break in balls: twenty minutes of the wall clock, or Break, rounded up.
func (p *play) rest(ms float64) float64 {
	return math.Ceil(float64(cmp.Or(p.Break, inningsBreak)/time.Millisecond) / ms)
}

// wait returns the time from the previous ball to ball i.
func (p *play) wait(i int, ms float64) time.Duration {
	if p.breaks[i] {
		return milliseconds((1 + p.rest(ms)) * ms)
	}
	return milliseconds(ms)
}

// continueFrom continues with ball i after the usual wait.
func (p *play) continueFrom(i int, now time.Time) {
	p.resume(i, now, p.wait(i, p.ms()))
}

// resume schedules ball i after a wait, and the others after it.
func (p *play) resume(i int, now time.Time, after time.Duration) {
	p.Runs = slices.DeleteFunc(p.Runs, func(r run) bool { return r.First >= i })
	p.Runs = append(p.Runs, run{First: i, At: now.Add(after), MsPerBall: p.ms()})
}

// times returns when each ball is bowled.
func (p *play) times() []time.Time {
	at := make([]time.Time, len(p.recorded.balls))
	for n, r := range p.Runs {
		until := len(at)
		if n+1 < len(p.Runs) {
			until = min(until, p.Runs[n+1].First)
		}
		t, ticks := r.At, 0.0
		for i := r.First; i < until; i++ {
			if i > r.First {
				ticks++
				if p.breaks[i] && !r.Skipped {
					ticks += p.rest(r.MsPerBall)
				}
				t = r.At.Add(milliseconds(ticks * r.MsPerBall))
			}
			at[i] = t
		}
	}
	if p.Paused {
		for i := p.Runs[len(p.Runs)-1].First; i < len(at); i++ {
			at[i] = p.StartedAt.Add(never + time.Duration(i)*time.Second)
		}
	}
	return at
}

// cursor returns how many balls have been bowled.
func (p *play) cursor(now time.Time) int {
	return sort.Search(len(p.match.balls), func(i int) bool { return p.match.balls[i].at.After(now) })
}

// build computes the match with its current times. Balls already bowled keep theirs.
func (p *play) build() {
	m := *p.match
	m.balls, m.moments, m.pace = slices.Clone(m.balls), nil, p.ms()/msPerBall
	at := p.times()
	for i := range m.balls {
		m.balls[i].at = at[i]
	}
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) * m.pace) }
	for i, mo := range p.recorded.moments {
		bowled := mo.Balls
		switch {
		case i == 0:
			mo.At = p.StartedAt.Add(-24 * time.Hour)
		case bowled == 0:
			mo.At = p.StartedAt.Add(-p.Lead)
		case p.recorded.moments[i-1].Balls < bowled:
			mo.At = at[bowled-1]
		default:
			after := scaled(mo.At.Sub(p.recorded.balls[bowled-1].at))
			if bowled < len(at) {
				after = min(after, at[bowled].Sub(at[bowled-1])/2)
			} else if !mo.Live {
				after = max(after, m.moments[i-1].At.Sub(at[bowled-1])+time.Minute)
			}
			mo.At = at[bowled-1].Add(after)
		}
		m.moments = append(m.moments, mo)
	}
	if p.Stopped != nil {
		last := m.MomentAt(*p.Stopped)
		last.At, last.Status, last.Live = *p.Stopped, "Aban.", false
		m.moments = append(m.moments[:m.moment(*p.Stopped)+1], last)
	}
	p.match = &m
	faults := p.Faults
	if p.Stopped != nil {
		faults = 0
	}
	p.show = newShow(&m, faults)
}

func (p *play) playing(now time.Time) Playing {
	mo := p.match.MomentAt(now)
	out := Playing{
		ID: p.ID, RecordingID: p.RecordingID, MatchID: p.ID, Title: p.recorded.rec.Teams[0].Name + " v " + p.recorded.rec.Teams[1].Name,
		Status: "playing", Cursor: p.cursor(now), Balls: len(p.recorded.balls), MsPerBall: p.ms(), Speed: p.Speed,
		StartedAt: p.StartedAt, Faults: p.Faults,
	}
	switch {
	case p.Stopped != nil:
		out.Status = "stopped"
	case mo.Finished:
		out.Status = "finished"
	case p.Paused:
		out.Status = "paused"
	case p.breaks[out.Cursor] && p.match.balls[out.Cursor].at.Sub(now) > milliseconds(p.ms()):
		out.Status = statusBreak
		if i := p.recorded.moment(p.recorded.balls[out.Cursor].at); i > 0 {
			out.Status = p.recorded.moments[i-1].Status // or stumps
		}
	}
	return out
}

// control changes the replay's state; build applies it.
func (p *play) control(c Control, now time.Time) error {
	if p.Stopped != nil && c.Action != "stop" {
		return fault.New(fault.Conflict, "replay_stopped", "the replay was stopped: start the recording again")
	}
	cursor := p.cursor(now)
	switch c.Action {
	case "play":
		if p.Paused {
			p.Paused = false
			p.resume(cursor, now, p.Held)
		}
	case "pause":
		if !p.Paused && cursor < len(p.match.balls) {
			p.Held = p.match.balls[cursor].at.Sub(now)
			p.resume(cursor, now, p.Held)
			p.Paused = true
		}
	case "stop":
		if p.Stopped == nil {
			p.Stopped = &now
		}
	case "seek":
		return p.seek(cursor, c.Position, now)
	case "speed":
		return p.accelerate(cursor, c.Speed, now)
	case "faults":
		p.Faults = c.Faults
	default:
		return fault.New(fault.Invalid, "bad_action", "the action must be play, pause, stop, seek, speed or faults")
	}
	return nil
}

// seek moves to a position in balls. Skipped balls count as bowled at a real match's pace, up to now.
func (p *play) seek(cursor, position int, now time.Time) error {
	if position < 0 || position > len(p.recorded.balls) {
		return fault.New(fault.Invalid, "bad_position", "the position must be from 0 to %d", len(p.recorded.balls))
	}
	if skipped := position - cursor; skipped > 0 {
		p.Runs = slices.DeleteFunc(p.Runs, func(r run) bool { return r.First >= cursor })
		p.Runs = append(p.Runs, run{
			First: cursor, At: now.Add(-time.Duration(skipped-1) * ballToBall), MsPerBall: msPerBall, Skipped: true,
		})
	}
	if position == len(p.recorded.balls) {
		p.Paused = false // no ball is left to wait for
		return nil
	}
	p.continueFrom(position, now)
	p.Held = p.wait(position, p.ms())
	return nil
}

// accelerate changes the pace. The remaining time to the next ball is scaled with it, except for a break.
func (p *play) accelerate(cursor int, speed float64, now time.Time) error {
	if err := checkSpeed(speed); err != nil {
		return err
	}
	factor := p.Speed / speed
	p.Speed = speed
	if cursor == len(p.match.balls) {
		return nil
	}
	left := p.match.balls[cursor].at.Sub(now)
	if p.Paused {
		left = p.Held
	}
	if !p.breaks[cursor] {
		left = time.Duration(float64(left) * factor)
	}
	p.Held = left
	p.resume(cursor, now, left)
	return nil
}
