package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// scanTeams has a node that scans the teams.
func scanTeams(every time.Duration) func(*Config) {
	return func(c *Config) { c.Poll = []PollRule{{Table: "teams", Every: every}} }
}

func follow(match, user string) attr.Item {
	return attr.Item{"match": attr.S(match), "user": attr.S(user)}
}

// followsOf has a node that reads the follows of matches.
func followsOf(every time.Duration, matches ...string) func(*Config) {
	return func(c *Config) {
		c.Poll = []PollRule{{Table: "follows", Every: every, Partitions: func(*store.Tx) (out []attr.Value, _ error) {
			for _, m := range matches {
				out = append(out, attr.S(m))
			}
			return out, nil
		}}}
	}
}

// What others write, change and delete is here within a round, in scanned tables and in partitions of interest alone.
func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), func(cfg *Config) {
			scanTeams(30 * time.Second)(cfg)
			rules := cfg.Poll
			followsOf(5*time.Second, "m1", "m2", "m1", "")(cfg)
			cfg.Poll = append(rules, cfg.Poll...)
		})
		stop := n.run(t)
		defer stop()
		c.foreign(t, "teams", nil, team("x", 1))
		c.foreign(t, "follows", nil, follow("m1", "u"))
		c.foreign(t, "follows", nil, follow("m3", "u"))
		letPass(70 * time.Second)
		if !attr.EqualItems(n.row(t, "teams", teamKey("x")), team("x", 1)) || n.row(t, "follows", follow("m1", "u")) == nil {
			t.Error("what others wrote has not come")
		}
		if n.row(t, "follows", follow("m3", "u")) != nil {
			t.Error("a partition that nobody asked for was read")
		}
		c.foreign(t, "teams", nil, team("x", 2))
		c.foreign(t, "follows", follow("m1", "u"), nil)
		seq := n.st.Seq()
		letPass(7 * time.Second)
		if n.row(t, "follows", follow("m1", "u")) != nil {
			t.Error("a deletion has not come within its rule's time")
		}
		letPass(35 * time.Second)
		if !attr.EqualItems(n.row(t, "teams", teamKey("x")), team("x", 2)) {
			t.Error("a change has not come")
		}
		if n.st.Seq() != seq+2 {
			t.Errorf("two changes made %d records", n.st.Seq()-seq)
		}
		for _, st := range n.feedStatus() {
			if st.Passes == 0 || st.LastPass.IsZero() || st.LastError != "" {
				t.Errorf("status %+v", st)
			}
		}
	})
}

// Polling what nobody changes writes nothing to the disk.
func TestPollOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		for i := range 30 {
			c.foreign(t, "teams", nil, team(fmt.Sprint(i), 1))
		}
		n := openNode(t, c, t.TempDir(), scanTeams(5*time.Second))
		stop := n.run(t)
		letPass(50 * time.Second)
		commits := n.st.Stats().Commits
		reads := c.count("read teams")
		letPass(50 * time.Second)
		if got := n.st.Stats().Commits - commits; got > 1 {
			t.Errorf("%d commits", got)
		}
		if got := c.count("read teams") - reads; got < 7 || got > 12 {
			t.Errorf("%d passes in ten rounds", got)
		}
		stop()
	})
}

// What is deleted there is not here any more only if the base is older than the pass, nothing waits on it, and it is absent
// from a read of its own (schedule 11).
func TestAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		for _, id := range []string{"gone", "waits", "back", "kept"} {
			c.foreign(t, "teams", nil, team(id, 1))
		}
		n := openNode(t, c, t.TempDir(), scanTeams(10*time.Second))
		n.online(t)
		rule := n.feeds.loadRules(n.cfg.Poll)[0]
		n.round(t.Context(), rule)
		letPass(time.Second)
		for _, id := range []string{"gone", "waits", "back"} {
			c.foreign(t, "teams", teamKey(id), nil)
		}
		n.bump(t, "waits")
		c.set(func() {
			c.after = func(string, string) error { // behind the scan
				c.after = nil
				c.mu.Unlock()
				defer c.mu.Lock()
				c.foreign(t, "teams", nil, team("back", 2))
				c.foreign(t, "teams", nil, team("new", 1))
				n.adoptNow(t, "teams", teamKey("new"), team("new", 1)) // acknowledged
				return nil
			}
		})
		n.round(t.Context(), rule)
		for id, want := range map[string]attr.Item{
			"gone": nil, "waits": team("waits", 2), "back": team("back", 2), "kept": team("kept", 1), "new": team("new", 1),
		} {
			if got := n.row(t, "teams", teamKey(id)); (got == nil) != (want == nil) || !attr.EqualItems(got, want) {
				t.Errorf("%s: readers see %v, want %v", id, got, want)
			}
		}
	})
}

