package replica

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/feed"
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

// What is not here is asked for again each time, also in a table that is polled: somebody may have made it since.
func TestEnsureForgetsAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(c *Config) {
			c.Poll = []feed.Rule{{Table: "teams", Every: time.Minute}, {Table: "follows", Every: time.Minute}}
		})
		letPass(2 * time.Minute) // both tables have been read as a whole
		for _, tt := range []struct {
			table     string
			want, key attr.Item
			made      attr.Item
		}{
			{"teams", teamKey("x"), teamKey("x"), team("x", 1)},
			{"follows", follow("m", "u"), follow("m", "u"), follow("m", "u")},
			{"follows", attr.Item{"match": attr.S("whole")}, follow("whole", "u"), follow("whole", "u")},
		} {
			for range 2 {
				if err := n.feed.Ensure(t.Context(), tt.table, tt.want); err != nil || n.row(t, tt.table, tt.key) != nil {
					t.Fatalf("%s %v: %v", tt.table, tt.key, err)
				}
			}
			c.foreign(t, tt.table, nil, tt.made)
			if err := n.feed.Ensure(t.Context(), tt.table, tt.want); err != nil || n.row(t, tt.table, tt.key) == nil {
				t.Errorf("%s %v is not here right after it was made: %v", tt.table, tt.key, err)
			}
			reads := c.count("get "+tt.table) + c.count("read "+tt.table)
			if err := n.feed.Ensure(t.Context(), tt.table, tt.want); err != nil || c.count("get "+tt.table)+c.count("read "+tt.table) != reads {
				t.Errorf("%s %v is read again although it is held: %v", tt.table, tt.key, err)
			}
		}
	})
}

// ReadFresh reads what is held too. Without the cloud it fails, except for items that were deleted here.
func TestReadFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(time.Second)
		for _, name := range []string{"x", "z"} {
			c.foreign(t, "teams", nil, team(name, 1))
			if err := n.feed.Ensure(t.Context(), "teams", teamKey(name)); err != nil {
				t.Fatal(err)
			}
		}
		c.foreign(t, "teams", team("x", 1), team("x", 2))
		part := attr.Item{"match": attr.S("m")}
		c.foreign(t, "follows", nil, follow("m", "u"))
		if err := n.feed.ReadFresh(t.Context(), "teams", teamKey("x"), teamKey("none")); err != nil || n.row(t, "teams", teamKey("x"))["n"].Text() != "2" {
			t.Errorf("what is held was not read again: %v, %v", err, n.row(t, "teams", teamKey("x")))
		}
		if err := n.feed.ReadFresh(t.Context(), "follows", part); err != nil || n.row(t, "follows", follow("m", "u")) == nil {
			t.Errorf("a partition: %v", err)
		}
		for what, want := range map[string]fault.Kind{"teams": fault.Invalid, "nowhere": fault.NotFound} {
			if err := n.feed.ReadFresh(t.Context(), what, part); fault.KindOf(err) != want {
				t.Errorf("%s: %v", what, err)
			}
		}
		c.set(func() { c.fail = away })
		n.remove(t, "teams", teamKey("z"))
		for name, want := range map[string]bool{"none": false, "x": false, "z": true} {
			err := n.feed.ReadFresh(t.Context(), "teams", teamKey(name))
			if known := err == nil; known != want || !known && !fault.Is(err, fault.Unavailable) {
				t.Errorf("%s while the cloud is away: %v", name, err)
			}
		}
	})
}

// Callers of ReadFresh share reads, but none shares one that began before it asked: what it asks about may have changed since.
func TestReadFreshShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(time.Second)
		c.loseAnswers(func(_, table string) bool {
			if table == "teams" {
				c.unlocked(func() { letPass(time.Second) })
			}
			return false
		})
		done := make(chan error, 11)
		ask := func() { done <- n.feed.ReadFresh(t.Context(), "teams", teamKey("x")) }
		go ask()
		letPass(time.Second / 2)
		c.foreign(t, "teams", nil, team("x", 1))
		for range 10 {
			go ask()
		}
		for range 11 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := c.count("read teams"); got != 2 || n.row(t, "teams", teamKey("x")) == nil {
			t.Errorf("%d reads, %v", got, n.row(t, "teams", teamKey("x")))
		}
	})
}
