package push

import (
	"time"

	"github.com/touchline/touchline/edge/cricket"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/store"
)

// renewBy is when a card is ended at the latest: 7 h 55 after it began, before the system does.
const renewBy = 475 * time.Minute

// decideRenewal decides about a card that is to be replaced before the system ends it: its successor is started first, and it is ended
// when the token of that has come, or at renewBy. One of a device that has no room for another is ended first. due is false while nothing is
// to be done; next is then when to look again.
func (m *match) decideRenewal(s *session, now time.Time) (k kind, due bool, next time.Time) {
	at := s.row.SessionStartedAt.Add(renewAfter)
	last := s.row.SessionStartedAt.Add(renewBy)
	switch _, follows := m.followers[s.row.UserID]; {
	case !m.finishedAt.IsZero():
		return nothing, false, time.Time{}
	case s.isChannel():
		return m.decideChannelRenewal(now)
	case now.Before(at):
		return nothing, false, at
	case s.surplus || !now.Before(last):
		return renew, true, time.Time{}
	case s.idle || !follows:
		return nothing, false, last
	}
	if again := s.nextStart(); now.Before(again) {
		return nothing, false, earlier(again, last)
	}
	return start, true, time.Time{}
}

// owesFormer reports whether a session's phone still shows a card whose successor is there.
func (m *match) owesFormer(s *session) bool {
	return m.held && s.row.FormerToken != "" && !s.isChannel()
}

// renewed returns the row change after a card was ended for its successor, which may have been started already.
func (j *job) renewed() rowChange {
	if j.session.row.StartTries > 0 {
		return j.session.change(phone.Activities.Succeed)
	}
	return j.session.change(phone.Activities.Rest)
}

// retired returns the row change after a former card was ended.
func (j *job) retired() rowChange {
	former := j.session.row.FormerToken
	return j.session.change(func(a phone.Activities, tx *store.Tx, s *phone.Session) (bool, error) {
		return a.Retired(tx, s, former)
	})
}

// noteRenewal notes whether the cards on the match's channel are being replaced, by ones with tokens: the end of the channel's cards would end
// successors on it too. It begins when the oldest of them is to be renewed, or when channels are switched off, and goes on until the end was sent.
func (m *match) noteRenewal(now time.Time) {
	ch := m.channel
	if ch == nil {
		return
	}
	began := m.channelBegan()
	due := !began.IsZero() && !now.Before(began.Add(renewAfter))
	moving := due || ch.off || len(m.movedFrom(ch.id)) > 0
	if !moving || !ch.open() || !m.finishedAt.IsZero() {
		ch.renewing, ch.endBy = false, time.Time{}
		return
	}
	if !ch.renewing {
		ch.renewing, ch.endBy = true, now.Add(renewBy-renewAfter)
	}
	if due {
		ch.endBy = earlier(ch.endBy, began.Add(renewBy))
	}
}

// channelBegan returns when the oldest card on the channel began; zero if there is none.
func (m *match) channelBegan() (began time.Time) {
	for _, s := range m.listeners(m.channel.id) {
		began = earlier(began, s.row.SessionStartedAt)
	}
	return began
}

// movedFrom lists the sessions whose former cards are on a channel.
func (m *match) movedFrom(id string) (moved []*session) {
	for _, key := range m.keys() {
		if s := m.sessions[key]; s.row.FormerChannel == id {
			moved = append(moved, s)
		}
	}
	return moved
}

// hearsChannel reports whether the phone of a session with a token still shows its former card, on the channel: that tells the alerts.
func (m *match) hearsChannel(s *session) bool {
	return m.channel != nil && m.channel.open() && s.row.FormerChannel == m.channel.id
}

// decideChannelRenewal decides when the cards on a channel are ended: when no successor is awaited any more, at the latest at renewBy of the
// oldest.
func (m *match) decideChannelRenewal(now time.Time) (k kind, due bool, next time.Time) {
	if !m.channel.renewing {
		return nothing, false, m.channelBegan().Add(renewAfter)
	}
	next = m.channel.endBy
	if !now.Before(next) {
		return renew, true, time.Time{}
	}
	awaited := false
	for _, s := range m.listeners(m.channel.id) {
		if until, waits := m.awaitsSuccessor(s, now); waits {
			awaited, next = true, earlier(next, until)
		}
	}
	if !awaited {
		return renew, true, time.Time{}
	}
	return nothing, false, next
}

// awaitsSuccessor reports whether the successor of a card on a channel may still come, and until when; zero if only news can say.
func (m *match) awaitsSuccessor(s *session, now time.Time) (until time.Time, waits bool) {
	if _, follows := m.followers[s.row.UserID]; !follows || s.idle || s.surplus {
		return time.Time{}, false
	}
	if due := s.tokenDue(); !due.IsZero() {
		return due, now.Before(due)
	}
	return time.Time{}, s.row.StartTries < startTries
}

// decideMove decides about the successor of a card on a channel.
func (m *match) decideMove(s *session, now time.Time) (kind, time.Time) {
	if m.phase == cricket.PhaseStumps || m.putOff() || !m.channel.renewing {
		return nothing, time.Time{}
	}
	if _, waits := m.awaitsSuccessor(s, now); !waits {
		return nothing, time.Time{}
	}
	if again := s.nextStart(); now.Before(again) {
		return nothing, again
	}
	return start, now
}

// endedOnChannel returns the row changes after the cards on a channel were ended.
func (m *match) endedOnChannel(j *job) (changes []rowChange) {
	for _, s := range m.listeners(j.session.row.ChannelID) {
		change := phone.Activities.Rest
		switch {
		case j.kind == finish:
			change = ended(phone.EndMatchEnded)
		case j.kind == renew && s.row.StartTries > 0:
			change = phone.Activities.Succeed // its successor may be on the phone
		}
		changes = append(changes, s.change(change))
	}
	for _, s := range m.movedFrom(j.session.row.ChannelID) {
		changes = append(changes, s.change(phone.Activities.LeftChannel))
	}
	return changes
}
