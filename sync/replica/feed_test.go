package replica

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

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
				c.unlocked(func() {
					c.foreign(t, "teams", nil, team("back", 2))
					c.foreign(t, "teams", nil, team("new", 1))
					n.adoptNow(t, "teams", teamKey("new"), team("new", 1)) // acknowledged
				})
				return nil
			}
		})
		n.round(t.Context(), rule)
		for id, want := range map[string]attr.Item{
			"gone": nil, "waits": team("waits", 2), "back": team("back", 2), "kept": team("kept", 1), "new": team("new", 1),
		} {
			n.sees(t, id, want)
		}
	})
}

// A pass that is larger than a round goes on in the next, and after a restart behind the page that was taken in last; what
// the table does not have any more is found by a pass from the beginning.
func TestLongPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		const page, items = 200, 5*200 + 7
		for i := range items {
			c.foreign(t, "follows", nil, follow("m", fmt.Sprintf("%05d", i)))
		}
		n := openNode(t, c, dir, followsOf(5*time.Second, "m"))
		n.online(t)
		p := newPass(n.spec("follows"), attr.S("m"), rawOf(t, "m"))
		budget := 2
		got, err := n.pass(t.Context(), p, &budget)
		if err != nil || got != 2*page {
			t.Fatalf("%d items, %v", got, err)
		}
		n.close(t)

		n = openNode(t, c, dir, followsOf(5*time.Second, "m"))
		n.online(t)
		c.foreign(t, "follows", follow("m", "00001"), nil)
		c.foreign(t, "follows", follow("m", fmt.Sprintf("%05d", items-1)), nil)
		p = newPass(n.spec("follows"), attr.S("m"), rawOf(t, "m"))
		budget = 10
		if got, err = n.pass(t.Context(), p, &budget); err != nil || got != items-1-2*page {
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
		c, dir, page := newShelf(t), t.TempDir(), UsualLimits().Page
		for i := range page + 1 {
			c.foreign(t, "follows", nil, follow("m", fmt.Sprintf("%05d", i)))
		}
		n := openNode(t, c, dir, crashAt("feed-page"))
		n.online(t)
		crashes(t, func() {
			budget := 5
			_, _ = n.pass(t.Context(), newPass(n.spec("follows"), attr.S("m"), rawOf(t, "m")), &budget)
		})
		n.close(t)
		n = openNode(t, c, dir, nil)
		n.online(t)
		budget := 5
		got, err := n.pass(t.Context(), newPass(n.spec("follows"), attr.S("m"), rawOf(t, "m")), &budget)
		if err != nil || got != page+1 {
			t.Errorf("%d items, %v", got, err)
		}
	})
}

// The feed asks nothing while the cloud is away, and goes on by itself.
func TestPollOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, scanTeams(5*time.Second))
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
			cfg.Poll = []PollRule{{Table: "teams", Every: 5 * time.Second}, {Table: "leagues", Every: 5 * time.Second}}
		})
		c.refuse(intent.Throttled, func(op, table string) bool { return op == "read" && table == "teams" })
		stop := n.run(t)
		defer stop()
		letPass(30 * time.Minute)
		if slow, fast := c.count("read teams"), c.count("read leagues"); slow > 200 || fast < 300 {
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

// What is quarantined on an item is never sent and finds nothing out: that the item is gone in the cloud is seen by the feed.
func TestDeletedUnderAQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, scanTeams(20*time.Second))
		c.foreign(t, "teams", nil, team("x", 1))
		letPass(time.Minute)
		c.refuse(intent.TooLarge, func(op, table string) bool { return op == "write" && table == "teams" })
		n.bump(t, "x")
		letPass(time.Minute)
		if got := n.status(t).Conflicts.Quarantined; got != 1 {
			t.Fatalf("%d writes are quarantined", got)
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
		c, n := running(t, scanTeams(20*time.Second))
		c.foreign(t, "teams", nil, team("x", 1))
		letPass(time.Minute)
		c.refuse(intent.NoTable, func(op, table string) bool { return op == "transact" && table == "follows" })
		n.together(t,
			store.WriteItem{Put: &store.PutItem{Table: "follows", Item: follow("m", "u")}},
			store.WriteItem{Put: &store.PutItem{Table: "follows", Item: follow("m", "v")}},
			store.WriteItem{Check: &store.ConditionCheck{Table: "teams", Key: teamKey("x"), Condition: "attribute_exists(id)"}})
		letPass(time.Minute)
		c.foreign(t, "teams", teamKey("x"), nil)
		letPass(2 * time.Minute)
		if it := n.row(t, "teams", teamKey("x")); it != nil {
			t.Errorf("readers see %v, which the cloud does not have", it)
		}
		n.waits(t, 2)
	})
}
