package sandbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// shownWord is the outcome of a push that the phone showed.
const shownWord = "shown"

// deliver delivers an accepted push to its phone and returns the outcome. The server answers 200 in any case, as Apple does.
func (s *Sandbox) deliver(ctx context.Context, r *request) string {
	p, err := decodePayload(r.body)
	s.mu.Lock()
	ph := r.target.phone
	ph.received++
	var begun *activity
	if err == nil {
		begun, err = s.showPush(r, p)
	}
	if err != nil {
		ph.ignored++
		ph.why = err.Error()
		s.mu.Unlock()
		return "ignored: " + err.Error()
	}
	var told Activity
	if begun != nil && begun.channel != "" {
		begun = nil // it has no token to report
	}
	if begun != nil {
		told = Activity{MatchID: begun.matchID, UpdateToken: s.reported(ph, begun), StartedAt: begun.started}
	}
	s.mu.Unlock()
	if begun == nil {
		return shownWord
	}
	// The app reports to its server without the lock, because that may lead to another push. The report is
	// independent of the provider, which may have disconnected.
	if err := ph.reportActivity(context.WithoutCancel(ctx), told); err != nil {
		s.cfg.Logger.Warn("the app could not register its update token", "phone", ph.Name, "err", err)
		return shownWord + "; the app could not register its token"
	}
	return shownWord
}

// showPush applies a push to the phone. Called with the lock held.
func (s *Sandbox) showPush(r *request, p aps) (begun *activity, err error) {
	ph, now := r.target.phone, r.now
	if r.expires != 0 && unix(r.expires).Before(now) {
		return nil, errors.New("expired before it arrived")
	}
	if err := ph.spend(r.priority, now); err != nil {
		return nil, err
	}
	switch r.target.kind {
	case startToken:
		begun, err = s.begin(ph, p, now)
	case updateToken:
		err = r.target.activity.apply(p, now, s.cfg.Lenient)
	case deviceToken:
		if p.Alert == nil {
			return nil, nil // a background push wakes the app and shows nothing
		}
	}
	if err != nil {
		return nil, err
	}
	ph.light(p, now)
	return begun, nil
}

// light lights up the screen if the push has an alert.
func (ph *phone) light(p aps, now time.Time) {
	if p.Alert != nil {
		ph.alerts = append(ph.alerts, ShownAlert{Alert: *p.Alert, At: now})
		ph.alerts = ph.alerts[max(0, len(ph.alerts)-alertsKept):]
	}
}

// spend takes an urgent push from the phone's budget for the running hour.
func (ph *phone) spend(priority int, now time.Time) error {
	ph.urgent = slices.DeleteFunc(ph.urgent, func(t time.Time) bool { return now.Sub(t) >= time.Hour })
	if priority != 10 {
		return nil
	}
	if len(ph.urgent) >= urgentPerHour {
		return errors.New("over the budget of urgent pushes")
	}
	ph.urgent = append(ph.urgent, now)
	return nil
}

// begin starts a Live Activity. One for the same match stays beside it: the system does not know that both are
// for one match. Called with the lock held.
func (s *Sandbox) begin(ph *phone, p aps, now time.Time) (*activity, error) {
	if err := p.wantStart(s.cfg.Lenient); err != nil {
		return nil, err
	}
	at, err := p.stateTime(now)
	if err != nil {
		return nil, err
	}
	if err := ph.refuseStart(now); err != nil {
		return nil, err
	}
	a := &activity{
		matchID: matchOf(p.Attributes), started: now, timestamp: at, changed: now,
		state: p.ContentState, attrs: p.Attributes, pushes: 1,
	}
	a.setStale(p)
	ph.activities = slices.DeleteFunc(ph.activities, func(o *activity) bool { return !o.onScreen(now) })
	running := 0
	for _, o := range ph.activities {
		if !o.isOver(now) {
			running++
		}
	}
	if running >= maxActivities {
		return nil, errors.New("too many Live Activities")
	}
	if p.InputChannel != "" && ph.hearsChannels() {
		a.channel = p.InputChannel
	} else {
		a.token = s.issue(ph, updateToken, a) // older systems have no channels
	}
	ph.activities = append(ph.activities, a)
	return a, nil
}

// apply updates what an activity shows.
func (a *activity) apply(p aps, now time.Time, lenient bool) error {
	if a.isOver(now) {
		return errors.New("the activity has ended")
	}
	if err := p.wantUpdate(lenient); err != nil {
		return err
	}
	at, err := p.stateTime(now)
	if err != nil {
		return err
	}
	if at.Before(a.timestamp) {
		return errors.New("older than what is shown")
	}
	a.timestamp, a.changed = at, now
	a.pushes++
	a.setStale(p)
	if len(p.ContentState) > 0 {
		a.state = p.ContentState
	}
	if p.Event == "end" {
		dismissed := now.Add(lockScreenLife)
		if p.DismissalDate != nil {
			dismissed = unix(*p.DismissalDate)
		}
		a.end(now, dismissed)
	}
	return nil
}

// stranger adds a phone for an unknown token, for apps whose tokens come from elsewhere. Called with the lock held.
func (s *Sandbox) stranger(r *request) *endpoint {
	e := &endpoint{kind: deviceToken}
	e.phone = &phone{Phone: Phone{Name: "phone " + redact(r.token), DeviceID: r.token, DeviceToken: r.token}, seed: s.cfg.Seed + "|" + r.token}
	if strings.HasSuffix(r.header.Get("apns-topic"), liveActivitySuffix) {
		e.kind = updateToken
		if p, err := decodePayload(r.body); err == nil && p.Event == "start" {
			e.kind = startToken
		} else {
			e.activity = &activity{token: r.token, started: r.now, changed: r.now}
			e.phone.activities = []*activity{e.activity}
		}
	}
	s.phones = append(s.phones, e.phone)
	s.tokens[r.token] = e
	return e
}

func (a *activity) setStale(p aps) {
	a.stale = time.Time{}
	if p.StaleDate > 0 {
		a.stale = unix(p.StaleDate)
	}
}
