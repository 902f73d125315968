package push

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// rowLife is how long a match's row outlives its last push.
const rowLife = 7 * 24 * time.Hour

// Counts counts the pushes of a match since it was first followed, across restarts. Retries count again. After a
// crash the last round may be missing.
type Counts struct {
	Sent     int `dynamodbav:"sent" json:"sent"`
	Accepted int `dynamodbav:"accepted" json:"accepted"`
	Refused  int `dynamodbav:"refused" json:"refused"` // or unanswered
}

// MatchView is what the coordinator does for a match, for the pages.
type MatchView struct {
	MatchID   string                      `json:"matchId"`
	Sessions  map[phone.SessionStatus]int `json:"sessions"`
	Pushes    Counts                      `json:"pushes"`
	Paused    bool                        `json:"paused"`  // Apple blamed this node: no pushes for a minute
	Channel   bool                        `json:"channel"` // phones that can are notified by a broadcast channel
	ChannelID string                      `json:"channelId,omitempty"`
	Held      bool                        `json:"held"` // this node pushes for the match
	Followers int                         `json:"followers"`
	Missing   int                         `json:"missing"` // cards: Apple accepted a start, and no token of an activity came within two minutes
	Reached   map[string]int              `json:"reached"` // by event: how many phones its alert may have reached
}

// reach is how many phones the alert of an event may have reached.
type reach struct {
	Event  string    `dynamodbav:"event"`
	Seq    uint64    `dynamodbav:"seq,omitempty"` // of its claim: a withdrawn event may be announced again
	Phones int       `dynamodbav:"phones"`
	At     time.Time `dynamodbav:"at,omitempty"` // when it was last sent
}

// reachKept is how many of the newest alerts are kept: as many as a page shows.
const reachKept = 60

// reaches counts the phones that a push's alert may have reached: all listeners of a broadcast.
func (j *job) reaches() {
	if j.alert == nil || !j.came() {
		return
	}
	m, n := j.match, 1
	if j.session.isChannel() {
		n = len(m.listeners(j.session.row.ChannelID)) + len(m.movedFrom(j.session.row.ChannelID))
	}
	told := reach{Event: j.alert.event.Key, Seq: j.alert.claim.Seq}
	i := slices.IndexFunc(m.reached, func(r reach) bool { return r.Event == told.Event && r.Seq == told.Seq })
	if i < 0 {
		i = len(m.reached)
		m.reached = append(m.reached, told)
	}
	m.reached[i].Phones += n
	m.reached[i].At = j.at
	m.reached = m.reached[max(0, len(m.reached)-reachKept):]
}

func reachedBy(all []reach) map[string]int {
	out := make(map[string]int, len(all))
	for _, r := range all {
		out[r.Event] += r.Phones
	}
	return out
}

// pushRow is the stored row of a match. It keeps the last timestamp, so that timestamps rise across restarts too.
type pushRow struct {
	Counts
	Timestamp int64     `dynamodbav:"timestamp"`
	Waiting   []waiting `dynamodbav:"waiting,omitempty"`
	Reached   []reach   `dynamodbav:"reached,omitempty"`
}

func (m *match) row() pushRow {
	return pushRow{Counts: m.counts, Timestamp: m.stamp, Waiting: m.owed(), Reached: slices.Clone(m.reached)}
}

// saved reports whether the stored row is up to date.
func (m *match) saved() bool {
	return m.kept.Counts == m.counts && m.kept.Timestamp == m.stamp && sameWaiting(m.kept.Waiting, m.owed()) &&
		slices.Equal(m.kept.Reached, m.reached)
}

func stateKey(key string) attr.Item { return attr.Item{"stateKey": attr.S(key)} }

// readRow restores what an earlier process stored.
func (m *match) readRow(tx *store.Tx) error {
	item, err := tx.Get(tables.PushState, stateKey(tables.PushKey(m.id)))
	if err != nil || item == nil {
		return err
	}
	if err := attr.Unmarshal(item, &m.kept); err != nil {
		return err
	}
	m.counts, m.stamp, m.waiting, m.reached = m.kept.Counts, m.kept.Timestamp, slices.Clone(m.kept.Waiting), slices.Clone(m.kept.Reached)
	return nil
}

