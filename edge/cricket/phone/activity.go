package phone

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// SessionStatus is the state of a device's Live Activity for a match.
type SessionStatus string

// The states of a session.
const (
	SessionPending   SessionStatus = "pending"   // wanted, no token yet
	SessionActive    SessionStatus = "active"    // on a lock screen, with a token
	SessionSuspended SessionStatus = "suspended" // Apple rejected the token
	SessionEnded     SessionStatus = "ended"
)

// EndReason says why a session ended.
type EndReason string

// Reasons for the end of a session.
const (
	EndMatchEnded   EndReason = "match_ended"
	EndUnfollowed   EndReason = "unfollowed"
	EndDismissed    EndReason = "dismissed"
	EndTokenInvalid EndReason = "token_invalid"
)

// StartAnswer is Apple's answer to the last start sent to a device. It is empty if unknown: the answer was lost,
// or the process ended before it came.
type StartAnswer string

// The answers. An accepted start is or will be on the lock screen: another one would be a second card.
const (
	StartTaken   StartAnswer = "taken"
	StartRefused StartAnswer = "refused"
)

// NoCard says why a pending session has no card. The phone gets ordinary alerts meanwhile.
type NoCard string

// The reasons.
const (
	NoCardMissing NoCard = "not_shown" // Apple accepted a start, and no token of its activity came
	NoCardLimit   NoCard = "limit"     // the device has as many cards as it may
)

// StartLife is how long Apple may hold a start for an unreachable phone.
const StartLife = 10 * time.Minute

// Session is the Live Activity of one device for one match: a row of live-activities. An ended session that
// still has a token owes its phone an end push.
type Session struct {
	MatchID          string        `dynamodbav:"matchId" json:"matchId"`
	Key              string        `dynamodbav:"userId#deviceId" json:"-"`
	UserID           string        `dynamodbav:"userId" json:"userId"`
	DeviceID         string        `dynamodbav:"deviceId" json:"deviceId"`
	Status           SessionStatus `dynamodbav:"status" json:"status"`
	UpdateToken      string        `dynamodbav:"updateToken,omitempty" json:"-"`
	FormerToken      string        `dynamodbav:"formerToken,omitempty" json:"-"`   // of the card that this one replaces, until its end was sent
	ChannelID        string        `dynamodbav:"channelId,omitempty" json:"-"`     // listens to a broadcast channel instead of having a token
	FormerChannel    string        `dynamodbav:"formerChannel,omitempty" json:"-"` // that the card which this one replaces listens to, until its end was sent
	CreatedAt        time.Time     `dynamodbav:"createdAt,omitempty" json:"createdAt,omitzero"`
	SessionStartedAt time.Time     `dynamodbav:"sessionStartedAt,omitempty" json:"sessionStartedAt,omitzero"`
	StartTries       int           `dynamodbav:"startTries,omitempty" json:"-"` // starts sent that no token has answered
	StartSentAt      time.Time     `dynamodbav:"startSentAt,omitempty" json:"-"`
	StartAnswer      StartAnswer   `dynamodbav:"startAnswer,omitempty" json:"-"` // to the last start
	StartedWith      string        `dynamodbav:"startedWith,omitempty" json:"-"` // digest of the last start's token
	NoCard           NoCard        `dynamodbav:"noCard,omitempty" json:"noCard,omitempty"`
	ResumedAt        time.Time     `dynamodbav:"resumedAt,omitempty" json:"-"` // when it was resumed after its end
	SuspendedAt      time.Time     `dynamodbav:"suspendedAt,omitempty" json:"suspendedAt,omitzero"`
	EndedAt          time.Time     `dynamodbav:"endedAt,omitempty" json:"endedAt,omitzero"`
	EndReason        EndReason     `dynamodbav:"endReason,omitempty" json:"endReason,omitempty"`
	TTL              int64         `dynamodbav:"ttl,omitempty" json:"-"`
}

// endedLife is how long the row of an ended session stays: longer than an end push may be owed.
const endedLife = 24 * time.Hour

// Activities holds the Live Activities of all matches. The zero value is ready to use. Every change is
// conditional on what it was based on, so that a token that rotates meanwhile is never lost.
type Activities struct{}

func sessionKey(matchID, key string) attr.Item {
	return attr.Item{"matchId": attr.S(matchID), "userId#deviceId": attr.S(key)}
}