// A pass that is larger than a round goes on in the next, and after a restart behind the page that was taken in last; what
// the table does not have any more is found by a pass from the beginning.
func TestLongPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		const items = 5*pageLimit + 7
		for i := range items {
			c.foreign(t, "follows", nil, follow("m", fmt.Sprintf("%05d", i)))
		}
		n := openNode(t, c, dir, followsOf(5*time.Second, "m"))
		n.online(t)
		p := newPass(n.spec("follows"), attr.S("m"), rawOf(t, "m"))
		budget := 2
		got, err := n.pass(t.Context(), p, &budget)
		if err != nil || got != 2*pageLimit {
			t.Fatalf("%d items, %v", got, err)
		}
		n.close(t)

		n = openNode(t, c, dir, followsOf(5*time.Second, "m"))
		n.online(t)
		c.foreign(t, "follows", follow("m", "00001"), nil)
		c.foreign(t, "follows", follow("m", fmt.Sprintf("%05d", items-1)), nil)
		p = newPass(n.spec("follows"), attr.S("m"), rawOf(t, "m"))
		budget = 10
		if got, err = n.pass(t.Context(), p, &budget); err != nil || got != items-1-2*pageLimit {
			t.Fatalf("after the restart %d items, %v", got, err)
		}
		if n.row(t, "follows", follow("m", "00001")) == nil {
			t.Error("a pass that began in another run tells what is absent")
		}
		letPass(time.Second)
		for range 3 { // in pieces, within one run
			p = newPass(n.spec("follows"), attr.S("m"), rawOf(t, "m"))
			budget = 2
			if _, err = n.pass(t.Context(), p, &budget); err != nil {
				t.Fatal(err)
			}
		}
		if n.row(t, "follows", follow("m", "00001")) != nil {
			t.Error("what is gone is still here")
		}
		if n.row(t, "follows", follow("m", "00002")) == nil {
			t.Error("what is there is not here")
		}
		err = n.st.View(t.Context(), func(tx *store.Tx) error {
			at, err := tx.Side(sideCheckpoint).Get([]byte(p.key))
			if at != nil {
				t.Errorf("the position stays: %s", at)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func rawOf(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := attr.AppendKey(nil, attr.S(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A position and what was read before it are there together or not at all.
func TestCheckpointWithItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		for i := range pageLimit + 1 {
			c.foreign(t, "follows", nil, follow("m", fmt.Sprintf("%05d", i)))
		}
		crash := errors.New("crash")
		n := openNode(t, c, dir, func(cfg *Config) {
			cfg.Fail = func(p string) {
				if p == "feed-page" {
					panic(crash)
				}
			}
		})
		n.online(t)
		func() {
			defer func() {
				if recover() != any(crash) {
					t.Error("no crash")
				}
			}()
			budget := 5
			_, _ = n.pass(t.Context(), newPass(n.spec("follows"), attr.S("m"), rawOf(t, "m")), &budget)
		}()
		n.close(t)
		n = openNode(t, c, dir, nil)
		n.online(t)
		budget := 5
		got, err := n.pass(t.Context(), newPass(n.spec("follows"), attr.S("m"), rawOf(t, "m")), &budget)
		if err != nil || got != pageLimit+1 {
			t.Errorf("%d items, %v", got, err)
		}
	})
}

// The feed asks nothing while the cloud is away, and goes on by itself.
func TestPollOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), scanTeams(5*time.Second))
		stop := n.run(t)
		defer stop()
		letPass(time.Minute)
		c.set(func() { c.fail = away })
		letPass(time.Minute)
		before := c.count("read teams")
		letPass(10 * time.Minute)
		if got := c.count("read teams") - before; got != 0 {
			t.Errorf("%d reads of a cloud that is away", got)
		}
		c.foreign(t, "teams", nil, team("x", 1))
		c.set(func() { c.fail = nil })
		letPass(time.Minute)
		if n.row(t, "teams", teamKey("x")) == nil {
			t.Error("the feed has not come back")
		}
	})
}

