package replica

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	kinds "github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// The identity is always written to the same two files, which use no additional disk space.
func TestIdentityNeedsNoRoom(t *testing.T) {
	c, n := opened(t, nil)
	path := filepath.Join(n.dir, identityName)
	if err := unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, path+spareSuffix, unix.RENAME_EXCHANGE); err != nil {
		t.Skip("this file system cannot exchange names:", err)
	}
	had := roomOf(t, path)
	for range 64 { // twice as many nonces as the file remembers
		if err := n.identity.Connect(t.Context()); err != nil { // draws a new nonce
			t.Fatal(err)
		}
		if f, nonce := n.file(t), c.nodeRow(t)[attrNonce].Str(); f.Nonces[0] != nonce {
			t.Fatalf("%+v, not %s", f, nonce)
		}
		if has := roomOf(t, path); has != had {
			t.Fatalf("the files are now %+v, and were %+v", has, had)
		}
	}
}

// blocks is the inode and size of a file; roomOf returns those of both identity files, lower inode first.
type blocks struct {
	inode uint64
	count int64
}

func roomOf(t *testing.T, path string) (both [2]blocks) {
	t.Helper()
	for i, p := range []string{path, path + spareSuffix} {
		var st unix.Stat_t
		if err := unix.Stat(p, &st); err != nil {
			t.Fatal(err)
		}
		both[i] = blocks{st.Ino, st.Blocks}
	}
	slices.SortFunc(both[:], func(a, b blocks) int { return int(int64(a.inode) - int64(b.inode)) })
	return both
}

// noRoom makes the next write of the identity fail with a full disk, until room is called.
func (n *feedNode) noRoom(t *testing.T) (room func()) {
	t.Helper()
	spare := filepath.Join(n.dir, identityName) + spareSuffix
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	_ = os.Remove(spare)
	if err := os.Symlink("/dev/full", spare); err != nil {
		t.Fatal(err)
	}
	return func() { _ = os.Remove(spare) }
}

// If there is no room for the identity file, a connect reports that the disk is full, and succeeds once there is room.
func TestNoRoomForTheIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		_, n := opened(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		room := n.noRoom(t)
		if err := n.identity.Connect(t.Context()); !kinds.Is(err, kinds.Full) {
			t.Errorf("on a full disk Connect returned %v", err)
		}
		stop := n.run(t)
		letPass(time.Minute)
		const want = "Nothing is sent: the disk is full, and this node cannot record what it is about to send; make room."
		st := n.status(t)
		if got := strings.Join(st.Alarms, "\n"); got != want || !strings.Contains(st.LastError, "the disk is full") {
			t.Errorf("alarms %q, last %q", got, st.LastError)
		}
		room()
		letPass(time.Minute)
		if st := n.status(t); !st.Up || len(st.Alarms) != 0 {
			t.Errorf("%+v, %q", st.LinkState, st.Alarms)
		}
		stop()
		if strings.Count(log.String(), `level=ERROR msg="no cloud: the disk is full`) != 1 {
			t.Errorf("log:\n%s", &log)
		}
	})
}

// A connected node without room for the file keeps the nonce that the file has: it reports what is settled, checks the tables, and shows
// the cloud no nonce that the file lacks.
func TestNoRoomWhileConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(time.Minute)
		room := n.noRoom(t)
		checked := 0
		c.set(func() {
			c.fail = func(op, table string) error {
				if op == "table" {
					checked++
				}
				return nil
			}
		})
		shown := c.nodeRow(t)[attrNonce].Str()
		var seq uint64
		for range 10 {
			seq = n.put(t, "teams", team("x", 1))
			letPass(2 * time.Minute)
			f := n.file(t)
			if row := c.nodeRow(t); row[attrNonce].Str() != shown || !slices.Contains(f.Nonces, shown) || intent.Whole(row[attrSettled]) < seq {
				t.Fatalf("the row is %v behind %d, its nonce was %s, the file is %+v", row, seq, shown, f)
			}
		}
		c.set(func() {
			if checked == 0 {
				t.Error("the tables were not checked")
			}
		})
		room()
		n.put(t, "teams", team("x", 2))
		letPass(5 * time.Minute)
		if row := c.nodeRow(t); row[attrNonce].Str() == shown {
			t.Error("no nonce was drawn although there is room again")
		}
	})
}

// fullDisk names the directory in which the child process mounts its disk.
const fullDisk = "TOUCHLINE_FULL_DISK"

// A node starts, connects, reconnects and drains on a file system without a free page: a small one that a child process mounts for
// itself.
func TestFullFileSystem(t *testing.T) {
	if dir := os.Getenv(fullDisk); dir != "" {
		onFullFileSystem(t, dir)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullFileSystem$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), fullDisk+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EINVAL):
		t.Skip("this system does not permit user namespaces:", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case bytes.Contains(out, []byte("--- SKIP")):
		t.Skipf("%s", out)
	}
}

func onFullFileSystem(t *testing.T, dir string) {
	if err := unix.Mount("touchline", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("no file system can be mounted:", err)
	}
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.fail = away
		n := openNode(t, c, dir, nil)
		n.bump(t, "x")
		fillUp(t, dir)
		n.fillStore(t)
		waits := n.waitingNow(t)

		n = n.again(t)
		c.set(func() { c.fail = nil })
		stop := n.run(t)
		letPass(time.Minute)
		if st := n.status(t); !st.Up || st.Waiting != 0 || waits == 0 {
			t.Errorf("%d of %d writes wait: %+v", st.Waiting, waits, st.LinkState)
		}
		n.cloudHas(t, teams{"x": 1})
		n.identity.Reconnect("the link flaps")
		n.remove(t, "teams", teamKey("x")) // deletes find space even if the free pages are scattered
		letPass(time.Minute)
		if st := n.status(t); !st.Up || st.Waiting != 0 {
			t.Errorf("again %d writes wait: %+v", st.Waiting, st.LinkState)
		}
		n.cloudHas(t, teams{"x": 0})
		stop()
		n.again(t).recorded(t, 0)
		if err := os.WriteFile(filepath.Join(dir, "more"), []byte{1}, 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("the disk was not full: %v", err)
		}
	})
}

// fillUp fills a disk.
func fillUp(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if _ = f.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// fillStore writes until the store is full.
func (n *feedNode) fillStore(t *testing.T) {
	t.Helper()
	var err error
	for i := 0; err == nil; i++ {
		err = n.st.Update(t.Context(), func(tx *store.Tx) error {
			it := team(string(rune('a'+i%26))+strings.Repeat("y", i%7), int64(i))
			it["text"] = attr.S(strings.Repeat("z", 10_000))
			_, err := tx.Put(store.PutItem{Table: "teams", Item: it})
			return err
		})
	}
	if !kinds.Is(err, kinds.Full) {
		t.Fatal(err)
	}
}