func noSession(matchID string) error {
	return fault.New(fault.NotFound, "activity_not_found", "there is no Live Activity for match %q", matchID)
}

// sessionChange is one update of a row, with an optional condition.
type sessionChange struct {
	matchID, key string
	update       string
	condition    string
	values       attr.Item
	after        []store.ItemRef // rows whose changes reach the cloud first
}

// change returns a change to the session's row.
func (s *Session) change(update, condition string, values attr.Item) sessionChange {
	return sessionChange{matchID: s.MatchID, key: s.Key, update: update, condition: condition, values: values}
}

// apply makes the change. In the expressions #s stands for status and #ttl for ttl, :now for the transaction's
// time, and :pending, :active, :suspended, :ended and :refused for those words.
func (c sessionChange) apply(tx *store.Tx) (s Session, err error) {
	p := expr.Params{Names: map[string]string{}, Values: attr.Item{}}
	text := c.update + " " + c.condition
	for placeholder, name := range map[string]string{"#s": "status", "#ttl": "ttl"} {
		if strings.Contains(text, placeholder) {
			p.Names[placeholder] = name
		}
	}
	for _, word := range []string{
		string(SessionPending), string(SessionActive), string(SessionSuspended), string(SessionEnded), string(StartRefused),
	} {
		if strings.Contains(text, ":"+word) {
			p.Values[":"+word] = attr.S(word)
		}
	}
	maps.Copy(p.Values, c.values)
	if strings.Contains(text, ":now") {
		p.Values[":now"] = attr.Time(tx.Now())
	}
	images, err := tx.Update(store.UpdateItem{
		Table: tables.LiveActivities, Key: sessionKey(c.matchID, c.key),
		Update: c.update, Condition: c.condition, Params: p, Sending: store.Sending{After: c.after},
	})
	if err != nil {
		return Session{}, err
	}
	return s, attr.Unmarshal(images.New, &s)
}

// applyIf is apply for a change that another may have overtaken: done is then false.
func (c sessionChange) applyIf(tx *store.Tx) (done bool, err error) {
	_, err = c.apply(tx)
	if fault.Is(err, fault.Conflict) {
		return false, nil
	}
	return err == nil, err
}

// wanted is the condition of Ensure: there is no session, or an ended one.
const wanted = "attribute_not_exists(matchId) OR #s = :ended"

// IsSatisfied reports whether a conditional write was made by Ensure and its purpose is met by the existing row,
// there. The condition may use other placeholders than Ensure's, and be in parentheses.
func (Activities) IsSatisfied(condition string, p expr.Params, there attr.Item) bool {
	plain := placeholder().ReplaceAllStringFunc(condition, func(name string) string {
		if strings.HasPrefix(name, "#") {
			return p.Names[name]
		}
		return p.Values[name].Str()
	})
	if inner, ok := strings.CutPrefix(plain, "("); ok && strings.HasSuffix(inner, ")") {
		plain = strings.TrimSuffix(inner, ")")
	}
	asked := strings.NewReplacer("#s", "status", ":ended", string(SessionEnded)).Replace(wanted)
	status := there["status"].Str()
	return plain == asked && status != "" && status != string(SessionEnded)
}

// placeholder matches the names and values in an expression. It is compiled on use, because only conflicts need it.
func placeholder() *regexp.Regexp { return regexp.MustCompile(`[#:][A-Za-z0-9_]+`) }

// startFields are the attributes that record a session's starts, kept while the card of one may appear or exist.
const startFields = "startTries, startSentAt, startAnswer, startedWith, noCard"

// Ensure makes sure that a follower's device has a session that waits for a token or has one. An ended session
// is resumed, with the record of its starts; if its end push has not been sent yet, it is simply active again.
func (a Activities) Ensure(tx *store.Tx, matchID, userID, deviceID string, expires int64) (Session, error) {
	key := tables.SessionKey(userID, deviceID)
	old, err := a.Get(tx, matchID, key)
	switch {
	case err == nil && old.Status != SessionEnded:
		return old, nil
	case err != nil && !fault.Is(err, fault.NotFound):
		return Session{}, err
	}
	c := sessionChange{
		matchID: matchID, key: key,
		update: "SET #s = :status, userId = :user, deviceId = :device, createdAt = if_not_exists(createdAt, :now), " +
			"#ttl = :ttl REMOVE endedAt, endReason, channelId",
		condition: wanted,
		values: attr.Item{
			":status": attr.S(string(SessionPending)), ":user": attr.S(userID), ":device": attr.S(deviceID),
			":ttl": attr.Int(expires),
		},
	}
	if old.UpdateToken != "" {
		c.values[":status"] = attr.S(string(SessionActive))
		c.update += ", " + startFields
	} else if old.Key != "" {
		c.update = strings.Replace(c.update, "SET ", "SET resumedAt = :now, ", 1)
	}
	return c.apply(tx)
}

