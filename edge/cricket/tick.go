package cricket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Owner is who writes a match: the node and the fence of its lease.
type Owner struct {
	Node  string
	Fence int64
}

// TouchEvery is how old the time of the last tick may become in the store while nothing changes: half of the silence
// after which another node takes a match over.
const TouchEvery = 15 * time.Second

// outlives is how long the events, the display and the cards of a match outlive it.
const outlives = 7 * 24 * time.Hour

// keptUntil is when what is written now of a match goes. It counts from the scheduled end at the earliest: the first day
// of a Test must not go before its last.
func (s *Snapshot) keptUntil(now time.Time) int64 {
	end := s.StartsAt.AddDate(0, 0, max(1, matchDays(s.Type)))
	if end.Before(now) {
		end = now
	}
	return end.Add(outlives).Unix()
}

// ownFence refuses the write of a node whose lease has passed to another.
const ownFence = "(attribute_not_exists(#f) OR #f <= :fence)"

// fenceName is the attribute with the fence under which a row was written.
const fenceName = "_f"

// fenceParams are those of ownFence.
func (by Owner) fenceParams() expr.Params {
	return expr.Params{Names: map[string]string{"#f": fenceName}, Values: attr.Item{":fence": attr.Int(by.Fence)}}
}

// DeposedError says that a match carries the fence of a later holder: nothing of this tick was written.
type DeposedError struct {
	MatchID string
	Fence   int64 // on the match
}

// Error implements error.
func (e *DeposedError) Error() string {
	return fmt.Sprintf("match %s is written under fence %d by another holder", e.MatchID, e.Fence)
}

// Unwrap returns the fault.
func (e *DeposedError) Unwrap() error {
	return fault.New(fault.Conflict, "deposed", "match %s has passed to another node", e.MatchID)
}

// Tick takes a reading into its match, in one transaction: the state, the events that became sure, the display. The
// match is registered by its first tick, as idle before play and as live from then on. A match that has ended is
// left alone.
func (s *Service) Tick(ctx context.Context, snap *Snapshot, by Owner) (State, error) {
	var after State
	err := s.store.Update(ctx, func(tx *store.Tx) error {
		prev, row, err := stateRow(tx, snap.MatchID)
		if err != nil {
			return err
		}
		if fence, _ := row[fenceName].Int(); fence > by.Fence {
			return &DeposedError{snap.MatchID, fence}
		}
		if prev.Emitted == nil && prev.PreviousStatus != "" {
			if prev.Emitted, err = recordedKeys(tx, snap.MatchID); err != nil {
				return err
			}
		}
		prev.MatchID = snap.MatchID
		out := Step(prev, snap, s.options, tx.Now())
		out.State.InstanceID = by.Node
		after = out.State
		return s.writeOutcome(tx, snap, row, &prev, &out, by)
	})
	return after, err
}

// Observe takes a reading in for the readers of this node alone, while it may not write what others read: display and
// cards. prev is what the last Observe of the match gave, before the first one its state as far as it is known here.
func (s *Service) Observe(ctx context.Context, prev State, snap *Snapshot) (State, error) {
	var after State
	err := s.store.Update(ctx, func(tx *store.Tx) (err error) {
		prev := prev
		if prev.Emitted == nil && prev.PreviousStatus != "" {
			if prev.Emitted, err = recordedKeys(tx, snap.MatchID); err != nil {
				return err
			}
		}
		prev.MatchID = snap.MatchID
		out := Step(prev, snap, s.options, tx.Now())
		after = out.State
		if out.Kept {
			return nil
		}
		return writeDisplay(tx, &out, snap.keptUntil(tx.Now()))
	})
	return after, err
}

// writeOutcome writes what a tick comes to. The state is last: to the cloud it goes when all before it have been settled,
// so that nobody has a state whose events may still be refused or lost.
func (s *Service) writeOutcome(
	tx *store.Tx, snap *Snapshot, row attr.Item, prev *State, out *Outcome, by Owner,
) error {
	now := tx.Now()
	for _, key := range out.Cleared {
		if err := clearEvent(tx, snap.MatchID, key, by); err != nil {
			return err
		}
	}
	until := snap.keptUntil(now)
	for i := range out.Revised {
		if err := reviseEvent(tx, snap.MatchID, &out.Revised[i], by); err != nil {
			return err
		}
	}
	for i := range out.Events {
		if err := writeEvent(tx, snap.MatchID, &out.Events[i], prev.LastAlert, by, until); err != nil {
			return err
		}
	}
	if !out.Kept {
		if err := writeDisplay(tx, out, until); err != nil {
			return err
		}
		if err := writeFixture(tx, out.Shown.fixture(&out.State, now), by); err != nil {
			return err
		}
	}
	return s.writeState(tx, row, prev.LastTickAt, &out.State, by)
}

