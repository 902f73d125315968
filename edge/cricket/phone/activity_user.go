package phone

import (
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// UnnamedDevice is the device id for an app that sends none, if its user has no registered device.
const UnnamedDevice = "default"

// lateToken is how long after a user left an activity its token may still arrive: as long as Apple may hold the start.
const lateToken = StartLife

// Register stores the update token of a device's activity: the first of a new activity, or a replacement while the
// session is active. Without a deviceID it is for the user's most recently seen device. startedAt is when the activity
// began, zero if the app does not say. If the user has left the activity meanwhile, the session stays ended and its phone
// is owed an end push. Any other session with the same token ends, whoever's it is. Errors: NotFound if there is no such
// match; Conflict if it is over, or has a result and the device has no running session; Invalid for a malformed token.
func (a Activities) Register(
	tx *store.Tx, matchID, userID, deviceID, token string, startedAt time.Time,
) (Session, error) {
	if matchID == "" || userID == "" {
		return Session{}, fault.New(fault.Invalid, "validation", "matchId and userId are required")
	}
	if err := validToken("updateToken", token); err != nil {
		return Session{}, err
	}
	token = strings.ToLower(token)
	fx, err := openFixture(tx, matchID)
	if err != nil {
		return Session{}, err
	}
	if deviceID == "" {
		if deviceID, err = latestDevice(tx, userID); err != nil {
			return Session{}, err
		}
	}
	key := tables.SessionKey(userID, deviceID)
	old, err := a.Get(tx, matchID, key)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Session{}, err
	}
	left, err := a.hasLeft(tx, &old, startedAt)
	if err != nil {
		return Session{}, err
	}
	if !left && fx.IsOver() && (old.Key == "" || old.Status == SessionEnded) {
		return Session{}, matchOver(matchID)
	}
	lost, err := a.onlyOne(tx, matchID, userID, key, token)
	if err != nil {
		return Session{}, err
	}
	c := sessionChange{matchID: matchID, key: key, values: attr.Item{":token": attr.S(token)}, after: lost}
	if left {
		c.update = "SET updateToken = :token"
		old, err = c.apply(tx)
	} else {
		c.values[":user"], c.values[":device"] = attr.S(userID), attr.S(deviceID)
		old, err = a.running(tx, &fx, &old, c, startedAt)
	}
	if err != nil {
		return Session{}, err
	}
	return old, a.takeToken(tx, &old)
}

// Listen records that the app has started an activity by itself that listens to a match's channel, so that the node starts none. The user must
// follow the match. A session that has a token keeps it.
func (a Activities) Listen(tx *store.Tx, matchID, userID, deviceID, channelID string) (Session, error) {
	if _, err := openFixture(tx, matchID); err != nil {
		return Session{}, err
	}
	follow, err := Follows{}.Get(tx, matchID, userID)
	if err != nil {
		return Session{}, err
	}
	if deviceID == "" {
		if deviceID, err = latestDevice(tx, userID); err != nil {
			return Session{}, err
		}
	}
	s, err := a.Ensure(tx, matchID, userID, deviceID, follow.ExpiresAt)
	if err != nil {
		return Session{}, err
	}
	if _, err := a.RecordJoined(tx, &s, channelID); err != nil {
		return Session{}, err
	}
	return a.Get(tx, matchID, s.Key)
}

// running activates a session; old is its previous state. c has the key, and the values for token, user and device.
func (Activities) running(tx *store.Tx, fx *matches.Fixture, old *Session, c sessionChange, startedAt time.Time) (Session, error) {
	began := startedAt
	successor := old.succeeds(c.values[":token"].Str(), startedAt)
	if began.IsZero() && old.Status == SessionActive && !successor {
		began = old.SessionStartedAt
	}
	if began.IsZero() {
		began = tx.Now()
	}
	expires := old.TTL
	if expires == 0 || old.Status == SessionEnded {
		expires = fx.FollowedUntil(tx.Now()).Unix()
	}
	c.update = "SET #s = :active, updateToken = :token, userId = :user, deviceId = :device, " +
		"sessionStartedAt = :began, createdAt = if_not_exists(createdAt, :now), #ttl = :ttl " +
		"REMOVE endedAt, endReason, suspendedAt, resumedAt, channelId"
	switch {
	case successor && old.ChannelID != "":
		c.update = strings.Replace(c.update, "SET ", "SET formerChannel = :former, ", 1)
		c.values[":former"] = attr.S(old.ChannelID)
	case successor:
		c.update = strings.Replace(c.update, "SET ", "SET formerToken = :former, ", 1)
		c.values[":former"] = attr.S(old.UpdateToken)
	}
	if successor || old.Status != SessionActive { // otherwise a successor may still be on its way
		c.update += ", " + startFields
	}
	c.values[":began"], c.values[":ttl"] = attr.Time(began), attr.Int(expires)
	return c.apply(tx)
}