// end ends a session unless it has ended; owed keeps the token for the end push. The record of starts is kept for
// an activity whose token has not come, unless the user swiped it away on this device.
func (Activities) end(tx *store.Tx, matchID, key string, why EndReason, owed bool) (done bool, err error) {
	c := endChange(tx, matchID, key, why)
	c.update += " REMOVE suspendedAt, channelId"
	if !owed {
		c.update += ", updateToken"
		if why == EndDismissed {
			c.update += ", " + startFields
		}
	}
	c.condition = "attribute_exists(matchId) AND NOT #s = :ended"
	return c.applyIf(tx)
}

// endChange returns the part that every end writes; the row outlives the end by a day.
func endChange(tx *store.Tx, matchID, key string, why EndReason) sessionChange {
	return sessionChange{
		matchID: matchID, key: key,
		update: "SET #s = :ended, endedAt = :now, endReason = :why, #ttl = :ttl",
		values: attr.Item{
			":why": attr.S(string(why)), ":ttl": attr.Int(tx.Now().Add(endedLife).Unix()),
		},
	}
}

// RecordEnded records that a session is over and its phone has been notified.
func (a Activities) RecordEnded(tx *store.Tx, s *Session, why EndReason) (done bool, err error) {
	if s.UpdateToken == "" {
		return a.end(tx, s.MatchID, s.Key, why, false)
	}
	c := endChange(tx, s.MatchID, s.Key, why)
	c.update += " REMOVE updateToken, " + startFields
	c.condition = "NOT #s = :ended AND updateToken = :token"
	c.values[":token"] = attr.S(s.UpdateToken)
	return c.applyIf(tx)
}

// RecordEndSent records that the end push owed by an ended session was sent.
func (Activities) RecordEndSent(tx *store.Tx, s *Session) (done bool, err error) {
	return s.change("REMOVE updateToken", "#s = :ended AND updateToken = :token", attr.Item{":token": attr.S(s.UpdateToken)}).applyIf(tx)
}

// Suspend removes a rejected token from its session. A newer token stays.
func (Activities) Suspend(tx *store.Tx, s *Session) (done bool, err error) {
	return s.change(
		"SET #s = :suspended, suspendedAt = :now REMOVE updateToken, "+startFields,
		"#s = :active AND updateToken = :token", attr.Item{":token": attr.S(s.UpdateToken)},
	).applyIf(tx)
}

// Rest returns a session whose activity was ended on purpose to waiting: overnight, or for renewal.
func (Activities) Rest(tx *store.Tx, s *Session) (done bool, err error) {
	c := s.change("SET #s = :pending REMOVE updateToken, channelId, sessionStartedAt, "+startFields, "", attr.Item{})
	s.whileRunning(&c)
	return c.applyIf(tx)
}

// RecordJoined records that a start on a channel was accepted: the activity will not have a token of its own.
func (Activities) RecordJoined(tx *store.Tx, s *Session, channel string) (done bool, err error) {
	return s.change(
		"SET #s = :active, channelId = :channel, sessionStartedAt = :now REMOVE suspendedAt, "+startFields,
		"#s IN (:pending, :suspended)", attr.Item{":channel": attr.S(channel)},
	).applyIf(tx)
}

// Starting records a start push to a token before it is sent: a crash must not start a second activity.
func (Activities) Starting(tx *store.Tx, s *Session, token string) (done bool, err error) {
	c := s.change(
		"SET startTries = if_not_exists(startTries, :zero) + :one, startSentAt = :now, startedWith = :with REMOVE startAnswer, noCard",
		"#s IN (:pending, :suspended)", attr.Item{":zero": attr.Int(0), ":one": attr.Int(1), ":with": attr.S(digestOf(token))},
	)
	if s.Status == SessionActive { // a successor, before the card is ended
		s.whileRunning(&c)
	}
	return c.applyIf(tx)
}

