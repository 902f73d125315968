package threefc

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// A scan finds a row wherever it sorts in its partition, also among rows of other programs. It skips expired rows.
func TestScan(t *testing.T) {
	r := newRig(t)
	for game, rows := range map[string][]string{
		"a": {skDeleted}, "b": {skAudit + "1", skDeleted, skMeta}, "c": {skMeta}, "d": {skDeleted, skTeam + "z"}, "e": {}, "f": {skAudit + "1", skDeleted, "é", "ü"},
	} {
		for _, sk := range rows {
			row, err := encode(key(pkGame+game, sk), tombstone{GameID: game})
			if err != nil {
				t.Fatal(err)
			}
			if game == "d" {
				row[AttrTTL] = attr.Int(r.now.Add(time.Minute).Unix())
			}
			r.adopt(key(pkGame+game, sk), row)
		}
	}
	found := func() (all string) {
		for _, d := range view(r, func(tx *store.Tx) ([]*tombstone, error) {
			p := r.plan(tx)
			return slices.Collect(scan[tombstone](p, pkGame, skDeleted)), p.Err()
		}) {
			all += d.GameID
		}
		return all
	}
	before := found()
	r.now = r.now.Add(time.Hour)
	if got := fmt.Sprint(before, " ", found()); got != "abdf abf" {
		t.Errorf("found %s, want abdf, and an hour later abf", got)
	}
}
