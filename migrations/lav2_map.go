package migrations

import (
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/store/attr"
)

// The reasons why a row is skipped, and why one cannot be read.
const (
	skipExpired    = "expired"                // its time to live is over
	skipNoDevice   = "no device"              // its user has none, and it names none
	skipDevices    = "several devices"        // its user has several, and it names none
	skipSuperseded = "a later row is carried" // another old row is of the same session or match, and newer
	skipOld        = "not heard of for days"  // a state that was left lying
	skipNeedless   = "not needed"             // its table has nothing after it

	badMatch  = "no match id"
	badUser   = "no user id"
	badToken  = "token is none of Apple's"
	badStatus = "status is not known"
)

const (
	endedKept = 24 * time.Hour      // how long an ended session stays
	stateKept = 48 * time.Hour      // how long the state of a match stays that does not say
	stateOld  = 3 * 24 * time.Hour  // no match rests longer
	longest   = 10 * 24 * time.Hour // no session needs to stay longer
)

// mapped is what becomes of an old row: a new one, or the reason why there is none.
type mapped struct {
	key        attr.Item // of the new row
	row        attr.Item
	at         time.Time // when the old row was last changed, as far as it says
	skip       string
	unreadable string
}

// lookup is what a row needs to know beside itself.
type lookup interface {
	// devices are the devices of a user.
	devices(userID string) ([]cricket.Device, error)
	// expiry is until when a session of the match is kept; the zero time where the match is not known.
	expiry(matchID string) (time.Time, error)
}

// sessionWord translates the old words for the status of a session. What is not known is "".
func sessionWord(text string, token bool) cricket.SessionStatus {
	switch strings.ToLower(text) {
	case "active", "live", "started", "running", "subscribed", "registered", "enabled", "true", "1", "":
		if token {
			return cricket.SessionActive
		}
		return cricket.SessionPending
	case "pending", "requested", "starting", "waiting", "created":
		return cricket.SessionPending
	case "suspended", "paused", "failed", "invalid", "error":
		return cricket.SessionSuspended
	case "ended", "inactive", "stopped", "finished", "completed", "unsubscribed", "cancelled", "canceled", "dismissed",
		"expired", "disabled", "deleted", "false", "0":
		return cricket.SessionEnded
	}
	return ""
}

// session makes a row of live-activities of one of activity-subscriptions.
func session(row attr.Item, n *SubscriptionNames, now time.Time, l lookup) (mapped, error) {
	matchID, userID := textOf(row, n.MatchID), textOf(row, n.UserID)
	token, isToken := cricket.TokenOf(textOf(row, n.Token))
	status := sessionWord(textOf(row, n.Status), token != "")
	switch {
	case matchID == "":
		return mapped{unreadable: badMatch}, nil
	case userID == "":
		return mapped{unreadable: badUser}, nil
	case status == "":
		return mapped{unreadable: badStatus}, nil
	case status == cricket.SessionActive && !isToken:
		return mapped{unreadable: badToken}, nil
	}
	started := timeOf(row, n.StartedAt)
	s := cricket.Session{MatchID: matchID, UserID: userID, Status: status, CreatedAt: started}
	ends := timeOf(row, n.TTL)
	if !ends.IsZero() && !ends.After(now) {
		return mapped{skip: skipExpired}, nil
	}
	device, skip, err := deviceOf(row, n, l, userID)
	if err != nil || skip != "" {
		return mapped{skip: skip}, err
	}
	s.DeviceID, s.Key = device, cricket.SessionKey(userID, device)
	lifecycle(&s, row, n, token, now)
	if ends.IsZero() {
		if ends, err = l.expiry(matchID); err != nil {
			return mapped{}, err
		}
	}
	if ends, skip = sessionEnd(&s, ends, now); skip != "" {
		return mapped{skip: skip}, nil
	}
	s.TTL = ends.Unix()
	item, err := attr.Marshal(&s)
	at := started
	for _, other := range []time.Time{timeOf(row, n.UpdatedAt), timeOf(row, n.EndedAt)} {
		if other.After(at) {
			at = other
		}
	}
	return mapped{key: attr.Item{"matchId": item["matchId"], "userId#deviceId": item["userId#deviceId"]}, row: item, at: at}, err
}

// sessionEnd is when the row goes. One that says nothing and whose match nobody knows stays as long as an ended one.
func sessionEnd(s *cricket.Session, ends, now time.Time) (time.Time, string) {
	if ends.IsZero() || s.Status == cricket.SessionEnded && ends.After(now.Add(endedKept)) {
		ends = now.Add(endedKept)
	}
	if !ends.After(now) { // by the match's time
		return ends, skipExpired
	}
	if latest := now.Add(longest); ends.After(latest) {
		ends = latest
	}
	return ends, ""
}

// lifecycle sets what a session of that status has. Only an active one keeps its token: an ended session with one would
// owe its phone a push that the old application has sent or not wanted.
func lifecycle(s *cricket.Session, row attr.Item, n *SubscriptionNames, token string, now time.Time) {
	switch s.Status {
	case cricket.SessionActive:
		s.UpdateToken, s.SessionStartedAt = token, s.CreatedAt
		if s.SessionStartedAt.IsZero() {
			s.SessionStartedAt = now
		}
	case cricket.SessionSuspended:
		s.SuspendedAt = now
	case cricket.SessionEnded:
		if s.EndedAt = timeOf(row, n.EndedAt); s.EndedAt.IsZero() {
			s.EndedAt = now
		}
	}
}

