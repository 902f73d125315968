package archtest

import (
	"bufio"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
)

// The wrapper for builds prints a message if a command takes long, is silent otherwise, and keeps the exit code.
func TestLongCommandsAreAnnounced(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("make needs a shell")
	}
	aloud := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), shell, append([]string{"tools/aloud.sh", "building, for minutes"}, args...)...)
		cmd.Dir = filepath.Join("..", "..")
		return cmd
	}
	slow := aloud("cat") // until its input ends
	slow.Env = append(slow.Environ(), "ALOUD_AFTER=0")
	in, err := slow.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := slow.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || line != "building, for minutes\n" {
		t.Errorf("it says %q: %v", line, err)
	}
	if err := errors.Join(in.Close(), slow.Wait()); err != nil {
		t.Error(err)
	}

	slow = aloud("sh", "-c", "exit 3")
	slow.Env = append(slow.Environ(), "ALOUD_AFTER=60")
	out, err := slow.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() != 3 || len(out) > 0 {
		t.Errorf("a fast one that fails: %v, and it says %q", err, out)
	}
}
