//go:build long

package awsclients_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/internal/testrig/awsclients"
)

// TestBoto3 runs the scripts in testdata/boto3, each with an endpoint without tables.
func TestBoto3(t *testing.T) {
	python := awsclients.Python(t)
	for _, script := range scripts(t, "testdata/boto3/*.py") {
		if filepath.Base(script) == "harness.py" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(script), ".py"), func(t *testing.T) {
			passed(t, python.Run(t, endpoint(t), script, told()...))
		})
	}
}

// TestAWSCLI runs the shell scripts in testdata/awscli.
func TestAWSCLI(t *testing.T) {
	python := awsclients.Python(t)
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the scripts of the AWS CLI need a shell")
	}
	for _, script := range scripts(t, "testdata/awscli/*.sh") {
		if filepath.Base(script) == "harness.sh" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(script), ".sh"), func(t *testing.T) {
			t.Parallel()
			passed(t, python.RunBy(t, endpoint(t), shell, script, append(told(), "PYTHON="+python.Program())...))
		})
	}
}

// TestJavaScript runs the scripts in testdata/javascript.
func TestJavaScript(t *testing.T) {
	node := awsclients.Node(t)
	for _, script := range scripts(t, "testdata/javascript/*.cjs") {
		if filepath.Base(script) == "harness.cjs" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(script), ".cjs"), func(t *testing.T) {
			passed(t, node.Run(t, endpoint(t), script, told()...))
		})
	}
}

// TestFaults runs scripts with an endpoint that refuses and drops many of their requests: the clients understand the errors and retry,
// and nothing else is different. Answers are not dropped: a write that was done and is retried need not answer the same.
func TestFaults(t *testing.T) {
	if *against == "local" {
		t.Skip("DynamoDB Local has no faults on demand")
	}
	rules := inject.Rules{Seed: 1, Rules: []inject.Rule{
		{Kind: inject.DropRequest, Probability: 0.1},
		{Kind: inject.Throttle, Probability: 0.1},
		{Kind: inject.Error500, Probability: 0.1},
		{Kind: inject.Unprocessed, Probability: 0.5, Tables: []string{"People"}, Operations: []string{"BatchWriteItem"}},
	}}
	python, node := awsclients.Python(t), awsclients.Node(t)
	for script, client := range map[string]awsclients.Client{
		"testdata/boto3/documents.py": python, "testdata/boto3/legacy.py": python, "testdata/javascript/documents.cjs": node,
	} {
		t.Run(filepath.Base(script), func(t *testing.T) {
			t.Parallel()
			faults := new(inject.Injector)
			err := faults.Set(rules)
			if err != nil {
				t.Fatal(err)
			}
			e := caller()
			e.URL = ours(t, everything(e), faults)
			passed(t, client.Run(t, e, scripts(t, script)[0], append(told(), "ATTEMPTS=12")...))
			for _, rule := range faults.Status() {
				if rule.Injected == 0 && (rule.Kind == inject.DropRequest || rule.Kind == inject.Throttle || rule.Kind == inject.Error500) {
					t.Errorf("no request met %s", rule.Kind)
				}
			}
			t.Log(faults.Status())
		})
	}
}

// told returns the environment that passes the flags to the scripts.
func told() []string {
	env := []string{"AGAINST=" + *against}
	if *all {
		env = append(env, "KEEP_GOING=1")
	}
	return env
}

// scripts returns the full paths that match a pattern.
func scripts(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	for i, name := range found {
		if found[i], err = filepath.Abs(name); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// passed verifies that a script ran to its end.
func passed(t *testing.T, said string) {
	t.Helper()
	if !strings.HasSuffix(said, " checks passed") {
		t.Fatalf("the script does not say that its checks passed:\n%s", said)
	}
	t.Log(said)
}
