package matches

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// readCached decodes a row of the display cache into v.
func readCached(tx *store.Tx, key string, v any) (found bool, err error) {
	item, err := tx.Get(tables.Display, attr.Item{"cacheKey": attr.S(key)})
	if err != nil || item == nil {
		return false, err
	}
	return true, json.Unmarshal([]byte(item["state"].Str()), v)
}

// Display returns the display of a match.
func (s *Service) Display(ctx context.Context, id string) (cricket.Display, error) {
	var d cricket.Display
	err := s.store.View(ctx, func(tx *store.Tx) error {
		found, err := readCached(tx, tables.DisplayKey(id), &d)
		if err == nil && !found {
			return noMatch(id)
		}
		return err
	})
	return d, err
}

// Card returns the scorecard of a match with all innings.
func (s *Service) Card(ctx context.Context, id string) (cricket.Card, error) {
	card := cricket.Card{MatchID: id, Innings: []cricket.CardInnings{}}
	err := s.store.View(ctx, func(tx *store.Tx) error {
		if item, err := tx.Get(tables.Fixtures, tables.MatchKey(id)); err != nil || item == nil {
			return cmp.Or(err, noMatch(id))
		}
		for n := 1; ; n++ {
			var in cricket.CardInnings
			found, err := readCached(tx, tables.CardKey(id, n), &in)
			if err != nil || !found {
				return err
			}
			card.Innings = append(card.Innings, in)
		}
	})
	return card, err
}

// writeDisplay writes the display and the cards, unless they are unchanged.
func writeDisplay(tx *store.Tx, out *cricket.Outcome, until int64) error {
	id := out.State.MatchID
	d := out.Display
	if err := keepBanner(tx, &d); err != nil {
		return err
	}
	if err := writeCached(tx, tables.DisplayKey(id), d, until); err != nil {
		return err
	}
	for i := range out.Cards {
		if err := writeCached(tx, tables.CardKey(id, out.Cards[i].No), &out.Cards[i], until); err != nil {
			return err
		}
	}
	return nil
}

// keepBanner keeps the time at which the banner's event was first shown. The event's age is estimated anew with
// every ball, and the feed's clock may waver.
func keepBanner(tx *store.Tx, d *cricket.Display) error {
	if d.KeyEvent == nil || d.KeyEvent.Key == "" {
		return nil
	}
	item, err := tx.Get(tables.Display, attr.Item{"cacheKey": attr.S(tables.DisplayKey(d.MatchID))})
	if err != nil || item == nil {
		return err
	}
	var before struct {
		KeyEvent cricket.KeyEvent `json:"keyEvent"`
	}
	if json.Unmarshal([]byte(item["state"].Str()), &before) == nil && before.KeyEvent.Key == d.KeyEvent.Key {
		k := *d.KeyEvent
		k.At = before.KeyEvent.At
		d.KeyEvent = &k
	}
	return nil
}

// writeCached writes a row of the display cache unless only its time has changed.
func writeCached(tx *store.Tx, key string, state any, until int64) error {
	raw, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return cacheState(tx, key, string(raw), until)
}

// cacheState is writeCached for a state already encoded.
func cacheState(tx *store.Tx, key, state string, until int64) error {
	item, err := tx.Get(tables.Display, attr.Item{"cacheKey": attr.S(key)})
	if err != nil || item != nil && timeless(item["state"].Str()) == timeless(state) {
		return err
	}
	_, err = tx.Put(store.PutItem{Table: tables.Display, NoOld: true, Item: attr.Item{
		"cacheKey": attr.S(key), "state": attr.S(state), "ttl": attr.Int(until),
	}})
	return err
}

// timeless returns a cached state without the time of its last change, which is the last field of a display.
func timeless(state string) string {
	if i := strings.LastIndex(state, `,"updatedAt":"`); i >= 0 {
		return state[:i]
	}
	return state
}
