// Package kill has a process of a test do something with a store, and die of it (kill -9) at each failpoint that it comes by.
package kill

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store"
)

// variable tells a child process what to do, and where to die.
const variable = "TOUCHLINE_TEST_KILL"

type how struct {
	Path, Arg string
	Point     failpoint.Point
	Nth       int64 // 0: it lives, and tells how often it came by each point
}

// Main is what a TestMain exits with. In a child process do does what is to be killed: in the store at path, with what AtEach was given;
// it calls arm when it has opened that.
func Main(m *testing.M, do func(path, arg string, arm func()) error) (status int) {
	text := os.Getenv(variable)
	if text == "" {
		return m.Run()
	}
	if err := child([]byte(text), do); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func child(text []byte, do func(path, arg string, arm func()) error) error {
	var h how
	if err := json.Unmarshal(text, &h); err != nil {
		return err
	}
	hits := map[failpoint.Point]int64{}
	arm := func() {
		failpoint.Arm(func(p failpoint.Point) error { // one goroutine writes
			if hits[p]++; p == h.Point && hits[p] == h.Nth {
				failpoint.Kill()
			}
			return nil
		})
	}
	if err := do(h.Path, h.Arg, arm); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(hits)
}

// AtEach kills a child that works in a copy of a store at each failpoint that it comes by, the first, the middle and the last time, and
// has check look at what it left. The child makes so many transactions at least.
func AtEach(t *testing.T, seed *store.Store, arg string, transactions int64, check func(path, when string)) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "seed.db")
	if _, err := seed.Backup(t.Context(), copied, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	_, out, _ := run(t, raw, how{Arg: arg})
	hits := map[failpoint.Point]int64{}
	if err := json.Unmarshal(out, &hits); err != nil || hits[failpoint.TransactDone] < transactions {
		t.Fatalf("%s: %v", out, err)
	}
	for point, n := range hits {
		for _, nth := range slices.Compact([]int64{1, (n + 1) / 2, n}) {
			when := fmt.Sprintf("%s, time %d", point, nth)
			path, _, killed := run(t, raw, how{Arg: arg, Point: point, Nth: nth})
			if !killed {
				t.Errorf("%s: it lived", when)
				continue
			}
			check(path, when)
		}
	}
}

func run(t *testing.T, seed []byte, h how) (path string, out []byte, killed bool) {
	t.Helper()
	h.Path = filepath.Join(t.TempDir(), "s.db")
	if err := os.WriteFile(h.Path, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // the test itself
	cmd.Env = append(os.Environ(), variable+"="+string(text))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && stderr.Len() > 0 {
		t.Fatalf("%s: %v", stderr.Bytes(), err)
	}
	return h.Path, stdout.Bytes(), !cmd.ProcessState.Exited()
}
