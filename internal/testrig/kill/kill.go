// Package kill runs a test's child process that works on a store and is killed (kill -9) at each failpoint it reaches.
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

// variable is the environment variable that tells a child process what to do, and where to die.
const variable = "TOUCHLINE_TEST_KILL"

type how struct {
	Path, Arg string
	Point     failpoint.Point
	Nth       int64 // 0: the process survives, and reports how often it reached each point
}

// Main is for a TestMain, which exits with its status. In a child process it calls do with the path of the store and the argument of
// AtEach; do calls arm once it has opened the store.
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
		failpoint.Arm(func(p failpoint.Point) error { // only one goroutine writes
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

// AtEach runs a child on a copy of a store and kills it at each failpoint that it reaches, the first, the middle and the last time. check
// verifies what it left. The child must make at least the given number of transactions.
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
