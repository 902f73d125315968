package push

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/store"
)

// How failures are handled.
const (
	updateLife   = 10 * time.Second // an update is retried quickly for this long, then slowly
	slowRetry    = 30 * time.Second
	longestRetry = time.Minute
	crowded      = 5 * time.Second // wait after a 429 for one token; doubles
	stormSize    = 20              // rejected tokens that suggest a wrong configuration
	stormWindow  = time.Minute     // within this time
)

// rowChange is a change to a row that an answer requires.
type rowChange func(*store.Tx) error

// settle records the outcome of pushes. It continues after ctx has ended, because Apple's answers are known.
func (c *Coordinator) settle(ctx context.Context, jobs []*job) error {
	storm := c.isStorm(jobs)
	if storm {
		c.alarm(AlarmStorm, 1)
		c.log.Error("most tokens were rejected, perhaps for a wrong environment or app: all are kept")
	}
	var changes []rowChange
	alarms := map[string]int{}
	for _, j := range jobs {
		j.match.dirty = true
		if !j.kind.pushes() {
			changes = append(changes, j.rowOnly())
			continue
		}
		if !j.came() {
			j.recordUndelivered()
		}
		j.reaches()
		c.refund(j)
		if change := j.answered(); change != nil {
			changes = append(changes, change)
		}
		if j.skip || j.result.Status == 0 && ctx.Err() != nil {
			continue
		}
		c.count(j)
		if j.result.Alarm {
			alarms[j.result.Reason]++
		}
		if j.session.isChannel() {
			changes = append(changes, c.broadcasted(j)...)
		} else if change := c.outcome(j, storm); change != nil {
			changes = append(changes, change)
		}
	}
	for reason, n := range alarms {
		c.alarm(reason, n)
		c.log.Error("push refused: operator action needed", "reason", reason, "pushes", n)
	}
	return c.change(context.WithoutCancel(ctx), changes)
}

