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

// DropAlert records that an event was not announced although its alert was claimed, and the rule responsible.
func DropAlert(tx *store.Tx, matchID, key, rule string) error {
	_, err := tx.Update(store.UpdateItem{
		Table: tables.Events, Key: eventKey(matchID, key),
		Update: "SET alert = :no, dropped = :rule", Condition: "alert = :yes",
		Params: expr.Params{Values: attr.Item{":no": attr.Bool(false), ":yes": attr.Bool(true), ":rule": attr.S(rule)}},
	})
	return tables.Unless(err)
}

// Events returns the events of a match in the order they were confirmed.
func (s *Service) Events(ctx context.Context, id string) ([]cricket.Event, error) {
	events := []cricket.Event{}
	err := s.store.View(ctx, func(tx *store.Tx) error {
		all, err := tables.Decode[cricket.Event](tx, tables.Events, tx.QueryAll(tables.OfMatch(tables.Events, id)))
		events = append(events, all...)
		return err
	})
	sortEvents(events)
	return events, err
}

func eventKey(matchID, key string) attr.Item {
	return attr.Item{"matchId": attr.S(matchID), "eventKey": attr.S(key)}
}

// recordedKeys returns the keys of a match whose state lacks them because an earlier version wrote it.
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
	return cricket.SeenKeys(nil).WithKeys(keys...), nil
}

// writeEvent creates the event's row. Its creation claims the alert, so the row must not exist here or in the cloud: an
// existing event was recorded before and is left unchanged. Claims of a match's alerts are decided in the order they were
// made, so that a correction is not announced before what it corrects: lastAlert is the key of the previous one. A claim is
// sent ahead of other queued writes.
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

// reviseEvent updates the row of an event. Whether and when phones were notified, and the text they got, stay.
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

// clearEvent deletes the row of a withdrawn event, so that it can happen again. A row recorded by a later holder stays.
func clearEvent(tx *store.Tx, matchID, key string, by Owner) error {
	_, err := tx.Delete(store.DeleteItem{
		Table: tables.Events, Key: eventKey(matchID, key), Condition: ownFence, Params: by.fenceParams(),
	})
	return tables.Unless(err)
}

// sortEvents orders events by the time they were confirmed, then by innings, ball and key.
func sortEvents(events []cricket.Event) {
	slices.SortFunc(events, func(a, b cricket.Event) int {
		return cmp.Or(
			a.At.Compare(b.At), cmp.Compare(a.Innings, b.Innings),
			cmp.Compare(a.BallID, b.BallID), cmp.Compare(a.Key, b.Key),
		)
	})
}
