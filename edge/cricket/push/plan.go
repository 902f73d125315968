package push

import (
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// When things happen.
const (
	spacing      = time.Second       // between two pushes to one phone
	refreshAfter = 15 * time.Minute  // of silence: an app gives an activity up after 30
	staleAfter   = 20 * time.Minute  // a phone that hears nothing for so long says so
	renewAfter   = 450 * time.Minute // 7 h 30: the system ends an activity after 8 h
	endAfter     = 15 * time.Minute  // between the confirmed result and the end of the activities
	restAfter    = 5 * time.Minute   // between stumps and the end of the activities: what was wrong at the close is put right on them
	lingerAfter  = 20 * time.Minute  // how long the final state stays on the lock screen
	alertLife    = 2 * time.Minute   // later an event is only in the banner
	owedLife     = time.Hour         // of a correction and the result, which are told late rather than never
	endLife      = 4 * time.Hour     // an end push is tried for so long
	startGap     = 30 * time.Second  // between a start that Apple refused, or an end, and the next start
	startTries   = 3                 // that Apple refused: then only news of the device brings another soon
	healEvery    = 30 * time.Minute  // a start that Apple refused is tried again without news
	cardLife     = 8 * time.Hour     // of an activity on a lock screen: a start that Apple took is not repeated sooner
	urgentHourly = 15                // pushes of priority 10 a device gets in an hour: more are not shown
)

// kind is what a push is for.
type kind uint8

const (
	nothing kind = iota
	start        // push-to-start
	update       // the newest state
	tell         // an alert, with the newest state
	finish       // the match is over
	rest         // stumps: until tomorrow
	renew        // eight hours are nearly over: end, then start again
	release      // the follower left: end at once
	giveUp       // no push: an end that nobody took in four hours; this kind and those below send nothing
	expire       // no push: nobody waits for this row any more
	lost         // no push: the channel it listened to is gone, so that it is started anew
)

// String is for metrics.
func (k kind) String() string {
	return [...]string{"nothing", "start", "update", "alert", "finish", "rest", "renew", "release", "give_up", "expire", "lost"}[k]
}

// pushes reports whether a kind sends something; the others only change a row.
func (k kind) pushes() bool { return k < giveUp }

// job is something to be done for a session now.
type job struct {
	match   *match
	session *session
	kind    kind
	alert   *alert
	device  phone.Device // of a start
	noted   time.Time    // when a start was noted, before it leaves; zero: it was not
	channel string       // that the activity of a start listens to
	hash    uint64       // of the state in it
	push    apns.Push
	result  apns.Result
	at      time.Time // when it came
	skip    bool      // found to be impossible
}

// plan returns what is due for a match and notes when to look again; planned is false if there was no need to look.
func (c *Coordinator) plan(m *match, now time.Time) (jobs []*job, planned bool) {
	if !m.dirty && (m.next.IsZero() || now.Before(m.next)) {
		return nil, false
	}
	m.dirty, m.next, m.lacking = false, time.Time{}, false
	sessions := make([]*session, 0, len(m.sessions)+1)
	for _, key := range m.keys() {
		sessions = append(sessions, m.sessions[key])
	}
	if s := m.broadcasting(); s != nil {
		sessions = append(sessions, s)
	}
	for _, s := range sessions {
		k, at := m.decideHere(s, now)
		m.lacking = m.lacking || s.idle && m.playing()
		if k == nothing && at.IsZero() {
			continue
		}
		if k != nothing && k.pushes() {
			at = later(at, c.paused)
		}
		if now.Before(at) || k == nothing {
			m.next = earlier(m.next, at)
			continue
		}
		j := &job{match: m, session: s, kind: k}
		if k == tell {
			j.alert = m.alertFor(s, now)
		}
		jobs = append(jobs, j)
	}
	return jobs, true
}

// decideHere is decide for what this node may do: of a match that another holds, alerts alone.
func (m *match) decideHere(s *session, now time.Time) (kind, time.Time) {
	k, at := m.decide(s, now)
	if !m.held && k != nothing && k != tell {
		return nothing, time.Time{}
	}
	return k, at
}

// decide says what a session needs next and when. A zero instant with nothing means: only news can change that.
func (m *match) decide(s *session, now time.Time) (kind, time.Time) {
	if s.flying {
		return nothing, time.Time{} // its answer will be news
	}
	var k kind
	var at time.Time
	switch s.row.Status {
	case phone.SessionEnded:
		k, at = s.decideEnded(now)
	case phone.SessionActive:
		k, at = m.decideActive(s, now)
	default:
		k, at = m.decideWaiting(s, now)
	}
	if s.isChannel() && !k.pushes() {
		return nothing, time.Time{} // it has no row
	}
	if k == nothing || !k.pushes() {
		return k, at
	}
	at = later(at, s.retry)
	if !s.at.IsZero() {
		at = later(at, s.at.Add(spacing))
	}
	return k, at
}

// decideEnded settles what an ended session still owes its phone.
func (s *session) decideEnded(now time.Time) (kind, time.Time) {
	switch {
	case s.row.UpdateToken == "":
		return nothing, time.Time{}
	case !now.Before(s.row.EndedAt.Add(endLife)):
		return giveUp, now
	default:
		return release, now
	}
}

// decideWaiting looks at a session without a token.
func (m *match) decideWaiting(s *session, now time.Time) (kind, time.Time) {
	if m.closed(now) {
		return expire, now
	}
	if _, follows := m.followers[s.row.UserID]; !m.playing() || !follows || s.idle {
		return nothing, m.closing()
	}
	if now.Before(m.opening) {
		return nothing, m.opening
	}
	at := later(later(now, s.nextStart()), s.row.ResumedAt.Add(startGap))
	if s.row.Status == phone.SessionSuspended {
		at = later(at, s.row.SuspendedAt.Add(startGap)) // the app may have sent a new token already
	}
	return start, at
}

// nextStart is when an activity may be started, by what came of the starts before. One that Apple took is on the phone, or
// lost: another would be a second card. One without an answer is repeated once, when Apple holds it no more and no token
// has come.
func (s *session) nextStart() time.Time {
	wait := cardLife
	switch row := &s.row; {
	case row.StartTries == 0:
		return time.Time{}
	case row.StartAnswer == phone.StartRefused && row.StartTries < startTries:
		wait = startGap
	case row.StartAnswer == phone.StartRefused:
		wait = healEvery
	case row.StartAnswer == "" && row.StartTries == 1:
		wait = phone.StartLife
	}
	return s.row.StartSentAt.Add(wait)
}

// decideActive looks at a session with a token.
func (m *match) decideActive(s *session, now time.Time) (kind, time.Time) {
	if s.row.ChannelID != "" && !s.isChannel() {
		return m.decideListener(s, now)
	}
	switch {
	case !m.held && m.closed(now):
		return nothing, time.Time{}
	case m.hopeless(now):
		return expire, now
	case m.closed(now):
		return finish, now
	case s.isChannel() && m.channel.off:
		return renew, now
	case m.display == nil:
		return nothing, m.closing()
	case m.alertFor(s, now) != nil:
		return tell, now
	case !m.held:
		return nothing, time.Time{}
	case m.phase == cricket.PhaseStumps:
		restAt := m.phaseSince.Add(restAfter)
		if s.hash != m.hash && now.Before(restAt) {
			return update, now
		}
		return rest, restAt
	}
	renewAt := s.row.SessionStartedAt.Add(renewAfter)
	switch {
	case m.finishedAt.IsZero() && !now.Before(renewAt):
		return renew, now
	case s.hash != m.hash:
		return update, now
	case !m.finishedAt.IsZero():
		return nothing, m.closing()
	case renewAt.Before(s.at.Add(refreshAfter)):
		return renew, renewAt
	default:
		return update, s.at.Add(refreshAfter)
	}
}
