package cricket

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

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

// How long rows outlive the match.
const (
	displayTTL = 7 * 24 * time.Hour
	eventTTL   = 7 * 24 * time.Hour
)

// ownFence refuses the write of a node whose lease has passed to another.
const ownFence = "(attribute_not_exists(#f) OR #f <= :fence)"

// Tick takes a reading into its match, in one transaction: the state, the events that became sure, the display. The
// match is registered by its first tick, as idle before play and as live from then on. A match that has ended is
// left alone.
func (s *Service) Tick(ctx context.Context, snap *Snapshot, by Owner) (State, error) {
	var after State
	err := s.store.Update(ctx, func(tx *store.Tx) error {
		prev, found, err := readState(tx, snap.MatchID)
		if err != nil {
			return err
		}
		if prev.Status == ActiveEnded {
			after = prev
			return nil
		}
		known, err := knownEvents(tx, snap.MatchID)
		if err != nil {
			return err
		}
		prev.MatchID = snap.MatchID
		now := tx.Now()
		out := Step(prev, func(key string) bool { return known[key] }, snap, now)
		out.State.InstanceID = by.Node
		after = out.State
		return writeOutcome(tx, snap, prev, &out, found, by, now)
	})
	return after, err
}

func writeOutcome(tx *store.Tx, snap *Snapshot, prev State, out *Outcome, found bool, by Owner, now time.Time) error {
	if err := writeState(tx, prev, &out.State, found, by); err != nil {
		return err
	}
	for i := range out.Events {
		if err := writeEvent(tx, snap.MatchID, &out.Events[i], by, now); err != nil {
			return err
		}
	}
	if err := writeDisplay(tx, out, now); err != nil {
		return err
	}
	return writeFixture(tx, snap, &out.State, now)
}

// Touch notes that the match is being watched although nothing changes, so that no other node takes it over.
func (s *Service) Touch(ctx context.Context, matchID string, by Owner) error {
	return s.store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Update(store.UpdateItem{
			Table: TableActiveMatches, Key: matchKey(matchID),
			Update:    "SET lastTickAt = :now, #f = :fence",
			Condition: "attribute_exists(matchId) AND " + ownFence,
			Params: expr.Params{
				Names:  map[string]string{"#f": "_f"},
				Values: attr.Item{":now": attr.S(stamp(tx.Now())), ":fence": attr.Int(by.Fence)},
			},
		})
		return err
	})
}

func readState(tx *store.Tx, id string) (st State, found bool, err error) {
	item, err := tx.Get(TableActiveMatches, matchKey(id))
	if err != nil || item == nil {
		return State{}, false, err
	}
	return st, true, attr.Unmarshal(item, &st)
}

// writeState writes the state unless nothing is new but a recent tick's time.
func writeState(tx *store.Tx, prev State, st *State, found bool, by Owner) error {
	item, err := attr.Marshal(st)
	if err != nil {
		return err
	}
	recent := st.LastTickAt.Sub(prev.LastTickAt) < TouchEvery
	prev.LastTickAt = st.LastTickAt
	before, err := attr.Marshal(&prev)
	if err != nil || found && recent && attr.Equal(attr.M(before), attr.M(item)) {
		return err
	}
	item["_f"] = attr.Int(by.Fence)
	_, err = tx.Put(store.PutItem{
		Table: TableActiveMatches, Item: item, Condition: ownFence,
		Params: expr.Params{
			Names:  map[string]string{"#f": "_f"},
			Values: attr.Item{":fence": attr.Int(by.Fence)},
		},
	})
	return err
}

func knownEvents(tx *store.Tx, id string) (map[string]bool, error) {
	known := map[string]bool{}
	err := eachEvent(tx, id, func(item attr.Item) error {
		known[item["eventKey"].Str()] = true
		return nil
	})
	return known, err
}

// writeEvent creates the event's row. Its creation is the claim of the alert, so it must not exist.
func writeEvent(tx *store.Tx, matchID string, e *Event, by Owner, now time.Time) error {
	item, err := attr.Marshal(e)
	if err != nil {
		return err
	}
	item["matchId"] = attr.S(matchID)
	item["node"] = attr.S(by.Node)
	item["ttl"] = attr.Int(now.Add(eventTTL).Unix())
	_, err = tx.Put(store.PutItem{Table: TableEvents, Item: item, Condition: "attribute_not_exists(eventKey)"})
	return err
}

// writeDisplay writes the display and the cards that changed.
func writeDisplay(tx *store.Tx, out *Outcome, now time.Time) error {
	id := out.State.MatchID
	var old Display
	if _, err := readCached(tx, DisplayKey(id), &old); err != nil {
		return err
	}
	old.UpdatedAt = out.Display.UpdatedAt
	if err := writeCached(tx, DisplayKey(id), old, out.Display, now); err != nil {
		return err
	}
	for i := max(0, len(out.Cards)-2); i < len(out.Cards); i++ {
		var oldCard CardInnings
		key := CardKey(id, out.Cards[i].No)
		if _, err := readCached(tx, key, &oldCard); err != nil {
			return err
		}
		if err := writeCached(tx, key, oldCard, out.Cards[i], now); err != nil {
			return err
		}
	}
	return nil
}

// writeCached writes a row of the display cache unless it is as it was.
func writeCached(tx *store.Tx, key string, old, state any, now time.Time) error {
	before, err := json.Marshal(old)
	if err != nil {
		return err
	}
	after, err := json.Marshal(state)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	_, err = tx.Put(store.PutItem{Table: TableDisplay, Item: attr.Item{
		"cacheKey": attr.S(key),
		"state":    attr.S(string(after)),
		"ttl":      attr.Int(now.Add(displayTTL).Unix()),
	}})
	return err
}

// writeFixture writes what the fixtures table keeps of a match, unless nothing but the time is new.
func writeFixture(tx *store.Tx, snap *Snapshot, st *State, now time.Time) error {
	next, err := attr.Marshal(snap.fixture(st, now))
	if err != nil {
		return err
	}
	old, err := tx.Get(TableFixtures, matchKey(snap.MatchID))
	if err != nil || old != nil && attr.Equal(attr.M(timeless(old)), attr.M(timeless(next))) {
		return err
	}
	_, err = tx.Put(store.PutItem{Table: TableFixtures, Item: next})
	return err
}

func timeless(fixture attr.Item) attr.Item {
	f := maps.Clone(fixture)
	delete(f, "liveUpdatedAt")
	delete(f, "archivedAt")
	return f
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
