//go:build simdisk && linux

package crash_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/simdisk"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// The seeds of TestSimulatedDisk: the first, and their number.
var (
	simSeed  = flag.Uint64("sim.seed", 1, "first seed of the simulated disk")
	simSeeds = flag.Int("sim.seeds", 300, "how many seeds")
)

var simWriters = []string{"0", "1", "2"}

// simLives is one store over several lives, each of which ends with a power cut.
type simLives struct {
	t      *testing.T
	rng    *rand.Rand
	disk   *simdisk.Disk
	s      *store.Store
	dir    string
	now    time.Time
	ledger *ledger
	acked  map[string]int
	flying map[string]bool // writers whose last job has no answer, or failed
	cursor uint64
	closed bool
	full   bool

	backups int
	kept    []string // acknowledged but not checked yet
	tally   *simTally
	planned simdisk.Fault
}

// simTally counts what happened in all seeds.
type simTally struct {
	simdisk.Seen
	lives, jobs, latched, refused, openCut, closeCut, madeRoom, backups, compactions int
	kinds                                                                            map[simdisk.Kind]int
}

func (c *simTally) add(s simdisk.Seen) {
	c.Writes += s.Writes
	c.Syncs += s.Syncs
	c.Allocs += s.Allocs
	c.Names += s.Names
	c.Full += s.Full
	c.MetaSyncs += s.MetaSyncs
	c.DataSyncs += s.DataSyncs
	c.Torn += s.Torn
	c.Lost += s.Lost
}

// TestSimulatedDisk runs a store on a disk that loses unsynced data, page by page and sector by sector, fails, and fills up. After each
// power cut everything acknowledged is there, and nothing is torn. To repeat a failing seed:
//
//	go test -tags simdisk <flags of internal/tools/simdisk> -run '^TestSimulatedDisk$' ./store/internal/crash -sim.seed N -sim.seeds 1
func TestSimulatedDisk(t *testing.T) {
	inMemory(t)
	tally := &simTally{kinds: map[simdisk.Kind]int{}}
	for seed := range uint64(*simSeeds) {
		seed += *simSeed
		// A subtest, so that its folders are removed with it: all of them together do not fit into memory.
		good := t.Run(fmt.Sprint(seed), func(t *testing.T) { runSeed(t, seed, tally) })
		if done := seed - *simSeed + 1; done%500 == 0 {
			t.Logf("%d seeds", done)
		}
		if !good {
			t.Fatalf("seed %d of -sim.seed %d -sim.seeds %d", seed, *simSeed, *simSeeds)
		}
	}
	t.Logf("%d seeds: %+v", *simSeeds, *tally)
	if *simSeeds < 100 {
		return
	}
	for what, n := range map[string]int{
		"jobs": tally.jobs, "torn writes": tally.Torn, "lost sectors": tally.Lost, "failed syncs of data": tally.DataSyncs,
		"failed syncs of a meta page": tally.MetaSyncs, "latched stores": tally.latched, "refusals": tally.refused,
		"power cuts while opening": tally.openCut, "power cuts while closing": tally.closeCut,
		"rooms made": tally.madeRoom, "backups": tally.backups, "compactions": tally.compactions,
		"failed writes": tally.kinds[simdisk.WriteFails], "short writes": tally.kinds[simdisk.WriteStops],
		"writes without space": tally.kinds[simdisk.WriteFull], "failed allocations": tally.kinds[simdisk.AllocFails],
	} {
		if n == 0 {
			t.Errorf("there were no %s: the test has lost its teeth", what)
		}
	}
}

// TestSimulatedDiskRepeats checks that the same seed does the same.
func TestSimulatedDiskRepeats(t *testing.T) {
	inMemory(t)
	for seed := range uint64(4) {
		a := runSeed(t, 1000+seed, &simTally{kinds: map[simdisk.Kind]int{}})
		if b := runSeed(t, 1000+seed, &simTally{kinds: map[simdisk.Kind]int{}}); a != b {
			t.Errorf("seed %d: two runs were %x and %x", 1000+seed, a, b)
		}
	}
}

