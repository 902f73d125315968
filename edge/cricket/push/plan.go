package push

import (
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// Waits and limits.
const (
	spacing      = time.Second       // between two pushes to one phone
	refreshAfter = 15 * time.Minute  // of silence: an app gives up an activity after 30
	staleAfter   = 20 * time.Minute  // after this silence a phone marks the activity as stale
	renewAfter   = 450 * time.Minute // 7 h 30: the system ends an activity after 8 h
	endAfter     = 15 * time.Minute  // between the confirmed result and the end of the activities
	restAfter    = 5 * time.Minute   // between stumps and the end of the activities, so that late corrections still reach them
	lingerAfter  = 20 * time.Minute  // how long the final state stays on the lock screen
	alertLife    = 2 * time.Minute   // afterwards an event shows only in the banner
	owedLife     = time.Hour         // for corrections and the result: better late than never
	endLife      = 4 * time.Hour     // how long an end push is retried
	startGap     = 30 * time.Second  // between a start that Apple refused, or an end, and the next start
	startTries   = 3                 // after this many refused starts, another one is sent soon only if the device registers again
	healEvery    = 30 * time.Minute  // when a refused start is retried without news
	cardLife     = 8 * time.Hour     // life of an activity on a lock screen: an accepted start is not repeated sooner
	urgentHourly = 15                // pushes of priority 10 per device and hour; phones show no more
	scantHourly  = 8                 // the same for a device whose user has switched frequent updates off
)

// kind is the purpose of a push.
type kind uint8

const (
	nothing kind = iota
	start        // push-to-start
	update       // the newest state
	tell         // an alert, with the newest state
	notify       // an alert as an ordinary notification, to a phone without a card
	finish       // the match is over
	rest         // stumps: end until tomorrow
	renew        // the eight hours are nearly over: end, after or before its successor was started
	retire       // the successor of a card is there: end the former one at once
	release      // the follower left: end at once
	giveUp       // no push, like the kinds below: an end failed for four hours
	expire       // no push: nobody waits for this row any more
	lost         // no push: its channel is gone, so it is started again
	explain      // no push: the row says why there is no card
)

// String returns the kind's name in metrics.
func (k kind) String() string {
	return [...]string{"nothing", "start", "update", "alert", "notification", "finish", "rest", "renew", "retire", "release", "give_up", "expire", "lost", "explain"}[k]
}

// pushes reports whether a kind sends a push; the others only change a row.
func (k kind) pushes() bool { return k < giveUp }

// job is something due for a session.
type job struct {
	match   *match
	session *session
	kind    kind
	alert   *alert
	device  phone.Device // of a start or an ordinary alert
	spent   time.Time    // when it was taken from the budget; zero: it was not
	noted   time.Time    // when a start was recorded, before it is sent; zero: not recorded
	channel string       // for a start: the channel its activity listens to
	named   bool         // an alert that says what match it is about
	hash    uint64       // of the state it carries
	push    apns.Push
	result  apns.Result
	at      time.Time // when the result came
	skip    bool      // found to be impossible
}

// plan returns what is due for a match and notes when to plan again; planned is false if there was no need to.
func (c *Coordinator) plan(m *match, now time.Time) (jobs []*job, planned bool) {
	if !m.dirty && (m.next.IsZero() || now.Before(m.next)) {
		return nil, false
	}
	m.dirty, m.next, m.lacking = false, time.Time{}, false
	m.noteRenewal(now)
	sessions := make([]*session, 0, len(m.sessions)+len(m.cardless)+1)
	for _, key := range m.keys() {
		sessions = append(sessions, m.sessions[key])
	}
	if s := m.broadcasting(); s != nil {
		sessions = append(sessions, s)
	}
	sessions = append(sessions, m.ordinary()...)
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
		jobs = append(jobs, m.newJob(s, k, now))
	}
	return jobs, true
}

// newJob returns what is due for a session.
func (m *match) newJob(s *session, k kind, now time.Time) *job {
	j := &job{match: m, session: s, kind: k}
	if k == tell || k == notify {
		j.alert = m.alertFor(s, now)
	}
	if k == notify {
		j.device = *m.deviceOf(s)
	}
	return j
}

