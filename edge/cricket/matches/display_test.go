package matches

import (
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// An event keeps the time of its first display while it is in the banner.
func TestBannerKeepsItsTime(t *testing.T) {
	db := storetest.Open(t, tables.All()...)
	shown := func(key string, at time.Time) time.Time {
		d := cricket.Display{MatchID: "7", KeyEvent: &cricket.KeyEvent{Key: key, At: at}}
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			if err := keepBanner(tx, &d); err != nil {
				return err
			}
			return writeCached(tx, tables.DisplayKey("7"), d, 1)
		})
		if err != nil {
			t.Fatal(err)
		}
		return d.KeyEvent.At
	}
	first := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	later := first.Add(time.Minute)
	if shown("inn:1", first); !shown("inn:1", later).Equal(first) {
		t.Error("the same event has another time")
	}
	if !shown("w:2:1", later).Equal(later) {
		t.Error("another event has the time of the previous one")
	}
}

// A display that has expired is not shown, even before its row is swept.
func TestExpiredDisplay(t *testing.T) {
	db := storetest.Open(t, tables.All()...)
	service := NewService(db, cricket.Options{})
	for _, tt := range []struct {
		until time.Time
		shown bool
	}{{time.Now().Add(time.Hour), true}, {time.Now().Add(-time.Second), false}} {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			d := cricket.Display{MatchID: "7", Note: tt.until.String()}
			return writeCached(tx, tables.DisplayKey("7"), d, tt.until.Unix())
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = service.Display(t.Context(), "7")
		if (err == nil) != tt.shown || err != nil && !fault.Is(err, fault.NotFound) {
			t.Errorf("a display until %s: %v", tt.until, err)
		}
	}
}
