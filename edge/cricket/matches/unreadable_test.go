package matches_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// A fixture that another program wrote in another form is left out of all lists and named. A request for it says that it cannot be read.
func TestUnreadableFixture(t *testing.T) {
	s := newRig(t).Store
	service := matches.NewService(s, cricket.Options{})
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		for _, it := range []attr.Item{
			{"matchId": attr.S("1"), "leagueCode": attr.S("T20"), "startTime": attr.Time(at), "phase": attr.S("innings_1")},
			{"matchId": attr.S("2"), "leagueCode": attr.S("T20"), "startTime": attr.Time(at), "phase": attr.L()},
		} {
			if _, err := tx.Put(store.PutItem{Table: tables.Fixtures, Item: it}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	page, _, err := service.Matches(t.Context(), matches.MatchFilter{})
	if err != nil || len(page) != 1 || page[0].MatchID != "1" {
		t.Errorf("the list: %v, %v", page, err)
	}
	if err := s.View(t.Context(), func(tx *store.Tx) error {
		between, err := matches.Fixtures{}.StartingBetween(tx, "T20", at, at)
		if err != nil || len(between) != 1 {
			t.Errorf("between: %v, %v", between, err)
		}
		some, err := matches.Fixtures{}.Batch(tx, "1", "2")
		if err != nil || len(some) != 1 {
			t.Errorf("some: %v, %v", some, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Match(t.Context(), "2"); !fault.Is(err, fault.Unreadable) || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("the fixture itself: %v", err)
	}
	rows, _, err := s.UnreadableItems(t.Context())
	if err != nil || len(rows) != 1 || rows[0].Key["matchId"].Str() != "2" || rows[0].Why != "attribute phase: it is a list, where a text belongs" {
		t.Errorf("named are %v, %v", rows, err)
	}
}