// decideHere is decide restricted to what this node may do: if another node holds the match, only alerts.
func (m *match) decideHere(s *session, now time.Time) (kind, time.Time) {
	k, at := m.decide(s, now)
	if !m.held && k != nothing && k != tell && k != notify {
		return nothing, time.Time{}
	}
	return k, at
}

// decide returns what a session needs next and when. nothing with a zero time means that only news can change that.
func (m *match) decide(s *session, now time.Time) (kind, time.Time) {
	if s.flying {
		return nothing, time.Time{} // its answer will be news
	}
	k, at := m.decideStatus(s, now)
	if m.owesFormer(s) && (k == nothing || k != tell && k != notify || now.Before(at)) {
		k, at = retire, now
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

// decideStatus decides by the status of a session. What is not a card is told of alerts in the ordinary way.
func (m *match) decideStatus(s *session, now time.Time) (k kind, at time.Time) {
	switch s.row.Status {
	case phone.SessionActive:
		return m.decideActive(s, now)
	case phone.SessionEnded:
		k, at = s.decideEnded(now)
	case "":
		k = nothing
	default:
		k, at = m.decideWaiting(s, now)
	}
	other, otherAt := m.decideOrdinary(s, now)
	waits := k == nothing || now.Before(at)
	if other == notify || waits && !otherAt.IsZero() && (at.IsZero() || otherAt.Before(at)) {
		return other, otherAt
	}
	return k, at
}

// decideEnded decides for an ended session, which may still owe its phone an end push.
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

// decideWaiting decides for a session without a token.
func (m *match) decideWaiting(s *session, now time.Time) (kind, time.Time) {
	if m.isClosed(now) {
		return expire, now
	}
	look := m.watchStart(s, now)
	if why := s.noCard(); why != "" && why != s.row.NoCard {
		return explain, now
	}
	if _, follows := m.followers[s.row.UserID]; !m.playing() || !follows || s.idle {
		return nothing, earlier(m.closing(), look)
	}
	if s.surplus && now.Before(s.askAgain) {
		return nothing, s.askAgain
	}
	if now.Before(m.opening) {
		return nothing, m.opening
	}
	at := later(later(now, s.nextStart()), s.row.ResumedAt.Add(startGap))
	if s.row.Status == phone.SessionSuspended {
		at = later(at, s.row.SuspendedAt.Add(startGap)) // the app may have sent a new token by then
	}
	if !look.IsZero() && look.Before(at) {
		return nothing, look
	}
	return start, at
}

// nextStart returns when an activity may be started, given the earlier starts. An accepted one is on the phone or lost:
// another could be a second card. One without an answer is repeated once, after Apple has dropped it, if no token has come.
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

// decideActive decides for a session with a token or channel.
func (m *match) decideActive(s *session, now time.Time) (kind, time.Time) {
	if s.row.ChannelID != "" && !s.isChannel() {
		return m.decideListener(s, now)
	}
	heard := m.hearsChannel(s)
	switch {
	case !m.held && m.isClosed(now):
		return nothing, time.Time{}
	case m.hopeless(now):
		return expire, now
	case m.isClosed(now):
		return finish, now
	case m.display == nil:
		return nothing, m.closing()
	case !heard && m.alertFor(s, now) != nil:
		return tell, now
	case !m.held:
		return nothing, time.Time{}
	case m.phase == cricket.PhaseStumps || m.putOff():
		restAt := m.phaseSince.Add(restAfter)
		if s.hash != m.hash && now.Before(restAt) {
			return update, now
		}
		return rest, restAt
	}
	k, due, next := m.decideRenewal(s, now)
	switch {
	case due:
		return k, now
	case s.hash != m.hash:
		return update, now
	case !m.finishedAt.IsZero():
		return nothing, m.closing()
	case next.Before(s.at.Add(refreshAfter)):
		return nothing, next
	default:
		return update, s.at.Add(refreshAfter)
	}
}
