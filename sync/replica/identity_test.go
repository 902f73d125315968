package replica

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/identity"
)

const (
	identityName     = "identity.json"
	spareSuffix      = ".spare"
	incarnationShift = 40
	attrNonce        = "nonce"
	attrReplayed     = "replayed"
	attrSettled      = "settled"
)

func nodeKey(node string) attr.Item { return attr.Item{"id": attr.S("node:" + node)} }

// knownOf is what a store records about its node's identity.
type knownOf struct {
	Version int       `json:"version"`
	Leaving bool      `json:"leaving"`
	Lost    *lostTime `json:"lost"`
}

// lostTime is what it records about a lost history.
type lostTime struct {
	Below   uint64 `json:"below"`
	Fork    uint64 `json:"fork"`
	Next    uint64 `json:"next"`
	Flagged bool   `json:"flagged"`
	Twice   []any  `json:"twice"`
}

func (n *feedNode) known(t testing.TB) (s knownOf) {
	t.Helper()
	n.inView(t, func(tx *store.Tx) error {
		data, err := tx.Side(identity.Side).Get([]byte("state"))
		if err != nil {
			return err
		}
		return json.Unmarshal(data, &s)
	})
	return s
}

// fileOf is the identity file beside a store.
type fileOf struct {
	Boot   string   `json:"boot"`
	Nonces []string `json:"nonces"`
	Clean  bool     `json:"clean"`
}

func (n *feedNode) file(t testing.TB) (f fileOf) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(n.dir, identityName))
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A node that ends cleanly continues as it was; one that crashed begins a new incarnation, because its file may be a copy made while it
// ran.
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
		path := filepath.Join(again.dir, identityName)
		file, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, bytes.Replace(file, []byte(`"clean": true`), []byte(`"clean": false`), 1), 0o600)
		}
		if err != nil {
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

// Schedule 20: an entry queued in a snapshot was sent and applied, and the snapshot is restored: the entry is applied once. What the
// restored node writes is sent, under sequences that no other write has had (schedule 6).
func TestSnapshotRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.bump(t, "x") })
		n.bump(t, "y")
		n.drained(t)
		n.cloudHas(t, teams{"x": 1, "y": 1})

		r := n.backTo(t, snapshot)
		r.bump(t, "y") // the lost timeline gave its sequence to another write
		r.bump(t, "z")
		r.drained(t)
		r.cloudHas(t, teams{"x": 1, "z": 1}) // what was queued, and what the restored node wrote
		lost := r.conflicts(t)
		if got := c.n(t, "y") + int64(len(lost)); got < 2 {
			t.Errorf("the write to y is neither in the cloud (%d) nor recorded (%d)", c.n(t, "y"), len(lost))
		}
		if r.st.Incarnation() < 3 {
			t.Errorf("the incarnation is %d", r.st.Incarnation())
		}
		row := c.nodeRow(t)
		if row["incarnation"].Str() != fmt.Sprint(r.st.Incarnation()) {
			t.Errorf("the cloud has incarnation %s", row["incarnation"].Str())
		}
		if got := r.row(t, "teams", teamKey("x")); !got["n"].Equal(attr.Int(1)) {
			t.Errorf("readers see x as %v", got)
		}
	})
}

// Two copies of a node run. Both begin an incarnation of their own, both notice the other, and both stop; a restarted one continues.
func TestCloneRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, o, cl := copies(t)
		stopO, stopC := o.run(t), cl.run(t)
		for range 40 {
			letPass(30 * time.Second)
			if o.identity.Status().Stopped == "" {
				o.bump(t, "x")
			}
			if cl.identity.Status().Stopped == "" {
				cl.bump(t, "x")
			}
		}
		if o.identity.Status().Stopped == "" || cl.identity.Status().Stopped == "" {
			t.Errorf("one copy has not stopped: %q, %q", o.identity.Status().Stopped, cl.identity.Status().Stopped)
		}
		if o.st.Incarnation() == cl.st.Incarnation() {
			t.Errorf("both are in incarnation %d", o.st.Incarnation())
		}
		row := c.nodeRow(t)
		if !row["copies"].Bool() {
			t.Errorf("the row does not report the copies: %v", row)
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
	// What is lost, and whether the node therefore begins a new incarnation.
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
				if row["incarnation"].Str() != fmt.Sprint(r.st.Incarnation()) || row[attrNonce].Str() != r.file(t).Nonces[0] {
					t.Errorf("the row is %v, the file %+v", row, r.file(t))
				}
			})
		})
	}
}

// A store restored without its file is recognized by the nonce that the file has drawn since.
func TestOlderStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.bump(t, "x") })
		n.drained(t)
		n.close(t)
		storeBack(t, snapshot, n.dir)
		r := n.again(t)
		if lost := r.known(t).Lost; lost == nil {
			t.Error("the older store was not noticed")
		}
		r.drained(t)
		r.cloudHas(t, teams{"x": 1})
	})
}

// A mark of this node that its present history does not know, left by a late copy of an earlier send, is taken for the work of another
// copy.
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
			t.Error("the node ignores a mark of its own that it has not made")
		}
	})
}
