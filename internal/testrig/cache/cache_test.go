package cache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestFolderIsFilledOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", os.Getenv("XDG_CACHE_HOME")) // for systems without that variable
	var filled atomic.Int32
	get := func() (string, error) {
		return Folder(t.Context(), "thing-1", func(_ context.Context, dir string) error {
			filled.Add(1)
			return os.WriteFile(filepath.Join(dir, "inside"), []byte("x"), 0o600)
		})
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			dir, err := get()
			if err != nil {
				t.Error(err)
			} else if _, err := os.Stat(filepath.Join(dir, "inside")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := filled.Load(); n != 1 {
		t.Errorf("it was filled %d times", n)
	}
}

func TestFolderThatCouldNotBeFilledIsNotThere(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", os.Getenv("XDG_CACHE_HOME"))
	wrong := errors.New("no way to the registry")
	var temp string
	_, err := Folder(t.Context(), "thing-1", func(_ context.Context, dir string) error {
		temp = dir
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Errorf("the error is %v", err)
	}
	if isFolder(temp) {
		t.Error("half of it stays")
	}
	if _, err := Folder(t.Context(), "thing-1", func(context.Context, string) error { return nil }); err != nil {
		t.Errorf("the next time: %v", err)
	}
}

func TestRunShowsTheLastLines(t *testing.T) {
	_, err := Run(t.Context(), t.TempDir(), "/bin/sh", "-c", "seq 1 20; exit 3")
	if err == nil || !strings.HasSuffix(err.Error(), "19\n20") || strings.Contains(err.Error(), "12\n") {
		t.Errorf("the error is %v", err)
	}
}
