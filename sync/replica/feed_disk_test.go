package replica

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// close closes the node's store, so that its disk can be copied or opened again. A node whose run has ended counts as cleanly ended.
func (n *feedNode) close(t testing.TB) {
	t.Helper()
	if err := n.st.Close(); err != nil {
		t.Fatal(err)
	}
	n.closed = true
}

// disk returns a copy of the node's disk.
func (n *feedNode) disk(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	copyDir(t, n.dir, dir)
	return dir
}

// snapshot closes the node and saves its disk.
func (n *feedNode) snapshot(t testing.TB) (dir string) {
	t.Helper()
	n.close(t)
	return n.disk(t)
}

// again starts another process on the node's disk, after ending this one.
func (n *feedNode) again(t testing.TB) *feedNode {
	t.Helper()
	return n.backTo(t, n.dir)
}

// backTo restores the machine to a snapshot: what it has done since is only in the cloud.
func (n *feedNode) backTo(t testing.TB, snapshot string) *feedNode {
	t.Helper()
	if !n.closed {
		n.close(t)
	}
	return openNode(t, n.cloud, snapshot, n.change)
}

// pastSnapshot returns a node that runs on from a snapshot of it, which has one team that was sent, and what queued writes (nil:
// nothing). A machine restored to the snapshot knows nothing of what the node does from here on.
func pastSnapshot(t testing.TB, queued func(n *feedNode)) (c *shelf, n *feedNode, snapshot string) {
	t.Helper()
	c, n = opened(t, nil)
	n.put(t, "teams", team("x", 0))
	n.drained(t)
	if queued != nil {
		queued(n)
	}
	snapshot = n.snapshot(t)
	return c, n.again(t), snapshot
}

// copies returns two nodes with the same past.
func copies(t testing.TB) (c *shelf, one, other *feedNode) {
	t.Helper()
	c, one, copied := pastSnapshot(t, nil)
	return c, one, openNode(t, c, copied, nil)
}

// errCrash is the error of a crash that a test causes.
var errCrash = errors.New("crash")

// crashAt makes a node crash at a failpoint.
func crashAt(point string) func(*Config) {
	return func(cfg *Config) {
		cfg.Failpoint = func(p string) {
			if p == point {
				panic(errCrash)
			}
		}
	}
}

// crashes requires that do crashes.
func crashes(t testing.TB, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if e := recover(); e != any(errCrash) {
			t.Errorf("no crash: %v", e)
		}
	}()
	do()
}

func copyDir(t testing.TB, from, to string) {
	t.Helper()
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		copyFile(t, filepath.Join(from, f.Name()), filepath.Join(to, f.Name()))
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	_, _ = src.Close(), dst.Close()
}

// storeBack replaces a node's store, without the identity file, by that of another directory, as from a backup.
func storeBack(t *testing.T, from, to string) {
	t.Helper()
	copyFile(t, filepath.Join(from, "node.db"), filepath.Join(to, "node.db"))
}
