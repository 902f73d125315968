package failpoint_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/failpoint"
)

func TestNothingHappensUnarmed(t *testing.T) {
	for _, p := range failpoint.All() {
		failpoint.Hit(p)
		if err := failpoint.Fail(p); err != nil {
			t.Error(err)
		}
	}
	if n := testing.AllocsPerRun(100, func() { failpoint.Hit(failpoint.CommitSealed) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPointsAreNamedOnce(t *testing.T) {
	seen := map[failpoint.Point]bool{}
	for _, p := range failpoint.All() {
		if seen[p] || len(strings.Split(string(p), "/")) != 3 {
			t.Errorf("%s is there twice, or is not package/operation/step", p)
		}
		seen[p] = true
	}
}

func TestArmed(t *testing.T) {
	boom := errors.New("boom")
	disarm := failpoint.Arm(failpoint.On(failpoint.TrimRecord, 2, func() error { return boom }))
	for i, want := range []error{nil, boom, nil} {
		failpoint.Hit(failpoint.ApplyRow)
		if err := failpoint.Fail(failpoint.TrimRecord); !errors.Is(err, want) {
			t.Errorf("hit %d: got %v, want %v", i+1, err, want)
		}
	}
	disarm()
	if err := failpoint.Fail(failpoint.TrimRecord); err != nil {
		t.Errorf("disarmed: %v", err)
	}
}

func TestPauses(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	defer failpoint.Arm(failpoint.On(failpoint.CommitAnswer, 1, func() error {
		close(reached)
		<-release
		return nil
	}))()
	passed := make(chan struct{})
	go func() {
		failpoint.Hit(failpoint.CommitAnswer)
		close(passed)
	}()
	<-reached
	select {
	case <-passed:
		t.Error("did not wait")
	default:
	}
	close(release)
	<-passed
}

const killed = "FAILPOINT_TEST_KILLED"

func TestKill(t *testing.T) {
	if os.Getenv(killed) != "" {
		defer fmt.Println("deferred functions run")
		failpoint.Kill()
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKill$", "-test.timeout", "2m")
	cmd.Env = append(os.Environ(), killed+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.Exited() || len(out) > 0 {
		t.Errorf("ended with %v, said %q", err, out)
	}
}
