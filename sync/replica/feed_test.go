package replica

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/intent"
)

// scanTeams has a node that scans the teams.
func scanTeams(every time.Duration) func(*Config) {
	return func(c *Config) { c.Poll = []feed.Rule{{Table: "teams", Every: every}} }
}

func follow(match, user string) attr.Item {
	return attr.Item{"match": attr.S(match), "user": attr.S(user)}
}

// followsOf has a node that reads the follows of matches.
func followsOf(every time.Duration, matches ...string) func(*Config) {
	return func(c *Config) {
		c.Poll = []feed.Rule{{Table: "follows", Every: every, Partitions: func(*store.Tx) (out []attr.Value, _ error) {
			for _, m := range matches {
				out = append(out, attr.S(m))
			}
			return out, nil
		}}}
	}
}

// What others write, change and delete arrives within a round, in scanned tables and, otherwise, in partitions of interest only.
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
			t.Error("the writes of others have not arrived")
		}
		if n.row(t, "follows", follow("m3", "u")) != nil {
			t.Error("a partition was read without a subscription")
		}
		c.foreign(t, "teams", nil, team("x", 2))
		c.foreign(t, "follows", follow("m1", "u"), nil)
		seq := n.st.Seq()
		letPass(7 * time.Second)
		if n.row(t, "follows", follow("m1", "u")) != nil {
			t.Error("a deletion has not arrived within its rule's time")
		}
		letPass(35 * time.Second)
		if !attr.EqualItems(n.row(t, "teams", teamKey("x")), team("x", 2)) {
			t.Error("a change has not arrived")
		}
		if n.st.Seq() != seq+2 {
			t.Errorf("two changes made %d records", n.st.Seq()-seq)
		}
		for _, st := range n.feed.Status() {
			if st.Passes == 0 || st.LastPass.IsZero() || st.LastError != "" {
				t.Errorf("status %+v", st)
			}
		}
	})
}

// Polling unchanged data writes nothing to the disk.
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

// The feed makes no requests while the cloud is away, and resumes by itself.
func TestPollOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, scanTeams(5*time.Second))
		letPass(time.Minute)
		c.set(func() { c.fail = away })
		letPass(time.Minute)
		before := c.count("read teams")
		letPass(10 * time.Minute)
		if got := c.count("read teams") - before; got != 0 {
			t.Errorf("%d reads during an outage", got)
		}
		c.foreign(t, "teams", nil, team("x", 1))
		c.set(func() { c.fail = nil })
		letPass(time.Minute)
		if n.row(t, "teams", teamKey("x")) == nil {
			t.Error("the feed has not resumed")
		}
	})
}

// A throttled rule slows down, and the others go on.
func TestPollThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), func(cfg *Config) {
			cfg.Poll = []feed.Rule{{Table: "teams", Every: 5 * time.Second}, {Table: "leagues", Every: 5 * time.Second}}
		})
		c.refuse(intent.Throttled, func(op, table string) bool { return op == "read" && table == "teams" })
		stop := n.run(t)
		defer stop()
		letPass(30 * time.Minute)
		if slow, fast := c.count("read teams"), c.count("read leagues"); slow > 200 || fast < 300 {
			t.Errorf("%d reads of the throttled table, %d of the other", slow, fast)
		}
		if st := n.feed.Status()[0]; st.LastError == "" || st.Errors == 0 || st.Passes != 0 {
			t.Errorf("status %+v", st)
		}
	})
}

// A quarantined write is never sent and so detects nothing: the feed notices that its item is gone in the cloud.
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

// A transaction's condition detects that its item is gone only when the transaction is sent, which may take hours if another of its
// tables is unavailable: the feed notices earlier.
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

// close closes the node's store, so that its disk can be copied or opened again. A node whose run has ended counts as cleanly ended.
func (n *feedNode) close(t testing.TB) {
	t.Helper()
	if err := n.st.Close(); err != nil {
		t.Fatal(err)
	}
	n.closed = true
}

// disk returns a copy of the node's disk.
func (n *feedNode) disk(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	copyDir(t, n.dir, dir)
	return dir
}

// snapshot closes the node and saves its disk.
func (n *feedNode) snapshot(t testing.TB) (dir string) {
	t.Helper()
	n.close(t)
	return n.disk(t)
}

// again starts another process on the node's disk, after ending this one.
func (n *feedNode) again(t testing.TB) *feedNode {
	t.Helper()
	return n.backTo(t, n.dir)
}

// backTo restores the machine to a snapshot: what it has done since is only in the cloud.
func (n *feedNode) backTo(t testing.TB, snapshot string) *feedNode {
	t.Helper()
	if !n.closed {
		n.close(t)
	}
	return openNode(t, n.cloud, snapshot, n.change)
}

// pastSnapshot returns a node that runs on from a snapshot of it, which has one team that was sent, and what queued writes (nil:
// nothing). A machine restored to the snapshot knows nothing of what the node does from here on.
func pastSnapshot(t testing.TB, queued func(n *feedNode)) (c *shelf, n *feedNode, snapshot string) {
	t.Helper()
	c, n = opened(t, nil)
	n.put(t, "teams", team("x", 0))
	n.drained(t)
	if queued != nil {
		queued(n)
	}
	snapshot = n.snapshot(t)
	return c, n.again(t), snapshot
}

// copies returns two nodes with the same past.
func copies(t testing.TB) (c *shelf, one, other *feedNode) {
	t.Helper()
	c, one, copied := pastSnapshot(t, nil)
	return c, one, openNode(t, c, copied, nil)
}

// errCrash is the error of a crash that a test causes.
var errCrash = errors.New("crash")

// crashAt makes a node crash at a failpoint.
func crashAt(point string) func(*Config) {
	return func(cfg *Config) {
		cfg.Failpoint = func(p string) {
			if p == point {
				panic(errCrash)
			}
		}
	}
}

// crashes requires that do crashes.
func crashes(t testing.TB, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if e := recover(); e != any(errCrash) {
			t.Errorf("no crash: %v", e)
		}
	}()
	do()
}

func copyDir(t testing.TB, from, to string) {
	t.Helper()
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		copyFile(t, filepath.Join(from, f.Name()), filepath.Join(to, f.Name()))
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	_, _ = src.Close(), dst.Close()
}

// storeBack replaces a node's store, without the identity file, by that of another directory, as from a backup.
func storeBack(t *testing.T, from, to string) {
	t.Helper()
	copyFile(t, filepath.Join(from, "node.db"), filepath.Join(to, "node.db"))
}
