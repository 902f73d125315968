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

// match is what the coordinator knows of a match: rows of the store, and what its phones were last told.
type match struct {
	id         string
	status     string // of active-matches; empty: there is no row
	phase      cricket.Phase
	phaseSince time.Time // when this process heard of the phase
	finishedAt time.Time

	raw     string // the display row's JSON, if it is not decoded yet
	display *cricket.Display
	state   payload.ContentState
	hash    uint64

	followers map[string]int64 // user to the expiry of the follow
	sessions  map[string]*session
	order     []string  // keys of sessions, sorted; nil: to be made
	alerts    []*alert  // on their way to phones, the oldest first
	waiting   []waiting // alerts whose claims are not proved

	held   bool      // this node pushes for the match
	asking bool      // for the right to
	askAt  time.Time // not before
	wake   time.Time // when to look again at what does not come with news; zero: never

	channel     *channel  // nil: none, every phone is told by its token
	maintaining bool      // a request about it is under way
	opening     time.Time // until when starts wait for a channel; zero: they do not
	maintainAt  time.Time // when to look after the channel again; zero: when there is news

	stamp   int64 // the highest timestamp that a push of this match has carried
	counts  Counts
	reached []reach         // by the newest alerts, the oldest first
	kept    pushRow         // what the store has of these three
	recheck map[string]bool // users whose devices or follow changed
	doubt   bool            // look at all followers
	orphans bool            // some follower has no device
	lacking bool            // some session waits for a token to start it with
	dirty   bool            // something changed since the last plan
	next    time.Time       // when the plan has to be made again without a change; zero: never
}

// session is one phone's Live Activity.
type session struct {
	row    phone.Session
	hash   uint64    // of the state it was last sent; 0: none since the start of the process
	stamp  int64     // timestamp of its last push
	at     time.Time // when that had been sent
	told   uint64    // the number of the last alert it has had
	small  bool      // Apple found a push too large: send less
	idle   bool      // a start found no push-to-start token
	retry  time.Time // not before
	tries  int       // failures in a row
	broken time.Time // when they began
	flying bool      // a push is on its way whose answer the loop does not wait for
	last   attempt   // of a push that failed and may be sent again as it was; zero: none
}

// attempt is what a push was: one that fails is sent again under the same id and timestamp as long as it is the same.
type attempt struct {
	kind  kind
	hash  uint64
	alert uint64
	small bool
	stamp int64
}

// alert is an event whose claim this node holds, to be told to every phone once.
type alert struct {
	no    uint64 // in the order in which they were released
	event cricket.Event
	until time.Time // later it is only in the banner
	claim waiting   // for the match's row
	left  int       // pushes of it that have arrived or may have
}

func newMatch(id string) *match {
	return &match{
		id: id, followers: map[string]int64{}, sessions: map[string]*session{}, recheck: map[string]bool{},
		dirty: true, doubt: true,
	}
}

// refresh decodes the newest display. Of several in one batch only the last is looked at.
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

// put takes a row of live-activities.
func (m *match) put(row phone.Session) {
	s := m.sessions[row.Key]
	if s == nil {
		s = &session{stamp: m.stamp}
		m.sessions[row.Key] = s
		m.order = nil
	}
	if s.row.UpdateToken != row.UpdateToken || s.row.Status != row.Status {
		s.heal()
		s.idle = false
	}
	switch {
	case s.row.UpdateToken == "" && row.UpdateToken != "":
		s.told = m.lastAlert() // alerts from before it began are not for it
	case row.UpdateToken == "" && s.row.UpdateToken != "", row.ChannelID != s.row.ChannelID:
		s.hash = 0
	}
	s.row = row
	m.dirty = true
}

// drop takes a deleted row.
func (m *match) drop(key string) {
	if _, ok := m.sessions[key]; ok {
		delete(m.sessions, key)
		m.order = nil
		m.dirty = true
	}
}

// began is when its activity started, or was to start; zero: it was not.
func (s *session) began() time.Time { return later(s.row.StartSentAt, s.row.SessionStartedAt) }

// heal forgets failures.
func (s *session) heal() {
	s.retry, s.tries, s.broken, s.last = time.Time{}, 0, time.Time{}, attempt{}
}

// lastAlert is the newest alert's number.
func (m *match) lastAlert() uint64 {
	if len(m.alerts) == 0 {
		return 0
	}
	return m.alerts[len(m.alerts)-1].no
}

// alertFor is the oldest alert that a session still has to get.
func (m *match) alertFor(s *session, now time.Time) *alert {
	for _, a := range m.alerts {
		if a.no > s.told && now.Before(a.until) {
			return a
		}
	}
	return nil
}

// keys returns the sessions in a fixed order.
func (m *match) keys() []string {
	if m.order == nil {
		m.order = slices.Sorted(maps.Keys(m.sessions))
	}
	return m.order
}

// closing is when the activities of a match are ended, zero while it is not over. Until then a match that the feed
// takes up again finds everything in place.
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

// closed reports whether that is so.
func (m *match) closed(now time.Time) bool {
	at := m.closing()
	return !at.IsZero() && !now.Before(at)
}

// hopeless reports whether an end has been tried for long enough.
func (m *match) hopeless(now time.Time) bool {
	return !m.finishedAt.IsZero() && !now.Before(m.finishedAt.Add(endAfter+endLife))
}

// playing reports whether activities are started: not overnight, and not for what is over.
func (m *match) playing() bool {
	if m.status != cricket.ActiveLive || !m.finishedAt.IsZero() || m.display == nil {
		return false
	}
	switch m.phase {
	case cricket.PhaseStumps, cricket.PhaseCompleted, cricket.PhaseAbandoned:
		return false
	default:
		return true
	}
}

// finished reports whether nothing is left to do for a match. One without a row in active-matches has not begun: its
// phones wait, and it is loaded when the row appears.
func (m *match) finished() bool {
	if m.channel != nil || m.maintaining || m.asking || len(m.waiting) > 0 {
		return false
	}
	if m.status != "" && m.status != cricket.ActiveEnded {
		return false
	}
	for _, s := range m.sessions {
		owed := s.row.Status == phone.SessionEnded && s.row.UpdateToken != ""
		if s.flying || owed || m.status != "" && s.row.Status != phone.SessionEnded {
			return false
		}
	}
	return true
}
