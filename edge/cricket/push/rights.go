package push

import (
	"cmp"
	"context"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// rightEvery is how often a node asks for the lease of a match that was left behind.
const rightEvery = 30 * time.Second

// Rights says for which matches this node pushes if several nodes share them: those whose lease it holds. Alerts
// are exempt: they are sent by the node whose creation of the event is proved.
type Rights interface {
	// Has reports whether this node may push for a match now. It makes no request.
	Has(matchID string) bool
	// Take asks for the lease of a match that is no longer polled but still owes pushes; taken is false while another node has it.
	Take(ctx context.Context, matchID string) (taken bool, err error)
	// Leave releases what Take took.
	Leave(ctx context.Context, matchID string)
}

// claim checks whether this node pushes for the match, and handles a change.
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
	// Another node has pushed until now: what its phones show is unknown, and every follower is checked.
	m.doubt = true
	for _, s := range m.sessions {
		s.hash, s.last = 0, attempt{}
	}
	m.pace(now)
	return c.inherit(ctx, m)
}

// mayStill reports whether a push may still leave: the lease may have been lost since it was planned.
func (c *Coordinator) mayStill(j *job) bool {
	return c.cfg.Rights == nil || j.kind == tell || j.kind == notify || c.cfg.Rights.Has(j.match.id)
}

// leftOver reports whether a match is no longer polled but still owes its phones pushes.
func (m *match) leftOver() bool {
	return (m.status == "" || m.status == cricket.ActiveEnded || m.putOff()) && !m.finished()
}

// askFor asks for the lease of a match, in the background, every rightEvery.
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

// giveBack releases the lease of a finished match.
func (c *Coordinator) giveBack(ctx context.Context, m *match) {
	if c.cfg.Rights == nil || !m.held {
		return
	}
	c.locks.add(ctx, task{
		do:   func(ctx context.Context) { c.cfg.Rights.Leave(context.WithoutCancel(ctx), m.id) },
		then: func(context.Context) error { return nil },
	})
}

// inherit continues with the channel of the previous node, named in its listeners' rows. A channel that this
// node created earlier and that has no listeners is deleted.
func (c *Coordinator) inherit(ctx context.Context, m *match) error {
	heard := ""
	for _, key := range m.keys() {
		s := m.sessions[key]
		if m.channel != nil && s.listensTo(m.channel.id) {
			return nil
		}
		if heard == "" && s.row.Status == phone.SessionActive {
			heard = cmp.Or(s.row.ChannelID, s.row.FormerChannel)
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

// discard tries once to delete a channel without listeners: one too many does no harm.
func (c *Coordinator) discard(ctx context.Context, id string) {
	var res apns.Result
	c.host.add(ctx, task{
		do:   func(ctx context.Context) { res = c.deleteChannel(ctx, id) },
		then: func(context.Context) error { c.managed(&res); return nil },
	})
}