// save commits the cursor together with the rows of the given matches, and of those whose claims have changed,
// because journal records before the cursor are not read again.
func (c *Coordinator) save(ctx context.Context, matches []*match) error {
	cursor := c.cursor
	for _, m := range c.list() {
		if !sameWaiting(m.kept.Waiting, m.owed()) && !slices.Contains(matches, m) {
			matches = append(slices.Clip(matches), m)
		}
	}
	err := c.store.Update(ctx, func(tx *store.Tx) error {
		for _, m := range matches {
			if err := m.save(tx); err != nil {
				return err
			}
		}
		return tx.SetCursor(cursorName, cursor)
	})
	if err != nil {
		return err
	}
	c.saved = cursor
	for _, m := range matches {
		m.kept = m.row()
	}
	return nil
}

func (m *match) save(tx *store.Tx) error {
	if m.saved() {
		return nil
	}
	return putState(tx, tables.PushKey(m.id), m.row(), rowLife)
}

// putState writes a row that expires after life; 0 means never.
func putState(tx *store.Tx, key string, row any, life time.Duration) error {
	item, err := attr.Marshal(row)
	if err != nil {
		return err
	}
	item["stateKey"] = attr.S(key)
	if life > 0 {
		item["ttl"] = attr.Int(tx.Now().Add(life).Unix())
	}
	_, err = tx.Put(store.PutItem{Table: tables.PushState, Item: item})
	return err
}

// count counts an attempted push.
func (c *Coordinator) count(j *job) {
	res := &j.result
	c.metrics.pushes.WithLabelValues(j.kind.String(), res.Action.String()).Inc()
	if res.Reason != "" {
		c.metrics.refusals.WithLabelValues(res.Reason).Inc()
	}
	j.match.counts.Sent++
	if res.Action == apns.Accepted {
		j.match.counts.Accepted++
	} else {
		j.match.counts.Refused++
	}
}

// publish updates the views of the given matches.
func (c *Coordinator) publish(matches []*match) {
	_, blamed := c.circuit.status()
	sessions := map[phone.SessionStatus]float64{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range matches {
		v := MatchView{MatchID: m.id, Sessions: map[phone.SessionStatus]int{}, Pushes: m.counts, Paused: !blamed.IsZero(), Channel: m.channel != nil, Held: m.held, Followers: len(m.followers), Missing: m.missing(), Reached: reachedBy(m.reached)}
		if m.mayJoin() {
			v.ChannelID = m.channel.id
		}
		for _, s := range m.sessions {
			v.Sessions[s.row.Status]++
		}
		c.views[m.id] = v
	}
	missing := 0
	for _, v := range c.views {
		missing += v.Missing
		for status, n := range v.Sessions {
			sessions[status] += float64(n)
		}
	}
	c.metrics.setSessions(sessions)
	c.metrics.missing.Set(float64(missing))
}

// View returns what the coordinator does for a match. After the match only its counts and reached phones are known.
func (c *Coordinator) View(ctx context.Context, matchID string) (MatchView, error) {
	c.mu.Lock()
	v, ok := c.views[matchID]
	c.mu.Unlock()
	if ok {
		return v, nil
	}
	m := newMatch(matchID)
	err := c.store.View(ctx, m.readRow)
	return MatchView{MatchID: matchID, Sessions: map[phone.SessionStatus]int{}, Pushes: m.counts, Reached: reachedBy(m.reached)}, err
}

// bearerStore keeps the provider token in the store.
type bearerStore struct{ store *store.Store }

// Bearers returns the store of this node's provider token.
func Bearers(s *store.Store) apns.TokenStore { return bearerStore{s} }

type bearerRow struct {
	Token    string    `dynamodbav:"bearer"`
	IssuedAt time.Time `dynamodbav:"issuedAt"`
	Key      string    `dynamodbav:"fingerprint"`
	Refused  bool      `dynamodbav:"refused,omitempty"`
}

// providerKey returns the row key for a signing key, which is known here only by its fingerprint.
func providerKey(key string) string { return "APNS#provider#" + key }

// Load implements apns.TokenStore.
func (b bearerStore) Load(ctx context.Context, key string) (out apns.Bearer, ok bool, err error) {
	err = b.store.View(ctx, func(tx *store.Tx) error {
		item, err := tx.Get(tables.PushState, stateKey(providerKey(key)))
		if err != nil || item == nil {
			return err
		}
		var r bearerRow
		ok, out = true, apns.Bearer{}
		if err := attr.Unmarshal(item, &r); err != nil {
			return err
		}
		out = apns.Bearer(r)
		return nil
	})
	return out, ok && err == nil, err
}

// Save implements apns.TokenStore. The row has no TTL: the store's clock may be a replay's, but the token's time is real.
func (b bearerStore) Save(ctx context.Context, v apns.Bearer) error {
	return b.store.Update(ctx, func(tx *store.Tx) error { return putState(tx, providerKey(v.Key), bearerRow(v), 0) })
}
