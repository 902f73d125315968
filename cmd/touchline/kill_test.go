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

	"github.com/touchline/touchline/edge/cricket/cricketapp"
)

// binary returns this test binary under the name that makes it run touchline.
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

// processLimit limits a test process: three minutes are ample if nothing hangs, but a machine may be busy.
const processLimit = 10 * time.Minute

// within returns a command that is killed when the test ends, or when it hangs.
func within(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), processLimit, fmt.Errorf("%v has run for %s", args, processLimit))
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Minute // also for reading its output late
	return cmd
}

// demo plays a match at top speed: its clock advances with the node's work, however busy the machine is.
func demo(t *testing.T, bin, dir string) *exec.Cmd {
	t.Helper()
	return within(t, bin, "demo", "cricket", "--match", "1343760", "--once", "--speed", "max", "-o", "json",
		"--listen", "127.0.0.1:0", "--data-dir", dir)
}

func summaryOf(t *testing.T, out []byte) cricketapp.Summary {
	t.Helper()
	var s cricketapp.Summary
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	s.Pushes = cricketapp.SummaryPushes{} // phones that were killed too receive the state again
	return s
}

// holdVariable is the environment variable that says where a process is held.
const holdVariable = "TOUCHLINE_TEST_HOLD"

// touchline runs the binary, held where the test says. While the terminal does not accept a line, the demo's clock stands.
func touchline() {
	text := os.Getenv(holdVariable)
	if text == "" {
		main()
		return
	}
	root := newRoot()
	root.SetErr(holder(text))
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitFailure)
	}
}

// holder is a standard error that blocks after it accepted a line with this text.
type holder string

// Write implements io.Writer.
func (h holder) Write(p []byte) (int, error) {
	n, err := os.Stderr.Write(p)
	if strings.Contains(string(p), string(h)) {
		select {}
	}
	return n, err
}

// A node that is killed at each of its alerts (at every fifth with -short), the last of which is the result a quarter of an hour before
// the end, continues where it was: the same innings, result, events and alerts as one that is not killed, and each alert once.
func TestKilledInTheMiddle(t *testing.T) {
	bin := binary(t)
	clean, err := demo(t, bin, t.TempDir()).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := summaryOf(t, clean)
	if len(want.Alerts) < 6 {
		t.Fatalf("only %d alerts", len(want.Alerts))
	}
	dir := t.TempDir()
	told := map[string]int{}
	step, kills := 1, 0
	if testing.Short() {
		step = 5
	}
	for i := (len(want.Alerts) - 1) % step; i < len(want.Alerts); i += step { // the last, the result, is one of them
		killAt(t, demo(t, bin, dir), want.Alerts[i].Text, told)
		kills++
	}
	last := demo(t, bin, dir)
	var stderr strings.Builder
	last.Stderr = &stderr
	out, err := last.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	countAlerts(stderr.String(), told)
	if diff := cmp.Diff(want, summaryOf(t, out)); diff != "" {
		t.Errorf("after %d kills (-clean +killed):\n%s", kills, diff)
	}
	once := map[string]int{}
	for _, alert := range want.Alerts {
		once[alert.Text+"\n"] = 1
	}
	if diff := cmp.Diff(once, told); diff != "" {
		t.Errorf("how often the terminal was told (-want +got):\n%s", diff)
	}
}

// killAt runs the demo until it prints a text, holds it there, and kills it.
func killAt(t *testing.T, cmd *exec.Cmd, until string, told map[string]int) {
	t.Helper()
	cmd.Env = append(cmd.Environ(), holdVariable+"="+until)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen, said := false, ""
	lines := bufio.NewScanner(pipe)
	for !seen && lines.Scan() {
		said += lines.Text() + "\n"
		seen = strings.Contains(lines.Text(), until)
	}
	countAlerts(said, told)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, pipe)
	if err := cmd.Wait(); err == nil {
		t.Error("the demo ended before it was killed")
	}
	if !seen {
		t.Fatalf("the demo did not tell of %q: %s", until, said)
	}
}

// countAlerts counts the terminal's lines about alerts.
func countAlerts(text string, told map[string]int) {
	for line := range strings.Lines(text) {
		if stamp, rest, ok := strings.Cut(line, "  "); ok && strings.HasPrefix(stamp, "Nov 24") {
			told[rest]++
		}
	}
}
