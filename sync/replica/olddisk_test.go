package replica

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/intent"
)

// disks is what there is to start from once a machine has died.
type disks struct {
	backup string // copied while the machine ran: 6 writes that it sent, and 12 that it did not, came later
	old    string // the machine's own
}

// A machine is replaced from a backup, and later its old disk is started again. In whatever order and number this happens, what any of
// them has acknowledged arrives once, or a person is asked.
func TestTheOldDiskComesBack(t *testing.T) {
	schedules := map[string]func(m *match, d disks){
		"the backup, then the old disk": func(m *match, d disks) {
			m.visits(d.backup, "backup", false)
			m.visits(d.old, "old", false)
		},
		"the old disk, then the backup": func(m *match, d disks) {
			m.visits(d.old, "old", false)
			m.visits(d.backup, "backup", false)
		},
		"each of them twice": func(m *match, d disks) {
			again := m.visits(d.backup, "backup", false)
			old := m.visits(d.old, "old", false)
			m.visits(again, "again", false)
			m.visits(old, "older", false)
		},
		"the backup twice, then the old disk": func(m *match, d disks) {
			other := m.copies(d.backup)
			m.visits(d.backup, "backup", false)
			m.visits(other, "other", false)
			m.visits(d.old, "old", false)
		},
		"the backup without the cloud, the old disk, the backup": func(m *match, d disks) {
			backup := m.visits(d.backup, "backup", true)
			m.visits(d.old, "old", false)
			m.visits(backup, "again", false)
		},
		"the old disk without the cloud, the backup, the old disk": func(m *match, d disks) {
			old := m.visits(d.old, "old", true)
			m.visits(d.backup, "backup", false)
			m.visits(old, "again", false)
		},
		"both without the cloud, twice, then both": func(m *match, d disks) {
			for range 2 {
				d.backup = m.visits(d.backup, fmt.Sprint("backup", len(m.machines)), true)
				d.old = m.visits(d.old, fmt.Sprint("old", len(m.machines)), true)
			}
			m.visits(d.backup, "backup", false)
			m.visits(d.old, "old", false)
		},
		"the backup restored by the program, then the old disk": func(m *match, d disks) {
			m.visits(m.restored(d.backup, m.t.TempDir()), "backup", false)
			m.visits(d.old, "old", false)
		},
		"the backup restored by the program, twice, then the old disk": func(m *match, d disks) {
			twice := m.restored(m.restored(d.backup, m.t.TempDir()), m.t.TempDir())
			m.visits(twice, "backup", false)
			m.visits(d.old, "old", false)
		},
		"the old disk, then the backup restored over it": func(m *match, d disks) {
			old := m.visits(d.old, "old", false)
			other := m.copies(old)
			m.visits(m.restored(d.backup, old), "backup", false)
			m.visits(other, "older", false)
		},
		"the backup by an earlier version, then the old disk": func(m *match, d disks) {
			m.visits(d.backup, "backup", false)
			m.writtenByAnEarlierVersion()
			m.visits(d.old, "old", false)
		},
		"both at once": func(m *match, d disks) {
			one := m.start(d.backup, false)
			other := m.start(d.old, false)
			for i := range 10 {
				m.plays(one, fmt.Sprint("one", i), 3)
				m.plays(other, fmt.Sprint("other", i), 3)
				letPass(time.Minute)
			}
			d.backup = m.dies(one)
			d.old = m.dies(other)
			m.visits(d.backup, "backup", false)
			m.visits(d.old, "old", false)
		},
	}
	for name, schedule := range schedules {
		for _, waiting := range []int{0, 5} {
			t.Run(fmt.Sprintf("%s, %d waiting", name, waiting), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m, n := begins(t)
					n.line.cut.Store(waiting > 0)
					m.plays(n, "shared", waiting)
					backup := n.disk(t)
					n.line.cut.Store(false)
					m.plays(n, "sent", 6)
					letPass(2 * time.Minute)
					n.line.cut.Store(true)
					m.plays(n, "only", 12)
					letPass(2 * time.Minute)
					schedule(m, disks{backup: backup, old: m.dies(n)})
					m.check()
				})
			})
		}
	}
}

// A backup, or a snapshot of the machine, runs elsewhere for 15 seconds while the machine itself is cut off; then the machine's line is
// healed.
func TestACopyRunsWhileTheMachineIsCutOff(t *testing.T) {
	for _, waiting := range []int{0, 5} {
		synctest.Test(t, func(t *testing.T) {
			m, n := begins(t)
			n.line.cut.Store(true)
			m.plays(n, "shared", waiting)
			snapshot := n.disk(t)
			m.plays(n, "only", 12)
			letPass(time.Minute)
			elsewhere := m.start(snapshot, false)
			m.plays(elsewhere, "elsewhere", 10)
			letPass(15 * time.Second)
			m.dies(elsewhere)
			m.plays(n, "later", 5)
			n.line.cut.Store(false)
			m.settles(n)
			m.check()
		})
	}
}

