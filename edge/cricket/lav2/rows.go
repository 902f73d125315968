package lav2

import (
	"cmp"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

const (
	endedKept = 24 * time.Hour      // how long an ended session stays
	stateKept = 48 * time.Hour      // how long an ended match's state stays if it has no TTL
	stateOld  = 3 * 24 * time.Hour  // no match pauses for longer
	longest   = 10 * 24 * time.Hour // the longest a session may stay
)

// carried is the outcome for an old row: a new one, or the reason why there is none.
type carried struct {
	key, row   attr.Item
	names      map[string]bool // the attributes that the old row may have
	skip       string
	unreadable string
}

func needless(*store.Tx, attr.Item) (carried, error) { return carried{skip: "not needed"}, nil }

func names(all ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range all {
		out[name] = true
	}
	return out
}

// session returns a row of live-activities. Only an active session keeps its token: an ended one with a token
// would owe its phone a push that the old application has already sent or did not want.
func session(tx *store.Tx, row attr.Item) (carried, error) {
	var old phone.Session
	if err := attr.Unmarshal(row, &old); err != nil {
		return carried{unreadable: misfit(err)}, nil
	}
	now := tx.Now()
	s := phone.Session{MatchID: old.MatchID, UserID: old.UserID, DeviceID: old.DeviceID, Status: old.Status, CreatedAt: old.CreatedAt}
	switch {
	case s.MatchID == "":
		return carried{unreadable: "no matchId"}, nil
	case s.UserID == "":
		return carried{unreadable: "no userId"}, nil
	case old.TTL != 0 && old.TTL <= now.Unix():
		return carried{skip: "expired"}, nil
	}
	switch token, isToken := phone.TokenOf(old.UpdateToken); s.Status {
	case phone.SessionActive:
		if !isToken {
			return carried{unreadable: "updateToken is not an Apple token"}, nil
		}
		s.UpdateToken, s.SessionStartedAt = token, firstOf(old.SessionStartedAt, old.CreatedAt, now)
	case phone.SessionPending:
	case phone.SessionSuspended:
		s.SuspendedAt = firstOf(old.SuspendedAt, now)
	case phone.SessionEnded:
		s.EndedAt, s.EndReason = firstOf(old.EndedAt, now), old.EndReason
	default:
		return carried{unreadable: "status is not known"}, nil
	}
	if skip, err := device(tx, &s); err != nil || skip != "" {
		return carried{skip: skip}, err
	}
	ends, err := expiry(tx, &s, old.TTL)
	if err != nil || !ends.After(now) {
		return carried{skip: "expired"}, err
	}
	s.TTL = ends.Unix()
	s.Key = tables.SessionKey(s.UserID, s.DeviceID)
	item, err := attr.Marshal(&s)
	return carried{
		key: attr.Item{"matchId": item["matchId"], "userId#deviceId": item["userId#deviceId"]}, row: item,
		names: names("matchId", "userId#deviceId", "userId", "deviceId", "status", "updateToken", "createdAt", "sessionStartedAt",
			"suspendedAt", "endedAt", "endReason", "ttl"),
	}, err
}

// misfit returns which attribute of a row has a different type than in the new table.
func misfit(err error) string {
	_, path, _ := strings.Cut(err.Error(), ": ")
	path, _, _ = strings.Cut(path, ": ")
	return path + " cannot be read"
}

func firstOf(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// device sets the device of a session without one, if its user has only one.
func device(tx *store.Tx, s *phone.Session) (skip string, err error) {
	if s.DeviceID != "" {
		return "", nil
	}
	all, err := phone.Devices{}.OfUser(tx, s.UserID)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound): // a file of an earlier version lacks the table
		return "", err
	case len(all) == 0:
		return "no device", nil
	case len(all) > 1:
		return "several devices", nil
	}
	s.DeviceID = all[0].DeviceID
	return "", nil
}

// expiry returns when a session expires: its row's TTL, else its match's expiry; if the match is unknown, like an ended session's.
func expiry(tx *store.Tx, s *phone.Session, ttl int64) (ends time.Time, err error) {
	if ttl != 0 {
		ends = time.Unix(ttl, 0).UTC()
	} else if ends, err = matchExpiry(tx, s.MatchID); err != nil {
		return ends, err
	}
	kept := tx.Now().Add(endedKept)
	if ends.IsZero() || s.Status == phone.SessionEnded && ends.After(kept) {
		ends = kept
	}
	if latest := tx.Now().Add(longest); ends.After(latest) {
		ends = latest
	}
	return ends, nil
}

func matchExpiry(tx *store.Tx, matchID string) (time.Time, error) {
	item, err := tx.Get(tables.Fixtures, attr.Item{"matchId": attr.S(matchID)})
	if fault.Is(err, fault.NotFound) || err == nil && item == nil {
		return time.Time{}, nil
	}
	var fx matches.Fixture
	if err == nil {
		err = attr.Unmarshal(item, &fx)
	}
	return fx.FollowedUntil(tx.Now()), err
}

// activeMatch returns a row of active-matches, without owner and last tick. So the match is taken over at once, and its
// first snapshot counts as following a gap: nothing is announced that the old application may have announced.
func activeMatch(tx *store.Tx, row attr.Item) (carried, error) {
	var old cricket.State
	if err := attr.Unmarshal(row, &old); err != nil {
		return carried{unreadable: misfit(err)}, nil
	}
	now := tx.Now()
	switch {
	case old.MatchID == "":
		return carried{unreadable: "no matchId"}, nil
	case old.TTL != 0 && old.TTL <= now.Unix():
		return carried{skip: "expired"}, nil
	case old.TTL == 0 && !old.LastTickAt.IsZero() && now.Sub(old.LastTickAt) > stateOld:
		return carried{skip: "no tick for days"}, nil
	case old.Status != cricket.ActiveIdle && old.Status != cricket.ActiveLive && old.Status != cricket.ActiveEnded:
		return carried{unreadable: "status is not known"}, nil
	}
	st := cricket.State{
		MatchID: old.MatchID, Status: old.Status, PreviousStatus: old.PreviousStatus, MatchPhase: old.MatchPhase,
		PreviousBallID: old.PreviousBallID, PreviousScore: old.PreviousScore, Cooldowns: old.Cooldowns, TTL: old.TTL,
	}
	if phase, known := st.PreviousStatus.Phase(); known {
		st.MatchPhase = phase
	}
	if st.Status == cricket.ActiveEnded {
		st.TTL = cmp.Or(st.TTL, now.Add(stateKept).Unix())
	}
	item, err := attr.Marshal(&st)
	return carried{
		key: attr.Item{"matchId": item["matchId"]}, row: item,
		names: names("matchId", "status", "instanceId", "lastTickAt", "matchPhase", "previousBallId", "previousScore", "previousStatus",
			"previousBatting", "previousBowling", "last30Balls", "cooldowns", "ttl"),
	}, err
}
