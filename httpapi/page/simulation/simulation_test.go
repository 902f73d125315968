package simulation

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/page"
)

//go:embed testdata/*.mjs
var simulator embed.FS

// scripts are the simulated ones.
var scripts = []string{
	"database.js", "entries.js", "link.js", "losing.js", "morph.js", "queue.js", "refresh.js", "request.js", "send.js", "shown.js", "stream.js", "times.js",
}

const (
	askedSeeds = "TOUCHLINE_PAGE_SEEDS" // names the variable with the number of seeds
	firstSeed  = "TOUCHLINE_PAGE_SEED0"
	manySeeds  = 200 // a run of so many has every fault
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
	}, "scenes")
}

// Random schedules: make sim-page SEEDS=1 SEED0=n replays one with its trace.
func TestSeeds(t *testing.T) {
	seeds, first := number(t, askedSeeds, usualSeeds), number(t, firstSeed, 1)
	args := []string{"seeds", strconv.Itoa(first), strconv.Itoa(seeds)}
	if seeds == 1 {
		args = append(args, "trace")
	}
	played := 0
	simulate(t, func(o outcome) {
		if o.Fired != nil {
			t.Logf("%d seeds, faults: %v", played, o.Fired)
			checkFired(t, o.Fired, seeds)
			return
		}
		played++
		if len(o.Problems) > 0 || seeds == 1 {
			t.Run(o.Name, func(t *testing.T) { report(t, o) })
		}
	}, args...)
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

// simulate runs the simulator, and calls each with every line that it prints.
func simulate(t *testing.T, each func(outcome), args ...string) {
	t.Helper()
	program, dir := findNode(t), t.TempDir()
	writeScripts(t, dir)
	cmd := exec.CommandContext(t.Context(), program, append([]string{
		"--experimental-vm-modules", "--no-warnings", "--max-semi-space-size=64", filepath.Join(dir, "main.mjs"), dir,
	}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Errorf("%v: %s", err, lines.Text())
			continue
		}
		each(o)
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
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
