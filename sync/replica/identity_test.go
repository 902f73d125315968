package replica

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

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

// A node that ends in order and begins again goes on as it was; one that crashed begins a new incarnation, for its file may
// be a copy made while it ran.
func TestRunsOfOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		again := n.again(t)
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
		crashed := again.again(t)
		if got := crashed.st.Incarnation(); got != 2 {
			t.Errorf("after a crash the incarnation is %d", got)
		}
		crashed.drained(t)
		crashed.cloudHas(t, teams{"x": 1, "y": 7})
		crashed.recorded(t, 0)
	})
}

// Schedule 20: an entry queued in a snapshot was sent and applied; the snapshot is restored: it is applied once. What the
// restored node writes goes out, and its sequences are no other ones' (schedule 6).
func TestSnapshotRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.bump(t, "x") })
		n.bump(t, "y")
		n.drained(t)
		n.cloudHas(t, teams{"x": 1, "y": 1})

		r := n.backTo(t, snapshot)
		r.bump(t, "y") // its sequence was another write's in the lost timeline
		r.bump(t, "z")
		r.drained(t)
		r.cloudHas(t, teams{"x": 1, "z": 1}) // what was queued, and what the restored node wrote
		lost := r.conflicts(t)
		if got := c.n(t, "y") + int64(len(lost)); got < 2 {
			t.Errorf("the write to y is neither there (%d) nor recorded (%d)", c.n(t, "y"), len(lost))
		}
		if r.st.Incarnation() < 3 {
			t.Errorf("the incarnation is %d", r.st.Incarnation())
		}
		row := c.nodeRow(t)
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
		c, o, cl := copies(t)
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
		row := c.nodeRow(t)
		if !row[attrCopies].Bool() {
			t.Errorf("the row does not tell: %v", row)
		}
		stopO()
		stopC()
		waits := o.waitingNow(t)
		before := c.n(t, "x")
		again := o.again(t)
		again.drained(t)
		if got := c.n(t, "x"); got < before+waits-int64(len(again.conflicts(t))) {
			t.Errorf("x was %d, %d waited, %d are recorded; now it is %d", before, waits, len(again.conflicts(t)), got)
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
				c, n := opened(t, nil)
				n.put(t, "teams", team("x", 0))
				n.drained(t)
				n.close(t)
				tt.lose(t, c, n.dir)
				r := n.again(t)
				r.bump(t, "y")
				r.drained(t)
				r.cloudHas(t, teams{"y": 1})
				r.recorded(t, 0)
				if got := r.st.Incarnation() > 1; got != tt.anew {
					t.Errorf("incarnation %d", r.st.Incarnation())
				}
				row := c.nodeRow(t)
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
		_, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.bump(t, "x") })
		n.drained(t)
		n.close(t)
		storeBack(t, snapshot, n.dir)
		r := n.again(t)
		if lost := r.stateNow().Lost; lost == nil {
			t.Error("nobody noticed")
		}
		r.drained(t)
		r.cloudHas(t, teams{"x": 1})
	})
}

// A late copy of what a lane has sent under a mark that a newer history does not know is a copy at work.
func TestUnknownMarkIsSuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(10*time.Second))
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		mark, _ := attr.N("1099511630000.5")
		it := c.team(t, "x")
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