// inMemory puts the folders of a test into memory if the system has a file system there: the cost of the test is its writes.
func inMemory(t *testing.T) {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		t.Setenv("TMPDIR", "/dev/shm")
	}
}

func runSeed(t *testing.T, seed uint64, tally *simTally) (trace uint64) {
	sim := &simLives{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), ledger: newLedger(seed, simWriters...), tally: tally,
		acked: map[string]int{}, now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), dir: t.TempDir(),
	}
	for life := range 4 {
		trace = trace*31 + sim.live(seed<<8|uint64(life))
		if t.Failed() {
			t.Logf("in life %d, jobs %v", life, sim.ledger.done)
			break
		}
	}
	return trace
}

// live opens the store, works until something happens, and cuts the power.
func (sim *simLives) live(seed uint64) (trace uint64) {
	disk, err := simdisk.New(sim.dir, seed, simdisk.SystemFiles())
	if err != nil {
		sim.t.Fatal(err)
	}
	sim.disk, sim.flying, sim.closed, sim.full = disk, map[string]bool{}, false, false
	sim.planned = sim.plan()
	remove := disk.Install()
	sim.run()
	remove()
	sim.tally.lives++
	if disk.Seen().Tripped {
		sim.tally.kinds[sim.planned.Kind]++
	}
	next := filepath.Join(sim.t.TempDir(), "next")
	if err := errors.Join(os.Mkdir(next, 0o700), disk.PowerCut(next)); err != nil {
		sim.t.Fatal(err)
	}
	sim.tally.add(disk.Seen())
	_ = os.RemoveAll(sim.dir)
	sim.dir = next
	works, err := simdisk.New(sim.dir, seed, simdisk.SystemFiles())
	if err != nil {
		sim.t.Fatal(err)
	}
	defer works.Install()()
	sim.verify()
	return disk.Seen().Trace
}

// plan chooses the fault of a life: half of them end in the middle of something.
func (sim *simLives) plan() simdisk.Fault {
	kinds := []simdisk.Kind{
		simdisk.NoFault, simdisk.PowerFails, simdisk.PowerFails, simdisk.PowerFails, simdisk.PowerFails, simdisk.SyncFails,
		simdisk.SyncFails, simdisk.WriteFails, simdisk.WriteStops, simdisk.WriteFull, simdisk.AllocFails,
	}
	f := simdisk.Fault{Kind: kinds[sim.rng.IntN(len(kinds))], At: 1 + sim.rng.IntN(1+sim.rng.IntN(150))}
	if sim.rng.IntN(5) == 0 {
		f.At = 1 << 30 // see close
	}
	sim.disk.SetFault(f)
	if sim.rng.IntN(5) == 0 {
		sim.full = true
		sim.disk.SetSpace(int64(sim.rng.IntN(5 << 19)))
	}
	return f
}

func (sim *simLives) path() string { return filepath.Join(sim.dir, "data", "s.db") }

func (sim *simLives) options() store.Options {
	return store.Options{
		Node: "lords", JournalBytes: 200_000, MapSize: 64 << 20,
		Now: func() time.Time { return sim.now },
	}
}

func (sim *simLives) run() {
	ctx := sim.t.Context()
	if sim.rng.IntN(4) == 0 {
		sim.compact(ctx)
	}
	s, err := store.Open(sim.path(), sim.options())
	if err != nil {
		sim.openFailed(err)
		return
	}
	sim.s = s
	s.Replicate(storetest.Mirror{})
	defer sim.close()
	if err := s.Define(ctx, crashTables()...); err != nil && !sim.goesOn(ctx, err) {
		return
	}
	if len(s.Tables()) == 0 { // there was no room
		return
	}
	for range 8 + sim.rng.IntN(40) {
		sim.now = sim.now.Add(time.Second)
		var err error
		switch n := sim.rng.IntN(10); {
		case n == 0:
			var seq uint64
			if seq, err = moveCursor(ctx, s); err == nil {
				sim.cursor = max(sim.cursor, seq)
			}
		case n == 1:
			_, err = s.Housekeep(ctx)
		case n == 3 && !sim.full && sim.rng.IntN(3) == 0:
			sim.backup(ctx)
		case n == 2 && !sim.full: // which of them are refused is undetermined
			err = sim.together(ctx)
		default:
			err = sim.job(ctx, simWriters[sim.rng.IntN(len(simWriters))])
		}
		if err != nil && !sim.goesOn(ctx, err) {
			return
		}
	}
}

