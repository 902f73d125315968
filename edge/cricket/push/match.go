package push

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/phone"
)

// match is the state of one match: its rows in the store, and what its phones were last sent.
type match struct {
	id         string
	status     string // of active-matches; empty: no row
	phase      cricket.Phase
	phaseSince time.Time // when this process learned of the phase
	finishedAt time.Time
	startsAt   time.Time // as scheduled
	marquee    bool      // its league is the marquee league

	raw     string // JSON of the display row until it is decoded
	display *cricket.Display
	state   payload.ContentState
	hash    uint64

	collapse bool // its states have a collapse id

	followers map[string]int64  // user to the follow's expiry
	newcomers map[string]uint64 // users who follow since this process runs: the last alert before they did
	sessions  map[string]*session
	order     []string                  // sorted keys of sessions; nil: to be rebuilt
	alerts    []*alert                  // being sent, oldest first
	cardless  map[string]*session       // phones of followers without a row, see ordinary.go
	devices   map[string][]phone.Device // of followers, as far as read, by user
	unread    map[string]bool           // users whose devices are to be read
	waiting   []waiting                 // alerts whose claims are not proved yet

	held   bool      // this node pushes for the match
	asking bool      // a request for the lease is under way
	askAt  time.Time // no request before then
	wake   time.Time // when to plan again without news; zero: never

	channel     *channel  // nil: none, phones are notified by token
	maintaining bool      // a request about the channel is under way
	opening     time.Time // starts wait for a channel until then; zero: they do not wait
	maintainAt  time.Time // when to maintain the channel; zero: on news

	stamp   int64 // the highest timestamp of the match's pushes
	counts  Counts
	reached []reach         // by the newest alerts, oldest first
	kept    pushRow         // what is stored of these three
	recheck map[string]bool // users whose devices or follow changed
	doubt   bool            // check all followers
	orphans bool            // some follower has no device
	lacking bool            // some session waits for a push-to-start token
	dirty   bool            // changed since the last plan
	next    time.Time       // when to plan again without a change; zero: never
}

// session is one phone's Live Activity.
type session struct {
	row      phone.Session
	hash     uint64    // of the state last sent; 0: none since startup
	stamp    int64     // timestamp of its last push
	at       time.Time // when that was sent
	told     uint64    // number of the last alert it got
	lit      bool      // its start lit up the screen, so the start of the match need not
	small    bool      // Apple found a push too large: send a smaller one
	idle     bool      // a start had no push-to-start token
	missing  bool      // Apple accepted a start, and no token came
	surplus  bool      // the device has as many cards as it may
	develops bool      // its tokens are of the development host
	askAgain time.Time // when that is decided again
	deaf     string    // device token that Apple rejects
	retry    time.Time // no push before then
	tries    int       // consecutive failures
	broken   time.Time // when they began
	flying   bool      // the loop no longer waits for the answer to its push
	last     attempt   // a failed push that may be repeated; zero: none
}

// attempt identifies a push: a failed one is repeated with the same id and timestamp as long as it is the same.
type attempt struct {
	kind  kind
	hash  uint64
	alert uint64
	small bool
	named bool
	stamp int64
}

// alert is an event whose claim this node holds, to be sent to every phone once.
type alert struct {
	no    uint64 // in order of release
	event cricket.Event
	from  time.Time // when it was released
	until time.Time // afterwards it shows only in the banner
	claim waiting   // for the match's row
	left  int       // pushes of it that arrived or may have
}

func newMatch(id string) *match {
	return &match{
		id: id, followers: map[string]int64{}, sessions: map[string]*session{}, recheck: map[string]bool{},
		newcomers: map[string]uint64{}, cardless: map[string]*session{}, devices: map[string][]phone.Device{}, unread: map[string]bool{},
		dirty: true, doubt: true,
	}
}

// refresh decodes the newest display; earlier ones of the same batch are skipped.
func (m *match) refresh() error {
	if m.raw == "" {
		return nil
	}
	var d cricket.Display
	err := json.Unmarshal([]byte(m.raw), &d)
	m.raw = ""
	if err != nil {
		return err
	}
	m.display = &d
	m.state = payload.NewContentState(&d)
	if h := m.state.Hash(); h != m.hash {
		m.hash, m.dirty = h, true
	}
	return nil
}

