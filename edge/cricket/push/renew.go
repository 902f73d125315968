package push

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/store"
)

// renewBy is when a card is ended at the latest: 7 h 55 after it began, before the system does.
const renewBy = 475 * time.Minute

// decideRenewal decides about a card that is to be replaced before the system ends it: its successor is started first, and it is ended
// when the token of that has come, or at renewBy. A card on a channel is ended first, because its end would end the successor too,
// and so is one of a device that has no room for another. due is false while nothing is to be done; next is then when to look again.
func (m *match) decideRenewal(s *session, now time.Time) (k kind, due bool, next time.Time) {
	at := s.row.SessionStartedAt.Add(renewAfter)
	last := s.row.SessionStartedAt.Add(renewBy)
	switch _, follows := m.followers[s.row.UserID]; {
	case !m.finishedAt.IsZero():
		return nothing, false, time.Time{}
	case now.Before(at):
		return nothing, false, at
	case s.isChannel() || s.surplus || !now.Before(last):
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
