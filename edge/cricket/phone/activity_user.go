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

// UnnamedDevice stands for the device of an app that names none, and whose user has none registered.
const UnnamedDevice = "default"

// lateToken is how long after its user has left an activity a token may still be of it: as long as Apple may hold its start.
const lateToken = StartLife

// Register takes the update token that a device got for its activity: the first of a new one or, while the session
// is active, one that replaces it. Without a deviceID it is for the user's device heard of last. startedAt is when the
// activity began, zero if the app does not say. The token of an activity that its user has left meanwhile makes nothing
// active: its phone is owed an end push. Another session with the same token ends, whosever it is. NotFound: no such match;
// Conflict: it is over, or has a result and no session of that device goes on; Invalid: no such token.
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
	left, err := a.left(tx, &old, startedAt)
	if err != nil {
		return Session{}, err
	}
	if !left && fx.Over() && (old.Key == "" || old.Status == SessionEnded) {
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

// running makes a session active, which was old. The change has its key, and token, user and device as values.
func (Activities) running(tx *store.Tx, fx *matches.Fixture, old *Session, c sessionChange, startedAt time.Time) (Session, error) {
	began := startedAt
	if began.IsZero() && old.Status == SessionActive {
		began = old.SessionStartedAt
	}
	if began.IsZero() {
		began = tx.Now()
	}
	expires := old.TTL
	if expires == 0 || old.Status == SessionEnded {
		expires = followExpiry(fx).Unix()
	}
	c.update = "SET #s = :active, updateToken = :token, userId = :user, deviceId = :device, " +
		"sessionStartedAt = :began, createdAt = if_not_exists(createdAt, :now), #ttl = :ttl " +
		"REMOVE endedAt, endReason, suspendedAt, resumedAt, channelId, " + startFields
	c.values[":began"], c.values[":ttl"] = attr.Time(began), attr.Int(expires)
	return c.apply(tx)
}

// onlyOne takes a token from every other session of its user: an activity has one session, and each state goes to it
// once. That of an app that has changed the name of its device ends. lost are the rows that had it.
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

// left reports whether the user unfollowed the match, or dismissed the activity, before the phone's token came: a start
// push was on its way, or the token rotated. An app that has begun another since says so by startedAt, or follows again. What
// a start push began that was still on its way begins late too.
func (Activities) left(tx *store.Tx, old *Session, startedAt time.Time) (bool, error) {
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

// latestDevice is the device of a user that was heard of last.
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

// Dismiss takes note that a user swiped the activity away on a device, which counts as unfollowing: their other
// devices are told to end theirs. Without a deviceID nobody knows which one it was: all of them are told. NotFound if
// the user had neither an activity nor a follow of the match, or not on that device.
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

// End ends all that a user has of a match, and their follow; the phones are owed an end push. NotFound if there was
// nothing.
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

// endUser ends what a user still has of a match and returns how many activities that were; the phones are owed an end
// push.
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

// OfUser lists the sessions of a user, over all matches, ended ones too.
func (Activities) OfUser(tx *store.Tx, userID string) ([]Session, error) {
	return tables.Decode[Session](tx.QueryAll(store.Query{
		Table: tables.LiveActivities, Index: "userId-index", KeyCondition: "userId = :u",
		Params: expr.Params{Values: attr.Item{":u": attr.S(userID)}},
	}))
}

// openFixture returns a match that phones may still be told about. NotFound: it is unknown; Conflict: it is over. One
// that has a result is not over as long as it may be taken up again.
func openFixture(tx *store.Tx, matchID string) (fx matches.Fixture, err error) {
	if fx, err = (matches.Fixtures{}).Get(tx, matchID); err != nil {
		return matches.Fixture{}, err
	}
	over := !fx.ArchivedAt.IsZero()
	if !over && fx.Over() {
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
