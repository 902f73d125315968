package push

import (
	"context"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// load reads the cursor and the matches to care for. Journal records after the cursor are applied on top, so nothing is missed in between.
func (c *Coordinator) load(ctx context.Context) error {
	var ids []string
	registered := false
	err := c.store.View(ctx, func(tx *store.Tx) error {
		var err error
		if c.cursor, registered, err = tx.Cursor(cursorName); err != nil {
			return err
		}
		ids, err = matches.RegisteredIDs(tx)
		return err
	})
	if err == nil && !registered {
		err = c.save(ctx, nil) // so that the journal is not trimmed before it is read
	}
	c.saved = c.cursor
	if err == nil {
		err = c.cleanChannels(ctx, ids)
	}
	for _, id := range ids {
		if err != nil {
			return err
		}
		var m *match
		if m, err = c.loadMatch(ctx, id); err == nil {
			m.pace(c.clock.Now())
		}
	}
	return err
}

// pace assumes that the previous process has just pushed to every phone.
func (m *match) pace(now time.Time) {
	for _, s := range m.sessions {
		if s.row.UpdateToken != "" || s.row.StartTries > 0 {
			s.at = now
		}
	}
	if m.channel != nil {
		m.channel.session.at = now
	}
}

// loadMatch reads everything stored about a match.
func (c *Coordinator) loadMatch(ctx context.Context, id string) (*match, error) {
	m := newMatch(id)
	m.collapse = c.cfg.Collapse
	err := c.store.View(ctx, func(tx *store.Tx) error {
		item, err := tx.Get(tables.ActiveMatches, attr.Item{"matchId": attr.S(id)})
		if err != nil {
			return err
		}
		m.setActive(item, c.clock.Now())
		if err := m.readFixture(tx); err != nil {
			return err
		}
		if item, err = tx.Get(tables.Display, cacheKey(tables.DisplayKey(id))); err != nil {
			return err
		}
		m.raw = item["state"].Str()
		if err := m.readRow(tx); err != nil {
			return err
		}
		if err := m.readChannel(tx); err != nil {
			return err
		}
		follows, err := phone.Follows{}.OfMatch(tx, id)
		if err != nil {
			return err
		}
		for i := range follows {
			m.followers[follows[i].UserID] = follows[i].ExpiresAt
			m.unread[follows[i].UserID] = true
		}
		sessions, err := phone.Activities{}.OfMatch(tx, id)
		for i := range sessions {
			m.put(sessions[i])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.matches[id] = m
	return m, nil
}

// readFixture reads what orders the starts of matches that begin together.
func (m *match) readFixture(tx *store.Tx) error {
	fixture, err := tx.Get(tables.Fixtures, tables.MatchKey(m.id))
	if err != nil || fixture == nil {
		return err
	}
	m.setFixture(fixture)
	id, _ := fixture["leagueId"].Int()
	league, err := tx.Get(tables.Leagues, attr.Item{"leagueId": attr.S(strconv.FormatInt(id, 10))})
	m.marquee = league["marquee"].Bool()
	return err
}

// setFixture applies the fixture's row.
func (m *match) setFixture(item attr.Item) {
	if at, err := time.Parse(time.RFC3339, item["startTime"].Str()); err == nil {
		m.startsAt = at
	}
}

func cacheKey(key string) attr.Item { return attr.Item{"cacheKey": attr.S(key)} }

// setActive applies the row of active-matches, nil if there is none.
func (m *match) setActive(item attr.Item, now time.Time) {
	status := item["status"].Str()
	phase := cricket.Phase(item["matchPhase"].Str())
	finished, _ := time.Parse(time.RFC3339, item["finishedAt"].Str()) // zero if absent
	if status == m.status && phase == m.phase && finished.Equal(m.finishedAt) {
		return
	}
	if status == cricket.ActiveLive && m.status != status {
		m.doubt = true
	}
	if phase != m.phase {
		m.phaseSince = now
	}
	m.status, m.phase, m.finishedAt, m.dirty = status, phase, finished, true
}

// read applies new journal records.
func (c *Coordinator) read(ctx context.Context) error {
	for {
		records, err := c.store.Journal(ctx, c.cursor, readBatch)
		if err != nil {
			return err
		}
		for i := range records {
			if err := c.apply(ctx, &records[i]); err != nil {
				return err
			}
			c.cursor = records[i].Seq
		}
		if len(records) < readBatch {
			return nil
		}
	}
}

// apply updates the projection from one record.
func (c *Coordinator) apply(ctx context.Context, r *store.Record) error {
	switch r.Table {
	case tables.Display:
		id, ok := tables.DisplayMatch(r.Key["cacheKey"].Str())
		if m := c.matches[id]; ok && m != nil && r.New != nil {
			m.raw = r.New["state"].Str()
		}
	case tables.ActiveMatches:
		return c.applyActive(ctx, r)
	case tables.Fixtures:
		if m := c.matches[r.Key["matchId"].Str()]; m != nil && r.New != nil {
			m.setFixture(r.New)
		}
	case tables.Events:
		return c.applyEvent(ctx, r)
	case tables.Follows:
		c.applyFollow(r)
	case tables.Devices:
		c.applyDevice(r)
	case tables.LiveActivities:
		return c.applySession(ctx, r)
	}
	return nil
}

func (c *Coordinator) applyActive(ctx context.Context, r *store.Record) error {
	id := r.Key["matchId"].Str()
	if m := c.matches[id]; m != nil {
		m.setActive(r.New, c.clock.Now())
		return nil
	}
	if r.New == nil || r.New["status"].Str() == cricket.ActiveEnded {
		return nil
	}
	_, err := c.loadMatch(ctx, id)
	return err
}

// applyEvent handles a new event, whose creation claims its alert. A match's first event may be journaled before its row.
func (c *Coordinator) applyEvent(ctx context.Context, r *store.Record) error {
	if r.Origin == store.OriginCloud {
		return nil // an event claimed by another node is announced there
	}
	if rule := r.New["dropped"].Str(); rule != "" && r.Old["dropped"].Str() == "" {
		c.metrics.dropped.WithLabelValues(rule).Inc()
	}
	if !r.New["alert"].Bool() || r.Old["alert"].Bool() {
		return nil
	}
	id := r.Key["matchId"].Str()
	m := c.matches[id]
	if m == nil {
		var err error
		if m, err = c.loadMatch(ctx, id); err != nil {
			return err
		}
	}
	var e cricket.Event
	if attr.Unmarshal(r.New, &e) != nil {
		return c.unreadable(ctx, r, &cricket.Event{})
	}
	c.claimed(m, r.Seq, &e, r.At.Add(lifeOf(&e)))
	return nil
}

// lifeOf returns how long an alert is news.
func lifeOf(e *cricket.Event) time.Duration {
	if e.Owed {
		return owedLife
	}
	return alertLife
}

// unreadable skips a record whose row has an unexpected format: it must not stop the other matches. It notes the row if it still has.
func (c *Coordinator) unreadable(ctx context.Context, r *store.Record, into any) error {
	return c.store.View(ctx, func(tx *store.Tx) error {
		row, err := tx.Get(r.Table, r.Key)
		if err != nil || row == nil {
			return err
		}
		if why := table.Unmarshal(row, into); why != nil {
			tx.NoteUnreadable(r.Table, row, why)
		}
		return nil
	})
}

func (c *Coordinator) applyFollow(r *store.Record) {
	m, user := c.matches[r.Key["matchId"].Str()], r.Key["userId"].Str()
	if m == nil {
		return
	}
	m.dirty, m.unread[user] = true, true
	if r.New == nil {
		delete(m.followers, user)
		delete(m.newcomers, user)
		return
	}
	if _, follows := m.followers[user]; !follows {
		m.newcomers[user] = m.lastAlert()
	}
	expires, _ := r.New["expiresAt"].Int()
	m.followers[user] = expires
	m.recheck[user] = true
}

func (c *Coordinator) applyDevice(r *store.Record) {
	user := r.Key["userId"].Str()
	for _, m := range c.matches {
		if _, follows := m.followers[user]; follows {
			m.recheck[user], m.unread[user] = true, true
		}
	}
}

func (c *Coordinator) applySession(ctx context.Context, r *store.Record) error {
	id, key := r.Key["matchId"].Str(), r.Key["userId#deviceId"].Str()
	m := c.matches[id]
	if r.New == nil {
		if m != nil {
			m.drop(key)
		}
		return nil
	}
	var row phone.Session
	if attr.Unmarshal(r.New, &row) != nil {
		return c.unreadable(ctx, r, &phone.Session{})
	}
	if m == nil {
		if row.Status == phone.SessionEnded && row.UpdateToken == "" {
			return nil
		}
		var err error
		if m, err = c.loadMatch(ctx, id); err != nil {
			return err
		}
	}
	m.put(row)
	return nil
}
