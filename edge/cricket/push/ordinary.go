package push

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
)

// This file decides about ordinary notifications: what phones without a card of the match are told. Session and alert have one number,
// told, for both ways, so that nothing is told twice.

// Waits for a card.
const (
	tokenWait  = 2 * time.Minute  // for the token of a start that Apple accepted; afterwards there is no card
	startSoon  = startGap         // for a start that is due
	lastMoment = 10 * time.Second // before an alert is too old, it is sent without a card
)

// readDevices reads the devices of followers with news, if there is an alert to send.
func (c *Coordinator) readDevices(ctx context.Context, m *match) error {
	if len(m.alerts) == 0 && !c.cfg.Environments || len(m.unread) == 0 {
		return nil
	}
	read := map[string][]phone.Device{}
	err := c.store.View(ctx, func(tx *store.Tx) error {
		clear(read)
		for user := range m.unread {
			if _, follows := m.followers[user]; !follows {
				continue
			}
			devices, err := phone.Devices{}.OfUser(tx, user)
			if err != nil {
				return err
			}
			read[user] = devices
		}
		return nil
	})
	if err != nil {
		return err
	}
	for user := range m.unread {
		m.setDevices(user, read[user])
	}
	clear(m.unread)
	m.dirty = true
	return nil
}

// setDevices replaces what is known of a user's devices. A device without a row for the match gets a session in memory.
func (m *match) setDevices(user string, devices []phone.Device) {
	maps.DeleteFunc(m.cardless, func(_ string, s *session) bool { return s.row.UserID == user && !hasDevice(devices, s.row.DeviceID) })
	delete(m.devices, user)
	if len(devices) > 0 {
		m.devices[user] = devices
	}
	for i := range devices {
		key := tables.SessionKey(user, devices[i].DeviceID)
		if s := cmp.Or(m.sessions[key], m.cardless[key]); s != nil {
			s.deaf, s.develops = "", devices[i].Develops() // it has registered again
			continue
		}
		m.cardless[key] = &session{
			told: m.newcomers[user], develops: devices[i].Develops(), row: phone.Session{MatchID: m.id, Key: key, UserID: user, DeviceID: devices[i].DeviceID},
		}
	}
}

func hasDevice(devices []phone.Device, id string) bool {
	return slices.ContainsFunc(devices, func(d phone.Device) bool { return d.DeviceID == id })
}

// deviceOf returns the device that a session's ordinary alerts go to; nil if there is none, or Apple rejects its token.
func (m *match) deviceOf(s *session) *phone.Device {
	if _, follows := m.followers[s.row.UserID]; !follows {
		return nil
	}
	devices := m.devices[s.row.UserID]
	for i := range devices {
		d := &devices[i]
		if d.DeviceID == s.row.DeviceID && d.DeviceToken != s.deaf {
			return d
		}
	}
	return nil
}

// decideOrdinary decides whether a session without a card is due an ordinary alert, and when to look again. Alerts that its user does not
// want count as told.
func (m *match) decideOrdinary(s *session, now time.Time) (kind, time.Time) {
	d := m.deviceOf(s)
	if d == nil {
		return nothing, time.Time{}
	}
	for {
		a := m.alertFor(s, now)
		if a == nil {
			return nothing, time.Time{}
		}
		if at := m.cardBy(s, a); now.Before(at) {
			return nothing, at
		}
		if d.Wants(a.event.News()) {
			return notify, now
		}
		s.told = a.no
	}
}

// cardBy returns until when an alert waits because the session's card may come; zero if none is expected.
func (m *match) cardBy(s *session, a *alert) (at time.Time) {
	switch {
	case s.row.Status != phone.SessionPending && s.row.Status != phone.SessionSuspended:
		return time.Time{}
	case s.row.StartTries > 0:
		at = s.tokenDue()
	case m.playing() && !s.idle && !s.surplus:
		at = a.from.Add(startSoon)
	}
	if last := a.until.Add(-lastMoment); at.After(last) {
		return last
	}
	return at
}