// deviceOf is the device of a row: the one that it names, as the device's own row calls it, or its user's only one.
func deviceOf(row attr.Item, n *SubscriptionNames, l lookup, userID string) (id, skip string, err error) {
	devices, err := l.devices(userID)
	if err != nil {
		return "", "", err
	}
	named := textOf(row, n.DeviceID)
	for i := range devices {
		d := &devices[i]
		if named != "" && (d.DeviceID == named || strings.EqualFold(d.DeviceToken, named)) {
			return d.DeviceID, "", nil
		}
	}
	switch {
	case named != "":
		return named, "", nil
	case len(devices) == 0:
		return "", skipNoDevice, nil
	case len(devices) > 1:
		return "", skipDevices, nil
	}
	return devices[0].DeviceID, "", nil
}

// activeWord translates the old words for how far the processing of a match is. What is not known is "".
func activeWord(text string) string {
	switch strings.ToLower(text) {
	case "idle", "scheduled", "upcoming", "prematch", "pending", "waiting":
		return cricket.ActiveIdle
	case "live", "active", "processing", "running", "in_progress", "true", "":
		return cricket.ActiveLive
	case "ended", "completed", "complete", "finished", "done", "archived", "stopped", "inactive", "false":
		return cricket.ActiveEnded
	}
	return ""
}

// activeOf is how far the processing is: by its own word, else by the match's status, which may stand in its place.
func activeOf(own string, feed cricket.Status) string {
	if word := activeWord(own); word != "" && own != "" {
		return word
	}
	if feed == "" {
		feed = cricket.Status(own)
	}
	switch phase, known := feed.Phase(); {
	case !known && own == "" && feed == "":
		return cricket.ActiveLive
	case !known:
		return ""
	case phase == cricket.PhasePrematch:
		return cricket.ActiveIdle
	case phase == cricket.PhaseCompleted, phase == cricket.PhaseAbandoned:
		return cricket.ActiveEnded
	}
	return cricket.ActiveLive
}

// activeMatch makes a row of active-matches of one of match-processing-state. Who owned it and when its last tick was
// stay behind: nobody owns it, so that it is taken up at once, and the next reading counts as the first after a gap,
// of which nothing is told that the old application may have told.
func activeMatch(row attr.Item, n *ProcessingNames, now time.Time) (mapped, error) {
	id, at := textOf(row, n.MatchID), timeOf(row, n.UpdatedAt)
	own, feed := textOf(row, n.Status), cricket.Status(textOf(row, n.FeedStatus))
	status := activeOf(own, feed)
	ends := timeOf(row, n.TTL)
	switch {
	case id == "":
		return mapped{unreadable: badMatch}, nil
	case !ends.IsZero() && !ends.After(now):
		return mapped{skip: skipExpired}, nil
	case ends.IsZero() && !at.IsZero() && now.Sub(at) > stateOld:
		return mapped{skip: skipOld}, nil
	case status == "":
		return mapped{unreadable: badStatus}, nil
	}
	st := cricket.State{MatchID: id, Status: status}
	if feed == "" {
		feed = cricket.Status(own)
	}
	if phase, known := feed.Phase(); known {
		st.PreviousStatus, st.MatchPhase = feed, phase
	}
	if ball, ok := find(row, n.BallID); ok {
		st.PreviousBallID, _ = wholeOf(ball)
	}
	if score, ok := find(row, n.Score); ok {
		st.PreviousScore = scoreOf(score)
	}
	if v, ok := find(row, n.Cooldowns); ok {
		st.Cooldowns = cooldownsOf(v, now)
	}
	switch {
	case !ends.IsZero():
		st.TTL = ends.Unix()
	case status == cricket.ActiveEnded:
		st.TTL = now.Add(stateKept).Unix()
	}
	item, err := attr.Marshal(&st)
	return mapped{key: attr.Item{"matchId": item["matchId"]}, row: item, at: at}, err
}

// scoreOf reads the score of the last tick: a list of innings, or a single one. What is not whole is nothing: the next
// reading brings it.
func scoreOf(v attr.Value) []cricket.PreviousScore {
	rows := v.List()
	if v.Kind() == attr.KindM {
		rows = []attr.Value{v}
	}
	var out []cricket.PreviousScore
	for _, r := range rows {
		it := r.Map()
		no, ok1 := wholeOf(member(it, "innings", "inning", "no"))
		runs, ok2 := wholeOf(member(it, "runs", "score"))
		wickets, ok3 := wholeOf(member(it, "wickets"))
		if !ok1 || !ok2 || !ok3 || no < 1 {
			return nil
		}
		team, _ := wholeOf(member(it, "teamId", "team_id"))
		out = append(out, cricket.PreviousScore{
			Innings: int(no), TeamID: team, Runs: int(runs), Wickets: int(wickets), Overs: scalar(member(it, "overs")),
		})
	}
	slices.SortFunc(out, func(a, b cricket.PreviousScore) int { return a.Innings - b.Innings })
	return out
}

// cooldownsOf reads a map of event types to the end of their cooldown. Those that are over go, and what is no map is
// none.
func cooldownsOf(v attr.Value, now time.Time) map[string]int64 {
	out := map[string]int64{}
	for kind := range v.Map() {
		if ends := timeOf(v.Map(), []string{kind}); ends.After(now) && ends.Before(now.Add(time.Hour)) {
			out[kind] = ends.UnixMilli()
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
