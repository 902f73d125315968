package matches

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// DropAlert notes that nobody was told of an event although its alert had been claimed, and by which rule.
func DropAlert(tx *store.Tx, matchID, key, rule string) error {
	_, err := tx.Update(store.UpdateItem{
		Table: tables.Events, Key: eventKey(matchID, key),
		Update: "SET alert = :no, dropped = :rule", Condition: "alert = :yes",
		Params: expr.Params{Values: attr.Item{":no": attr.Bool(false), ":yes": attr.Bool(true), ":rule": attr.S(rule)}},
	})
	return tables.Unless(err)
}

// Events returns what happened in a match, in the order it became sure.
func (s *Service) Events(ctx context.Context, id string) ([]cricket.Event, error) {
	events := []cricket.Event{}
	err := s.store.View(ctx, func(tx *store.Tx) error {
		all, err := tables.Decode[cricket.Event](tx.QueryAll(tables.OfMatch(tables.Events, id)))
		events = append(events, all...)
		return err
	})
	sortEvents(events)
	return events, err
}

func eventKey(matchID, key string) attr.Item {
	return attr.Item{"matchId": attr.S(matchID), "eventKey": attr.S(key)}
}

// recordedKeys reads the keys of a match whose state does not have them: it was written by a version before.
func recordedKeys(tx *store.Tx, id string) (cricket.SeenKeys, error) {
	var keys []string
	q := tables.OfMatch(tables.Events, id)
	q.Projection = "eventKey"
	for item, err := range tx.QueryAll(q) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, item["eventKey"].Str())
	}
	return cricket.SeenKeys(nil).With(keys...), nil
}

// writeEvent creates the event's row. Its creation is the claim of the alert, so it must not exist, here or in the cloud,
// whoever made it: an event that is there already was recorded before, and stays as it is. The claims of a match's alerts
// are decided in the order in which they were made, whatever lies between them: a correction is not told before what it
// corrects. lastAlert is the key of the one before; a claim does not wait behind a queue of follows.
func writeEvent(tx *store.Tx, matchID string, e *cricket.Event, lastAlert string, by Owner, until int64) error {
	item, err := attr.Marshal(e)
	if err != nil {
		return err
	}
	item["matchId"] = attr.S(matchID)
	item["node"], item[fenceName] = attr.S(by.Node), attr.Int(by.Fence)
	item["ttl"] = attr.Int(until)
	put := store.PutItem{Table: tables.Events, Item: item, Condition: "attribute_not_exists(eventKey)"}
	if put.Ahead = e.Alert; e.Alert && lastAlert != "" {
		put.After = []store.ItemRef{{Table: tables.Events, Key: eventKey(matchID, lastAlert)}}
	}
	_, err = tx.Put(put)
	if _, claimed := errors.AsType[*store.ConditionFailedError](err); claimed {
		return nil
	}
	return err
}

// reviseEvent has the row of an event say what is so. Whether phones were told, when, and of what, stays.
func reviseEvent(tx *store.Tx, matchID string, e *cricket.Event, by Owner) error {
	params := by.fenceParams()
	params.Names["#type"], params.Names["#text"], params.Names["#over"] = "type", "text", "over"
	params.Values[":type"], params.Values[":text"] = attr.S(string(e.Type)), attr.S(e.Text)
	params.Values[":innings"], params.Values[":over"] = attr.Int(int64(e.Innings)), attr.S(e.Over)
	params.Values[":ball"], params.Values[":detail"] = attr.Int(e.BallID), attr.S(e.Detail)
	_, err := tx.Update(store.UpdateItem{
		Table: tables.Events, Key: eventKey(matchID, e.Key),
		Update:    "SET #type = :type, #text = :text, innings = :innings, #over = :over, ballId = :ball, detail = :detail, told = if_not_exists(told, #text)",
		Condition: "attribute_exists(eventKey) AND " + ownFence, Params: params,
	})
	return tables.Unless(err)
}

// clearEvent deletes the row of an event that was taken back, so that it can be told again. One that a later holder has
// recorded stays.
func clearEvent(tx *store.Tx, matchID, key string, by Owner) error {
	_, err := tx.Delete(store.DeleteItem{
		Table: tables.Events, Key: eventKey(matchID, key), Condition: ownFence, Params: by.fenceParams(),
	})
	return tables.Unless(err)
}

// sortEvents orders events by when they became sure; of one tick by innings and over, then by key.
func sortEvents(events []cricket.Event) {
	slices.SortFunc(events, func(a, b cricket.Event) int {
		return cmp.Or(
			a.At.Compare(b.At), cmp.Compare(a.Innings, b.Innings),
			cmp.Compare(a.BallID, b.BallID), cmp.Compare(a.Key, b.Key),
		)
	})
}
