package ddblocal

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A namespace ends with its process: no handle of this process keeps it.
func TestNamespaceIsNotKept(t *testing.T) {
	before := namespaces(t)
	cmd := exec.Command("cat")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p, dial, err := startAlone(cmd, "127.0.0.1:8000")
	if err != nil {
		t.Skip("no network namespace: ", err)
	}
	p.Kill()
	if n := namespaces(t) - before; n != 0 {
		t.Errorf("%d namespaces are still open", n)
	}
	if _, err := dial(t.Context()); err == nil {
		t.Error("connected after the end")
	}
}

// namespaces counts the open handles of network namespaces.
func namespaces(t *testing.T) (n int) {
	t.Helper()
	const fds = "/proc/self/fd/"
	entries, err := os.ReadDir(fds)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink(fds + e.Name()); err == nil && strings.HasPrefix(to, "net:") {
			n++
		}
	}
	return n
}
