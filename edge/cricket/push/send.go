package push

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// smallPush is the size limit in bytes after Apple called a push too large.
const smallPush = 700

// payloadKey identifies a payload within a match and round: every follower gets the same bytes.
type payloadKey struct {
	kind    kind
	alert   uint64
	small   bool
	stamp   int64
	channel string
	named   bool
	session *session // of an ordinary alert, which says what holds for its phone
}

// build builds a match's pushes for this round. All have one timestamp, above every earlier one, except for repeated pushes.
func (c *Coordinator) build(m *match, jobs []*job, now time.Time) {
	stamp := now.Unix()
	for _, j := range jobs {
		if j.match == m && j.kind.pushes() {
			stamp = max(stamp, j.session.stamp+1)
		}
	}
	payloads := map[payloadKey][]byte{}
	for _, j := range jobs {
		if j.match != m || !j.kind.pushes() || j.skip {
			continue
		}
		try := j.attempt(stamp)
		silent := c.silent(j, now)
		key := j.payloadKey(&try)
		body, ok := payloads[key]
		if !ok {
			var err error
			if body, err = m.payload(j, try.stamp, now, silent); err != nil {
				// It is pruned as far as possible: the next state may be shorter.
				c.log.Error("push not built", "match", m.id, "kind", j.kind.String(), "err", err)
				j.skip, j.session.hash, j.session.retry = true, m.hash, now.Add(slowRetry)
				continue
			}
			payloads[key] = body
		}
		j.address(m, try.stamp, now, body, silent)
		if j.alert != nil {
			j.alert.left++ // it may be on a phone from now on
		}
		j.session.last = try
		c.charge(j, now)
		m.stamp = max(m.stamp, try.stamp)
	}
}

// payloadKey returns which payload a job has in common with others.
func (j *job) payloadKey(try *attempt) payloadKey {
	key := payloadKey{kind: j.kind, small: try.small, alert: try.alert, stamp: try.stamp, channel: j.channel, named: try.named}
	if j.kind == notify {
		key.session = j.session
	}
	return key
}

// charge takes an urgent push to a card from its device's budget, or makes it one that is not urgent.
func (c *Coordinator) charge(j *job, now time.Time) {
	if j.kind != notify && j.push.Priority == apns.PriorityUrgent && !c.spend(j, now) {
		j.push.Priority = apns.PriorityNormal
	}
}

// attempt returns what a job will send: with this round's timestamp, or with that of a failed push that it repeats.
func (j *job) attempt(stamp int64) attempt {
	try := attempt{kind: j.kind, hash: j.match.hash, small: j.session.small, named: j.named, stamp: stamp}
	if j.alert != nil {
		try.alert = j.alert.no
	}
	if last := j.session.last; last.stamp != 0 {
		again := last
		again.stamp = stamp
		if again == try {
			return last
		}
	}
	return try
}

// payload builds the body of a push.
func (m *match) payload(j *job, stamp int64, now time.Time, silent bool) ([]byte, error) {
	if j.kind == notify {
		return m.notification(j, silent)
	}
	p := payload.ActivityPush{At: time.Unix(stamp, 0), Event: payload.ActivityUpdate, StaleAt: now.Add(staleAfter)}
	if m.display != nil {
		p.State, p.Relevance = &m.state, payload.Relevance(m.display)
		if m.display.NoNews {
			p.StaleAt = now // phones show it as stale at once
		}
	}
	switch j.kind {
	case start:
		p.Event = payload.ActivityStart
		p.Alert, p.Attributes = payload.StartAlert(m.display), payload.NewAttributes(m.display)
		p.Channel = j.channel
	case tell:
		p.Alert = payload.NewAlert(m.display, &j.alert.event)
		if j.named {
			p.Alert.NameMatch(m.display)
		}
		state := m.state.Telling(m.display, &j.alert.event)
		p.State = &state
	case finish, rest:
		p.Event, p.StaleAt, p.DismissAt = payload.ActivityEnd, time.Time{}, now.Add(lingerAfter)
	case renew, retire, release:
		p.Event, p.StaleAt, p.DismissAt = payload.ActivityEnd, time.Time{}, now
	}
	limit := 0
	if j.session.small {
		limit = smallPush
	}
	return p.Encode(limit)
}

