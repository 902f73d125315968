package store_test

import (
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// TestUpdateOfIndexKeys: a wrong type that is known is named before what the item shows; one that comes from the item has
// words of its own.
func TestUpdateOfIndexKeys(t *testing.T) {
	s := storetest.Open(t, balls())
	put(t, s, "balls", ball("final", 1, "runs", 4))
	known := "One or more parameter values were invalid: Type mismatch for Index Key bowler Expected: S Actual: N IndexName: bowler-index"
	copied := "The update expression attempted to update the secondary index key to unsupported type"
	for update, want := range map[string]string{
		"SET bowler = :n":                                      known,
		"SET gone.x = :n, bowler = :n":                         known,
		"SET bowler = gone + :n":                               known,
		"ADD bowler :n":                                        known,
		"SET spare = :n, bowler = runs":                        copied,
		"SET bowler = if_not_exists(bowler, runs), spare = :n": copied,
	} {
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Update(store.UpdateItem{Table: "balls", Key: ball("final", 1), Update: update, Params: values(":n", 1)})
			return err
		})
		wantFault(t, err, fault.Invalid, "validation")
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", update, err, want)
		}
	}
}
