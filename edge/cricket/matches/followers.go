package matches

import (
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
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
