package push

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/store"
)

// ensure gives every device of every follower of a live match a session. It checks the followers with news, and all of them if in doubt.
func (c *Coordinator) ensure(ctx context.Context, m *match) error {
	if !m.doubt && len(m.recheck) == 0 || !m.playing() {
		return nil
	}
	orphans := m.orphans && !m.doubt
	for users := range slices.Chunk(m.uncertain(), rowsAtOnce) {
		lone, err := c.ensureUsers(ctx, m, users)
		if err != nil {
			return err
		}
		orphans = orphans || lone
	}
	m.orphans = orphans
	for _, s := range m.sessions {
		if s.idle && (m.doubt || m.recheck[s.row.UserID]) {
			s.idle, m.dirty = false, true
		}
	}
	m.doubt = false
	clear(m.recheck)
	return nil
}

// ensureUsers is ensure for some followers; lone reports that one of them has no device.
func (c *Coordinator) ensureUsers(ctx context.Context, m *match, users []string) (lone bool, err error) {
	err = c.store.Update(ctx, func(tx *store.Tx) error {
		lone = false
		for _, user := range users {
			devices, err := m.ensureUser(tx, user)
			if err != nil {
				return err
			}
			lone = lone || devices == 0
		}
		return nil
	})
	return lone, err
}

// uncertain lists the followers who may lack a session.
func (m *match) uncertain() []string {
	users := map[string]bool{}
	for user := range m.recheck {
		if _, follows := m.followers[user]; follows {
			users[user] = true
		}
	}
	if m.doubt {
		served := map[string]bool{}
		for _, s := range m.sessions {
			served[s.row.UserID] = served[s.row.UserID] || s.row.Status != phone.SessionEnded
		}
		for user := range m.followers {
			if !served[user] {
				users[user] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(users))
}

// ensureUser gives each of a follower's devices a session and returns the number of devices.
func (m *match) ensureUser(tx *store.Tx, user string) (n int, err error) {
	devices, err := phone.Devices{}.OfUser(tx, user)
	if err != nil {
		return 0, err
	}
	for i := range devices {
		s, err := phone.Activities{}.Ensure(tx, m.id, user, devices[i].DeviceID, m.followers[user])
		if err != nil {
			return 0, err
		}
		if m.recheck[user] && s.StartTries > 0 && devices[i].PushToStartToken != "" {
			if err := m.startAgain(tx, &s, devices[i].PushToStartToken); err != nil {
				return 0, err
			}
		}
	}
	return len(devices), nil
}

// startAgain forgets the starts of a session after news of its device: refused ones, and one whose card has not come if the device has
// another push-to-start token by now.
func (m *match) startAgain(tx *store.Tx, s *phone.Session, token string) error {
	if s.Fresh(token) && s.StartAnswer != phone.StartRefused && !tx.Now().Before(s.StartSentAt.Add(tokenWait)) {
		_, err := (phone.Activities{}).Renew(tx, s)
		return err
	}
	_, err := (phone.Activities{}).Again(tx, s)
	return err
}

// prepare looks up the tokens for the starts of a round and records each attempt before it is sent, so that a
// crash does not start two activities on one phone.
func (c *Coordinator) prepare(ctx context.Context, jobs []*job) error {
	var starts []*job
	for _, j := range jobs {
		if j.kind == start {
			starts = append(starts, j)
		}
	}
	for some := range slices.Chunk(starts, rowsAtOnce) {
		err := c.store.Update(ctx, func(tx *store.Tx) error {
			for _, j := range some {
				if err := j.prepare(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, j := range starts {
		if j.device.PushToStartToken == "" {
			j.session.idle = true // until there is news of its device
		}
	}
	return nil
}

// prepare looks up the token for a start. Without one the job is skipped.
func (j *job) prepare(tx *store.Tx) error {
	row := &j.session.row
	devices, err := phone.Devices{}.OfUser(tx, row.UserID)
	if err != nil {
		return err
	}
	j.skip, j.noted = true, time.Time{} // a transaction may run twice
	for i := range devices {
		if devices[i].DeviceID == row.DeviceID {
			j.device = devices[i]
		}
	}
	if j.device.PushToStartToken == "" || !j.device.StartsByPush() {
		j.device.PushToStartToken = ""
		return nil
	}
	renewal := row.Status == phone.SessionActive // of a card with a token: its successor has one too
	j.channel = ""
	if !renewal && !j.device.Develops() && j.device.HearsChannels() && j.match.mayJoin() {
		j.channel = j.match.channel.id
	}
	j.session.develops = j.device.Develops()
	done, err := phone.Activities{}.Starting(tx, row, j.device.PushToStartToken)
	if j.skip = !done; done {
		j.noted = tx.Now()
	}
	return err
}