// A machine is put back to the first of two snapshots of one run, and then to the second: what waits there was sent by the run, and is not
// sent again, although the row in the cloud is that of the first.
func TestTheSecondOfTwoSnapshotsComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, n := begins(t)
		first := n.disk(t)
		n.line.cut.Store(true)
		m.plays(n, "waiting", 12)
		second := n.disk(t)
		n.line.cut.Store(false)
		m.settles(n)
		letPass(2 * time.Minute)
		m.dies(n)
		m.visits(first, "first", false)
		m.visits(second, "second", false)
		m.check()
	})
}

// A machine dies within the minute after it has sent, and before it has written its row again. A snapshot from just before knows the row's
// nonce, so it seems to be the machine's last state. What was sent is found by its marks and proofs.
func TestSentInTheLastMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, n := begins(t)
		n.pair(t, "home", "away")
		m.settles(n)
		letPass(2 * time.Minute)
		backup := n.disk(t)
		m.cloud.refuse(intent.Throttled, func(_, table string) bool { return table == "teams" })
		n.bump(t, game(0))
		letPass(time.Second) // it is refused, and the others wait behind it
		played := store.WriteItem{Check: &store.ConditionCheck{Table: "teams", Key: teamKey(game(0)), Condition: "attribute_exists(n)"}}
		n.together(t, played, oneMore("home"))
		n.together(t, played, oneMore("home"), oneMore("away"))
		for seen := m.cloud.nodeRow(t)["seen"]; seen.Equal(m.cloud.nodeRow(t)["seen"]); {
			letPass(time.Second)
		}
		snapshot, nonce := n.disk(t), m.cloud.nodeRow(t)[attrNonce]
		m.cloud.heal()
		m.settles(n)
		if !nonce.Equal(m.cloud.nodeRow(t)[attrNonce]) {
			t.Fatal("the row was written again: the test shows nothing")
		}
		m.dies(n)
		m.visits(backup, "backup", false)
		n = m.start(snapshot, false)
		m.settles(n)
		n.cloudHas(t, teams{"home": 3, "away": 2, game(0): 2})
		for _, c := range n.recorded(t, 1) { // a later write has replaced its mark, and a proof has none
			if c.State != conflict.StateOpen {
				t.Errorf("%v is %s", c, c.State)
			}
		}
		m.ends(n)
	})
}

// Nobody but a person can tell what became of a write that another copy may have sent: the table's merge handler is not asked.
func TestNoMergeHandlerGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, n := begins(t)
		m.merge = func(c conflict.MergeCase) ([]store.WriteItem, bool) {
			t.Errorf("a handler is asked about %s", c.Code)
			return nil, true
		}
		n.line.cut.Store(true)
		m.plays(n, "shared", 5)
		backup := n.disk(t)
		n.line.cut.Store(false)
		m.plays(n, "sent", 6) // replaces the marks
		letPass(2 * time.Minute)
		m.dies(n)
		m.visits(backup, "backup", false)
		m.check()
		if len(m.asked) == 0 {
			t.Error("nobody is asked: the test shows nothing")
		}
	})
}

// What a copy reports settled lets nobody remove the marks of what only the original wrote.
func TestACopySettlesNothingOfTheOriginal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, n := begins(t)
		m.plays(n, "shared", 3)
		letPass(2 * time.Minute)
		shared, backup := n.st.Seq(), n.disk(t)
		m.plays(n, "only", 6)
		original := n.st.Seq()
		m.dies(n)
		n = m.start(backup, false)
		m.plays(n, "backup", 6)
		m.settles(n)
		letPass(2 * time.Minute)
		copied := n.st.Seq()

		c := newShelf(t)
		row := m.cloud.nodeRow(t)
		row["id"] = attr.S("node:b")
		c.foreign(t, "touchline-sync", nil, row)
		other := openNode(t, c, t.TempDir(), nil)
		stop := other.run(t)
		other.env(nil).Settled("b", 1) // is read from then on
		letPass(30 * time.Minute)
		stop()
		env := other.env(nil)
		for seq, want := range map[uint64]bool{shared: true, shared + 1: false, original: false, copied: true, copied + 1: false} {
			if env.Settled("b", seq) != want || env.Past("b", seq) != want {
				t.Errorf("%d counts as settled: %v, 15 minutes ago %v; want %v", seq, env.Settled("b", seq), env.Past("b", seq), want)
			}
		}
		m.check()
	})
}