// Touch notes that the match is being watched although nothing changes, so that no other node takes it over. The row is
// written whole, as every state is: of what waits to be sent only the newest is. A *DeposedError if a later holder has
// written; a match without a row has nothing to note.
func (s *Service) Touch(ctx context.Context, matchID string, by Owner) error {
	return s.store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Get(TableActiveMatches, matchKey(matchID))
		if err != nil || row == nil {
			return err
		}
		row = maps.Clone(row)
		row["lastTickAt"], row["instanceId"] = attr.Time(tx.Now()), attr.S(by.Node)
		return putState(tx, row, by)
	})
}

func readState(tx *store.Tx, id string) (st State, found bool, err error) {
	st, row, err := stateRow(tx, id)
	return st, row != nil, err
}

// stateRow reads the state of a match and the row it is in, nil where there is none.
func stateRow(tx *store.Tx, id string) (st State, row attr.Item, err error) {
	row, err = tx.Get(TableActiveMatches, matchKey(id))
	if err != nil || row == nil {
		return State{}, nil, err
	}
	return st, row, attr.Unmarshal(row, &st)
}

// writeState writes the state over its row unless nothing is new but the time of a tick soon after the last.
func (s *Service) writeState(tx *store.Tx, row attr.Item, last time.Time, st *State, by Owner) error {
	item, err := attr.Marshal(st)
	if err != nil {
		return err
	}
	keepUnknown(row, item)
	if s.options.Shared {
		if err := attachShown(tx, st.MatchID, item); err != nil {
			return err
		}
	}
	if row != nil && st.LastTickAt.Sub(last) < TouchEvery && sameState(row, item) {
		return nil
	}
	return putState(tx, item, by)
}

// putState writes a row of active-matches, whole and under the fence of its writer.
func putState(tx *store.Tx, item attr.Item, by Owner) error {
	item[fenceName] = attr.Int(by.Fence)
	_, err := tx.Put(store.PutItem{
		Table: TableActiveMatches, Item: item, Condition: ownFence, Params: by.fenceParams(),
	})
	if failed, ok := errors.AsType[*store.ConditionFailedError](err); ok {
		fence, _ := failed.Old[fenceName].Int()
		return &DeposedError{item["matchId"].Str(), fence}
	}
	return err
}

// keepUnknown takes over the attributes of a row that this version's state does not have: a newer one has written them.
func keepUnknown(row, item attr.Item) {
	if len(row) == 0 {
		return
	}
	known := map[string]bool{fenceName: true, shownName: true}
	for f := range reflect.TypeFor[State]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("dynamodbav"), ",")
		known[name] = true
	}
	for name, value := range row {
		if !known[name] {
			item[name] = value
		}
	}
}

// sameState reports whether a row has a state but for the time of its last tick and the fence it was written under.
func sameState(row, state attr.Item) bool {
	extra := 0
	if _, fenced := row[fenceName]; fenced {
		extra = 1
	}
	if len(row) != len(state)+extra {
		return false
	}
	for name, value := range state {
		if name != "lastTickAt" && !attr.Equal(row[name], value) {
			return false
		}
	}
	return true
}

// recordedKeys reads the keys of a match whose state does not have them: it was written by a version before.
func recordedKeys(tx *store.Tx, id string) (Emitted, error) {
	known := keySet{}
	q := matchQuery(TableEvents, id)
	q.Projection = "eventKey"
	for item, err := range tx.QueryAll(q) {
		if err != nil {
			return nil, err
		}
		known.add(item["eventKey"].Str())
	}
	return known.pack(), nil
}

func eventKey(matchID, key string) attr.Item {
	return attr.Item{"matchId": attr.S(matchID), "eventKey": attr.S(key)}
}

