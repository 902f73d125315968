package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/touchline/touchline/internal/tools/overlay"
)

// builder builds test programs, with or without a mutant.
type builder struct {
	root string // folder of the module
	dir  string // folder for build results
	tags string
}

// overlay writes the files changed by a mutant, and returns the path of the file for the go command's flag.
func (b *builder) overlay(m *mutant) (string, error) {
	files, err := overlay.Apply(b.root, m.changes)
	if err != nil {
		return "", err
	}
	return overlay.Write(filepath.Join(b.dir, m.name), files)
}

// build builds the test program of a package, once. It does not turn off optimization, which would save nothing: most of the time is
// linking.
func (b *builder) build(ctx context.Context, name, pkg, overlay string) (string, error) {
	out := filepath.Join(b.dir, name, strings.Trim(strings.ReplaceAll(pkg, "/", "_"), "._")+".test")
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-tags", b.tags, "-o", out, "-overlay", overlay, pkg)
	cmd.Dir = b.root
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return out, nil
}

// clean removes what was built for a mutant.
func (b *builder) clean(m *mutant) {
	_ = os.RemoveAll(filepath.Join(b.dir, m.name))
}

// moduleRoot returns the folder of the module around the working directory.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
