package awsclients

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/touchline/touchline/internal/testrig/cache"
)

// The module whose tests are run, and its checksum from the Go module proxy.
const (
	gureguModule = "github.com/guregu/dynamo/v2"
	gureguPin    = gureguModule + "@v2.1.1"
	gureguSum    = "h1:aJbhtnxtbXHqSJ1m8Wc5i0+L5l05x/3LIngoO7+J7EA="
)

// Guregu returns the go command and the folder with the source of guregu/dynamo, a module with its own tests and go.sum. Without access
// to the module proxy, the test is skipped.
func Guregu(t testing.TB) (program, dir string) {
	t.Helper()
	program, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the tests of guregu/dynamo need the go command")
	}
	out, err := cache.Run(t.Context(), t.TempDir(), program, "mod", "download", "-json", gureguPin)
	if err != nil {
		t.Skipf("the tests of guregu/dynamo need a way to the Go module proxy: %v", err)
	}
	var got struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Sum != gureguSum {
		t.Fatalf("%s is not what it was: %s", gureguPin, got.Sum)
	}
	return program, got.Dir
}
