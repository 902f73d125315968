package awsclients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/cache"
)

// runLimit is how long a test's script may run.
const runLimit = 10 * time.Minute

// Endpoint is a DynamoDB endpoint and the credentials for it.
type Endpoint struct {
	URL    string
	Region string
	KeyID  string
	Secret string
}

// Env returns the environment for a client: the endpoint and credentials, and nothing that this machine's user has configured.
func (e Endpoint) Env() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + e.URL, "AWS_REGION=" + e.Region, "AWS_DEFAULT_REGION=" + e.Region,
		"AWS_ACCESS_KEY_ID=" + e.KeyID, "AWS_SECRET_ACCESS_KEY=" + e.Secret, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull,
	}
}

// Client runs scripts.
type Client struct {
	program string
	env     []string
}

// Program returns the program that runs the scripts.
func (c Client) Program() string { return c.program }

// Env returns the environment in which a process finds the client's packages.
func (c Client) Env() []string { return slices.Clone(c.env) }

// Run runs a script in its folder and returns its output. If the script fails, the test ends.
func (c Client) Run(t testing.TB, e Endpoint, script string, env ...string) string {
	t.Helper()
	return c.RunBy(t, e, c.program, script, env...)
}

// RunBy is Run with another program, such as a shell that calls the client.
func (c Client) RunBy(t testing.TB, e Endpoint, program, script string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	//nolint:gosec // what runs is a script of a test
	cmd := exec.CommandContext(ctx, program, filepath.Base(script))
	cmd.Dir = filepath.Dir(script)
	cmd.Env = append(append(e.Env(), c.env...), env...)
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, cache.LastLines(string(out), 40))
	}
	return strings.TrimSpace(string(out))
}
