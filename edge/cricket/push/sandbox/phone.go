package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// Limits of a phone, whatever the server answered.
const (
	urgentPerHour  = 15            // pushes of priority 10 that a phone shows in a running hour
	activityLife   = 8 * time.Hour // afterwards the system ends it
	lockScreenLife = 4 * time.Hour // how long an ended one may stay
	maxActivities  = 5             // of one app at a time
	alertsKept     = 20

	startsAtOnce = 10               // starts by push that a phone shows
	startsWithin = 10 * time.Minute // in this time
)

// Phone is a simulated iPhone with the app.
type Phone struct {
	Name     string `json:"name"`
	Model    string `json:"model"`
	UserID   string `json:"userId"`
	DeviceID string `json:"deviceId"`
	System   string `json:"osVersion,omitempty"` // iOS version, "17.5"; empty: one without channels

	Dark bool `json:"-"` // its screen

	NeverShows bool `json:"neverShows,omitempty"` // it drops starts by push, as phones do now and then: Apple accepts them all the same
	OldToken   bool `json:"oldToken,omitempty"`   // its app first reports an update token that is dead
	Killed     bool `json:"killed,omitempty"`     // its app was ended by the user: it reports nothing

	DeviceToken      string `json:"-"` // for alerts
	PushToStartToken string `json:"-"` // for starting Live Activities
}

// Activity is a Live Activity that started, got a new token, or was dismissed.
type Activity struct {
	MatchID     string
	UpdateToken string // empty: it was dismissed
	StartedAt   time.Time
	Dismissed   bool
}

// App is the app's part in a Live Activity: it gets the update token from the system and reports it to its server. The
// sandbox calls it before answering the push, so that replays in stepped time have a fixed order. It must return: the
// sandbox waits for it when stopping.
type App func(ctx context.Context, p Phone, a Activity) error

// tokenKind is the purpose of a token.
type tokenKind uint8

const (
	deviceToken tokenKind = iota
	startToken
	updateToken
)

// endpoint is a token and what it addresses.
type endpoint struct {
	kind     tokenKind
	phone    *phone
	activity *activity // for an update token
	last     time.Time // latest accepted push
	deadAt   time.Time // since when it is replaced or unregistered
	deadWhy  string
}

// deadSince returns since when and why a token is dead; the reason is empty if it is not.
func (e *endpoint) deadSince(now time.Time) (since time.Time, reason string) {
	if e.deadWhy != "" {
		return e.deadAt, e.deadWhy
	}
	if e.activity == nil {
		return time.Time{}, ""
	}
	if until := e.activity.goneAt(); !now.Before(until) {
		return until, "ExpiredToken"
	}
	return time.Time{}, ""
}

type phone struct {
	Phone
	app        App
	seed       string
	made       int // tokens issued so far
	activities []*activity
	starts     []time.Time // shown starts by push
	urgent     []time.Time // shown pushes of priority 10 in the last hour
	alerts     []ShownAlert
	received   int
	ignored    int
	why        string // why the latest one was ignored
}

// activity is a Live Activity on a phone.
type activity struct {
	matchID   string
	token     string
	channel   string // the channel it listens to instead of having a token
	started   time.Time
	timestamp time.Time // of the state shown
	changed   time.Time // when it was shown
	state     json.RawMessage
	attrs     json.RawMessage
	stale     time.Time
	ended     time.Time
	dismissed time.Time // when it leaves the lock screen
	pushes    int
}

// goneAt returns when the token expires: at the end of the activity's life, or when an ended one leaves the screen.
func (a *activity) goneAt() time.Time {
	if !a.ended.IsZero() {
		return a.dismissed
	}
	return a.started.Add(activityLife)
}

// isOver reports whether pushes no longer have an effect.
func (a *activity) isOver(now time.Time) bool {
	return !a.ended.IsZero() || !now.Before(a.started.Add(activityLife))
}

// onScreen reports whether it is on the lock screen.
func (a *activity) onScreen(now time.Time) bool {
	if !a.ended.IsZero() {
		return now.Before(a.dismissed)
	}
	return now.Before(a.started.Add(activityLife + lockScreenLife))
}

// AddPhone adds a phone. app may be nil for an app that reports nothing. Name and DeviceID are required.
func (s *Sandbox) AddPhone(p Phone, app App) (Phone, error) {
	if p.Name == "" || p.DeviceID == "" {
		return Phone{}, fault.New(fault.Invalid, "phone", "a phone needs a name and a device id")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ph := &phone{Phone: p, app: app, seed: s.cfg.Seed + "|" + p.UserID + "|" + p.DeviceID}
	ph.DeviceToken = s.issue(ph, deviceToken, nil)
	if ph.startsByPush() {
		ph.PushToStartToken = s.issue(ph, startToken, nil)
	}
	s.phones = append(s.phones, ph)
	return ph.Phone, nil
}

// issue issues a token. Called with the lock held.
func (s *Sandbox) issue(ph *phone, k tokenKind, a *activity) string {
	ph.made++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%d", ph.seed, ph.made))
	token := hex.EncodeToString(sum[:])
	s.tokens[token] = &endpoint{kind: k, phone: ph, activity: a}
	return token
}

// StartActivity starts an activity as an app does by itself, and returns its update token.
func (s *Sandbox) StartActivity(deviceID, matchID string) (token string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ph := range slices.Backward(s.phones) {
		if ph.DeviceID == deviceID {
			now := s.cfg.Clock.Now()
			a := &activity{matchID: matchID, started: now, changed: now}
			a.token = s.issue(ph, updateToken, a)
			ph.activities = append(ph.activities, a)
			return a.token, nil
		}
	}
	return "", fault.New(fault.NotFound, "phone", "no phone %s", deviceID)
}

// Unregister invalidates a token, as if the app was deleted: its activity leaves the screen.
func (s *Sandbox) Unregister(token string) {
	if a := s.kill(token, "Unregistered"); a != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		a.end(s.cfg.Clock.Now(), s.cfg.Clock.Now())
	}
}

