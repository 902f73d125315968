package matches

import (
	"reflect"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func readState(tx *store.Tx, id string) (st cricket.State, found bool, err error) {
	st, row, err := stateRow(tx, id)
	return st, row != nil, err
}

// stateRow returns the state of a match and its row, nil if there is none.
func stateRow(tx *store.Tx, id string) (st cricket.State, row attr.Item, err error) {
	row, err = tx.Get(tables.ActiveMatches, tables.MatchKey(id))
	if err != nil || row == nil {
		return cricket.State{}, nil, err
	}
	return st, row, tables.Unmarshal(tx, tables.ActiveMatches, row, &st)
}

// writeState writes the state unless only the tick time has changed, and that by less than TouchEvery. It also changes by more if the clock
// was set back.
func (s *Service) writeState(tx *store.Tx, row attr.Item, last time.Time, st *cricket.State, by Owner) error {
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
	if row != nil && st.LastTickAt.Sub(last).Abs() < TouchEvery && sameState(row, item) {
		return nil
	}
	return putState(tx, item, by)
}

// putState writes a whole row of active-matches under the fence of its writer.
func putState(tx *store.Tx, item attr.Item, by Owner) error {
	item[fenceName] = attr.Int(by.Fence)
	_, err := tx.Put(store.PutItem{
		Table: tables.ActiveMatches, Item: item, Condition: ownFence, Params: by.fenceParams(),
	})
	return fencedOff(err, item["matchId"].Str(), fenceName)
}

// keepUnknown keeps attributes that this version's state does not have: a newer version wrote them.
func keepUnknown(row, item attr.Item) {
	if len(row) == 0 {
		return
	}
	known := map[string]bool{fenceName: true, shownName: true}
	for f := range reflect.TypeFor[cricket.State]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("dynamodbav"), ",")
		known[name] = true
	}
	for name, value := range row {
		if !known[name] {
			item[name] = value
		}
	}
}

// sameState reports whether row equals state, except for the tick time and the fence.
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
