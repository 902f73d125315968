// Package cache keeps what tests and measurements need from registries in the user's cache folder, where it lies from the
// first time on.
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

// fillLimit is how long a registry has.
const fillLimit = 5 * time.Minute

// Folder returns the folder of the cache that is called name, which says what is in it and in which versions. Where it is
// not there, fill puts what belongs into it into an empty folder beside it, which gets the name when it is whole. Of two
// processes one fills it, and the other waits.
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
	defer func() { _ = os.RemoveAll(temp) }() // what stays is a folder in a cache
	ctx, cancel := context.WithTimeout(ctx, fillLimit)
	defer cancel()
	if err := fill(ctx, temp); err != nil {
		return "", err
	}
	return dir, os.Rename(temp, dir)
}

// place is where the folder of a name is, or will be.
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

// Run runs a program of this machine in a folder. An error has the last of what it said.
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

// LastLines returns the end of what a program said.
func LastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
