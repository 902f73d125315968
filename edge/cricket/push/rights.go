package push

import (
	"context"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// rightEvery is how often a node asks for the right to end what a match has left behind.
const rightEvery = 30 * time.Second

// Rights says which matches this node pushes for, where several nodes share them: those whose lease it holds. An alert is
// not among what they are for: that is the node's that has its event's creation proved.
type Rights interface {
	// Has reports whether this node may push for a match now. It asks nobody.
	Has(matchID string) bool
	// Take asks for a match that nobody polls any more, whose phones are still owed something; false while another node has it.
	Take(ctx context.Context, matchID string) (taken bool, err error)
	// Leave gives back what Take has taken.
	Leave(ctx context.Context, matchID string)
}

// claim looks whether a match is this node's to push for, and notes what changes with that.
func (c *Coordinator) claim(ctx context.Context, m *match, now time.Time) error {
	if c.cfg.Rights == nil {
		m.held = true
		return nil
	}
	has := c.cfg.Rights.Has(m.id)
	if !has {
		m.held = false
		if m.leftOver() {
			c.askFor(ctx, m, now)
		}
		return nil
	}
	if m.held {
		return nil
	}
	m.held, m.dirty = true, true
	// Another node has told its phones until now: what they show is not known, and everybody is looked at.
	m.doubt = true
	for _, s := range m.sessions {
		s.hash, s.last = 0, attempt{}
	}
	m.pace(now)
	return c.inherit(ctx, m)
}

// mayStill reports whether a push may leave: between its planning and this moment the right to it may have ended.
func (c *Coordinator) mayStill(j *job) bool {
	return c.cfg.Rights == nil || j.kind == tell || c.cfg.Rights.Has(j.match.id)
}

// leftOver reports whether nobody polls a match any more, and that its phones are owed something all the same.
func (m *match) leftOver() bool {
	return (m.status == "" || m.status == cricket.ActiveEnded) && !m.finished()
}

// askFor asks for the right to a match, beside the loop, and now and then.
func (c *Coordinator) askFor(ctx context.Context, m *match, now time.Time) {
	if m.asking || now.Before(m.askAt) {
		m.wake = earlier(m.wake, m.askAt)
		return
	}
	m.asking = true
	c.locks.add(ctx, task{
		do: func(ctx context.Context) {
			if taken, err := c.cfg.Rights.Take(ctx, m.id); err != nil {
				c.log.Warn("cannot take the lease of a finished match", "match", m.id, "err", err)
			} else if taken {
				c.metrics.inherited.Inc()
			}
		},
		then: func(context.Context) error {
			m.asking, m.askAt, m.dirty = false, c.clock.Now().Add(rightEvery), true
			return nil
		},
	})
}

// giveBack gives back the right to a match that is over and done.
func (c *Coordinator) giveBack(ctx context.Context, m *match) {
	if c.cfg.Rights == nil || !m.held {
		return
	}
	c.locks.add(ctx, task{
		do:   func(ctx context.Context) { c.cfg.Rights.Leave(context.WithoutCancel(ctx), m.id) },
		then: func(context.Context) error { return nil },
	})
}

// inherit goes on with the channel of the node that pushed before: its listeners' rows name it. A channel that this node
// had made earlier and that nobody listens to is deleted.
func (c *Coordinator) inherit(ctx context.Context, m *match) error {
	heard := ""
	for _, key := range m.keys() {
		s := m.sessions[key]
		if m.channel != nil && s.listensTo(m.channel.id) {
			return nil
		}
		if heard == "" && s.row.Status == phone.SessionActive {
			heard = s.row.ChannelID
		}
	}
	if heard == "" {
		return nil
	}
	if m.channel != nil && c.manage != nil {
		c.discard(ctx, m.channel.id)
	}
	m.channel = newChannel(m.id, heard, m.stamp)
	return c.putChannel(ctx, m.id, channelRow{ID: heard})
}

// discard deletes a channel that nobody listens to, once: one too many is no harm.
func (c *Coordinator) discard(ctx context.Context, id string) {
	var res apns.Result
	c.host.add(ctx, task{
		do:   func(ctx context.Context) { res = c.deleteChannel(ctx, id) },
		then: func(context.Context) error { c.managed(&res); return nil },
	})
}