// tokenDue returns when the token of a start that Apple has accepted, or may have, must have come; zero if there is no such start.
func (s *session) tokenDue() time.Time {
	if s.row.StartTries == 0 || s.row.StartAnswer == phone.StartRefused {
		return time.Time{}
	}
	return s.row.StartSentAt.Add(tokenWait)
}

// watchStart notes a card that did not come, and returns when to look again.
func (m *match) watchStart(s *session, now time.Time) time.Time {
	due := s.tokenDue()
	if due.IsZero() || now.Before(due) {
		return due
	}
	if !s.missing {
		s.missing = true
		m.recheck[s.row.UserID], m.dirty = true, true // its device may have another push-to-start token by now
	}
	return time.Time{}
}

// noCard returns why a waiting session has no card; empty if nothing is to be said.
func (s *session) noCard() phone.NoCard {
	switch {
	case s.missing:
		return phone.NoCardMissing
	case s.surplus:
		return phone.NoCardLimit
	}
	return ""
}

// ordinary lists the sessions of phones without a row, in a fixed order.
func (m *match) ordinary() (out []*session) {
	for _, key := range slices.Sorted(maps.Keys(m.cardless)) {
		out = append(out, m.cardless[key])
	}
	return out
}

// waitsOrdinarily reports whether a session without a card waits for an alert. It may be one that nobody has been told of.
func (m *match) waitsOrdinarily(s *session, a *alert) bool {
	if s.row.Status == phone.SessionActive || s.told >= a.no {
		return false
	}
	d := m.deviceOf(s)
	return d != nil && d.Wants(a.event.News())
}

// notification returns the body of an ordinary alert, and whether it is silent: in the user's quiet hours, and over the budget.
func (m *match) notification(j *job, silent bool) ([]byte, error) {
	n := payload.NewNotification(m.display, m.id, &j.alert.event)
	n.Silent, n.NoCard = silent, string(j.session.noCard())
	return n.Encode()
}

// addressNotification sets what differs between an ordinary alert and a push to a card.
func (j *job) addressNotification(silent bool) {
	id := j.push.ID
	j.push = ordinaryPush(&j.device, j.push.Payload, silent, j.push.Expiration)
	j.push.ID, j.push.CollapseID = id, payload.CollapseID(j.match.id, &j.alert.event)
}

// ordinaryPush returns the push of an ordinary notification, an alert or an admin's notice.
func ordinaryPush(d *phone.Device, body []byte, silent bool, expires time.Time) apns.Push {
	p := apns.Push{
		Token: d.DeviceToken, Type: apns.TypeAlert, Priority: apns.PriorityUrgent, Expiration: expires, Payload: body, Development: d.Develops(),
	}
	if silent {
		p.Priority = apns.PriorityNormal
	}
	return p
}

// rejectedDevice returns the row change after Apple rejected a device's token: it is forgotten if it is dead, and otherwise not used
// until the device registers again.
func (j *job) rejectedDevice() rowChange {
	j.session.deaf = j.device.DeviceToken
	if j.result.Action != apns.Gone {
		return nil
	}
	return dropsDevice(&j.device, &j.result)
}

func dropsDevice(d *phone.Device, res *apns.Result) rowChange {
	user, token, gone := d.UserID, d.DeviceToken, res.Gone
	return func(tx *store.Tx) error { return phone.Devices{}.Drop(tx, user, token, gone) }
}

// missing counts the cards that a match's phones do not show although Apple has accepted their starts.
func (m *match) missing() (n int) {
	for _, s := range m.sessions {
		if s.missing && (s.row.Status == phone.SessionPending || s.row.Status == phone.SessionSuspended) {
			n++
		}
	}
	return n
}

// hourlyOf returns how many urgent pushes a device gets in an hour.
func hourlyOf(d *phone.Device) int {
	if d.RefusesFrequentUpdates() {
		return scantHourly
	}
	return urgentHourly
}

// budgetKey returns the key of a device's budget.
func budgetKey(d *phone.Device) string {
	return tables.SessionKey(d.UserID, cmp.Or(d.DeviceID, d.DeviceToken))
}
