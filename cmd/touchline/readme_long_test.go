//go:build long

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/awsclients"
)

// README's commands for the AWS CLI are run as written, line by line, in a shell without AWS settings; then boto3 runs in the same
// environment.
func TestReadmeOnTheCLI(t *testing.T) {
	python := awsclients.Python(t)
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("README's commands need a shell")
	}
	command, lines := readmeOnSDKs(t)
	e := startEndpoint(t, binary(t), strings.Fields(command)[2:]...) // on a port of its own
	e.ok("CreateTable", usersTable)
	script := "set -eu\n" + strings.ReplaceAll(strings.Join(lines, "\n"), "127.0.0.1:8000", e.Listen) +
		"\nexec " + python.Program() + ` -c 'import boto3
print("boto3", boto3.client("dynamodb").list_tables()["TableNames"], boto3.client("dynamodbstreams").list_streams()["Streams"])'
`
	cmd := within(t, shell, "-c", script)
	cmd.Env = append(python.Env(), "PATH="+awsOn(t, python)+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "AWS_PAGER=",
		"AWS_EC2_METADATA_DISABLED=true", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\nof\n%s", err, out, script)
	}
	got := strings.Join(strings.Fields(string(out)), " ")
	if want := `{ "TableNames": [ "users" ] } { "Streams": [] } boto3 ['users'] []`; got != want {
		t.Errorf("it prints %s, want %s", got, want)
	}
}

// readmeOnSDKs returns README's first command of the endpoint for SDKs, without its comment, and the commands after it.
func readmeOnSDKs(t *testing.T) (command string, lines []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "## Any AWS SDK can use the node\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		code, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		switch code, _, _ = strings.Cut(code, "  #"); {
		case !ok:
		case command == "":
			command = strings.TrimSpace(code)
		case strings.HasPrefix(code, "export ") || strings.HasPrefix(code, "aws "):
			lines = append(lines, code)
		}
	}
	if command != "touchline dynamodb --memory" || len(lines) < 4 {
		t.Fatalf("README has another shape: %q, then %q", command, lines)
	}
	return command, lines
}

// awsOn returns a folder with the AWS CLI as aws.
func awsOn(t *testing.T, python awsclients.Client) string {
	t.Helper()
	dir := t.TempDir()
	text := "#!/bin/sh\nexec '" + python.Program() + `' -m awscli "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "aws"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
