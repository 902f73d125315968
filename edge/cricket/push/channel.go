package push

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// When channels are looked after.
const (
	channelRetry = time.Minute     // after Apple refused to make or delete one
	channelStays = 5 * time.Minute // after the end was sent, for phones that hear it late
)

// Channels makes and deletes broadcast channels. apns.Client does.
type Channels interface {
	// CreateChannel makes one and gives its id, empty unless the result is Accepted.
	CreateChannel(ctx context.Context) (id string, res apns.Result)
	// DeleteChannel deletes one. It is Gone if Apple does not know it any more.
	DeleteChannel(ctx context.Context, id string) apns.Result
	// Channels lists all channels of the app.
	Channels(ctx context.Context) (ids []string, res apns.Result)
}

// channel is the broadcast channel of a match: one push for all who listen, in place of one each. It is a session of
// its own that has no phone.
type channel struct {
	id      string
	session *session
	over    time.Time // when to delete it; zero: it is in use
}

// open tells whether activities may still be started on it.
func (ch *channel) open() bool { return ch.over.IsZero() }

func newChannel(matchID, id string, stamp int64) *channel {
	return &channel{id: id, session: &session{stamp: stamp, row: cricket.Session{
		MatchID: matchID, Key: channelPrefix + id, ChannelID: id, Status: cricket.SessionActive,
	}}}
}

// channelPrefix begins the key of a channel's session, as no user's does: a user id holds no space.
const channelPrefix = "channel "

func (s *session) isChannel() bool { return strings.HasPrefix(s.row.Key, channelPrefix) }

// channelRow is what the store keeps of a channel, from before it is made until it is deleted.
type channelRow struct {
	ID     string   `dynamodbav:"channelId,omitempty"` // empty: it may have been made
	Before []string `dynamodbav:"before,omitempty"`    // the channels there were before that
}

func channelKey(matchID string) string { return "CHANNEL#" + matchID }

func (c *Coordinator) putChannel(ctx context.Context, matchID string, row channelRow) error {
	item, err := attr.Marshal(row)
	if err != nil {
		return err
	}
	item["stateKey"] = attr.S(channelKey(matchID))
	return c.store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: cricket.TablePushState, Item: item})
		return err
	})
}

func (c *Coordinator) dropChannel(ctx context.Context, matchID string) error {
	return c.store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: cricket.TablePushState, Key: stateKey(channelKey(matchID))})
		return err
	})
}

// readChannel takes the channel that an earlier process made.
func (m *match) readChannel(tx *store.Tx) error {
	item, err := tx.Get(cricket.TablePushState, stateKey(channelKey(m.id)))
	if err != nil || item == nil {
		return err
	}
	var row channelRow
	if err := attr.Unmarshal(item, &row); err != nil || row.ID == "" {
		return err
	}
	m.channel = newChannel(m.id, row.ID, m.stamp)
	return nil
}

// broadcasting gives the channel's session, if anybody listens: its activities are as old as the oldest of them.
func (m *match) broadcasting() *session {
	if m.channel == nil || !m.channel.open() {
		return nil
	}
	var began time.Time
	for _, s := range m.sessions {
		if s.listensTo(m.channel.id) {
			began = earlier(began, s.row.SessionStartedAt)
		}
	}
	if began.IsZero() {
		return nil
	}
	m.channel.session.row.SessionStartedAt = began
	return m.channel.session
}

func (s *session) listensTo(id string) bool {
	return s.row.Status == cricket.SessionActive && s.row.ChannelID == id
}

// decideListener looks at a session that listens to a channel: the channel is told, and not its phone, as long as it is
// the match's.
func (m *match) decideListener(s *session, now time.Time) (kind, time.Time) {
	here := m.channel != nil && m.channel.id == s.row.ChannelID
	switch {
	case here && m.channel.open():
		return nothing, time.Time{}
	case m.closed(now):
		return expire, now
	default:
		return lost, now
	}
}

// tend makes a match's channel when play is on and deletes it some time after the end.
func (c *Coordinator) tend(ctx context.Context, m *match, now time.Time) error {
	if now.Before(m.tendAt) {
		return nil
	}
	m.tendAt = time.Time{}
	switch {
	case m.channel == nil:
		if c.cfg.Channels == nil || !m.playing() || now.Before(c.paused) {
			return nil
		}
		if now.Before(c.manageAt) {
			m.tendAt = c.manageAt
			return nil
		}
		return c.openChannel(ctx, m, now)
	case m.channel.open() && (m.closed(now) && m.broadcasting() == nil || m.hopeless(now)):
		m.channel.over, m.dirty = now, true // nobody is left to be told
	case c.cfg.Channels == nil && m.channel.open():
		m.channel.over, m.dirty = now, true // switched off: phones are started anew with tokens
	}
	if m.channel.open() {
		return nil
	}
	if now.Before(m.channel.over) {
		m.tendAt = m.channel.over
		return nil
	}
	return c.closeChannel(ctx, m, now)
}

// openChannel makes a channel. What there was before is noted first: should this process die before it knows the new
// one, the next finds it by what has come since.
func (c *Coordinator) openChannel(ctx context.Context, m *match, now time.Time) error {
	before, res := c.cfg.Channels.Channels(ctx)
	c.managed(&res)
	if res.Action != apns.Accepted {
		c.refusedChannel(m, "list", &res, now)
		return nil
	}
	if err := c.putChannel(ctx, m.id, channelRow{Before: before}); err != nil {
		return err
	}
	id, res := c.cfg.Channels.CreateChannel(ctx)
	c.managed(&res)
	c.metrics.channels.WithLabelValues("create", res.Action.String()).Inc()
	if res.Action != apns.Accepted {
		c.refusedChannel(m, "create", &res, now)
		if res.Maybe {
			return c.cleanChannel(ctx, m.id, channelRow{Before: before})
		}
		return c.dropChannel(ctx, m.id)
	}
	if err := c.putChannel(ctx, m.id, channelRow{ID: id}); err != nil {
		return err
	}
	m.channel, m.dirty = newChannel(m.id, id, m.stamp), true
	return nil
}

