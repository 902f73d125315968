package push

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Waits around channels.
const (
	channelRetry = time.Minute     // after Apple refused to create or delete one
	channelStays = 5 * time.Minute // after the end was sent, for phones that receive it late
)

// Channels creates and deletes broadcast channels. apns.Client implements it.
type Channels interface {
	// CreateChannel creates a channel and returns its id, which is empty unless the result is Accepted.
	CreateChannel(ctx context.Context) (id string, res apns.Result)
	// DeleteChannel deletes a channel. The result is Gone if Apple does not know it.
	DeleteChannel(ctx context.Context, id string) apns.Result
	// Channels lists all channels of the app.
	Channels(ctx context.Context) (ids []string, res apns.Result)
}

// channel is the broadcast channel of a match: one push reaches all listeners. It has a session of its own, without a phone.
type channel struct {
	id      string
	session *session
	off     bool      // channels are switched off: listeners get an end and are started again by token
	over    time.Time // when to delete it; zero: in use

	renewing bool      // its cards are being replaced by ones with tokens
	endBy    time.Time // when they are ended at the latest
}

// open reports whether activities may still be started on the channel.
func (ch *channel) open() bool { return ch.over.IsZero() }

// mayJoin reports whether activities may be started on the match's channel. Ones that begin while its cards are replaced have tokens.
func (m *match) mayJoin() bool {
	return m.channel != nil && m.channel.open() && !m.channel.off && !m.channel.renewing
}

func newChannel(matchID, id string, stamp int64) *channel {
	return &channel{id: id, session: &session{stamp: stamp, row: phone.Session{
		MatchID: matchID, Key: channelPrefix + id, ChannelID: id, Status: phone.SessionActive,
	}}}
}

// channelPrefix starts the key of a channel's session. No user's key does: user ids contain no space.
const channelPrefix = "channel "

func (s *session) isChannel() bool { return strings.HasPrefix(s.row.Key, channelPrefix) }

// channelRow is the stored row of a channel, from before its creation until its deletion.
type channelRow struct {
	ID     string   `dynamodbav:"channelId,omitempty"` // empty: it may exist, under an unknown id
	Before []string `dynamodbav:"before,omitempty"`    // the channels that existed before its creation
}

func channelKey(matchID string) string { return "CHANNEL#" + matchID }

func (c *Coordinator) putChannel(ctx context.Context, matchID string, row channelRow) error {
	return c.store.Update(ctx, func(tx *store.Tx) error { return putState(tx, channelKey(matchID), row, 0) })
}

func (c *Coordinator) dropChannel(ctx context.Context, matchID string) error {
	return c.store.Update(ctx, dropsChannel(matchID))
}

func dropsChannel(matchID string) rowChange {
	return func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: tables.PushState, Key: stateKey(channelKey(matchID))})
		return err
	}
}