// openFailed: on a disk without faults Open never fails.
func (sim *simLives) openFailed(err error) {
	if !sim.disk.Seen().Tripped && !sim.full {
		sim.t.Errorf("open: %v", err)
	}
	if fault.KindOf(err) == fault.Damaged {
		sim.t.Errorf("open calls a failing disk damage: %v", err)
	}
	sim.tally.openCut++
}

// job does the next job of a writer.
func (sim *simLives) job(ctx context.Context, writer string) error {
	n := sim.acked[writer] + 1
	sim.ledger.advance(writer, sim.acked[writer])
	err := newJob(sim.ledger.seed, writer, n).do(ctx, sim.s, sim.ledger.world[writer])
	switch {
	case err == nil:
		sim.acked[writer] = n
		sim.tally.jobs++
	case fault.KindOf(err) != fault.Full:
		sim.flying[writer] = true
	}
	return err
}

// together makes all writers share one commit.
func (sim *simLives) together(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, len(simWriters))
	leads, goOn := make(chan struct{}), make(chan struct{})
	wg.Go(func() {
		_ = sim.s.Update(ctx, func(*store.Tx) error {
			close(leads)
			<-goOn
			return nil
		})
	})
	if sim.s.Err() != nil {
		return sim.s.Err()
	}
	<-leads
	for i, writer := range simWriters {
		sim.ledger.advance(writer, sim.acked[writer])
		j := newJob(sim.ledger.seed, writer, sim.acked[writer]+1)
		wg.Go(func() { errs[i] = sim.s.Update(ctx, j.perform) })
		wait.Until(sim.t, writer+" waits", func() bool { return sim.s.Stats().Waiting > i })
	}
	close(goOn)
	wg.Wait()
	for i, writer := range simWriters {
		if errs[i] == nil {
			sim.acked[writer]++
			sim.tally.jobs++
		} else {
			sim.flying[writer] = true
		}
	}
	return errors.Join(errs...)
}

// goesOn judges an error, and reports whether the store still works.
func (sim *simLives) goesOn(ctx context.Context, err error) bool {
	if fault.KindOf(err) != fault.Full {
		sim.failed(err)
		return false
	}
	sim.tally.refused++
	if sim.s.Err() != nil {
		sim.t.Errorf("refused for lack of room, and latched: %v", sim.s.Err())
		return false
	}
	if !sim.full && sim.disk.Seen().Full == 0 {
		sim.t.Errorf("refused on a disk with room: %v", err)
	}
	if len(sim.s.Tables()) > 0 && sim.rng.IntN(4) == 0 { // space is available again: no restart is needed
		sim.disk.SetSpace(-1)
		writer := simWriters[sim.rng.IntN(len(simWriters))]
		if err := sim.job(ctx, writer); err != nil {
			sim.tally.madeRoom++
			sim.failed(err)
			return false
		}
		sim.tally.madeRoom++
	}
	return true
}

// backup makes a backup. Once acknowledged it is there, complete; others are complete or missing.
func (sim *simLives) backup(ctx context.Context) {
	sim.backups++
	name := fmt.Sprintf("backup-%d", sim.backups)
	_, err := sim.s.Backup(ctx, filepath.Join(sim.dir, "data", name), nil)
	switch {
	case err == nil:
		sim.kept = append(sim.kept, name)
		sim.tally.backups++
	case !sim.disk.Seen().Tripped:
		sim.t.Errorf("backup: %v", err)
	case sim.s.Err() != nil:
		sim.t.Errorf("a failed backup has latched the store: %v", err)
	}
}

// compact compacts the file before it is opened.
func (sim *simLives) compact(ctx context.Context) {
	if _, err := os.Stat(sim.path()); err != nil {
		return
	}
	_, err := store.Compact(ctx, sim.path(), nil)
	switch {
	case err == nil:
		sim.tally.compactions++
	case !sim.disk.Seen().Tripped && fault.KindOf(err) != fault.Full || fault.KindOf(err) == fault.Damaged:
		sim.t.Errorf("compact: %v", err)
	}
}

