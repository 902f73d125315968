package awsclients

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const fetchLimit = 5 * time.Minute

// cached gives the folder of the cache that is called name and depends on pins. Where it is not there, fill puts what
// belongs into it into an empty folder beside it, which gets the name when it is whole.
func cached(ctx context.Context, name string, pins []string, fill func(ctx context.Context, dir string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("a cache folder is needed: %w", err)
	}
	sum := sha256.Sum256([]byte(strings.Join(pins, "\x00")))
	dir := filepath.Join(cache, "touchline", name+"-"+hex.EncodeToString(sum[:6]))
	if isFolder(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", fmt.Errorf("a cache folder is needed: %w", err)
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
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	if err := fill(ctx, temp); err != nil {
		return "", err
	}
	return dir, os.Rename(temp, dir)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// run runs a program of this machine in a folder. An error has the last of what it said.
func run(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	//nolint:gosec // what runs is a tool of this machine, with arguments of ours
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", filepath.Base(program), err, lastLines(string(out), 8))
	}
	return out, nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
