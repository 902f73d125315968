package store_test

import (
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func describe(t testing.TB, s *store.Store, table string) store.TableDescription {
	t.Helper()
	d, err := s.Describe(table)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func change(t testing.TB, s *store.Store, table string, fn func(*store.TableSettings)) {
	t.Helper()
	err := s.UpdateTable(t.Context(), store.TableChange{Table: table, Settings: func(set *store.TableSettings) error {
		fn(set)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// firstLife opens a store that the test closes, to open it again.
func firstLife(t testing.TB, path string, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t testing.TB, s *store.Store) {
	t.Helper()
	storetest.Check(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// someSettings has a value in every field but the stream.
func someSettings() store.TableSettings {
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	return store.TableSettings{
		Billing: store.BillingProvisioned, BillingSince: at, Class: "STANDARD", ClassSince: at, Encrypted: true, EncryptedBy: "key",
		Throughput: store.Throughput{Read: 5, Write: 6, Increased: at},
		Indexes:    map[string]store.Throughput{"bowler-index": {Read: 1, Decreased: at, Decreases: 2}},
		Tags:       map[string]string{"team": "edge"},
	}
}

func TestSettingsLastWithTheirTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := firstLife(t, path, store.Options{NoSync: true})
	want := someSettings()
	if err := s.CreateTable(t.Context(), storetest.Balls(), want); err != nil {
		t.Fatal(err)
	}
	if err := s.Define(t.Context(), storetest.Balls()); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = storetest.OpenWith(t, path, store.Options{NoSync: true})
	changed := storetest.Balls()
	changed.Why, changed.Internal = "another reason", true
	if err := s.Define(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	got := describe(t, s, "balls")
	if !reflect.DeepEqual(got.Settings, want) {
		t.Errorf("got %+v, want %+v", got.Settings, want)
	}
	if !got.Spec.Internal || got.Spec.Why != "another reason" {
		t.Errorf("Define changed %+v", got.Spec)
	}
	got.Settings.Tags["team"], got.Settings.Indexes["x"] = "changed outside", store.Throughput{}
	if again := describe(t, s, "balls").Settings; !reflect.DeepEqual(again, want) {
		t.Errorf("a description is the store's own memory: %+v", again)
	}
	drop(t, s, "balls")
	if err := s.CreateTable(t.Context(), storetest.Balls(), store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	if got := describe(t, s, "balls").Settings; !reflect.DeepEqual(got, store.TableSettings{}) {
		t.Errorf("a new table begins with %+v", got)
	}
}

// Changes of settings are serialized: neither of two tags is lost.
func TestSettingsChangeUnderTheWriter(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	var wg sync.WaitGroup
	want := map[string]string{}
	for _, tag := range []string{"a", "b", "c", "d", "e"} {
		want[tag] = "1"
		wg.Go(func() { change(t, s, "balls", func(set *store.TableSettings) { set.Tags[tag] = "1" }) })
	}
	wg.Wait()
	if got := describe(t, s, "balls").Settings.Tags; !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	refused := errors.New("refused")
	err := s.UpdateTable(t.Context(), store.TableChange{Table: "balls", Settings: func(set *store.TableSettings) error {
		set.Tags["f"] = "1"
		return refused
	}})
	if got := describe(t, s, "balls").Settings.Tags; !errors.Is(err, refused) || !maps.Equal(got, want) {
		t.Errorf("after the error %v: %v", err, got)
	}
	err = s.UpdateTable(t.Context(), store.TableChange{Table: "balls", Settings: func(set *store.TableSettings) error {
		set.Stream = "ALL"
		return nil
	}})
	storetest.WantFault(t, err, fault.Invalid, "validation")
	before := s.Stats().Commits
	change(t, s, "balls", func(set *store.TableSettings) { set.Tags["a"] = "1" })
	if s.Stats().Commits != before {
		t.Error("what changes nothing was written")
	}
}

// The throughput of an index goes with the index, and is only kept for global indexes.
func TestSettingsOfIndexes(t *testing.T) {
	s := storetest.Open(t)
	if err := s.CreateTable(t.Context(), storetest.Balls(), someSettings()); err != nil {
		t.Fatal(err)
	}
	err := s.UpdateTable(t.Context(), store.TableChange{
		Table: "balls", DropIndexes: []string{"bowler-index"}, AddIndexes: []store.IndexSpec{byBowler()},
		Settings: func(set *store.TableSettings) error {
			if _, there := set.Indexes["bowler-index"]; there {
				t.Error("the function sees an index that goes")
			}
			set.Indexes["by-bowler"], set.Indexes["nobody"] = store.Throughput{Read: 7}, store.Throughput{Read: 8}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]store.Throughput{"by-bowler": {Read: 7}}
	if got := describe(t, s, "balls").Settings.Indexes; !maps.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestAProtectedTableStays(t *testing.T) {
	s := storetest.Open(t)
	if err := s.CreateTable(t.Context(), storetest.Balls(), store.TableSettings{Protected: true}); err != nil {
		t.Fatal(err)
	}
	storetest.WantFault(t, s.DropTable(t.Context(), "balls"), fault.Invalid, "validation")
	change(t, s, "balls", func(set *store.TableSettings) { set.Protected = false })
	drop(t, s, "balls")
}
