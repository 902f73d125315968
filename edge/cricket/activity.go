package cricket

import (
	"maps"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// SessionStatus is where the Live Activity of a device for a match stands.
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

// The reasons.
const (
	EndMatchEnded   EndReason = "match_ended"
	EndUnfollowed   EndReason = "unfollowed"
	EndDismissed    EndReason = "dismissed"
	EndTokenInvalid EndReason = "token_invalid"
)

// Session is the Live Activity of one device for one match: a row of live-activities. An ended session that still
// has a token owes its phone an end push.
type Session struct {
	MatchID          string        `dynamodbav:"matchId" json:"matchId"`
	Key              string        `dynamodbav:"userId#deviceId" json:"-"`
	UserID           string        `dynamodbav:"userId" json:"userId"`
	DeviceID         string        `dynamodbav:"deviceId" json:"deviceId"`
	Status           SessionStatus `dynamodbav:"status" json:"status"`
	UpdateToken      string        `dynamodbav:"updateToken,omitempty" json:"-"`
	CreatedAt        time.Time     `dynamodbav:"createdAt,omitempty" json:"createdAt,omitzero"`
	SessionStartedAt time.Time     `dynamodbav:"sessionStartedAt,omitempty" json:"sessionStartedAt,omitzero"`
	StartTries       int           `dynamodbav:"startTries,omitempty" json:"-"` // starts sent without a token in answer
	StartSentAt      time.Time     `dynamodbav:"startSentAt,omitempty" json:"-"`
	SuspendedAt      time.Time     `dynamodbav:"suspendedAt,omitempty" json:"suspendedAt,omitzero"`
	EndedAt          time.Time     `dynamodbav:"endedAt,omitempty" json:"endedAt,omitzero"`
	EndReason        EndReason     `dynamodbav:"endReason,omitempty" json:"endReason,omitempty"`
	TTL              int64         `dynamodbav:"ttl,omitempty" json:"-"`
}

// Activities are the Live Activities of all matches. The zero value is ready. Every change is conditional on what it
// was decided by, so that a token that rotates meanwhile is never lost.
type Activities struct{}

func sessionKey(matchID, key string) attr.Item {
	return attr.Item{"matchId": attr.S(matchID), "userId#deviceId": attr.S(key)}
}

func noSession(matchID string) error {
	return fault.New(fault.NotFound, "activity_not_found", "there is no Live Activity for match %q", matchID)
}

// sessionChange is one update of a row, under an optional condition.
type sessionChange struct {
	matchID, key string
	update       string
	condition    string
	values       attr.Item
}

// apply makes the change. #s stands for status and #ttl for ttl where they are used; :now is the transaction's.
func (c sessionChange) apply(tx *store.Tx) (s Session, err error) {
	p := expr.Params{Names: map[string]string{}, Values: attr.Item{}}
	text := c.update + " " + c.condition
	for placeholder, name := range map[string]string{"#s": "status", "#ttl": "ttl"} {
		if strings.Contains(text, placeholder) {
			p.Names[placeholder] = name
		}
	}
	maps.Copy(p.Values, c.values)
	if strings.Contains(text, ":now") {
		p.Values[":now"] = attr.Time(tx.Now())
	}
	images, err := tx.Update(store.UpdateItem{
		Table: TableLiveActivities, Key: sessionKey(c.matchID, c.key),
		Update: c.update, Condition: c.condition, Params: p,
	})
	if err != nil {
		return Session{}, err
	}
	return s, attr.Unmarshal(images.New, &s)
}

// applyIf is apply for a change that something else may have overtaken: done is false then.
func (c sessionChange) applyIf(tx *store.Tx) (done bool, err error) {
	_, err = c.apply(tx)
	if fault.Is(err, fault.Conflict) {
		return false, nil
	}
	return err == nil, err
}

// Ensure sees to it that a follower's device has a session that waits for a token or has one. An ended session is
// taken up again; one whose end push has not gone out yet is simply active again.
func (a Activities) Ensure(tx *store.Tx, matchID, userID, deviceID string, expires int64) (Session, error) {
	key := SessionKey(userID, deviceID)
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
			"#ttl = :ttl REMOVE endedAt, endReason, startTries, startSentAt",
		condition: "attribute_not_exists(matchId) OR #s = :ended",
		values: attr.Item{
			":status": attr.S(string(SessionPending)), ":user": attr.S(userID), ":device": attr.S(deviceID),
			":ttl": attr.Int(expires), ":ended": attr.S(string(SessionEnded)),
		},
	}
	if old.UpdateToken != "" {
		c.values[":status"] = attr.S(string(SessionActive))
	}
	return c.apply(tx)
}

