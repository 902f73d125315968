package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func TestJudge(t *testing.T) {
	file := &identityFile{Nonces: []string{"n3", "n2"}}
	const seq = 3<<incarnationShift + 100
	tests := []struct {
		name string
		row  *nodeRow
		want verdict
	}{
		{"no row", nil, rowMissing},
		{"as we left it", &nodeRow{incarnation: 3, nonce: "n3", settled: seq}, rowOurs},
		{"a connect whose write was lost", &nodeRow{incarnation: 3, nonce: "n2"}, rowOurs},
		{"a nonce that the file does not know", &nodeRow{incarnation: 3, nonce: "n4"}, rowOthers},
		{"a row that somebody has spoiled", &nodeRow{}, rowOthers},
		{"an incarnation ahead", &nodeRow{incarnation: 4, nonce: "n3"}, rowOthers},
		{"settled ahead", &nodeRow{incarnation: 3, nonce: "n3", settled: seq + 1}, rowOthers},
	}
	for _, tt := range tests {
		if got := judge(file, tt.row, 3, seq); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestForkOf(t *testing.T) {
	b := func(id string, after uint64) boot { return boot{ID: id, After: after} }
	tests := []struct {
		name         string
		ours, theirs []boot
		want         uint64
	}{
		{"nothing in common", []boot{b("x", 5)}, []boot{b("y", 7)}, math.MaxUint64},
		{"the same run: its memory was copied", []boot{b("x", 0)}, []boot{b("x", 0)}, math.MaxUint64},
		{"an old file: what was written since it was opened is ours alone", []boot{b("x", 0), b("r", 100)}, []boot{b("x", 0)}, 100},
		{"a copy was opened: it has not what we wrote since", []boot{b("x", 0)}, []boot{b("x", 0), b("c", 120)}, 120},
		{"both", []boot{b("w", 0), b("x", 1), b("r", 100)}, []boot{b("x", 1), b("c", 120)}, 100},
		{"the last run in common counts", []boot{b("w", 0), b("x", 10), b("r", 30)}, []boot{b("w", 0), b("x", 10), b("c", 20), b("d", 25)}, 20},
	}
	for _, tt := range tests {
		if got := forkOf(tt.ours, tt.theirs); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A row of any content is read, and what is written comes back.
func TestNodeRow(t *testing.T) {
	boots := []boot{{ID: "x", After: 3}, {ID: "y", After: math.MaxUint64}}
	row := readRow(attr.Item{
		"id": attr.S("node:a"), attrIncarnation: numberValue(7), attrSettled: numberValue(math.MaxUint64), attrNonce: attr.S("n"),
		attrBoots: bootList(boots), attrCopies: attr.Bool(true), attrReplayed: attr.M(attr.Item{"teams": attr.S("t-2")}),
	})
	if row.incarnation != 7 || row.settled != math.MaxUint64 || row.nonce != "n" || !row.copies || row.replayed["teams"].Str() != "t-2" {
		t.Errorf("read %+v", row)
	}
	if len(row.boots) != 2 || row.boots[0] != boots[0] || row.boots[1] != boots[1] {
		t.Errorf("runs %v", row.boots)
	}
	spoiled := readRow(attr.Item{
		attrIncarnation: attr.S("x"), attrSettled: attr.Int(-4), attrNonce: attr.Int(5), attrBoots: attr.L(attr.S("x"), attr.S("y:-1"), attr.Int(1)),
		attrCopies: attr.S("true"),
	})
	if spoiled.incarnation != 0 || spoiled.settled != 0 || spoiled.nonce != "5" || len(spoiled.boots) != 0 || spoiled.copies {
		t.Errorf("a spoiled row is read as %+v", spoiled)
	}
}

// put writes an item as the application, and gives its sequence.
func (n *feedNode) put(t testing.TB, table string, item attr.Item) uint64 {
	t.Helper()
	var seq uint64
	err := n.st.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: table, Item: item})
		seq = tx.Seq()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func (n *feedNode) update(t testing.TB, table string, key attr.Item, update string, values attr.Item) {
	t.Helper()
	u := store.UpdateItem{Table: table, Key: key, Update: update}
	u.Values = values
	err := n.st.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Update(u)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (n *feedNode) row(t testing.TB, table string, key attr.Item) (it attr.Item) {
	t.Helper()
	err := n.st.View(t.Context(), func(tx *store.Tx) (err error) {
		it, err = tx.Get(table, key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// run runs the node until stop, which waits for its end.
func (n *feedNode) run(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	}
}

// drained runs the node until nothing waits.
func (n *feedNode) drained(t testing.TB) {
	t.Helper()
	stop := n.run(t)
	defer stop()
	for range 600 {
		letPass(time.Second)
		if n.waitingNow(t) == 0 {
			return
		}
	}
	t.Errorf("%d writes still wait", n.waitingNow(t))
}

func (n *feedNode) waitingNow(t testing.TB) int64 {
	t.Helper()
	st, err := n.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st.Waiting
}

// close ends the node's use of its file, so that it can be copied or opened again.
func (n *feedNode) close(t testing.TB) {
	t.Helper()
	if err := n.st.Close(); err != nil {
		t.Fatal(err)
	}
}

func copyDir(t testing.TB, from, to string) {
	t.Helper()
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		src, err := os.Open(filepath.Join(from, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		dst, err := os.Create(filepath.Join(to, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(dst, src); err != nil {
			t.Fatal(err)
		}
		_, _ = src.Close(), dst.Close()
	}
}

func teamKey(id string) attr.Item { return attr.Item{"id": attr.S(id)} }

func team(id string, n int64) attr.Item { return attr.Item{"id": attr.S(id), "n": attr.Int(n)} }

func (n *feedNode) lostConflicts(t testing.TB) (out []*Conflict) {
	t.Helper()
	list, _, err := n.Conflicts(t.Context(), ConflictQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// bump is an ADD: applied twice it shows.
func (n *feedNode) bump(t testing.TB, id string) {
	t.Helper()
	n.update(t, "teams", teamKey(id), "ADD n :one", attr.Item{":one": attr.Int(1)})
}

func (c *shelf) n(t testing.TB, id string) int64 {
	t.Helper()
	it, err := c.item("teams", teamKey(id))
	if err != nil {
		t.Fatal(err)
	}
	n, _ := it["n"].Int()
	return n
}

// A node that ends in order and begins again goes on as it was; one that crashed begins a new incarnation, for its file may
// be a copy made while it ran.
func TestRunsOfOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		n := openNode(t, c, dir, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		n.close(t)
		again := openNode(t, c, dir, nil)
		if got := again.st.Incarnation(); got != 1 {
			t.Errorf("after an orderly end the incarnation is %d", got)
		}
		again.bump(t, "x")
		again.drained(t)
		again.put(t, "teams", team("y", 7)) // not sent
		again.identity.file.Clean = false
		if err := again.setFile(t.Context(), again.identity.file); err != nil {
			t.Fatal(err)
		}
		again.close(t)
		crashed := openNode(t, c, dir, nil)
		if got := crashed.st.Incarnation(); got != 2 {
			t.Errorf("after a crash the incarnation is %d", got)
		}
		crashed.drained(t)
		if c.n(t, "x") != 1 || c.n(t, "y") != 7 || len(crashed.lostConflicts(t)) != 0 {
			t.Errorf("the cloud has x %d, y %d, conflicts %v", c.n(t, "x"), c.n(t, "y"), crashed.lostConflicts(t))
		}
	})
}

// Schedule 20: an entry queued in a snapshot was sent and applied; the snapshot is restored: it is applied once. What the
// restored node writes goes out, and its sequences are no other ones' (schedule 6).
func TestSnapshotRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, old := newShelf(t), t.TempDir(), t.TempDir()
		n := openNode(t, c, dir, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		n.bump(t, "x") // e100, queued
		n.close(t)
		copyDir(t, dir, old)

		n = openNode(t, c, dir, nil)
		n.bump(t, "y")
		n.drained(t)
		if c.n(t, "x") != 1 || c.n(t, "y") != 1 {
			t.Fatalf("before: x %d, y %d", c.n(t, "x"), c.n(t, "y"))
		}
		n.close(t)

		r := openNode(t, c, old, nil)
		r.bump(t, "y") // its sequence was another write's in the lost timeline
		r.bump(t, "z")
		r.drained(t)
		if c.n(t, "x") != 1 {
			t.Errorf("the queued entry counts %d times", c.n(t, "x"))
		}
		if c.n(t, "z") != 1 {
			t.Errorf("what the restored node wrote is there %d times", c.n(t, "z"))
		}
		lost := r.lostConflicts(t)
		if got := c.n(t, "y") + int64(len(lost)); got < 2 {
			t.Errorf("the write to y is neither there (%d) nor recorded (%d)", c.n(t, "y"), len(lost))
		}
		if r.st.Incarnation() < 3 {
			t.Errorf("the incarnation is %d", r.st.Incarnation())
		}
		row, _ := c.item("touchline-sync", nodeKey("a"))
		if number(row[attrIncarnation]) != r.st.Incarnation() {
			t.Errorf("the cloud has incarnation %s", row[attrIncarnation].Str())
		}
		if got := r.row(t, "teams", teamKey("x")); !got["n"].Equal(attr.Int(1)) {
			t.Errorf("readers see x as %v", got)
		}
	})
}

// Two copies of a node run: both begin incarnations of their own, both find out, both stop; a restart of one goes on.
func TestCloneRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, copied := newShelf(t), t.TempDir(), t.TempDir()
		o := openNode(t, c, dir, nil)
		o.put(t, "teams", team("x", 0))
		o.drained(t)
		o.close(t)
		copyDir(t, dir, copied)
		o, cl := openNode(t, c, dir, nil), openNode(t, c, copied, nil)
		stopO, stopC := o.run(t), cl.run(t)
		for range 40 {
			letPass(30 * time.Second)
			if o.stoppedWhy() == "" {
				o.bump(t, "x")
			}
			if cl.stoppedWhy() == "" {
				cl.bump(t, "x")
			}
		}
		if o.stoppedWhy() == "" || cl.stoppedWhy() == "" {
			t.Errorf("one goes on: %q, %q", o.stoppedWhy(), cl.stoppedWhy())
		}
		if o.st.Incarnation() == cl.st.Incarnation() {
			t.Errorf("both are in incarnation %d", o.st.Incarnation())
		}
		row, _ := c.item("touchline-sync", nodeKey("a"))
		if !row[attrCopies].Bool() {
			t.Errorf("the row does not tell: %v", row)
		}
		stopO()
		stopC()
		waits := o.waitingNow(t)
		o.close(t)
		before := c.n(t, "x")
		again := openNode(t, c, dir, nil)
		again.drained(t)
		if got := c.n(t, "x"); got < before+waits-int64(len(again.lostConflicts(t))) {
			t.Errorf("x was %d, %d waited, %d are recorded; now it is %d", before, waits, len(again.lostConflicts(t)), got)
		}
	})
}

func TestIdentityLost(t *testing.T) {
	// What is lost, and whether the node begins a new incarnation by that.
	tests := []struct {
		name string
		lose func(t *testing.T, c *shelf, dir string)
		anew bool
	}{
		{"nothing", func(*testing.T, *shelf, string) {}, false},
		{"the file", func(t *testing.T, _ *shelf, dir string) {
			if err := os.Remove(filepath.Join(dir, identityName)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"the sense of the file", func(t *testing.T, _ *shelf, dir string) {
			if err := os.WriteFile(filepath.Join(dir, identityName), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"the store", func(t *testing.T, _ *shelf, dir string) {
			if err := os.Remove(filepath.Join(dir, "node.db")); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"the node's row", func(t *testing.T, c *shelf, _ string) {
			c.foreign(t, "touchline-sync", nodeKey("a"), nil)
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, dir := newShelf(t), t.TempDir()
				n := openNode(t, c, dir, nil)
				n.put(t, "teams", team("x", 0))
				n.drained(t)
				n.close(t)
				tt.lose(t, c, dir)
				r := openNode(t, c, dir, nil)
				r.bump(t, "y")
				r.drained(t)
				if c.n(t, "y") != 1 || len(r.lostConflicts(t)) != 0 {
					t.Errorf("y is %d in the cloud, conflicts %v", c.n(t, "y"), r.lostConflicts(t))
				}
				if got := r.st.Incarnation() > 1; got != tt.anew {
					t.Errorf("incarnation %d", r.st.Incarnation())
				}
				row, _ := c.item("touchline-sync", nodeKey("a"))
				if number(row[attrIncarnation]) != r.st.Incarnation() || row[attrNonce].Str() != r.identity.file.Nonces[0] {
					t.Errorf("the row is %v, the file %+v", row, r.identity.file)
				}
			})
		})
	}
}

// A store that was put back without its file is known by the nonce that the file drew since.
func TestOlderStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, old := newShelf(t), t.TempDir(), t.TempDir()
		n := openNode(t, c, dir, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		n.bump(t, "x")
		n.close(t)
		copyDir(t, dir, old)
		n = openNode(t, c, dir, nil)
		n.drained(t)
		n.close(t)
		data, err := os.ReadFile(filepath.Join(old, "node.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "node.db"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		r := openNode(t, c, dir, nil)
		if lost := r.stateNow().Lost; lost == nil {
			t.Error("nobody noticed")
		}
		r.drained(t)
		if c.n(t, "x") != 1 {
			t.Errorf("the queued entry counts %d times", c.n(t, "x"))
		}
	})
}

// A late copy of what a lane has sent under a mark that a newer history does not know is a copy at work.
func TestUnknownMarkIsSuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		n := openNode(t, c, dir, func(cfg *Config) { cfg.Poll = []PollRule{{Table: "teams", Every: 10 * time.Second}} })
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		mark, _ := attr.N("1099511630000.5")
		it, _ := c.item("teams", teamKey("x"))
		it["_a_a"] = mark
		c.foreign(t, "teams", nil, it)
		stop := n.run(t)
		letPass(2 * time.Minute)
		stop()
		if n.st.Incarnation() == 1 {
			t.Error("a mark of ours that we have not made is nothing to this node")
		}
	})
}

func TestSettledNodes(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var s settledNodes
	n, fresh := s.node("b", now)
	if !fresh || n.latest() != 0 || n.past(now) != 0 {
		t.Fatalf("of a node that nobody knows: %d, %d", n.latest(), n.past(now))
	}
	for i := range 10 {
		n.learn(uint64(100*i), now.Add(time.Duration(i)*learnEvery))
	}
	now = now.Add(9 * learnEvery)
	if n.latest() != 900 || n.past(now) != 600 || len(n.seen) > 5 {
		t.Errorf("latest %d, 15 minutes ago %d, %d kept", n.latest(), n.past(now), len(n.seen))
	}
	n.learn(50, now) // a restored cloud
	if n.latest() != 900 {
		t.Errorf("what was settled is settled no more: %d", n.latest())
	}
	if due := s.due(now); len(due) != 0 {
		t.Errorf("due at once: %v", due)
	}
	s.nodes["b"].asked = now
	if due := s.due(now.Add(learnEvery)); len(due) != 1 {
		t.Errorf("due later: %v", due)
	}
	if due := s.due(now.Add(2 * askedFor)); len(due) != 0 || len(s.nodes) != 0 {
		t.Errorf("a node that nobody asks about is read: %v", due)
	}
	for i := range maxNodes + 10 {
		s.node("n"+string(rune('a'+i%26))+time.Duration(i).String(), now.Add(time.Duration(i)))
	}
	if len(s.nodes) != maxNodes {
		t.Errorf("%d nodes are remembered", len(s.nodes))
	}
}

// What another node has settled is learned from its row, once somebody wants to know.
func TestSettledOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.foreign(t, "touchline-sync", nil, attr.Item{"id": attr.S("node:b"), attrSettled: attr.Int(77), attrNonce: attr.S("n")})
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		if got := n.settledOf("b"); got != 0 {
			t.Errorf("before anybody has read it: %d", got)
		}
		letPass(2 * time.Minute)
		if got, past := n.settledOf("b"), n.pastOf("b"); got != 77 || past != 0 {
			t.Errorf("settled %d, 15 minutes ago %d", got, past)
		}
		letPass(20 * time.Minute)
		if got := n.pastOf("b"); got != 77 {
			t.Errorf("15 minutes ago: %d", got)
		}
	})
}

// settled is below everything that waits, folded entries and those of any lane included.
func TestSettledHere(t *testing.T) {
	c := newShelf(t)
	n := openNode(t, c, t.TempDir(), nil)
	first := n.put(t, "teams", team("x", 1))
	n.put(t, "teams", team("x", 2)) // takes the place of the first
	n.put(t, "teams", team("y", 1))
	got, err := n.settledHere(t.Context())
	if err != nil || got >= first {
		t.Errorf("settled %d (%v) although %d waits", got, err, first)
	}
}

// The store beside a file is the older one also where the file has long forgotten its nonce; not where the file was about
// to be written.
func TestStoreOlderThanItsFile(t *testing.T) {
	t.Parallel()
	var f identityFile
	states := []identityState{}
	for i := range 3 * maxNonces {
		s := identityState{Nonce: fmt.Sprint(i), Before: f.newest()}
		if f.newerThan(s, 1) {
			t.Fatalf("nonce %d: the file was about to be written", i)
		}
		f.draw(s.Nonce)
		states = append(states, s)
	}
	for i, s := range states {
		if got, want := f.newerThan(s, 1), i < len(states)-1; got != want && i > 0 {
			t.Errorf("a store of nonce %d beside a file of %d: older %v", i, len(states)-1, got)
		}
	}
}
