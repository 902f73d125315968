package crash_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/store/storetest"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// The environment of a child of TestCrash: what to do, on which file, from which seed, at which point to die (name@nth), and where to
// count the points it reaches.
const (
	crashMode  = "TOUCHLINE_CRASH_MODE"
	crashFile  = "TOUCHLINE_CRASH_FILE"
	crashSeed  = "TOUCHLINE_CRASH_SEED"
	crashPoint = "TOUCHLINE_CRASH_POINT"
	crashHits  = "TOUCHLINE_CRASH_HITS"
	crashShort = "TOUCHLINE_CRASH_SHORT"
)

// crashJobs is how many jobs each writer does before a child ends by itself.
func crashJobs() int {
	if crashIsShort() {
		return 50
	}
	return 150
}

// crashIsShort reports whether this process, or the one that started it, runs with -short.
func crashIsShort() bool {
	if short := os.Getenv(crashShort); short != "" {
		return short == "true"
	}
	return testing.Short()
}

func crashWriters() []string { return []string{"0", "1", "2", "3"} }

// crashOptions syncs nothing in a short run: a file has what a killed process has written, synced or not.
func crashOptions() store.Options {
	return store.Options{JournalBytes: 1 << 20, NoSync: crashIsShort()}
}

// crashChild works until it is killed or done. It prints what is acknowledged at once.
func crashChild(mode string) error {
	if err := armChild(); err != nil {
		return err
	}
	path := os.Getenv(crashFile)
	ctx := context.Background()
	switch mode {
	case "restore":
		return restoreChild(ctx, path)
	case "compact":
		for range 3 {
			if _, err := store.Compact(ctx, path, nil); err != nil && !errors.Is(err, os.ErrNotExist) && fault.KindOf(err) != fault.NotFound {
				return err
			}
			fmt.Println("compacted")
		}
	}
	o := crashOptions()
	o.NoSync = o.NoSync && mode != "create" // so that its points are reached
	s, err := store.Open(path, o)
	if err != nil {
		return err
	}
	s.Replicate(storetest.Mirror{})
	if err := s.Define(ctx, crashTables()...); err != nil {
		return err
	}
	jobs := crashJobs()
	if mode != "work" {
		jobs = 10
	}
	w := &childWork{s: s, jobs: jobs, dir: filepath.Dir(filepath.Dir(path))}
	if w.seed, err = strconv.ParseUint(os.Getenv(crashSeed), 10, 64); err != nil {
		return err
	}
	if err := w.run(ctx, mode == "backup"); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	fmt.Println("closed")
	return nil
}

// armChild counts the points, by the hundred if there are many, and kills the process at one of them.
func armChild() error {
	points := failpoint.All()
	counts := make([]atomic.Uint64, len(points))
	f, err := os.OpenFile(os.Getenv(crashHits), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	die := func(failpoint.Point) error { return nil }
	if at := os.Getenv(crashPoint); at != "" {
		name, count, _ := strings.Cut(at, "@")
		nth, err := strconv.ParseInt(count, 10, 64)
		if err != nil || !slices.Contains(points, failpoint.Point(name)) {
			return fmt.Errorf("there is no point %s", at)
		}
		die = failpoint.On(failpoint.Point(name), nth, func() error {
			failpoint.Kill()
			return nil
		})
	}
	failpoint.Arm(func(p failpoint.Point) error {
		i := slices.Index(points, p)
		if i < 0 {
			return fmt.Errorf("%s is not in the list", p)
		}
		n := counts[i].Add(1)
		if n < 100 || n%100 == 0 {
			if _, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, n), int64(8*i)); err != nil { // before it dies
				return err
			}
		}
		return die(p)
	})
	return nil
}

// readHits reads the counts of a child.
func readHits(path string) map[failpoint.Point]uint64 {
	b, _ := os.ReadFile(path)
	hits := map[failpoint.Point]uint64{}
	for i, p := range failpoint.All() {
		if len(b) >= 8*(i+1) {
			hits[p] = binary.LittleEndian.Uint64(b[8*i:])
		}
	}
	return hits
}

// childWork is everything that runs concurrently in a child.
type childWork struct {
	s    *store.Store
	seed uint64
	jobs int
	dir  string
}