// restoreAll restores every backup that survived a power cut.
func (sim *simLives) restoreAll() {
	dir := filepath.Join(sim.dir, "data")
	for _, name := range sim.kept {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			sim.t.Errorf("an acknowledged backup is lost: %v", err)
		}
	}
	sums, err := filepath.Glob(filepath.Join(dir, "backup-*.sha256"))
	if err != nil {
		sim.t.Error(err)
	}
	for _, sum := range sums {
		path := sum[:len(sum)-len(".sha256")]
		if _, err := os.Stat(path); err != nil {
			_ = os.Remove(sum)
			continue // a checksum alone is not a backup
		}
		to := filepath.Join(dir, "restored", "s.db")
		if _, err := store.Restore(sim.t.Context(), path, to, store.RestoreOptions{}); err != nil {
			sim.t.Errorf("restore: %v", err)
			continue
		}
		s, err := store.Open(to, sim.options())
		if err != nil {
			sim.t.Errorf("restored: %v", err)
			continue
		}
		storetest.Check(sim.t, s)
		_ = s.Close()
		_ = os.RemoveAll(filepath.Dir(to))
		_ = errors.Join(os.Remove(path), os.Remove(sum))
	}
	sim.kept = nil
}

// failed: after a failure of the disk the store accepts no writes but can still be read.
func (sim *simLives) failed(err error) {
	if !sim.disk.Seen().Tripped {
		sim.t.Errorf("failed without a reason: %v", err)
		return
	}
	if fault.KindOf(err) != fault.Unavailable || sim.s.Err() == nil {
		sim.t.Errorf("got %v, latched with %v", err, sim.s.Err())
	}
	sim.tally.latched++
	ctx := sim.t.Context()
	if err := sim.s.Update(ctx, func(*store.Tx) error { return nil }); fault.KindOf(err) != fault.Unavailable {
		sim.t.Errorf("a latched store takes a write: %v", err)
	}
	for _, writer := range simWriters {
		n, err := counted(ctx, sim.s, writer)
		if err != nil && fault.KindOf(err) != fault.NotFound || err == nil && n < sim.acked[writer] {
			sim.t.Errorf("latched: writer %s has %d of %d jobs, %v", writer, n, sim.acked[writer], err)
		}
	}
}

func (sim *simLives) close() {
	tripped := sim.disk.Seen().Tripped
	if !tripped && sim.planned.At == 1<<30 {
		sim.disk.SetFault(simdisk.Fault{Kind: sim.planned.Kind, At: sim.disk.Seen().Ops + 1 + sim.rng.IntN(8)})
	}
	_ = sim.s.Close()
	if !tripped && sim.disk.Seen().Tripped {
		sim.tally.closeCut++
	}
	sim.s = nil
}

// verify opens what survived the power cut, on a disk that works.
func (sim *simLives) verify() {
	if _, err := os.Stat(sim.path()); errors.Is(err, os.ErrNotExist) {
		for writer, n := range sim.acked {
			if n > 0 {
				sim.t.Errorf("the file is lost, writer %s had %d jobs", writer, n)
			}
		}
		return
	}
	s, err := store.Open(sim.path(), sim.options())
	if err != nil {
		sim.t.Errorf("after the power cut: %v", err)
		return
	}
	defer s.Close()
	defer sim.restoreAll()
	sim.ledger.verifyAll(sim.t, s, sim.acked, sim.flying)
	for w, n := range sim.ledger.done {
		sim.acked[w] = n
	}
}

func (l *ledger) verifyAll(t *testing.T, s *store.Store, acked map[string]int, flying map[string]bool) {
	t.Helper()
	if len(s.Tables()) == 0 {
		for w, n := range acked {
			if n > 0 {
				t.Errorf("there are no tables, writer %s had %s jobs", w, strconv.Itoa(n))
			}
		}
		return
	}
	l.verify(t, s, acked, func(w string) int {
		if flying[w] {
			return 1
		}
		return 0
	})
}

func (c *simTally) String() string { return fmt.Sprintf("%+v", *c) }
