package poll_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// awayUntil is a cloud that cannot be reached before an instant.
type awayUntil struct {
	clock clock.Clock
	until time.Time
}

func (c awayUntil) Ensure(context.Context, string, ...attr.Item) error {
	if c.clock.Now().Before(c.until) {
		return errors.New("the cloud is away")
	}
	return nil
}

// The hourly look at the fixtures of two weeks failed: it is repeated with the next one, a minute later, not in an hour.
func TestWideLookIsRepeated(t *testing.T) {
	r := newRig(t)
	starts := midday().Add(10 * 24 * time.Hour)
	r.feed.fixtures = func(time.Time) []cricket.Snapshot {
		s := match(7, 3, "NS", 0)
		s.StartsAt = starts
		return []cricket.Snapshot{s}
	}
	r.config.Cloud = awayUntil{clock: r.clock, until: midday().Add(90 * time.Second)}
	r.run(5 * time.Minute)
	err := r.store.View(t.Context(), func(tx *store.Tx) error {
		ahead, err := matches.Fixtures{}.Ahead(tx, starts.Add(-time.Hour), starts.Add(time.Hour))
		if err == nil && len(ahead) != 1 {
			t.Errorf("%d fixtures in ten days are known, want 1", len(ahead))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