// Register takes the update token that a device got for its activity: the first of a new one or, while the session
// is active, one that replaces it. startedAt is when the activity began, zero if the app does not say.
func (a Activities) Register(
	tx *store.Tx, matchID, userID, deviceID, token string, startedAt time.Time,
) (Session, error) {
	if matchID == "" || userID == "" || deviceID == "" {
		return Session{}, fault.New(fault.Invalid, "validation", "matchId, userId and deviceId are required")
	}
	if err := validToken("updateToken", token); err != nil {
		return Session{}, err
	}
	key := SessionKey(userID, deviceID)
	old, err := a.Get(tx, matchID, key)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Session{}, err
	}
	began := startedAt
	if began.IsZero() && old.Status == SessionActive {
		began = old.SessionStartedAt
	}
	if began.IsZero() {
		began = tx.Now()
	}
	expires := old.TTL
	if expires == 0 {
		expires = tx.Now().Add(followLife).Unix()
	}
	return sessionChange{
		matchID: matchID, key: key,
		update: "SET #s = :active, updateToken = :token, userId = :user, deviceId = :device, " +
			"sessionStartedAt = :began, createdAt = if_not_exists(createdAt, :now), #ttl = :ttl " +
			"REMOVE endedAt, endReason, suspendedAt, startTries, startSentAt",
		values: attr.Item{
			":active": attr.S(string(SessionActive)), ":token": attr.S(strings.ToLower(token)),
			":user": attr.S(userID), ":device": attr.S(deviceID), ":began": attr.Time(began), ":ttl": attr.Int(expires),
		},
	}.apply(tx)
}

// Dismiss takes note that a user swiped the activity away on a device, which counts as unfollowing: their other
// devices are told to end theirs. NotFound if the device had none.
func (a Activities) Dismiss(tx *store.Tx, matchID, userID, deviceID string) error {
	done, err := a.end(tx, matchID, SessionKey(userID, deviceID), EndDismissed, false)
	if err != nil {
		return err
	}
	if !done {
		return noSession(matchID)
	}
	if _, err := tx.Delete(store.DeleteItem{Table: TableFollows, Key: followKey(matchID, userID)}); err != nil {
		return err
	}
	return a.endUser(tx, matchID, userID)
}

