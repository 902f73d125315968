//go:build long

package awsclients_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/awsclients"
)

// TestGureguDynamo runs the tests of guregu/dynamo v2, a Go library, as its README says to.
func TestGureguDynamo(t *testing.T) {
	const leastPassed = 150 // they are 190 with their parts; most need no endpoint
	program, dir := awsclients.Guregu(t)
	e := endpoint(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "test", "-v", "-count=1", "./...")
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), e.Env()...), "HOME="+os.Getenv("HOME"), "GOWORK=off", "GOFLAGS=-mod=readonly",
		"CGO_ENABLED=0", "DYNAMO_TEST_ENDPOINT="+e.URL, "DYNAMO_TEST_REGION="+e.Region, "DYNAMO_TEST_TABLE=TestDB-%")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	tests := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL|SKIP): (\S+)`).FindAllStringSubmatch(string(out), -1) {
		tests[m[1]] = append(tests[m[1]], m[2])
	}
	var failures []string
	if *against == "local" {
		failures, err = []string{"TestTx"}, nil // it counts no capacity of what is read in transactions
	}
	if err != nil || !slices.Equal(tests["FAIL"], failures) || len(tests["SKIP"]) > 0 || len(tests["PASS"]) < leastPassed {
		t.Fatalf("%v: %d passed, failed: %v, skipped: %v\n%s", err, len(tests["PASS"]), tests["FAIL"], tests["SKIP"], out)
	}
	t.Logf("%d passed", len(tests["PASS"]))
}