// whileRunning makes a change conditional on the session's running card.
func (s *Session) whileRunning(c *sessionChange) {
	c.condition, c.values[":token"] = "#s = :active AND updateToken = :token", attr.S(s.UpdateToken)
	if s.UpdateToken == "" {
		c.condition, c.values[":token"] = "#s = :active AND channelId = :token", attr.S(s.ChannelID)
	}
}

// Succeed returns a session whose card was ended to waiting for the card that was started in its place.
func (Activities) Succeed(tx *store.Tx, s *Session) (done bool, err error) {
	c := s.change("SET #s = :pending REMOVE updateToken, channelId, sessionStartedAt", "", attr.Item{})
	s.whileRunning(&c)
	return c.applyIf(tx)
}

// LeftChannel records that the end of a former card on a channel was sent.
func (Activities) LeftChannel(tx *store.Tx, s *Session) (done bool, err error) {
	return s.change("REMOVE formerChannel", "formerChannel = :token", attr.Item{":token": attr.S(s.FormerChannel)}).applyIf(tx)
}

// Retired records that the end of a former card was sent.
func (Activities) Retired(tx *store.Tx, s *Session, former string) (done bool, err error) {
	return s.change("REMOVE formerToken", "formerToken = :token", attr.Item{":token": attr.S(former)}).applyIf(tx)
}

// succeeds reports whether a token is of the card that was started in place of a running one; the former has rotated its token if not.
func (s *Session) succeeds(token string, startedAt time.Time) bool {
	const skew = time.Minute // of the phone's clock
	another := s.UpdateToken != "" && s.UpdateToken != token || s.ChannelID != ""
	return s.Status == SessionActive && s.StartTries > 0 && another &&
		(startedAt.IsZero() || !startedAt.Before(s.StartSentAt.Add(-skew)))
}

// digestOf returns what a row keeps of a push-to-start token.
func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:8])
}

// Fresh reports whether a token is another than that of the last start.
func (s *Session) Fresh(token string) bool {
	return s.StartedWith != "" && token != "" && s.StartedWith != digestOf(token)
}

// Explain records why a session that waits has no card.
func (Activities) Explain(tx *store.Tx, s *Session, why NoCard) (done bool, err error) {
	return s.change("SET noCard = :why", "#s IN (:pending, :suspended)", attr.Item{":why": attr.S(string(why))}).applyIf(tx)
}

// Renew forgets the last start, accepted or not, if it was to another token: its card is lost, or never came.
func (Activities) Renew(tx *store.Tx, s *Session) (done bool, err error) {
	return s.change(
		"REMOVE "+startFields, "#s IN (:pending, :suspended) AND startedWith = :with", attr.Item{":with": attr.S(s.StartedWith)},
	).applyIf(tx)
}

// RecordAnswer records the answer to the start recorded at noted.
func (Activities) RecordAnswer(tx *store.Tx, s *Session, noted time.Time, answer StartAnswer) (done bool, err error) {
	return s.change(
		"SET startAnswer = :answer", "startSentAt = :noted",
		attr.Item{":answer": attr.S(string(answer)), ":noted": attr.Time(noted)},
	).applyIf(tx)
}

// Unsent records that the start recorded at noted was not sent, and does not count.
func (Activities) Unsent(tx *store.Tx, s *Session, noted time.Time) (done bool, err error) {
	return s.change(
		"SET startAnswer = :refused, startTries = startTries - :one", "startSentAt = :noted",
		attr.Item{":noted": attr.Time(noted), ":one": attr.Int(1)},
	).applyIf(tx)
}

// Again forgets refused starts, because there is news of the device.
func (Activities) Again(tx *store.Tx, s *Session) (done bool, err error) {
	return s.change("REMOVE "+startFields, "#s IN (:pending, :suspended) AND startAnswer = :refused", nil).applyIf(tx)
}

// Get returns a session by match and sort key, or fault.NotFound.
func (Activities) Get(tx *store.Tx, matchID, key string) (Session, error) {
	return tables.Get[Session](tx, tables.LiveActivities, sessionKey(matchID, key), noSession(matchID))
}

// OfMatch lists the sessions of a match.
func (Activities) OfMatch(tx *store.Tx, matchID string) ([]Session, error) {
	return tables.Decode[Session](tx, tables.LiveActivities, tx.QueryAll(tables.OfMatch(tables.LiveActivities, matchID)))
}
