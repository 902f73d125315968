package node

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// The socket is private from the start, replaces one left by a dead node, and is removed with the listener.
func TestListenAdmin(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { // created by somebody else
		t.Fatal(err)
	}
	for range 2 {
		ln, err := listenAdmin(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, adminFile)
		info, err := os.Stat(path)
		if err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Errorf("%v, %v", info, err)
		}
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if err := ln.(*adminListener).Listener.Close(); err != nil { // as a kill leaves it
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	ln, err := listenAdmin(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestAdminSocketPath(t *testing.T) {
	if _, err := adminSocket("/" + strings.Repeat("x", maxSocketPath-2-len(adminFile))); err != nil {
		t.Error(err)
	}
	_, err := adminSocket("/" + strings.Repeat("x", maxSocketPath-1-len(adminFile)))
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != "long_path" || !strings.Contains(f.Message, "104 bytes, at most 103") {
		t.Errorf("got %v", err)
	}
}

func TestMaintenanceDoesOneThingAtATime(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := &maintenance{store: s}
	ctx := context.Background()
	checked := false
	_, err = m.Backup(ctx, filepath.Join(t.TempDir(), "b.db"), func(int64, int64) {
		checked = true
		if _, err := m.Check(ctx, nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("got %v", err)
		}
	})
	if err != nil || !checked {
		t.Errorf("checked %v, %v", checked, err)
	}
	if problems, err := m.Check(ctx, nil); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestBackupTarget(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 13, 5, 9, 0, time.FixedZone("", 3600))
	got, err := BackupTarget(dir, "", now)
	if want := filepath.Join(dir, "backups", "touchline-20261121T120509Z.db"); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if info, err := os.Stat(filepath.Dir(got)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(got+".tmp", nil, 0o600); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if _, err := BackupTarget(dir, "", now); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(got + ".tmp"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a draft is left: %v", err)
	}
	if got, err := BackupTarget(dir, "/x.db", now); err != nil || got != "/x.db" {
		t.Errorf("got %s, %v", got, err)
	}
}