// change applies row changes, rowsAtOnce per transaction.
func (c *Coordinator) change(ctx context.Context, changes []rowChange) error {
	for some := range slices.Chunk(changes, rowsAtOnce) {
		err := c.store.Update(ctx, func(tx *store.Tx) error {
			for _, f := range some {
				if err := f(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unsent takes back the recorded starts of a round that is not sent.
func (c *Coordinator) unsent(ctx context.Context, jobs []*job) error {
	var changes []rowChange
	for _, j := range jobs {
		if change := j.answered(); change != nil {
			changes = append(changes, change)
		}
	}
	return c.change(ctx, changes)
}

// tally counts the rejected tokens of a round.
type tally struct {
	at             time.Time
	sent, rejected int
}

// isStorm reports whether so many tokens were rejected within a minute, and most of this round, that this node must be at fault.
func (c *Coordinator) isStorm(jobs []*job) bool {
	round := tally{at: c.clock.Now()}
	for _, j := range jobs {
		if !j.kind.pushes() || j.skip || j.session.isChannel() {
			continue
		}
		if (j.kind == start || j.kind == notify) && j.result.Action == apns.Accepted {
			continue // tokens of another kind say nothing about these
		}
		round.sent++
		if j.result.Action == apns.Suspend {
			round.rejected++
		}
	}
	c.recent = slices.DeleteFunc(c.recent, func(t tally) bool { return round.at.Sub(t.at) >= stormWindow })
	rejected := round.rejected
	for _, t := range c.recent {
		rejected += t.rejected
	}
	if round.rejected > 0 {
		c.recent = append(c.recent, round)
	}
	return rejected >= stormSize && 2*round.rejected > round.sent
}

// change returns a change to a session's row as it is now.
func (s *session) change(do func(phone.Activities, *store.Tx, *phone.Session) (done bool, err error)) rowChange {
	row := s.row
	return func(tx *store.Tx) error {
		_, err := do(phone.Activities{}, tx, &row)
		return err
	}
}

// ended returns the change that ends a session.
func ended(why phone.EndReason) func(phone.Activities, *store.Tx, *phone.Session) (bool, error) {
	return func(a phone.Activities, tx *store.Tx, s *phone.Session) (bool, error) {
		return a.RecordEnded(tx, s, why)
	}
}

// rowOnly returns the row change of a job that sends nothing.
func (j *job) rowOnly() rowChange {
	switch {
	case j.kind == giveUp:
		return j.session.change(phone.Activities.RecordEndSent)
	case j.kind == explain:
		why := j.session.noCard()
		return j.session.change(func(a phone.Activities, tx *store.Tx, s *phone.Session) (bool, error) { return a.Explain(tx, s, why) })
	case j.kind == lost:
		return j.session.change(phone.Activities.Rest)
	case j.session.row.Status == phone.SessionSuspended:
		return j.session.change(ended(phone.EndTokenInvalid)) // and never healed
	default:
		return j.session.change(ended(phone.EndMatchEnded))
	}
}

// outcome handles one answer.
func (c *Coordinator) outcome(j *job, storm bool) rowChange {
	s, res := j.session, &j.result
	s.at = j.at
	if j.alert != nil && j.came() {
		s.told = j.alert.no // what may have arrived is not sent again
	}
	switch res.Action {
	case apns.Accepted:
		s.heal()
		s.small = false
		if j.kind != notify && j.kind != retire {
			s.hash = j.hash
		}
		return j.done()
	case apns.Suspend, apns.Gone:
		if storm && res.Action == apns.Suspend {
			s.retry = j.at.Add(pauseAfter)
			return nil
		}
		return j.rejected()
	case apns.Later:
		s.last = attempt{} // this update is dropped
		s.tries++
		s.retry = j.at.Add(later429(s.tries, res.RetryAfter))
	case apns.Shrink:
		s.last = attempt{}
		if s.small {
			s.hash = j.hash // even the small one was too large: the next state may fit
		}
		s.small = !s.small
	case apns.Stop:
		s.last = attempt{}
	default:
		c.again(j)
	}
	return nil
}

// later429 returns the wait after Apple said that a token gets too many pushes.
func later429(tries int, asked time.Duration) time.Duration {
	wait := crowded << min(tries-1, 4)
	return min(max(wait, asked), longestRetry)
}

// again schedules a retry: soon at first, with the newest state by then; slowly once an update has failed for
// updateLife, so that the phone catches up when Apple is back.
func (c *Coordinator) again(j *job) {
	s := j.session
	if s.broken.IsZero() {
		s.broken = j.at
	}
	policy := backoff.Policy{Base: time.Second, Max: 8 * time.Second, Floor: spacing}
	if j.kind != update && j.kind != tell && j.kind != notify {
		policy.Max = longestRetry
	}
	wait := max(policy.Delay(s.tries, c.cfg.Random()), min(j.result.RetryAfter, longestRetry))
	if j.kind == update && j.at.Sub(s.broken) >= updateLife {
		wait = max(wait, slowRetry)
	}
	s.tries++
	s.retry = j.at.Add(wait)
}

// done returns the row change after a push was accepted.
func (j *job) done() rowChange {
	switch j.kind {
	case start:
		if j.channel == "" {
			return nil // the app reports its token
		}
		j.session.lit = true
		return j.session.change(func(a phone.Activities, tx *store.Tx, s *phone.Session) (bool, error) {
			return a.RecordJoined(tx, s, j.channel)
		})
	case finish:
		return j.session.change(ended(phone.EndMatchEnded))
	case rest:
		return j.session.change(phone.Activities.Rest)
	case renew:
		return j.renewed()
	case retire:
		return j.retired()
	case release:
		return j.session.change(phone.Activities.RecordEndSent)
	default:
		return nil
	}
}

// answered returns the row change for a recorded start, nil if its answer was lost.
func (j *job) answered() rowChange {
	noted, res := j.noted, &j.result
	if noted.IsZero() || j.came() && res.Action != apns.Accepted {
		return nil
	}
	answer := phone.StartRefused
	if j.came() {
		answer = phone.StartTaken
	}
	sent := !j.skip && res.Status != 0 && !res.SaysNothing()
	return j.session.change(func(a phone.Activities, tx *store.Tx, s *phone.Session) (bool, error) {
		if sent {
			return a.RecordAnswer(tx, s, noted, answer)
		}
		return a.Unsent(tx, s, noted)
	})
}

// rejected returns the row change after a token was rejected. An end counts as delivered; the session of an
// update is suspended and healed later; a start's token is forgotten if it is dead.
func (j *job) rejected() rowChange {
	device, res := j.device, j.result
	switch j.kind {
	case finish, rest, renew, retire, release:
		return j.done()
	case notify:
		return j.rejectedDevice()
	case start:
		if res.Action != apns.Gone {
			return nil
		}
		return func(tx *store.Tx) error {
			return phone.Devices{}.DropPushToStart(tx, device.UserID, device.DeviceToken, device.PushToStartToken, res.Gone)
		}
	default:
		return j.session.change(phone.Activities.Suspend)
	}
}