// A rule that is throttled is slower, and the others go on.
func TestPollThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), func(cfg *Config) {
			cfg.Poll = []PollRule{{Table: "teams", Every: 5 * time.Second}, {Table: "reference", Every: 5 * time.Second}}
		})
		c.set(func() {
			c.fail = func(op, table string) error {
				if op == "read" && table == "teams" {
					return &intent.Error{Class: intent.Throttled, Err: errors.New("slow down")}
				}
				return nil
			}
		})
		stop := n.run(t)
		defer stop()
		letPass(30 * time.Minute)
		if slow, fast := c.count("read teams"), c.count("read reference"); slow > 200 || fast < 300 {
			t.Errorf("%d reads of the throttled table, %d of the other", slow, fast)
		}
		if st := n.feedStatus()[0]; st.LastError == "" || st.Errors == 0 || st.Passes != 0 {
			t.Errorf("status %+v", st)
		}
	})
}

// A rule with more partitions than a round has pages for comes to all of them.
func TestManyPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		var matches []string
		for i := range 2*roundPages + 50 {
			m := fmt.Sprintf("m%04d", i)
			matches = append(matches, m)
			c.foreign(t, "follows", nil, follow(m, "u"))
		}
		n := openNode(t, c, t.TempDir(), followsOf(5*time.Second, matches...))
		n.online(t)
		rule := n.feeds.loadRules(n.cfg.Poll)[0]
		for range 3 {
			n.round(t.Context(), rule)
		}
		for _, m := range matches {
			if n.row(t, "follows", follow(m, "u")) == nil {
				t.Fatalf("%s was not read in three rounds", m)
			}
		}
	})
}

func TestEnsure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		c.foreign(t, "follows", nil, follow("m", "u"))
		c.foreign(t, "follows", nil, follow("m", "v"))
		c.foreign(t, "teams", nil, team("x", 1))
		if err := n.Ensure(t.Context(), "follows", attr.Item{"match": attr.S("m")}); err != nil || n.row(t, "follows", follow("m", "u")) != nil {
			t.Errorf("before there was a connection: %v", err)
		}
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		ensure := func(table string, keys ...attr.Item) {
			t.Helper()
			if err := n.Ensure(t.Context(), table, keys...); err != nil {
				t.Fatal(err)
			}
		}
		ensure("follows", follow("m", "u"))
		if n.row(t, "follows", follow("m", "u")) == nil || n.row(t, "follows", follow("m", "v")) != nil {
			t.Error("an item is the item")
		}
		part := attr.Item{"match": attr.S("m")}
		ensure("follows", part)
		if n.row(t, "follows", follow("m", "v")) == nil {
			t.Error("a partition is all its items")
		}
		reads := c.count("read follows")
		ensure("follows", part)
		ensure("follows", follow("m", "v"))
		if got := c.count("read follows") - reads + c.count("get follows") - 1; got != 0 {
			t.Errorf("what is held is read again %d times", got)
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
		letPass(subscribedFor)
		reads = c.count("read follows")
		letPass(subscribedFor)
		if got := c.count("read follows") - reads; got != 0 {
			t.Errorf("a partition that nobody wants is read %d times", got)
		}
	})
}

func TestEnsureRefuses(t *testing.T) {
	n := openNode(t, newShelf(t), t.TempDir(), nil)
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
		if err := n.Ensure(t.Context(), tt.table, tt.key); fault.KindOf(err) != tt.want || err == nil {
			t.Errorf("%s %v: %v", tt.table, tt.key, err)
		}
	}
}

