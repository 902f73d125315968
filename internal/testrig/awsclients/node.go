package awsclients

import (
	"context"
	_ "embed" // for the pins
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/internal/testrig/cache"
)

//go:embed pins/package.json
var nodePackages []byte

//go:embed pins/package-lock.json
var nodeLock []byte

// Node returns a client for CommonJS scripts with the AWS SDK for JavaScript. Without Node or access to npm's registry, the test is
// skipped.
func Node(t testing.TB) Client {
	t.Helper()
	const install = "the AWS SDK for JavaScript needs Node 20 or newer with npm (Debian: apt-get install nodejs npm)"
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(install)
	}
	pins := []string{string(nodePackages), string(nodeLock)}
	dir, err := cached(t.Context(), "awssdkjs", pins, installNode)
	if err != nil {
		t.Skipf("%s, and a way to npm's registry: %v", install, err)
	}
	return Client{program: node, env: []string{"NODE_PATH=" + filepath.Join(dir, "node_modules"), "NODE_NO_WARNINGS=1"}}
}

func installNode(ctx context.Context, dir string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), nodePackages, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package-lock.json"), nodeLock, 0o600); err != nil {
		return err
	}
	_, err = cache.Run(ctx, dir, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
	return err
}
