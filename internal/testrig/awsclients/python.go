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

//go:embed pins/requirements.txt
var requirements string

// Python returns a client for Python scripts with boto3, and with the AWS CLI as module awscli. Without Python or access to PyPI, the
// test is skipped.
func Python(t testing.TB) Client {
	t.Helper()
	const install = "boto3 and the AWS CLI need Python 3.10 or newer (Debian: apt-get install python3-venv)"
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(install)
	}
	version, err := cache.Run(t.Context(), "", python, "--version")
	if err != nil {
		t.Skipf("%s: %v", install, err)
	}
	dir, err := cached(t.Context(), "boto3", []string{requirements, string(version)}, func(ctx context.Context, dir string) error {
		return installPython(ctx, python, dir)
	})
	if err != nil {
		t.Skipf("%s, and a way to PyPI: %v", install, err)
	}
	return Client{program: python, env: []string{"PYTHONPATH=" + filepath.Join(dir, "lib"), "PYTHONDONTWRITEBYTECODE=1"}}
}

// installPython fills a folder. The packages are installed outside of the virtual environment whose pip installs them, because an
// environment does not work after it is renamed.
func installPython(ctx context.Context, python, dir string) error {
	pins := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(pins, []byte(requirements), 0o600); err != nil {
		return err
	}
	venv := filepath.Join(dir, "venv")
	if _, err := cache.Run(ctx, dir, python, "-m", "venv", venv); err != nil {
		return err
	}
	_, err := cache.Run(ctx, dir, filepath.Join(venv, "bin", "python"), "-m", "pip", "--disable-pip-version-check", "install",
		"--quiet", "--no-deps", "--compile", "--only-binary", ":all:", "--target", filepath.Join(dir, "lib"), "--requirement", pins)
	if err != nil {
		return err
	}
	return os.RemoveAll(venv)
}
