package simulation

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/httpapi/page"
)

//go:embed testdata/*.mjs
var simulator embed.FS

// scripts are the simulated ones.
var scripts = []string{
	"age.js", "asked.js", "database.js", "entries.js", "link.js", "losing.js", "morph.js", "queue.js", "refresh.js", "request.js", "send.js", "shown.js", "stream.js", "times.js", "turns.js", "unshown.js",
}

const (
	askedSeeds = "TOUCHLINE_PAGE_SEEDS" // names the variable with the number of seeds
	firstSeed  = "TOUCHLINE_PAGE_SEED0"
	manySeeds  = 200 // a run of so many has every fault
	fewSeeds   = 10  // for so many it is worth starting a process
)

// outcome is a line that the simulator prints: of a scene or a seed, or the faults of all seeds and how often each struck.
type outcome struct {
	Name     string
	Problems []string
	Trace    []string
	Fired    map[string]int
}

// Single schedules, each of which an earlier version of the scripts failed.
func TestScenes(t *testing.T) {
	simulate(t, func(o outcome) {
		t.Run(o.Name, func(t *testing.T) { report(t, o) })
	}, []string{"scenes"})
}

// Random schedules: make sim-page SEEDS=1 SEED0=n replays one with its trace.
func TestSeeds(t *testing.T) {
	seeds, first := number(t, askedSeeds, usualSeeds), number(t, firstSeed, 1)
	var runs [][]string
	for n := min(runtime.GOMAXPROCS(0), (seeds+fewSeeds-1)/fewSeeds); len(runs) < n; {
		i := len(runs)
		from, to := i*seeds/n, (i+1)*seeds/n
		run := []string{"seeds", strconv.Itoa(first + from), strconv.Itoa(to - from)}
		if seeds == 1 {
			run = append(run, "trace")
		}
		runs = append(runs, run)
	}
	played, fired := 0, map[string]int{}
	simulate(t, func(o outcome) {
		if o.Fired != nil {
			for fault, times := range o.Fired {
				fired[fault] += times
			}
			return
		}
		played++
		if len(o.Problems) > 0 || seeds == 1 {
			t.Run(o.Name, func(t *testing.T) { report(t, o) })
		}
	}, runs...)
	t.Logf("%d seeds, faults: %v", played, fired)
	checkFired(t, fired, seeds)
	if played != seeds {
		t.Errorf("%d of %d seeds were played", played, seeds)
	}
}

func report(t *testing.T, o outcome) {
	t.Helper()
	if len(o.Trace) > 0 {
		t.Log("\n" + strings.Join(o.Trace, "\n"))
	}
	for _, problem := range o.Problems {
		t.Error(problem)
	}
}

// A fault that never strikes proves nothing.
func checkFired(t *testing.T, fired map[string]int, seeds int) {
	t.Helper()
	if seeds < manySeeds {
		return
	}
	for fault, times := range fired {
		if times == 0 {
			t.Errorf("in %d seeds there was never: %s", seeds, fault)
		}
	}
}

// simulate runs the simulator once with each list of arguments, all at the same time, and calls each with every line that they print.
func simulate(t *testing.T, each func(outcome), runs ...[]string) {
	t.Helper()
	program, dir := findNode(t), t.TempDir()
	writeScripts(t, dir)
	lines, ended := make(chan []byte), make(chan error, len(runs))
	var running sync.WaitGroup
	for _, args := range runs {
		running.Go(func() { ended <- runSimulator(t.Context(), lines, program, dir, args) })
	}
	go func() {
		running.Wait()
		close(lines)
	}()
	for line := range lines {
		var o outcome
		if err := json.Unmarshal(line, &o); err != nil {
			t.Errorf("%v: %s", err, line)
			continue
		}
		each(o)
	}
	for range runs {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func runSimulator(ctx context.Context, lines chan<- []byte, program, dir string, args []string) error {
	cmd := exec.CommandContext(ctx, program, append([]string{
		"--experimental-vm-modules", "--no-warnings", "--max-semi-space-size=32", filepath.Join(dir, "main.mjs"), dir,
	}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	printed := bufio.NewScanner(out)
	printed.Buffer(nil, 64<<20)
	for printed.Scan() {
		lines <- bytes.Clone(printed.Bytes())
	}
	if err := errors.Join(printed.Err(), cmd.Wait()); err != nil {
		return fmt.Errorf("%w\n%s", err, said.String())
	}
	return nil
}

// writeScripts writes the simulator, and the scripts as the node serves them, to a folder.
func writeScripts(t *testing.T, dir string) {
	t.Helper()
	files, err := fs.Sub(simulator, "testdata")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	r, err := page.New("", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	worker, err := r.Worker("/app/-/", "v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "worker.js"), worker, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		asset, ok := r.Asset(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), asset.Body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// findNode returns the path of Node.js. Without it CI fails; elsewhere the test is skipped.
func findNode(t *testing.T) string {
	t.Helper()
	const install = "NOT SIMULATED: the scripts of pages need Node.js 18 or newer (Debian: apt-get install nodejs)"
	program, err := exec.LookPath("node")
	if err == nil {
		var version []byte
		version, err = exec.CommandContext(t.Context(), program, "--version").Output()
		major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
		if n, bad := strconv.Atoi(major); err == nil && bad == nil && n >= 18 {
			return program
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(install)
	}
	t.Skip(install)
	return ""
}

func number(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a number above 0: %q", variable, text)
	}
	return n
}
