package replica

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

func TestEnsure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.foreign(t, "follows", nil, follow("m", "u"))
		c.foreign(t, "follows", nil, follow("m", "v"))
		c.foreign(t, "teams", nil, team("x", 1))
		if err := n.feed.Ensure(t.Context(), "follows", attr.Item{"match": attr.S("m")}); err != nil || n.row(t, "follows", follow("m", "u")) != nil {
			t.Errorf("before the first connection: %v", err)
		}
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		ensure := func(table string, keys ...attr.Item) {
			t.Helper()
			if err := n.feed.Ensure(t.Context(), table, keys...); err != nil {
				t.Fatal(err)
			}
		}
		ensure("follows", follow("m", "u"))
		if n.row(t, "follows", follow("m", "u")) == nil || n.row(t, "follows", follow("m", "v")) != nil {
			t.Error("Ensure of an item did not fetch exactly that item")
		}
		part := attr.Item{"match": attr.S("m")}
		ensure("follows", part)
		if n.row(t, "follows", follow("m", "v")) == nil {
			t.Error("Ensure of a partition did not fetch all its items")
		}
		reads := c.count("read follows")
		ensure("follows", part)
		ensure("follows", follow("m", "v"))
		if got := c.count("read follows") - reads + c.count("get follows") - 1; got != 0 {
			t.Errorf("a subscribed item is read again %d times", got)
		}
		ensure("teams", teamKey("x"), teamKey("none"))
		if n.row(t, "teams", teamKey("x")) == nil {
			t.Error("the team is not here")
		}

		c.foreign(t, "follows", nil, follow("m", "w"))
		c.foreign(t, "follows", follow("m", "u"), nil)
		letPass(70 * time.Second)
		if n.row(t, "follows", follow("m", "w")) == nil || n.row(t, "follows", follow("m", "u")) != nil {
			t.Error("the partition is not subscribed")
		}
		letPass(10 * time.Minute) // for which a partition stays subscribed
		reads = c.count("read follows")
		letPass(10 * time.Minute) // for which a partition stays subscribed
		if got := c.count("read follows") - reads; got != 0 {
			t.Errorf("a partition without a subscription is read %d times", got)
		}
	})
}

func TestEnsureRefuses(t *testing.T) {
	_, n := opened(t, nil)
	tests := []struct {
		table string
		key   attr.Item
		want  fault.Kind
	}{
		{"nowhere", teamKey("x"), fault.NotFound},
		{"teams", attr.Item{"id": attr.Int(1)}, fault.Invalid},
		{"teams", attr.Item{}, fault.Invalid},
		{"teams", teamKey(""), fault.Invalid},
		{"teams", attr.Item{"id": attr.S("x"), "n": attr.Int(1)}, fault.Invalid},
		{"follows", attr.Item{"user": attr.S("u")}, fault.Invalid},
		{"follows", attr.Item{"match": attr.S("m"), "user": attr.Int(1)}, fault.Invalid},
	}
	for _, tt := range tests {
		if err := n.feed.Ensure(t.Context(), tt.table, tt.key); fault.KindOf(err) != tt.want || err == nil {
			t.Errorf("%s %v: %v", tt.table, tt.key, err)
		}
	}
}

// Callers that want the same at once wait for one read; if the cloud is slow or away, they go on with the local state.
func TestEnsureJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.foreign(t, "follows", nil, follow("m", "u"))
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		slow := time.Second
		c.loseAnswers(func(_, table string) bool {
			if table == "follows" {
				c.unlocked(func() { letPass(slow) })
			}
			return false
		})
		all := func() (took time.Duration, errs []error) {
			start, done := time.Now(), make(chan error, 10)
			for range 10 {
				go func() { done <- n.feed.Ensure(t.Context(), "follows", attr.Item{"match": attr.S("m")}) }()
			}
			for range 10 {
				if err := <-done; err != nil {
					errs = append(errs, err)
				}
			}
			return time.Since(start), errs
		}
		if took, errs := all(); len(errs) > 0 || c.count("read follows") != 1 || took != slow {
			t.Errorf("%v, %d reads in %s", errs, c.count("read follows"), took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), slow/2)
		defer cancel()
		err := n.feed.Ensure(ctx, "follows", attr.Item{"match": attr.S("other")})
		if ctx.Err() == nil || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("at the end of the caller's time: %v", err)
		}
		c.set(func() { c.after, c.fail = nil, away })
		if err := n.feed.Ensure(t.Context(), "follows", attr.Item{"match": attr.S("third")}); err != nil {
			t.Errorf("without the cloud: %v", err)
		}
	})
}