// clearEvent deletes the row of an event that was taken back, so that it can be told again. One that a later holder has
// recorded stays.
func clearEvent(tx *store.Tx, matchID, key string, by Owner) error {
	_, err := tx.Delete(store.DeleteItem{
		Table: TableEvents, Key: eventKey(matchID, key), Condition: ownFence, Params: by.fenceParams(),
	})
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// reviseEvent has the row of an event say what is so. Whether phones were told, when, and of what, stays.
func reviseEvent(tx *store.Tx, matchID string, e *Event, by Owner) error {
	params := by.fenceParams()
	params.Names["#type"], params.Names["#text"], params.Names["#over"] = "type", "text", "over"
	params.Values[":type"], params.Values[":text"] = attr.S(string(e.Type)), attr.S(e.Text)
	params.Values[":innings"], params.Values[":over"] = attr.Int(int64(e.Innings)), attr.S(e.Over)
	params.Values[":ball"], params.Values[":detail"] = attr.Int(e.BallID), attr.S(e.Detail)
	_, err := tx.Update(store.UpdateItem{
		Table: TableEvents, Key: eventKey(matchID, e.Key),
		Update:    "SET #type = :type, #text = :text, innings = :innings, #over = :over, ballId = :ball, detail = :detail, told = if_not_exists(told, #text)",
		Condition: "attribute_exists(eventKey) AND " + ownFence, Params: params,
	})
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// writeEvent creates the event's row. Its creation is the claim of the alert, so it must not exist, here or in the cloud,
// whoever made it: an event that is there already was recorded before, and stays as it is. The claims of a match's alerts
// are decided in the order in which they were made, whatever lies between them: a correction is not told before what it
// corrects. lastAlert is the key of the one before; a claim does not wait behind a queue of follows.
func writeEvent(tx *store.Tx, matchID string, e *Event, lastAlert string, by Owner, until int64) error {
	item, err := attr.Marshal(e)
	if err != nil {
		return err
	}
	item["matchId"] = attr.S(matchID)
	item["node"], item[fenceName] = attr.S(by.Node), attr.Int(by.Fence)
	item["ttl"] = attr.Int(until)
	put := store.PutItem{Table: TableEvents, Item: item, Condition: "attribute_not_exists(eventKey)"}
	if put.Ahead = e.Alert; e.Alert && lastAlert != "" {
		put.After = []store.ItemRef{{Table: TableEvents, Key: eventKey(matchID, lastAlert)}}
	}
	_, err = tx.Put(put)
	if _, claimed := errors.AsType[*store.ConditionFailedError](err); claimed {
		return nil
	}
	return err
}

// writeDisplay writes the display and the cards that changed.
func writeDisplay(tx *store.Tx, out *Outcome, until int64) error {
	id := out.State.MatchID
	d := out.Display
	if err := keepBanner(tx, &d); err != nil {
		return err
	}
	if err := writeCached(tx, DisplayKey(id), d, until); err != nil {
		return err
	}
	for i := range out.Cards {
		if err := writeCached(tx, CardKey(id, out.Cards[i].No), &out.Cards[i], until); err != nil {
			return err
		}
	}
	return nil
}

// keepBanner leaves an event in the banner the time it was first shown with: how long ago it was is worked out anew with
// every ball, and the feed's clock may waver.
func keepBanner(tx *store.Tx, d *Display) error {
	if d.KeyEvent == nil || d.KeyEvent.Key == "" {
		return nil
	}
	item, err := tx.Get(TableDisplay, attr.Item{"cacheKey": attr.S(DisplayKey(d.MatchID))})
	if err != nil || item == nil {
		return err
	}
	var before struct {
		KeyEvent KeyEvent `json:"keyEvent"`
	}
	if json.Unmarshal([]byte(item["state"].Str()), &before) == nil && before.KeyEvent.Key == d.KeyEvent.Key {
		k := *d.KeyEvent
		k.At = before.KeyEvent.At
		d.KeyEvent = &k
	}
	return nil
}

// writeCached writes a row of the display cache unless nothing but the time is new.
func writeCached(tx *store.Tx, key string, state any, until int64) error {
	raw, err := json.Marshal(state)
	if err != nil {
		return err
	}
	item, err := tx.Get(TableDisplay, attr.Item{"cacheKey": attr.S(key)})
	if err != nil || item != nil && timeless(item["state"].Str()) == timeless(string(raw)) {
		return err
	}
	_, err = tx.Put(store.PutItem{Table: TableDisplay, NoOld: true, Item: attr.Item{
		"cacheKey": attr.S(key),
		"state":    attr.S(string(raw)),
		"ttl":      attr.Int(until),
	}})
	return err
}

// timeless is a cached state without the time of its last change, which is the last that a display says.
func timeless(state string) string {
	if i := strings.LastIndex(state, `,"updatedAt":"`); i >= 0 {
		return state[:i]
	}
	return state
}

// sortEvents orders events by when they became sure; of one tick by innings and over, then by key.
func sortEvents(events []Event) {
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(
			a.At.Compare(b.At), cmp.Compare(a.Innings, b.Innings),
			cmp.Compare(a.BallID, b.BallID), cmp.Compare(a.Key, b.Key),
		)
	})
}
