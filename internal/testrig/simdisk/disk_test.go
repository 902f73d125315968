//go:build unix

package simdisk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/touchline/touchline/internal/testrig/simdisk"
)

func newDisk(t *testing.T, seed uint64) (d *simdisk.Disk, dir string) {
	t.Helper()
	dir = t.TempDir()
	d, err := simdisk.New(dir, seed, simdisk.Real{
		Write: func(f *os.File, b []byte, off int64) (int, error) {
			if off < 0 {
				return f.Write(b)
			}
			return f.WriteAt(b, off)
		},
		Truncate: (*os.File).Truncate, Open: os.OpenFile, Rename: os.Rename, Link: os.Link, Remove: os.Remove, Mkdir: os.Mkdir,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, dir
}

func open(t *testing.T, d *simdisk.Disk, path string) *os.File {
	t.Helper()
	f, err := d.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func syncFolder(t *testing.T, d *simdisk.Disk, dir string) {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Sync(f, false), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, d *simdisk.Disk, f *os.File, text string, off int64) {
	t.Helper()
	if n, err := d.Write(f, []byte(text), off); err != nil || n != len(text) {
		t.Fatal(n, err)
	}
}

// TestPowerCut writes four sectors, syncs, and writes them again: each has the old or the new content, and over many seeds every mixture
// occurs. The name exists once the folder was synced.
func TestPowerCut(t *testing.T) {
	old, now := strings.Repeat("o", 2048), strings.Repeat("n", 2048)
	seen := map[string]int{}
	for seed := range uint64(300) {
		d, dir := newDisk(t, seed)
		f := open(t, d, filepath.Join(dir, "f"))
		write(t, d, f, old, 0)
		if err := d.Sync(f, true); err != nil {
			t.Fatal(err)
		}
		syncFolder(t, d, dir)
		write(t, d, f, now, 0)
		if err := d.Rename(filepath.Join(dir, "f"), filepath.Join(dir, "g")); err != nil {
			t.Fatal(err)
		}
		left := t.TempDir()
		if err := d.PowerCut(left); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(left, "f"))
		name := "f"
		if errors.Is(err, fs.ErrNotExist) {
			name = "g"
			b, err = os.ReadFile(filepath.Join(left, "g"))
		}
		if err != nil || len(b) != 2048 {
			t.Fatalf("seed %d: %d bytes, %v", seed, len(b), err)
		}
		mixture := ""
		for s := range 4 {
			part := string(b[s*512 : s*512+512])
			if part != old[:512] && part != now[:512] {
				t.Fatalf("seed %d: sector %d is torn", seed, s)
			}
			mixture += part[:1]
		}
		seen[mixture]++
		seen[name]++
		if _, err := d.Write(f, []byte("x"), 0); err == nil {
			t.Fatal("a disk without power takes a write")
		}
	}
	if len(seen) < 16+2 {
		t.Errorf("only %v", seen)
	}
}

func TestFailedSyncIsNotMadeUpFor(t *testing.T) {
	lost := 0
	for seed := range uint64(50) {
		d, dir := newDisk(t, seed)
		f := open(t, d, filepath.Join(dir, "f"))
		syncFolder(t, d, dir)
		write(t, d, f, strings.Repeat("n", 4096), 0)
		d.SetFault(simdisk.Fault{Kind: simdisk.SyncFails})
		if err := d.Sync(f, true); !errors.Is(err, syscall.EIO) || !d.Seen().Tripped {
			t.Fatal(err)
		}
		if err := d.Sync(f, true); err != nil { // the system assumes that it has written everything
			t.Fatal(err)
		}
		left := t.TempDir()
		if err := d.PowerCut(left); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(left, "f")); err != nil || strings.Count(string(b), "n") < 4096 {
			lost++
		}
	}
	if lost == 0 || lost == 50 {
		t.Errorf("lost something %d times of 50", lost)
	}
}

func TestFull(t *testing.T) {
	d, dir := newDisk(t, 1)
	f := open(t, d, filepath.Join(dir, "f"))
	d.SetSpace(8192)
	if err := d.Allocate(f, 0, 16384); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if err := d.Allocate(f, 0, 8192); err != nil {
		t.Error(err)
	}
	write(t, d, f, "over what is allocated", 8000)
	if n, err := d.Write(f, make([]byte, 4096), 6144); n != 2048 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d: %v", n, err)
	}
	d.SetSpace(-1)
	write(t, d, f, "somebody has made room", 10_000)
}

func TestFaults(t *testing.T) {
	for kind, want := range map[simdisk.Kind]error{
		simdisk.WriteFails: syscall.EIO, simdisk.WriteStops: syscall.EIO, simdisk.WriteFull: syscall.ENOSPC,
	} {
		d, dir := newDisk(t, 3)
		f := open(t, d, filepath.Join(dir, "f"))
		d.SetFault(simdisk.Fault{Kind: kind, At: d.Seen().Ops + 2})
		write(t, d, f, "one", 0)
		n, err := d.Write(f, []byte("two"), 3)
		if !errors.Is(err, want) || n == 3 {
			t.Errorf("kind %d: wrote %d, %v", kind, n, err)
		}
		write(t, d, f, "three", 3)
	}
}
