package cricketapp

import (
	"testing"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica"
)

// The followers of a match come from the store, with and without push. In a fleet the view says that another node may push to
// them.
func TestAudience(t *testing.T) {
	s := storetest.Open(t, tables.All()...)
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Put(store.PutItem{Table: tables.Fixtures, Item: attr.Item{"matchId": attr.S("7")}}); err != nil {
			return err
		}
		for _, user := range []string{"ada", "bob"} {
			if _, _, err := (phone.Follows{}).Add(tx, "7", user, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	coordinator, err := push.New(push.Config{Store: s, Clock: clock.Real()})
	if err != nil {
		t.Fatal(err)
	}
	alone, fleet := &app.Host{Store: s}, &app.Host{Store: s, Sync: new(replica.Replica)}
	for name, n := range map[string]*application{
		"alone, without push": {host: alone}, "alone": {host: alone, push: coordinator},
		"in a fleet": {host: fleet, push: coordinator}, "in a fleet, without push": {host: fleet},
	} {
		got, err := n.audienceOf(t.Context(), "7")
		if err != nil || got.Followers != 2 || got.Elsewhere != (n.host.Sync != nil) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