// kill invalidates a token and returns its activity, if it is an update token.
func (s *Sandbox) kill(token, why string) *activity {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.tokens[token]
	if e == nil || e.deadWhy != "" {
		return nil
	}
	e.deadAt, e.deadWhy = s.cfg.Clock.Now(), why
	return e.activity
}

// Rotate gives a phone's activity for a match a new update token, as the system does from time to time, and
// tells the app. The old token is dead.
func (s *Sandbox) Rotate(ctx context.Context, deviceID, matchID string) error {
	ph, a := s.find(deviceID, matchID)
	if a == nil {
		return fault.New(fault.NotFound, "activity", "no activity for match %s on %s", matchID, deviceID)
	}
	if a.channel != "" {
		return fault.New(fault.Conflict, "activity", "the activity listens to a channel: it has no token")
	}
	s.kill(a.token, "ExpiredToken")
	s.mu.Lock()
	a.token = s.issue(ph, updateToken, a)
	told := Activity{MatchID: a.matchID, UpdateToken: a.token, StartedAt: a.started}
	s.mu.Unlock()
	return ph.reportActivity(ctx, told)
}

// Dismiss dismisses an activity. The app notices and tells its server.
func (s *Sandbox) Dismiss(ctx context.Context, deviceID, matchID string) error {
	ph, a := s.find(deviceID, matchID)
	if a == nil {
		return fault.New(fault.NotFound, "activity", "no activity for match %s on %s", matchID, deviceID)
	}
	s.mu.Lock()
	a.end(s.cfg.Clock.Now(), s.cfg.Clock.Now())
	told := Activity{MatchID: a.matchID, StartedAt: a.started, Dismissed: true}
	s.mu.Unlock()
	return ph.reportActivity(ctx, told)
}

// find returns a phone's running activity for a match, the latest of several.
func (s *Sandbox) find(deviceID, matchID string) (*phone, *activity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	for _, ph := range s.phones {
		if ph.DeviceID != deviceID {
			continue
		}
		for _, a := range slices.Backward(ph.activities) {
			if a.matchID == matchID && !a.isOver(now) {
				return ph, a
			}
		}
	}
	return nil, nil
}

// hearsChannels reports whether the phone's system supports broadcast channels: iOS 18 and later.
func (ph *phone) hearsChannels() bool {
	major, _, _ := strings.Cut(ph.System, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 18
}

// startsByPush reports whether the phone's system has push-to-start tokens: iOS 17.2 and later.
func (ph *phone) startsByPush() bool {
	major, rest, _ := strings.Cut(ph.System, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(major)
	if err != nil || n > 17 {
		return true // unknown
	}
	m, _ := strconv.Atoi(minor)
	return n == 17 && m >= 2
}

// refuseStart returns an error if the phone does not show a start by push.
func (ph *phone) refuseStart(now time.Time) error {
	ph.starts = slices.DeleteFunc(ph.starts, func(at time.Time) bool { return now.Sub(at) >= startsWithin })
	switch {
	case ph.NeverShows:
		return errors.New("dropped by the phone")
	case len(ph.starts) >= startsAtOnce:
		return errors.New("too many starts in a short time")
	}
	ph.starts = append(ph.starts, now)
	return nil
}

// reported returns the token that the app reports for an activity. Called with the lock held.
func (s *Sandbox) reported(ph *phone, a *activity) string {
	if !ph.OldToken || len(ph.activities) > 1 {
		return a.token
	}
	old := s.issue(ph, updateToken, a)
	s.tokens[old].deadAt, s.tokens[old].deadWhy = s.cfg.Clock.Now(), "ExpiredToken"
	return old
}

// Kill ends the app on a phone, as its user does by swiping it away: cards stay, and the app reports nothing any more.
func (s *Sandbox) Kill(deviceID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ph := range s.phones {
		if ph.DeviceID == deviceID {
			ph.Killed = true
		}
	}
}

func (ph *phone) reportActivity(ctx context.Context, a Activity) error {
	if ph.app == nil || ph.Killed {
		return nil
	}
	return ph.app(ctx, ph.Phone, a)
}

// end ends an activity; it stays on the lock screen until dismissed, at most four hours.
func (a *activity) end(now, dismissed time.Time) {
	a.ended = now
	if limit := now.Add(lockScreenLife); dismissed.After(limit) {
		dismissed = limit
	}
	a.dismissed = dismissed
}
