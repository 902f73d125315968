package matches

import (
	"fmt"
	"maps"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// followLife is how long a follow outlives its match's scheduled start or, for a multi-day match, end.
const followLife = 48 * time.Hour

// FollowedUntil returns when a match's follows expire. It counts from the start, or from the scheduled end of a multi-day match:
// otherwise follows would expire before its third day. Those of a match that waits for another time are kept longer.
func (fx *Fixture) FollowedUntil(now time.Time) time.Time {
	until := fx.StartTime.AddDate(0, 0, cricket.ScheduledDays(fx.Type)).Add(followLife)
	if waiting := now.Add(cricket.KeepPostponed); cricket.Status(fx.Status).NotPlayed() && until.Before(waiting) {
		return waiting
	}
	return until
}

// keepFollowers moves the expiry of a match's follows, and of their sessions, if the match got another start, or has none for now.
// It is part of the transaction that writes the fixture, so that no crash comes between the two.
func keepFollowers(tx *store.Tx, old attr.Item, fx *Fixture) error {
	if old == nil || fx.StartTime.IsZero() {
		return nil
	}
	sameStart := attr.Equal(old["startTime"], attr.Time(fx.StartTime))
	if waited := cricket.Status(old["status"].Str()).NotPlayed(); sameStart && waited == cricket.Status(fx.Status).NotPlayed() {
		return nil
	}
	until := attr.Int(fx.FollowedUntil(tx.Now()).Unix())
	if err := setExpiry(tx, tables.Follows, "userId", store.UpdateItem{
		Update: "SET #ttl = :ttl", Condition: "attribute_exists(matchId)",
		Params: expr.Params{Names: map[string]string{"#ttl": "expiresAt"}, Values: attr.Item{":ttl": until}},
	}, fx.MatchID); err != nil {
		return err
	}
	return setExpiry(tx, tables.LiveActivities, "userId#deviceId", store.UpdateItem{
		Update: "SET #ttl = :ttl", Condition: "attribute_exists(matchId) AND NOT #s = :ended",
		Params: expr.Params{
			Names:  map[string]string{"#ttl": "ttl", "#s": "status"},
			Values: attr.Item{":ttl": until, ":ended": attr.S("ended")},
		},
	}, fx.MatchID)
}

// setExpiry applies an update to the rows of a match. Rows for which its condition fails stay as they are.
func setExpiry(tx *store.Tx, table, sortKey string, u store.UpdateItem, matchID string) error {
	var keys []attr.Item
	for item, err := range tx.QueryAll(tables.OfMatch(table, matchID)) {
		if err != nil {
			return err
		}
		keys = append(keys, attr.Item{"matchId": item["matchId"], sortKey: item[sortKey]})
	}
	u.Table = table
	for _, key := range keys {
		u.Key = key
		if _, err := tx.Update(u); tables.Unless(err) != nil {
			return err
		}
	}
	return nil
}

// Successor returns the match that the feed now has for one that it has no more: another with the same sides and start that is not over.
// It is "" if there is none.
func Successor(tx *store.Tx, matchID string) (id string, err error) {
	old, err := Fixtures{}.Get(tx, matchID)
	if fault.Is(err, fault.NotFound) || err == nil && (old.LeagueCode == "" || old.StartTime.IsZero()) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	all, err := Fixtures{}.StartingBetween(tx, old.LeagueCode, old.StartTime, old.StartTime)
	for i := range all {
		if fx := &all[i]; fx.MatchID != matchID && !fx.IsOver() && fx.ArchivedAt.IsZero() && fx.sides() == old.sides() && fx.sides() != "" {
			return fx.MatchID, err
		}
	}
	return "", err
}

// sides returns the ids of both sides in order of size, "" while they are not known.
func (fx *Fixture) sides() string {
	if len(fx.Teams) != 2 || fx.Teams[0].ID == 0 || fx.Teams[1].ID == 0 {
		return ""
	}
	a, b := fx.Teams[0].ID, fx.Teams[1].ID
	return fmt.Sprintf("%d %d", min(a, b), max(a, b))
}

// MoveFollowers moves some follows of a match to its successor, where a follow that is there already stays; more reports that some are
// left. Sessions stay: the old match's activities end with it, and the new one has its own.
func MoveFollowers(tx *store.Tx, from, to string) (more bool, err error) {
	fx, err := Fixtures{}.Get(tx, to)
	if err != nil {
		return false, err
	}
	q := tables.OfMatch(tables.Follows, from)
	q.Limit = followsAtOnce
	page, err := tx.Query(q)
	if err != nil {
		return false, err
	}
	until := attr.Int(fx.FollowedUntil(tx.Now()).Unix())
	for _, row := range page.Items {
		if err := moveFollow(tx, row, to, until); err != nil {
			return false, err
		}
	}
	return page.LastKey != nil, nil
}

func moveFollow(tx *store.Tx, row attr.Item, to string, until attr.Value) error {
	next := maps.Clone(row)
	next["matchId"], next["expiresAt"] = attr.S(to), until
	_, err := tx.Put(store.PutItem{Table: tables.Follows, Item: next, Condition: "attribute_not_exists(matchId)"})
	if tables.Unless(err) != nil {
		return err
	}
	_, err = tx.Delete(store.DeleteItem{Table: tables.Follows, Key: attr.Item{"matchId": row["matchId"], "userId": row["userId"]}})
	return err
}
