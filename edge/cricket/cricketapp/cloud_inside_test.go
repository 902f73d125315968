package cricketapp

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
)

// A new holder of a match reads every table whose rows carry the fence of its lock, and only rows of that match.
func TestBeforeWork(t *testing.T) {
	rows := beforeWork(tables.MatchLock("7"))
	for _, r := range rows {
		if !attr.EqualItems(r.Key, attr.Item{"matchId": attr.S("7")}) {
			t.Errorf("%s: %v", r.Table, r.Key)
		}
	}
	specs := tables.All()
	for i := range specs {
		spec := &specs[i]
		at := slices.IndexFunc(rows, func(r replica.Rows) bool { return r.Table == spec.Name })
		if at < 0 && spec.Lock != "" {
			t.Errorf("rows of %s carry the fence, and are not read", spec.Name)
		}
		if at >= 0 && !spec.Sends() {
			t.Errorf("%s is local, and would be read from the cloud", spec.Name)
		}
	}
	if len(rows) != 6 {
		t.Errorf("%d tables are read, want 6", len(rows))
	}
	if rows := beforeWork("slot:1"); rows != nil {
		t.Errorf("a slot guards %v", rows)
	}
}
