package crash_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"go.uber.org/goleak"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// crashKills is how many processes TestCrash kills; the minimum is one at each failpoint and some anywhere.
const crashKills = "TOUCHLINE_CRASH_KILLS"

func TestMain(m *testing.M) {
	if mode := os.Getenv(crashMode); mode != "" {
		if err := crashChild(mode); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// TestCrash kills processes that use a store, at random moments and at every failpoint, and checks what they leave: everything
// acknowledged is there, nothing is torn, nothing refused is there. What is synced stays synced.
func TestCrash(t *testing.T) {
	points := failpoint.All()
	kills := len(points) + 8
	if n, err := strconv.Atoi(os.Getenv(crashKills)); err == nil {
		kills = max(n, kills)
	}
	c := newCrashes(t)
	for n := range kills {
		point := failpoint.Point("")
		if n < len(points) {
			point = points[n]
		} else if rand.IntN(2) == 0 {
			point = points[rand.IntN(len(points))]
		}
		c.kill(point)
		if t.Failed() {
			t.Fatalf("kill %d, at %q, seed %d", n+1, point, c.ledger.seed)
		}
	}
	c.report(points)
}

// crashes is a file on which processes work until they are killed, and what is known of it.
type crashes struct {
	t        *testing.T
	dir      string
	ledger   *ledger
	acked    map[string]int
	cursor   uint64
	rounds   int
	mode     string
	kills    map[failpoint.Point]int // by point; "" for random kills
	hits     map[failpoint.Point]uint64
	verified int
	said     map[string]int // other acknowledgements
	began    time.Time
}

func newCrashes(t *testing.T) *crashes {
	c := &crashes{t: t, kills: map[failpoint.Point]int{}, hits: map[failpoint.Point]uint64{}, said: map[string]int{}, began: time.Now()}
	c.newFile()
	return c
}

// newFile starts with a new file, so that none gets too old.
func (c *crashes) newFile() {
	for _, n := range c.acked {
		c.verified += n
	}
	c.dir, c.rounds, c.acked, c.cursor = c.t.TempDir(), 0, map[string]int{}, 0
	c.ledger = newLedger(rand.Uint64()>>32, crashWriters()...)
}

func (c *crashes) path() string { return filepath.Join(c.dir, "data", "s.db") }

// modeOf returns what a process must do to reach a point.
func modeOf(p failpoint.Point) string {
	operation := strings.Split(string(p)+"//", "/")[1]
	switch operation {
	case "create", "close", "backup", "restore", "compact":
		return operation
	case "draft":
		return "backup"
	}
	return "work"
}

// timesAt returns how often a process reaches a point at least, or 20 if unknown.
func timesAt(p failpoint.Point) int {
	if operation := strings.Split(string(p)+"//", "/")[1]; operation == "open" {
		return 1
	}
	switch modeOf(p) {
	case "create", "close":
		return 1
	case "compact", "backup":
		return 3
	}
	return 20
}

// kill lets a process work until it is killed, and checks what is left.
func (c *crashes) kill(point failpoint.Point) {
	c.t.Helper()
	if c.rounds++; c.rounds > 25 {
		c.newFile()
	}
	c.mode = modeOf(point)
	if point == "" {
		c.mode = [...]string{"work", "work", "work", "work", "create", "close", "backup", "restore", "compact"}[rand.IntN(9)]
	}
	if c.mode == "create" {
		c.newFile()
	}
	// A point that is reached less often is tried the first time, or on a new file.
	for _, nth := range []int{1 + rand.IntN(timesAt(point)), 1, 1} {
		if c.mode == "restore" && !c.haveBackup() {
			return
		}
		killed, hits := c.run(point, nth)
		for p, n := range hits {
			c.hits[p] += n
		}
		c.look()
		if c.t.Failed() {
			return
		}
		if killed {
			c.kills[point]++
			return
		}
		if nth == 1 {
			c.newFile()
		}
	}
	c.t.Errorf("processes that do %q end without having been at %q", c.mode, point)
}

// run starts a process and reads its acknowledgements. It reports whether it was killed.
func (c *crashes) run(point failpoint.Point, nth int) (killed bool, hits map[failpoint.Point]uint64) {
	c.t.Helper()
	counts := filepath.Join(c.dir, "hits")
	// No process has much to do: one that lives this long hangs, and its output so far shows where.
	ctx, cancel := context.WithTimeout(c.t.Context(), hang.Limit(time.Minute))
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = time.Minute
	cmd.Env = append(os.Environ(), crashMode+"="+c.mode, crashFile+"="+c.path(), crashHits+"="+counts,
		fmt.Sprintf("%s=%d", crashSeed, c.ledger.seed), fmt.Sprintf("%s=%t", crashShort, testing.Short()),
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	if point != "" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s@%d", crashPoint, point, nth))
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	if point == "" {
		if rand.IntN(3) == 0 { // early: while it opens the file
			after := time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			defer after.Stop()
		}
	}
	lines, limit := bufio.NewScanner(out), 1+rand.IntN(150)
	for count := 0; lines.Scan(); count++ {
		if point == "" && count == limit {
			_ = cmd.Process.Kill() // what it prints until it is dead counts
		}
		c.hear(lines.Text())
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		c.t.Fatalf("a process hung: %v", err)
	}
	if err != nil && cmd.ProcessState.Exited() {
		c.t.Fatalf("the process failed by itself: %v", err)
	}
	return err != nil || point == "", readHits(counts)
}

// hear records an acknowledgement.
func (c *crashes) hear(line string) {
	what, rest, _ := strings.Cut(line, " ")
	n, err := strconv.ParseUint(rest, 10, 64)
	switch {
	case slices.Contains(crashWriters(), what) && err == nil:
		c.acked[what] = int(n)
	case what == "cursor" && err == nil:
		c.cursor = max(c.cursor, n)
	case what == "backup", what == "restored", what == "compacted", what == "index", what == "incarnation", what == "closed", what == "swept":
		c.said[what]++
	default:
		c.t.Errorf("a process said %q", line)
	}
}

// look opens the file and compares it.
func (c *crashes) look() {
	c.t.Helper()
	if _, err := os.Stat(c.path()); errors.Is(err, os.ErrNotExist) && len(c.acked) == 0 {
		return // killed during creation; its leftovers must not interfere
	}
	s, err := store.Open(c.path(), crashOptions())
	if err != nil {
		c.t.Errorf("after the kill: %v", err)
		return
	}
	defer func() { _ = s.Close() }()
	if len(s.Tables()) < len(crashTables()) {
		if len(c.acked) > 0 {
			c.t.Errorf("tables are missing: %v", s.Tables())
		}
		return
	}
	c.ledger.verify(c.t, s, c.acked, func(string) int { return 1 })
	storetest.View(c.t, s, func(tx *store.Tx) error {
		if at, _, err := tx.Cursor(crashReader); at < c.cursor || err != nil {
			c.t.Errorf("the cursor is at %d and was at %d: %v", at, c.cursor, err)
		}
		return nil
	})
	c.lookAtBackups()
	for w, n := range c.ledger.done {
		if n > 0 {
			c.acked[w] = n
		}
	}
}

// lookAtBackups restores all backups: each is complete, or does not exist.
func (c *crashes) lookAtBackups() {
	c.t.Helper()
	if c.mode != "backup" && c.mode != "restore" {
		return
	}
	paths, err := filepath.Glob(filepath.Join(c.dir, "backup-*"))
	if err != nil {
		c.t.Error(err)
	}
	for _, path := range paths {
		if filepath.Ext(path) != "" {
			continue
		}
		to := filepath.Join(c.t.TempDir(), "s.db")
		if _, err := store.Restore(c.t.Context(), path, to, store.RestoreOptions{}); err != nil {
			c.t.Errorf("restore: %v", err)
			return
		}
		c.lookAtRestored(to)
	}
	restored, err := filepath.Glob(filepath.Join(c.dir, "restored-*", "s.db"))
	if err != nil {
		c.t.Error(err)
	}
	for _, path := range restored {
		c.lookAtRestored(path)
		_ = os.RemoveAll(filepath.Dir(path))
	}
}

// lookAtRestored compares a restored store with its own counters.
func (c *crashes) lookAtRestored(path string) {
	c.t.Helper()
	s, err := store.Open(path, crashOptions())
	if err != nil {
		c.t.Error(err)
		return
	}
	defer func() { _ = s.Close() }()
	storetest.Check(c.t, s)
	then := newLedger(c.ledger.seed, crashWriters()...)
	for _, w := range crashWriters() {
		n, err := counted(c.t.Context(), s, w)
		if err != nil || n > c.ledger.done[w] {
			c.t.Errorf("writer %s: %d jobs in a backup of a store with %d: %v", w, n, c.ledger.done[w], err)
			continue
		}
		then.advance(w, n)
		then.compare(c.t, s, w)
	}
}

// haveBackup makes the backup that processes restore.
func (c *crashes) haveBackup() bool {
	s, err := store.Open(c.path(), crashOptions())
	if err == nil {
		err = s.Define(c.t.Context(), crashTables()...)
	}
	if err != nil {
		c.t.Error(err)
		return false
	}
	defer func() { _ = s.Close() }()
	path := filepath.Join(c.dir, "backup-restore")
	_ = errors.Join(os.Remove(path), os.Remove(path+".sha256"))
	if _, err := s.Backup(c.t.Context(), path, nil); err != nil && !fault.Is(err, fault.Conflict) {
		c.t.Error(err)
		return false
	}
	return true
}

// report prints what was done, and fails the test if a point was never reached.
func (c *crashes) report(points []failpoint.Point) {
	c.newFile()
	total := 0
	for _, n := range c.kills {
		total += n
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "failpoint\tkills\thits\n")
	for _, p := range points {
		fmt.Fprintf(w, "%s\t%d\t%d\n", p, c.kills[p], c.hits[p])
		if c.hits[p] == 0 {
			c.t.Errorf("no process was ever at %s", p)
		}
	}
	fmt.Fprintf(w, "at random\t%d\t\n", c.kills[""])
	_ = w.Flush()
	c.t.Logf("%d kills in %v, %d acknowledged transactions verified, else acknowledged: %v\n%s", total,
		time.Since(c.began).Round(time.Second), c.verified, c.said, &b)
	if c.verified == 0 {
		c.t.Error("nothing was ever acknowledged")
	}
}