// readChannel restores the channel created by an earlier process.
func (m *match) readChannel(tx *store.Tx) error {
	item, err := tx.Get(tables.PushState, stateKey(channelKey(m.id)))
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

// broadcasting returns the channel's session if it has listeners, or cards that were replaced. It counts as started with the oldest of the
// listeners'.
func (m *match) broadcasting() *session {
	if m.channel == nil || !m.channel.open() {
		return nil
	}
	began := m.channelBegan()
	if began.IsZero() && len(m.movedFrom(m.channel.id)) == 0 {
		return nil
	}
	m.channel.session.row.SessionStartedAt = began
	m.channel.session.lit = slices.ContainsFunc(m.listeners(m.channel.id), func(s *session) bool { return s.lit })
	return m.channel.session
}

// listeners returns the sessions on a channel, in a fixed order.
func (m *match) listeners(id string) (heard []*session) {
	for _, key := range m.keys() {
		if s := m.sessions[key]; s.listensTo(id) {
			heard = append(heard, s)
		}
	}
	return heard
}

func (s *session) listensTo(id string) bool {
	return s.row.Status == phone.SessionActive && s.row.ChannelID == id
}

// decideListener decides for a session on a channel. While the channel is the match's, pushes go to the channel and not to the phone.
func (m *match) decideListener(s *session, now time.Time) (kind, time.Time) {
	here := m.channel != nil && m.channel.id == s.row.ChannelID
	switch {
	case here && m.channel.open():
		return m.decideMove(s, now)
	case m.isClosed(now):
		return expire, now
	default:
		return lost, now
	}
}

// startWait is how long the starts of a match wait for its channel to be created.
const startWait = 5 * time.Second

// nextMaintenance returns when to maintain the channel next, zero if only news can require it.
func (m *match) nextMaintenance() time.Time {
	if !m.held || m.maintaining {
		return time.Time{}
	}
	return m.maintainAt
}

// maintain creates a match's channel when play is on, and deletes it some time after the end. The requests run in the background.
func (c *Coordinator) maintain(ctx context.Context, m *match, now time.Time) error {
	if m.maintaining || now.Before(m.maintainAt) {
		return nil
	}
	m.maintainAt = time.Time{}
	switch {
	case m.channel == nil:
		if c.cfg.Channels == nil || !m.playing() || now.Before(c.paused) || c.cleaning[m.id] {
			return nil
		}
		if now.Before(c.manageAt) {
			m.maintainAt = c.manageAt
			return nil
		}
		c.openChannel(ctx, m, now)
		return nil
	case m.channel.open() && (m.isClosed(now) && m.broadcasting() == nil || m.hopeless(now)):
		m.channel.over, m.dirty = now, true // there is nobody left to notify
	case c.cfg.Channels == nil && m.channel.open() && m.broadcasting() == nil:
		m.channel.over = now
	case c.cfg.Channels == nil && !m.channel.off:
		m.channel.off, m.dirty = true, true
	}
	if m.channel.open() {
		return nil
	}
	if now.Before(m.channel.over) {
		m.maintainAt = m.channel.over
		return nil
	}
	return c.closeChannel(ctx, m, now)
}

// opened is the outcome of creating a channel.
type opened struct {
	id      string
	answers []apns.Result // of the host, in order
	step    string        // the refused step; empty: none
	err     error         // of the store
}

// openChannel has a channel created. Phones that could listen to it wait for a moment.
func (c *Coordinator) openChannel(ctx context.Context, m *match, now time.Time) {
	m.maintaining, m.opening = true, now.Add(startWait)
	var got opened
	c.host.add(ctx, task{
		do: func(ctx context.Context) {
			if c.clock.Now().Before(c.silentUntil()) {
				return // another task has found since that the host does not answer
			}
			got = c.makeChannel(ctx, m.id)
		},
		then: func(context.Context) error {
			m.maintaining, m.opening, m.dirty = false, time.Time{}, true
			return c.channelOpened(m, &got)
		},
	})
}

func (c *Coordinator) channelOpened(m *match, got *opened) error {
	now := c.clock.Now()
	for i := range got.answers {
		c.managed(&got.answers[i])
	}
	switch {
	case got.step != "":
		c.refusedChannel(m, got.step, &got.answers[len(got.answers)-1], now)
	case got.id != "":
		m.channel = newChannel(m.id, got.id, m.stamp)
	default:
		m.maintainAt = later(c.manageAt, now.Add(errorWait))
	}
	return got.err
}

// makeChannel creates a channel. It first stores the list of existing channels: if the process dies before it
// knows the new id, the next one finds the channel by comparing.
func (c *Coordinator) makeChannel(ctx context.Context, matchID string) (got opened) {
	before, res := c.cfg.Channels.Channels(ctx)
	got.answers = append(got.answers, res)
	if res.Action != apns.Accepted {
		got.step = "list"
		return got
	}
	keep := context.WithoutCancel(ctx) // what the host has done stands, even if this process ends
	if got.err = c.putChannel(keep, matchID, channelRow{Before: before}); got.err != nil {
		return got
	}
	id, res := c.cfg.Channels.CreateChannel(ctx)
	got.answers = append(got.answers, res)
	c.metrics.channels.WithLabelValues("create", res.Action.String()).Inc()
	switch {
	case res.Action == apns.Accepted:
		got.id = id
		got.err = c.putChannel(keep, matchID, channelRow{ID: id})
	case res.Maybe:
		got.step, got.err = "create", c.cleanChannel(keep, matchID, channelRow{Before: before})
	default:
		got.step, got.err = "create", c.dropChannel(keep, matchID)
	}
	return got
}

// managed notes whether Apple's channel host answered. If it did not, it is left alone for a minute, and for
// longer each time, so that the loop does not wait for it once per match.
func (c *Coordinator) managed(res *apns.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if res.Status != 0 {
		c.misses, c.manageAt = 0, time.Time{}
		return
	}
	c.manageAt = c.clock.Now().Add(min(channelRetry<<min(c.misses, 5), healEvery))
	c.misses++
}

// silentUntil returns manageAt, for callers outside the loop.
func (c *Coordinator) silentUntil() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.manageAt
}