// put applies a row of live-activities.
func (m *match) put(row phone.Session) {
	s := m.sessions[row.Key]
	if s == nil {
		if s = m.cardless[row.Key]; s == nil {
			s = &session{told: m.newcomers[row.UserID]}
			if row.UpdateToken != "" {
				s.told = m.lastAlert() // the app has started it with the newest state
			}
		}
		delete(m.cardless, row.Key)
		s.stamp = m.stamp
		m.sessions[row.Key] = s
		m.order = nil
	}
	if s.row.Status != row.Status || !s.row.StartSentAt.Equal(row.StartSentAt) {
		s.missing, s.surplus = false, false
	}
	if s.row.UpdateToken != row.UpdateToken || s.row.Status != row.Status {
		s.heal()
		s.idle = false
	}
	switch {
	case s.row.UpdateToken == "" && row.UpdateToken != "":
		s.lit = !s.row.StartSentAt.IsZero()
	case row.FormerToken != s.row.FormerToken, row.UpdateToken == "" && s.row.UpdateToken != "", row.ChannelID != s.row.ChannelID:
		s.hash = 0
	}
	m.noteHeard(s)
	s.row = row
	m.dirty = true
}

// noteHeard notes the alerts that a session's phone was told on the channel, so that it is told them in no other way.
func (m *match) noteHeard(s *session) {
	if ch := m.channel; ch != nil && (s.row.ChannelID == ch.id || s.row.FormerChannel == ch.id) {
		s.told = max(s.told, ch.session.told)
	}
}

// drop applies a deleted row.
func (m *match) drop(key string) {
	if _, ok := m.sessions[key]; ok {
		delete(m.sessions, key)
		m.order = nil
		m.dirty = true
	}
}

// began returns when the activity started or was to start; zero if it was not.
func (s *session) began() time.Time { return later(s.row.StartSentAt, s.row.SessionStartedAt) }

// heal resets the failures.
func (s *session) heal() {
	s.retry, s.tries, s.broken, s.last = time.Time{}, 0, time.Time{}, attempt{}
}

// lastAlert returns the number of the newest alert.
func (m *match) lastAlert() uint64 {
	if len(m.alerts) == 0 {
		return 0
	}
	return m.alerts[len(m.alerts)-1].no
}

// alertFor returns the oldest alert that a session has not got yet.
func (m *match) alertFor(s *session, now time.Time) *alert {
	for _, a := range m.alerts {
		if a.no > s.told && now.Before(a.until) && !(s.lit && a.event.Type == cricket.EventMatchStart) {
			return a
		}
	}
	return nil
}

// keys returns the keys of the sessions in a fixed order.
func (m *match) keys() []string {
	if m.order == nil {
		m.order = slices.Sorted(maps.Keys(m.sessions))
	}
	return m.order
}

// closing returns when the activities of a match are ended, zero if it is not over. Until then a match that the
// feed reopens finds everything in place.
func (m *match) closing() time.Time {
	switch {
	case m.status == cricket.ActiveEnded:
		return time.Unix(1, 0)
	case m.finishedAt.IsZero():
		return time.Time{}
	default:
		return m.finishedAt.Add(endAfter)
	}
}

// isClosed reports whether the activities are to be ended by now.
func (m *match) isClosed(now time.Time) bool {
	at := m.closing()
	return !at.IsZero() && !now.Before(at)
}

// hopeless reports whether ends have been tried for long enough.
func (m *match) hopeless(now time.Time) bool {
	return !m.finishedAt.IsZero() && !now.Before(m.finishedAt.Add(endAfter+endLife))
}

// playing reports whether activities may be started: not overnight, and not after the match.
func (m *match) playing() bool {
	if m.status != cricket.ActiveLive || !m.finishedAt.IsZero() || m.display == nil {
		return false
	}
	switch m.phase {
	case cricket.PhaseStumps, cricket.PhaseCompleted, cricket.PhaseAbandoned, cricket.PhasePostponed:
		return false
	default:
		return true
	}
}

// putOff reports whether a match waits for another time. Its activities end as at stumps, and are started again when it is played.
func (m *match) putOff() bool { return m.status == cricket.ActivePostponed }

// finished reports whether nothing is left to do for a match. A match without a row in active-matches has not
// begun, one that is postponed waits: their phones wait, and it is loaded again when the row appears or changes.
func (m *match) finished() bool {
	if m.channel != nil || m.maintaining || m.asking || len(m.waiting) > 0 {
		return false
	}
	if m.status != "" && m.status != cricket.ActiveEnded && !m.putOff() {
		return false
	}
	if slices.ContainsFunc(m.alerts, m.untold) {
		return false
	}
	for _, s := range m.sessions {
		owed := s.row.Status == phone.SessionEnded && (s.row.UpdateToken != "" || s.row.FormerToken != "")
		shown := s.row.Status == phone.SessionActive && m.putOff()
		if s.flying || owed || shown || m.status == cricket.ActiveEnded && s.row.Status != phone.SessionEnded {
			return false
		}
	}
	return true
}