// twin returns a machine that was resumed from a snapshot of another one with its memory: it goes on as the same run.
func (m *match) twin(n *machine) *machine {
	m.t.Helper()
	dir := n.disk(m.t)
	path := filepath.Join(dir, identityName)
	file, err := os.ReadFile(path)
	if err == nil { // otherwise it would begin an incarnation, as a new process does
		err = os.WriteFile(path, bytes.Replace(file, []byte(`"clean": false`), []byte(`"clean": true`), 1), 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	other := m.start(dir, n.line.cut.Load())
	other.inTx(m.t, func(tx *store.Tx) error {
		side, known := tx.Side(identity.Side), map[string]any{}
		data, err := side.Get([]byte("state"))
		if err == nil {
			err = json.Unmarshal(data, &known)
		}
		boots := known["boots"].([]any)
		known["boots"] = boots[:len(boots)-1]
		if err == nil {
			data, err = json.Marshal(known)
		}
		return errors.Join(err, side.Set([]byte("state"), data))
	})
	return other
}

// A snapshot of a machine with its memory is resumed, elsewhere or in its place. The resumed machine notices it by its clocks, and begins a
// new run: what the other one has written meanwhile is its own, and arrives.
func TestAMachineIsResumedWithItsMemory(t *testing.T) {
	for name, resumed := range map[string]func(m *match, n, twin *machine){
		"elsewhere for 15 seconds, then the original is healed": func(m *match, n, twin *machine) {
			twin.times.jump(time.Hour)
			letPass(3 * time.Second)
			twin.line.cut.Store(false)
			m.plays(twin, "elsewhere", 10)
			letPass(15 * time.Second)
			m.settles(twin)
			m.remember(twin)
			m.dies(twin)
			m.plays(n, "later", 5)
			n.line.cut.Store(false)
			m.settles(n)
		},
		"in the place of the original": func(m *match, n, twin *machine) {
			n.line.cut.Store(false)
			m.settles(n)
			m.plays(n, "sent", 6)
			letPass(time.Minute)
			m.ends(n)
			twin.times.jump(time.Hour)
			letPass(3 * time.Second)
			m.plays(twin, "later", 12)
			twin.line.cut.Store(false)
			m.settles(twin)
		},
		"in its place, before it is noticed": func(m *match, n, twin *machine) {
			n.line.cut.Store(false)
			m.settles(n)
			m.ends(n)
			twin.times.jump(time.Hour)
			m.plays(twin, "at_once", 12) // may be taken for what the other has settled
			twin.line.cut.Store(false)
			m.settles(twin)
		},
		"in its place, and its disk comes back": func(m *match, n, twin *machine) {
			old := m.dies(n)
			twin.times.jump(time.Hour)
			letPass(3 * time.Second)
			m.plays(twin, "later", 12)
			twin.line.cut.Store(false)
			m.settles(twin)
			m.remember(twin)
			m.ends(twin)
			m.visits(old, "old", false)
		},
	} {
		for _, waiting := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s, %d waiting", name, waiting), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m, n := begins(t)
					n.line.cut.Store(true)
					m.plays(n, "shared", waiting)
					twin := m.twin(n)
					m.plays(n, "only", 12)
					letPass(time.Minute)
					resumed(m, n, twin)
					m.check()
					certain := waiting == 0 && !m.asked["at_once_0"] // otherwise writes were folded into one that waited at both
					if certain && len(m.asked) > 0 {
						t.Errorf("a person is asked about %v", slices.Sorted(maps.Keys(m.asked)))
					}
				})
			})
		}
	}
}

// A clock that was only set, however often, looks as if the machine had been resumed. It loses nothing, asks nobody, and is not two copies.
func TestAClockThatWasSetIsNoCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, n := begins(t)
		before := n.st.Incarnation()
		for i, by := range []time.Duration{6 * time.Hour, -6 * time.Hour, -time.Hour, 10 * time.Minute, -9 * time.Minute} {
			n.line.cut.Store(i%2 == 0)
			m.plays(n, fmt.Sprint("before", i), 6)
			n.times.jump(by)
			m.plays(n, fmt.Sprint("after", i), 6)
			letPass(time.Duration(i) * time.Second)
			n.line.cut.Store(false)
			letPass(20 * time.Second)
			if stopped := n.identity.Status().Stopped; stopped != "" {
				t.Fatalf("after the clock was set it has stopped: %s", stopped)
			}
		}
		m.settles(n)
		n.recorded(t, 0)
		m.check()
		if got := n.st.Incarnation(); got != before+5 {
			t.Errorf("its clock was set five times, and %d incarnations have begun", got-before)
		}
	})
}