// refusedChannel makes the match do without a channel for a while.
func (c *Coordinator) refusedChannel(m *match, what string, res *apns.Result, now time.Time) {
	m.maintainAt = now.Add(max(channelRetry, res.RetryAfter))
	c.log.Warn("no broadcast channel: phones are notified by token", "match", m.id, "step", what, "reason", res.Reason, "err", res.Err)
	if res.Alarm {
		c.alarm(res.Reason, 1)
	}
}

// closeChannel has a match's channel deleted.
func (c *Coordinator) closeChannel(ctx context.Context, m *match, now time.Time) error {
	if c.manage == nil { // it cannot be deleted; the row would keep the match in memory forever
		m.channel, m.dirty = nil, true
		return c.dropChannel(ctx, m.id)
	}
	if now.Before(c.manageAt) {
		m.maintainAt = now.Add(channelRetry)
		return nil
	}
	m.maintaining = true
	var res apns.Result
	id := m.channel.id
	c.host.add(ctx, task{
		do: func(ctx context.Context) { res = c.deleteChannel(ctx, id) },
		then: func(ctx context.Context) error {
			m.maintaining = false
			c.managed(&res)
			if !deleted(&res) {
				m.maintainAt = c.clock.Now().Add(channelRetry)
				return nil
			}
			m.channel, m.dirty = nil, true
			return c.dropChannel(ctx, m.id)
		},
	})
	return nil
}

// deleteChannel deletes a channel at Apple.
func (c *Coordinator) deleteChannel(ctx context.Context, id string) apns.Result {
	res := c.manage.DeleteChannel(ctx, id)
	c.metrics.channels.WithLabelValues("delete", res.Action.String()).Inc()
	return res
}

// deleted reports whether a channel is gone; otherwise deletion has to be retried.
func deleted(res *apns.Result) bool { return res.Action == apns.Accepted || res.Action == apns.Gone }

// broadcasted handles the answer to a broadcast.
func (c *Coordinator) broadcasted(j *job) (changes []rowChange) {
	m := j.match
	switch j.result.Action {
	case apns.Gone, apns.Suspend:
		// Apple does not know the channel. Its phones are started again, by token or on another channel.
		for _, s := range m.listeners(m.channel.id) {
			m.noteHeard(s)
		}
		m.channel, m.maintainAt = nil, j.at.Add(channelRetry)
		return []rowChange{dropsChannel(m.id)}
	case apns.Accepted:
		if j.kind == finish && m.channel != nil {
			m.channel.over = j.at.Add(channelStays)
			m.maintainAt = m.channel.over
		}
	}
	c.outcome(j, false)
	if j.kind != finish && j.kind != rest && j.kind != renew || j.result.Action != apns.Accepted {
		return nil
	}
	return m.endedOnChannel(j)
}