// Those who want the same at once wait for one read; the cloud being slow or away, they go on with what is here.
func TestEnsureJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		c.foreign(t, "follows", nil, follow("m", "u"))
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		slow := time.Second
		c.set(func() {
			c.after = func(op, table string) error {
				if table == "follows" {
					c.mu.Unlock()
					letPass(slow)
					c.mu.Lock()
				}
				return nil
			}
		})
		all := func() (took time.Duration, errs []error) {
			start, done := time.Now(), make(chan error, 10)
			for range 10 {
				go func() { done <- n.Ensure(t.Context(), "follows", attr.Item{"match": attr.S("m")}) }()
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
		err := n.Ensure(ctx, "follows", attr.Item{"match": attr.S("other")})
		if ctx.Err() == nil || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("at the end of the caller's time: %v", err)
		}
		c.set(func() { c.after, c.fail = nil, away })
		if err := n.Ensure(t.Context(), "follows", attr.Item{"match": attr.S("third")}); err != nil {
			t.Errorf("the cloud being away: %v", err)
		}
	})
}

// Subscriptions are bounded: the one that was wanted least recently goes.
func TestSubscriptionsBounded(t *testing.T) {
	var f feeds
	now := time.Unix(1_800_000_000, 0)
	spec := feedTables()[1]
	for i := range subscribedMost + 3 {
		f.subscribe(newPass(&spec, attr.S("m"), fmt.Appendf(nil, "%05d", i)), now.Add(time.Duration(i)*time.Second))
	}
	if len(f.subs) != subscribedMost {
		t.Errorf("%d subscriptions", len(f.subs))
	}
	due := f.dueSubscriptions(now.Add(subscribedEvery + 10*time.Second))
	if len(due) != 8 || due[0].pass.key != "follows\x0000003" {
		t.Errorf("%d due, the first %q", len(due), due[0].pass.key)
	}
	if !slices.IsSortedFunc(due, func(a, b *subscription) int { return a.next.Compare(b.next) }) {
		t.Error("not in the order of their times")
	}
}

// What is quarantined on an item is never sent and finds nothing out: that the item is gone in the cloud is seen by the feed.
func TestDeletedUnderAQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), scanTeams(20*time.Second))
		stop := n.run(t)
		defer stop()
		c.foreign(t, "teams", nil, team("x", 1))
		letPass(time.Minute)
		c.set(func() {
			c.fail = func(op, table string) error {
				if op == "write" && table == "teams" {
					return &intent.Error{Class: intent.TooLarge, Err: errors.New("a test")}
				}
				return nil
			}
		})
		n.bump(t, "x")
		letPass(time.Minute)
		st, err := n.Status(t.Context())
		if err != nil || st.Conflicts.Quarantined != 1 {
			t.Fatalf("%d writes are quarantined, %v", st.Conflicts.Quarantined, err)
		}
		c.foreign(t, "teams", teamKey("x"), nil)
		letPass(2 * time.Minute)
		if it := n.row(t, "teams", teamKey("x")); it != nil {
			t.Errorf("readers see %v, which the cloud does not have", it)
		}
	})
}

// A condition that a transaction has on an item finds out that it is gone only when the transaction is sent, which may be in
// hours if another table of it is not to be had: the feed sees it before.
func TestDeletedUnderACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), scanTeams(20*time.Second))
		stop := n.run(t)
		defer stop()
		c.foreign(t, "teams", nil, team("x", 1))
		letPass(time.Minute)
		c.set(func() {
			c.fail = func(op, table string) error {
				if op == "transact" && table == "follows" {
					return &intent.Error{Class: intent.NoTable, Err: errors.New("a test")}
				}
				return nil
			}
		})
		err := n.st.Update(t.Context(), func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
				{Put: &store.PutItem{Table: "follows", Item: follow("m", "u")}},
				{Put: &store.PutItem{Table: "follows", Item: follow("m", "v")}},
				{Check: &store.ConditionCheck{Table: "teams", Key: teamKey("x"), Condition: "attribute_exists(id)"}},
			}})
		})
		if err != nil {
			t.Fatal(err)
		}
		letPass(time.Minute)
		c.foreign(t, "teams", teamKey("x"), nil)
		letPass(2 * time.Minute)
		if it := n.row(t, "teams", teamKey("x")); it != nil {
			t.Errorf("readers see %v, which the cloud does not have", it)
		}
		if st, err := n.Status(t.Context()); err != nil || st.Waiting == 0 {
			t.Errorf("the transaction waits no more: %v", err)
		}
	})
}
