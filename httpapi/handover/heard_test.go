package handover_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func TestParseCounts(t *testing.T) {
	for text, want := range map[string]handover.Counts{
		"12 4 1757080000000-0.5": {Store: "1757080000000-0.5", Made: 12, Waiting: 4}, "0 0 -": {Store: "-"},
		"": {}, "12 4": {}, "-1 4 x": {}, "1 99999 x": {}, "1 2 <b>": {}, "1234567890123 1 x": {}, "1 2 x\n": {},
	} {
		if got, ok := handover.ParseCounts(text); got != want || ok != (want.Store != "") {
			t.Errorf("%q: %+v %t", text, got, ok)
		}
	}
}

// What was heard of a storage stays known when the device speaks of another one: the browser has emptied the first.
func TestHeardOfAnEmptiedStorage(t *testing.T) {
	now := time.Date(2026, 9, 5, 13, 55, 0, 0, time.UTC)
	s := storetest.OpenWith(t, t.TempDir()+"/s.db", store.Options{NoSync: true, Now: func() time.Time { return now }}, handover.Tables()...)
	hear := func(kind string, made, waiting int64) (last *handover.Heard) {
		t.Helper()
		if err := s.Update(t.Context(), func(tx *store.Tx) (err error) {
			if err = handover.Hear(tx, "phone", "3fc", handover.Counts{Store: kind, Made: made, Waiting: waiting}); err == nil {
				last, err = handover.LastHeard(tx, "phone", "3fc")
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
		return last
	}
	if last := hear("a", 3, 2); last.Lost != nil || last.Waiting != 2 {
		t.Errorf("%+v", last)
	}
	heard := now.UnixMilli()
	hear("a", 7, 4)
	for _, made := range []int64{1, 2} {
		last := hear("b", made, 0)
		if last.Lost == nil || last.Made != made || last.Lost.Made != 7 || last.Lost.Waiting != 4 || last.Lost.At != heard || last.Lost.Lost != nil {
			t.Errorf("%+v, lost %+v", last, last.Lost)
		}
	}
	if last := hear("c", 1, 1); last.Lost == nil || last.Lost.Store != "b" || last.Lost.Lost != nil {
		t.Errorf("%+v", last.Lost)
	}
}