// address sets everything of a push but its body.
func (j *job) address(m *match, stamp int64, now time.Time, body []byte, silent bool) {
	row := &j.session.row
	j.hash = m.hash
	j.push = apns.Push{
		Token: row.UpdateToken, Type: apns.TypeLiveActivity, Priority: apns.PriorityNormal, Payload: body,
		ID: pushID(m.id, row.Key, stamp, j.kind),
	}
	if j.session.isChannel() {
		j.push.Channel = row.ChannelID
	}
	life := time.Minute
	switch j.kind {
	case start:
		j.push.Token = j.device.PushToStartToken
		j.push.Priority, life = apns.PriorityUrgent, phone.StartLife
	case tell, notify:
		j.push.Priority, life = apns.PriorityUrgent, lifeOf(&j.alert.event)
	case retire:
		j.push.Token, life = row.FormerToken, endLife
	case finish, rest, renew, release:
		life = endLife
	case update:
		if m.collapse {
			j.push.CollapseID = payload.MatchCollapseID(m.id)
		}
	}
	j.push.Expiration, j.push.Development = now.Add(life), j.session.develops
	if j.kind == notify {
		j.addressNotification(silent)
	}
	j.session.stamp = max(j.session.stamp, stamp)
	if j.channel != "" { // later broadcasts must be newer than the start
		m.channel.session.stamp = max(m.channel.session.stamp, stamp)
	}
}

// pushID derives the id from the push, so that a replay gives the same id.
func pushID(match, key string, stamp int64, k kind) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "%s|%s|%d|%d", match, key, stamp, k)).String()
}

// silent reports whether an ordinary alert neither sounds nor lights up the screen: in the user's quiet hours, and over the budget.
func (c *Coordinator) silent(j *job, now time.Time) bool {
	return j.kind == notify && (j.device.Quiet(now) || !c.spend(j, now))
}

// spend takes an urgent push from a device's budget, over all its matches. Pushes over the budget are sent at normal
// priority: otherwise the phone would drop them and every urgent one after. A broadcast leaves room for one start, if
// a listener joined within the hour.
func (c *Coordinator) spend(j *job, now time.Time) bool {
	lately := func(s *session) bool { return now.Sub(s.began()) < time.Hour }
	limit := urgentHourly
	switch d := j.match.deviceOf(j.session); {
	case d != nil:
		limit = hourlyOf(d)
	case j.session.isChannel() && slices.ContainsFunc(j.match.listeners(j.session.row.ChannelID), lately):
		limit--
	}
	if !c.urgent.take(j.session.row.Key, now, limit, func() []time.Time { return c.spentBefore(j) }) {
		return false
	}
	j.spent = now
	return true
}

// refund gives a device back what a push cost that has reached nobody.
func (c *Coordinator) refund(j *job) {
	if !j.spent.IsZero() && !j.came() {
		c.urgent.refund(j.session.row.Key, j.spent)
	}
}

// spentBefore returns what an earlier process spent of a device's budget, as far as its rows show: the starts of
// its activities, and the alerts since its session was created, shown on an earlier activity too.
func (c *Coordinator) spentBefore(j *job) (at []time.Time) {
	for _, m := range c.matches {
		s := m.sessions[j.session.row.Key]
		if m == j.match {
			s = j.session
		}
		if s == nil {
			continue
		}
		began := s.began()
		if !began.IsZero() && began.Before(c.since) && !s.isChannel() {
			at = append(at, began)
		}
		for _, r := range m.reached {
			if r.At.After(s.row.CreatedAt) && r.At.Before(c.since) {
				at = append(at, r.At)
			}
		}
	}
	return at
}
