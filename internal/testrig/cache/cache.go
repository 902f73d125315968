// Package cache keeps what tests and measurements fetch from registries in the user's cache folder.
package cache

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// fillLimit is how long fetching from a registry may take.
const fillLimit = 5 * time.Minute

// Folder returns the cache folder with the given name, which must identify its content and versions. If it does not exist, fill fills an
// empty folder beside it, which is renamed once it is complete. Of two processes, one fills the folder and the other waits.
func Folder(ctx context.Context, name string, fill func(ctx context.Context, dir string) error) (string, error) {
	dir, err := place(name)
	if err != nil {
		return "", fmt.Errorf("a cache folder is needed: %w", err)
	}
	if isFolder(dir) {
		return dir, nil
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", fmt.Errorf("a cache folder is needed: %w", err)
	}
	defer unlock()
	if isFolder(dir) { // another process was faster
		return dir, nil
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), name+"-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }() // leftovers in a cache do no harm
	ctx, cancel := context.WithTimeout(ctx, fillLimit)
	defer cancel()
	if err := fill(ctx, temp); err != nil {
		return "", err
	}
	return dir, os.Rename(temp, dir)
}

// place returns the path of the folder with the given name.
func place(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "touchline")
	return filepath.Join(cache, name), os.MkdirAll(cache, 0o700)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Run runs a program in a folder. An error includes the end of its output.
func Run(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	//nolint:gosec // what runs is a tool of this machine, with arguments of ours
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", filepath.Base(program), err, LastLines(string(out), 8))
	}
	return out, nil
}

// LastLines returns the last n lines of a program's output.
func LastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
