package cricketapp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// early returns the tables of a version that recorded no owners of tokens.
func early() (specs []store.TableSpec) {
	for _, spec := range tables.All() {
		if spec.Name != tables.DeviceTokens {
			specs = append(specs, spec)
		}
	}
	return specs
}

func put(t *testing.T, s *store.Store, table string, items ...attr.Item) {
	t.Helper()
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		for _, item := range items {
			if _, err := tx.Put(store.PutItem{Table: table, Item: item}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rows returns one attribute of each item of a table by its key.
func rows(t *testing.T, s *store.Store, table, key, value string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := s.View(t.Context(), func(tx *store.Tx) error {
		for item, err := range tx.ScanAll(store.Scan{Table: table}) {
			if err != nil {
				return err
			}
			out[item[key].Str()] = item[value].Str()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A phone that two users have registered goes to the one seen last, once: later rows are not decided again.
func TestDeviceTokensFilled(t *testing.T) {
	s := storetest.Open(t, early()...)
	phone := func(user, seen string) attr.Item {
		return attr.Item{"userId": attr.S(user), "deviceToken": attr.S("aa"), "deviceId": attr.S("d"), "lastSeenAt": attr.S(seen)}
	}
	put(t, s, tables.Devices, phone("ada", "2026-11-02T00:00:00Z"), phone("bob", "2026-11-01T00:00:00Z"))
	for range 2 {
		if err := schema().Apply(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"ada": "aa"}, rows(t, s, tables.Devices, "userId", "deviceToken")); diff != "" {
			t.Errorf("cricket-devices (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"device#aa": "ada"}, rows(t, s, tables.DeviceTokens, "token", "userId")); diff != "" {
			t.Errorf("owners (-want +got):\n%s", diff)
		}
	}
	put(t, s, tables.Devices, phone("bob", "2026-11-03T00:00:00Z"))
	if err := schema().Apply(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, s, tables.DeviceTokens, "token", "userId")["device#aa"]; got != "ada" {
		t.Errorf("filled again: %q has it", got)
	}
}