func (w *childWork) run(ctx context.Context, backup bool) error {
	var wg, others sync.WaitGroup
	errs := make(chan error, 16)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, writer := range crashWriters() {
		wg.Go(func() { errs <- w.write(ctx, writer) })
	}
	loop := func(step func(n int) error) {
		others.Go(func() {
			var err error
			for n := 0; ctx.Err() == nil && err == nil; n++ {
				err = step(n)
				<-time.After(time.Millisecond) // leaves most of the time to the writers
			}
			if err != nil && ctx.Err() == nil {
				errs <- err
			}
		})
	}
	loop(func(int) error { return w.cursor(ctx) })
	loop(func(n int) error { return w.change(ctx, n) })
	loop(func(int) error {
		_, err := w.s.Housekeep(ctx)
		return err
	})
	if backup {
		wg.Go(func() { errs <- w.backup(ctx) })
	}
	wg.Wait()
	cancel()
	others.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

// write does the jobs of one writer, continuing from the counter in the store.
func (w *childWork) write(ctx context.Context, writer string) error {
	n, err := counted(ctx, w.s, writer)
	if err != nil {
		return err
	}
	state := newLedger(w.seed, writer)
	state.advance(writer, n)
	for range w.jobs {
		n++
		j := newJob(w.seed, writer, n)
		if err := j.do(ctx, w.s, state.world[writer]); err != nil {
			return err
		}
		fmt.Println(writer, n)
		state.advance(writer, n)
	}
	return nil
}

func (w *childWork) cursor(ctx context.Context) error {
	seq, err := moveCursor(ctx, w.s)
	if err == nil && seq > 0 {
		fmt.Println("cursor", seq)
	}
	return err
}

// change adds an index, and drops it once it is filled.
func (w *childWork) change(ctx context.Context, n int) error {
	d, err := w.s.Describe("balls")
	if err != nil {
		return err
	}
	change := store.TableChange{Table: "balls", DropIndexes: []string{"by-index"}}
	have := slices.IndexFunc(d.Indexes, func(ix store.IndexDescription) bool { return ix.Name == "by-index" })
	switch {
	case have < 0:
		change.DropIndexes = nil
		change.AddIndexes = []store.IndexSpec{{Name: "by-index", Key: store.KeySpec{Partition: storetest.Num("by"), Sort: storetest.Str("bowler")}}}
	case d.Indexes[have].Status != store.IndexActive && n%8 != 0:
		_, err := w.s.Housekeep(ctx)
		return err
	}
	if err := w.s.UpdateTable(ctx, change); err != nil {
		return err
	}
	fmt.Println("index")
	if n%4 == 0 {
		if _, err := w.s.BeginIncarnation(ctx, 0); err != nil {
			return err
		}
		fmt.Println("incarnation")
	}
	return w.dropTable(ctx, n)
}

// dropTable creates a table, fills it and drops it.
func (w *childWork) dropTable(ctx context.Context, n int) error {
	spec := storetest.Matches()
	spec.Name = "passing"
	if err := w.s.CreateTable(ctx, spec, store.TableSettings{}); err != nil && fault.KindOf(err) != fault.Conflict {
		return err
	}
	err := w.s.Update(ctx, func(tx *store.Tx) error {
		for i := range 20 {
			if _, err := tx.Put(store.PutItem{Table: "passing", Item: storetest.Item("match", strconv.Itoa(i), "n", n)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.s.DropTable(ctx, "passing")
}

// backup makes a few backups and removes older ones.
func (w *childWork) backup(ctx context.Context) error {
	for n := range 4 {
		path := filepath.Join(w.dir, fmt.Sprintf("backup-%d", n))
		for _, old := range []string{path, path + ".sha256"} {
			if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		if _, err := w.s.Backup(ctx, path, nil); err != nil {
			return err
		}
		fmt.Println("backup")
	}
	return nil
}

func restoreChild(ctx context.Context, path string) error {
	backup := filepath.Join(filepath.Dir(filepath.Dir(path)), "backup-restore")
	for n := range 20 {
		to := filepath.Join(filepath.Dir(filepath.Dir(path)), fmt.Sprintf("restored-%d", n), "s.db")
		if _, err := store.Restore(ctx, backup, to, store.RestoreOptions{}); err != nil {
			return err
		}
		fmt.Println("restored")
	}
	return nil
}