// endUser ends what a user has of a match; the phones are owed an end push.
func (a Activities) endUser(tx *store.Tx, matchID, userID string) error {
	all, err := a.OfUser(tx, userID)
	if err != nil {
		return err
	}
	for i := range all {
		if s := &all[i]; s.MatchID == matchID && s.Status != SessionEnded {
			if _, err := a.end(tx, matchID, s.Key, EndUnfollowed, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// end ends a session that has not ended; owed keeps the token for the end push.
func (Activities) end(tx *store.Tx, matchID, key string, why EndReason, owed bool) (done bool, err error) {
	remove := " REMOVE startTries, startSentAt, suspendedAt, updateToken"
	if owed {
		remove = " REMOVE startTries, startSentAt, suspendedAt"
	}
	return sessionChange{
		matchID: matchID, key: key,
		update:    "SET #s = :ended, endedAt = :now, endReason = :why" + remove,
		condition: "attribute_exists(matchId) AND NOT #s = :ended",
		values:    attr.Item{":ended": attr.S(string(SessionEnded)), ":why": attr.S(string(why))},
	}.applyIf(tx)
}

// Ended notes that a session is over, its phone having been told.
func (a Activities) Ended(tx *store.Tx, s *Session, why EndReason) (done bool, err error) {
	if s.UpdateToken == "" {
		return a.end(tx, s.MatchID, s.Key, why, false)
	}
	return sessionChange{
		matchID: s.MatchID, key: s.Key,
		update:    "SET #s = :ended, endedAt = :now, endReason = :why REMOVE updateToken, startTries, startSentAt",
		condition: "NOT #s = :ended AND updateToken = :token",
		values: attr.Item{
			":ended": attr.S(string(SessionEnded)), ":why": attr.S(string(why)), ":token": attr.S(s.UpdateToken),
		},
	}.applyIf(tx)
}

// Settle notes that the end push owed by an ended session has gone out.
func (Activities) Settle(tx *store.Tx, s *Session) (done bool, err error) {
	return sessionChange{
		matchID: s.MatchID, key: s.Key,
		update: "REMOVE updateToken", condition: "#s = :ended AND updateToken = :token",
		values: attr.Item{":ended": attr.S(string(SessionEnded)), ":token": attr.S(s.UpdateToken)},
	}.applyIf(tx)
}

// Suspend takes a rejected token out of its session. A token that came meanwhile stays.
func (Activities) Suspend(tx *store.Tx, s *Session) (done bool, err error) {
	return sessionChange{
		matchID: s.MatchID, key: s.Key,
		update:    "SET #s = :suspended, suspendedAt = :now REMOVE updateToken, startTries, startSentAt",
		condition: "#s = :active AND updateToken = :token",
		values: attr.Item{
			":suspended": attr.S(string(SessionSuspended)), ":active": attr.S(string(SessionActive)),
			":token": attr.S(s.UpdateToken),
		},
	}.applyIf(tx)
}

// Rest puts a session whose activity was ended on purpose back to waiting: overnight, or to be renewed.
func (Activities) Rest(tx *store.Tx, s *Session) (done bool, err error) {
	return sessionChange{
		matchID: s.MatchID, key: s.Key,
		update:    "SET #s = :pending REMOVE updateToken, sessionStartedAt, startTries, startSentAt",
		condition: "#s = :active AND updateToken = :token",
		values: attr.Item{
			":pending": attr.S(string(SessionPending)), ":active": attr.S(string(SessionActive)),
			":token": attr.S(s.UpdateToken),
		},
	}.applyIf(tx)
}

// Starting notes, before a start push leaves, that it does: a crash must not start a second activity.
func (Activities) Starting(tx *store.Tx, s *Session) (done bool, err error) {
	return sessionChange{
		matchID: s.MatchID, key: s.Key,
		update:    "SET startTries = if_not_exists(startTries, :zero) + :one, startSentAt = :now",
		condition: "#s IN (:pending, :suspended)",
		values: attr.Item{
			":zero": attr.Int(0), ":one": attr.Int(1), ":pending": attr.S(string(SessionPending)),
			":suspended": attr.S(string(SessionSuspended)),
		},
	}.applyIf(tx)
}

// Again forgets the tries to start an activity: there is news of the device.
func (Activities) Again(tx *store.Tx, s *Session) (done bool, err error) {
	return sessionChange{
		matchID: s.MatchID, key: s.Key,
		update:    "REMOVE startTries, startSentAt",
		condition: "#s IN (:pending, :suspended) AND startTries > :zero",
		values: attr.Item{
			":zero": attr.Int(0), ":pending": attr.S(string(SessionPending)), ":suspended": attr.S(string(SessionSuspended)),
		},
	}.applyIf(tx)
}

// Get gives a session by match and sort key; NotFound if there is none.
func (Activities) Get(tx *store.Tx, matchID, key string) (s Session, err error) {
	item, err := tx.Get(TableLiveActivities, sessionKey(matchID, key))
	if err != nil {
		return Session{}, err
	}
	if item == nil {
		return Session{}, noSession(matchID)
	}
	return s, attr.Unmarshal(item, &s)
}

// OfMatch lists the sessions of a match.
func (Activities) OfMatch(tx *store.Tx, matchID string) ([]Session, error) {
	return unmarshalAll[Session](tx.QueryAll(matchQuery(TableLiveActivities, matchID)))
}

// OfUser lists the sessions of a user, over all matches.
func (Activities) OfUser(tx *store.Tx, userID string) ([]Session, error) {
	return unmarshalAll[Session](tx.QueryAll(store.Query{
		Table: TableLiveActivities, Index: "userId-index", KeyCondition: "userId = :u",
		Params: expr.Params{Values: attr.Item{":u": attr.S(userID)}},
	}))
}