// managed notes whether the host that makes channels has answered. While it does not, the loop is not to wait for it once a
// match: it is left alone for a minute, and then for longer each time.
func (c *Coordinator) managed(res *apns.Result) {
	if res.Status != 0 {
		c.misses, c.manageAt = 0, time.Time{}
		return
	}
	c.manageAt = c.clock.Now().Add(min(channelRetry<<min(c.misses, 5), healEvery))
	c.misses++
}

// refusedChannel goes on without a channel for a while.
func (c *Coordinator) refusedChannel(m *match, what string, res *apns.Result, now time.Time) {
	m.tendAt = now.Add(max(channelRetry, res.RetryAfter))
	c.log.Warn("no broadcast channel: phones are told by their tokens", "match", m.id, "step", what, "reason", res.Reason, "err", res.Err)
	if res.Alarm {
		c.alarm(res.Reason, 1)
	}
}

// closeChannel deletes a match's channel.
func (c *Coordinator) closeChannel(ctx context.Context, m *match, now time.Time) error {
	if !c.deleteChannel(ctx, m.channel.id) {
		m.tendAt = now.Add(channelRetry)
		return nil
	}
	m.channel, m.dirty = nil, true
	return c.dropChannel(ctx, m.id)
}

// deleteChannel deletes a channel at Apple; done is false if that has to be tried again.
func (c *Coordinator) deleteChannel(ctx context.Context, id string) (done bool) {
	if c.manage == nil {
		return true // there is no way to; the row would keep the match in memory for ever
	}
	if c.clock.Now().Before(c.manageAt) {
		return false
	}
	res := c.manage.DeleteChannel(ctx, id)
	c.managed(&res)
	c.metrics.channels.WithLabelValues("delete", res.Action.String()).Inc()
	return res.Action == apns.Accepted || res.Action == apns.Gone
}

// cleanChannels deletes, at the start of the process, the channels of matches that are over and what a crash left half
// made.
func (c *Coordinator) cleanChannels(ctx context.Context, active []string) error {
	rows := map[string]channelRow{}
	err := c.store.View(ctx, func(tx *store.Tx) error {
		for item, err := range tx.ScanAll(store.Scan{Table: cricket.TablePushState}) {
			if err != nil {
				return err
			}
			id, ok := strings.CutPrefix(item["stateKey"].Str(), channelKey(""))
			var row channelRow
			if ok && attr.Unmarshal(item, &row) == nil {
				rows[id] = row
			}
		}
		return nil
	})
	for id, row := range rows {
		if err != nil {
			return err
		}
		switch {
		case row.ID == "":
			err = c.cleanChannel(ctx, id, row)
		case !slices.Contains(active, id) && c.deleteChannel(ctx, row.ID):
			err = c.dropChannel(ctx, id)
		}
	}
	return err
}

// cleanChannel deletes a channel that was perhaps made and whose id nobody knows: it is the one that was not there before,
// and is no other match's. Where there are several such, others have made some of them meanwhile: all stay, for one too
// many costs less than a stranger's. Where Apple does not answer the row stays, for the next start.
func (c *Coordinator) cleanChannel(ctx context.Context, matchID string, row channelRow) error {
	if c.manage == nil {
		return c.dropChannel(ctx, matchID)
	}
	now, res := c.manage.Channels(ctx)
	if res.Action != apns.Accepted {
		return nil
	}
	known := map[string]bool{}
	for _, id := range row.Before {
		known[id] = true
	}
	err := c.store.View(ctx, func(tx *store.Tx) error {
		for item, err := range tx.ScanAll(store.Scan{Table: cricket.TablePushState}) {
			if err != nil {
				return err
			}
			known[item["channelId"].Str()] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(now, func(id string) bool { return known[id] })
	if len(left) > 1 {
		c.log.Warn("broadcast channels that nobody here knows: one may be left from a crash", "match", matchID, "channels", len(left))
	}
	if len(left) == 1 && !c.deleteChannel(ctx, left[0]) {
		return nil
	}
	return c.dropChannel(ctx, matchID)
}

// broadcasted acts on the answer to a broadcast.
func (c *Coordinator) broadcasted(j *job) (changes []rowChange) {
	m := j.match
	ended := j.kind == finish || j.kind == rest || j.kind == renew
	switch j.result.Action {
	case apns.Gone, apns.Suspend:
		// Apple does not know the channel. Its phones are started anew, with their tokens or on another one.
		m.channel, m.tendAt = nil, j.at.Add(channelRetry)
		return []rowChange{func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: cricket.TablePushState, Key: stateKey(channelKey(m.id))})
			return err
		}}
	case apns.Accepted:
		if j.kind == finish && m.channel != nil {
			m.channel.over = j.at.Add(channelStays)
			m.tendAt = m.channel.over
		}
	}
	c.outcome(j, false)
	if !ended || j.result.Action != apns.Accepted {
		return nil
	}
	for _, key := range m.keys() {
		s := m.sessions[key]
		if !s.listensTo(j.session.row.ChannelID) {
			continue
		}
		row := s.row
		changes = append(changes, func(tx *store.Tx) (err error) {
			if j.kind == finish {
				_, err = cricket.Activities{}.Ended(tx, &row, cricket.EndMatchEnded)
			} else {
				_, err = cricket.Activities{}.Rest(tx, &row)
			}
			return err
		})
	}
	return changes
}