// onlyOne removes a token from the user's other sessions: an activity has one session, so that each state is
// sent once. The session under an app's former device id ends. lost lists the rows that had the token.
func (a Activities) onlyOne(tx *store.Tx, matchID, userID, key, token string) (lost []store.ItemRef, err error) {
	all, err := a.OfUser(tx, userID)
	if err != nil {
		return nil, err
	}
	for i := range all {
		s := &all[i]
		if s.UpdateToken != token || s.MatchID == matchID && s.Key == key {
			continue
		}
		if err := a.loseToken(tx, s); err != nil {
			return nil, err
		}
		lost = append(lost, store.ItemRef{Table: tables.LiveActivities, Key: sessionKey(s.MatchID, s.Key)})
	}
	return lost, nil
}

// hasLeft reports whether the user unfollowed the match or dismissed the activity before the phone's token came,
// because a start push was on its way or the token rotated. It is false once lateToken has passed, if the user follows
// again, or if startedAt is after the end and no start push is recorded: one still on its way begins late too.
func (Activities) hasLeft(tx *store.Tx, old *Session, startedAt time.Time) (bool, error) {
	if old.Status != SessionEnded || old.EndReason != EndUnfollowed && old.EndReason != EndDismissed ||
		startedAt.After(old.EndedAt) && old.StartSentAt.IsZero() || !tx.Now().Before(old.EndedAt.Add(lateToken)) {
		return false, nil
	}
	_, err := Follows{}.Get(tx, old.MatchID, old.UserID)
	if fault.Is(err, fault.NotFound) {
		return true, nil
	}
	return false, err
}

// latestDevice returns the id of the user's most recently seen device.
func latestDevice(tx *store.Tx, userID string) (string, error) {
	d, err := Devices{}.Latest(tx, userID)
	switch {
	case fault.Is(err, fault.NotFound):
		return UnnamedDevice, nil
	case err != nil:
		return "", err
	default:
		return d.DeviceID, nil
	}
}

// Dismiss records that a user swiped the activity away on a device. This counts as unfollowing: the user's other
// devices are owed an end push. Without a deviceID it is unknown which one it was, so all are. NotFound if the
// user had neither an activity nor a follow for the match, or not on that device.
func (a Activities) Dismiss(tx *store.Tx, matchID, userID, deviceID string) error {
	if deviceID == "" {
		return a.End(tx, matchID, userID)
	}
	done, err := a.end(tx, matchID, tables.SessionKey(userID, deviceID), EndDismissed, false)
	if err != nil {
		return err
	}
	if !done {
		return noSession(matchID)
	}
	if _, err := tx.Delete(store.DeleteItem{Table: tables.Follows, Key: followKey(matchID, userID)}); err != nil {
		return err
	}
	_, err = a.endUser(tx, matchID, userID, EndUnfollowed)
	return err
}

// End ends a user's follow and all their sessions of a match; the phones are owed an end push. NotFound if there was nothing to end.
func (a Activities) End(tx *store.Tx, matchID, userID string) error {
	follow, err := tx.Delete(store.DeleteItem{Table: tables.Follows, Key: followKey(matchID, userID)})
	if err != nil {
		return err
	}
	n, err := a.endUser(tx, matchID, userID, EndDismissed)
	if err == nil && n == 0 && follow == nil {
		return noSession(matchID)
	}
	return err
}

// endUser ends a user's sessions of a match and returns their number; the phones are owed an end push.
func (a Activities) endUser(tx *store.Tx, matchID, userID string, why EndReason) (n int, err error) {
	all, err := a.OfUser(tx, userID)
	if err != nil {
		return 0, err
	}
	for i := range all {
		if s := &all[i]; s.MatchID == matchID && s.Status != SessionEnded {
			if _, err := a.end(tx, matchID, s.Key, why, true); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// OfUser lists a user's sessions over all matches, including ended ones.
func (Activities) OfUser(tx *store.Tx, userID string) ([]Session, error) {
	return tables.Decode[Session](tx, tables.LiveActivities, tx.QueryAll(store.Query{
		Table: tables.LiveActivities, Index: "userId-index", KeyCondition: "userId = :u",
		Params: expr.Params{Values: attr.Item{":u": attr.S(userID)}},
	}))
}

// openFixture returns a match that phones may still be notified about. NotFound if it is unknown, Conflict if it
// is over. A match with a result is not over while the feed may reopen it.
func openFixture(tx *store.Tx, matchID string) (fx matches.Fixture, err error) {
	if fx, err = (matches.Fixtures{}).Get(tx, matchID); err != nil {
		return matches.Fixture{}, err
	}
	over := !fx.ArchivedAt.IsZero()
	if !over && fx.IsOver() {
		live, err := matches.IsLive(tx, matchID)
		if err != nil {
			return matches.Fixture{}, err
		}
		over = !live
	}
	if over {
		return matches.Fixture{}, matchOver(matchID)
	}
	return fx, nil
}
