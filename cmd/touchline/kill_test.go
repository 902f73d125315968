package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge"
)

// binary is this test binary under the name by which it is touchline.
func binary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "touchline")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// processLimit is how long a process of a test may live: three minutes are much where nothing hangs, and a machine may be
// busy.
const processLimit = 10 * time.Minute

// within makes a command that is killed when the test ends, or when it hangs.
func within(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), processLimit, fmt.Errorf("%v has run for %s", args, processLimit))
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 10 * time.Second // and whoever holds its pipes
	return cmd
}

func demo(t *testing.T, bin, dir, speed string) *exec.Cmd {
	t.Helper()
	return within(t, bin, "demo", "--match", "1343760", "--once", "--speed", speed, "-o", "json",
		"--listen", "127.0.0.1:0", "--data-dir", dir)
}

func summaryOf(t *testing.T, out []byte) edge.Summary {
	t.Helper()
	var s edge.Summary
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	s.Pushes = edge.SummaryPushes{} // phones that were killed too are told the state again
	return s
}

// A node that is killed in the middle of the match, several times, goes on where it was: the same innings, result,
// events and alerts as one that is not, and no alert is told twice.
func TestKilledInTheMiddle(t *testing.T) {
	bin := binary(t)
	clean, err := demo(t, bin, t.TempDir(), "max").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	told := map[string]int{}
	for _, until := range []string{"WICKET! Langham", "WICKET! Francis", "MWI need 38", "MWI need 37 off 29"} {
		killAfter(t, demo(t, bin, dir, "max"), until, told)
	}
	// Between the result and the end of the match there is a quarter of an hour, which at top speed nobody can hit.
	killAfter(t, demo(t, bin, dir, "900"), "Malawi won by 10 wickets", told)
	last := demo(t, bin, dir, "max")
	var stderr strings.Builder
	last.Stderr = &stderr
	out, err := last.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	countAlerts(stderr.String(), told)
	if diff := cmp.Diff(summaryOf(t, clean), summaryOf(t, out)); diff != "" {
		t.Errorf("after five kills (-clean +killed):\n%s", diff)
	}
	for alert, n := range told {
		if n > 1 {
			t.Errorf("told %d times: %s", n, alert)
		}
	}
}

// killAfter runs the demo until it tells of something and kills it then.
func killAfter(t *testing.T, cmd *exec.Cmd, until string, told map[string]int) {
	t.Helper()
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := false
	lines := bufio.NewScanner(pipe)
	for !seen && lines.Scan() {
		countAlerts(lines.Text(), told)
		seen = strings.Contains(lines.Text(), until)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, pipe)
	if err := cmd.Wait(); err == nil {
		t.Error("the demo ended before it was killed")
	}
	if !seen {
		t.Fatalf("the demo did not tell of %q", until)
	}
}

// countAlerts counts the lines of the terminal that tell an alert.
func countAlerts(text string, told map[string]int) {
	for line := range strings.Lines(text) {
		if stamp, rest, ok := strings.Cut(line, "  "); ok && strings.HasPrefix(stamp, "Nov 24") {
			told[rest]++
		}
	}
}
