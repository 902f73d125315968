//go:build long

package awsclients_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/awsclients"
)

// closedByClient is the error of the library's SDK if the answer came before its transport had looked for the end of the request's body:
// the SDK has closed the body by then, the transport takes the resulting io.EOF for a failed write and closes the connection during the
// answer. See https://github.com/aws/aws-sdk-go-v2/issues/2737. The SDK itself retries from v1.32.8 on; the library pins v1.30.3.
const closedByClient = "use of closed network connection"

// TestGureguDynamo runs the tests of guregu/dynamo v2, a Go library, as its README says.
func TestGureguDynamo(t *testing.T) {
	const leastPassed = 150 // there are 190 with subtests; most need no endpoint
	program, dir := awsclients.Guregu(t)
	e := endpoint(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	run := func() ([]byte, error) {
		cmd := exec.CommandContext(ctx, program, "test", "-v", "-count=1", "./...")
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), e.Env()...), "HOME="+os.Getenv("HOME"), "GOWORK=off", "GOFLAGS=-mod=readonly",
			"CGO_ENABLED=0", "DYNAMO_TEST_ENDPOINT="+e.URL, "DYNAMO_TEST_REGION="+e.Region, "DYNAMO_TEST_TABLE=TestDB-%")
		cmd.WaitDelay = time.Minute
		return cmd.CombinedOutput()
	}
	out, err := run()
	for again := 3; again > 0 && bytes.Contains(out, []byte(closedByClient)); again-- {
		t.Log("the client closed its own connection under an answer; once more")
		out, err = run()
	}
	tests := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL|SKIP): (\S+)`).FindAllStringSubmatch(string(out), -1) {
		tests[m[1]] = append(tests[m[1]], m[2])
	}
	var failures []string
	if *against == "local" {
		failures, err = []string{"TestTx"}, nil // it does not count the capacity of reads in transactions
	}
	if err != nil || !slices.Equal(tests["FAIL"], failures) || len(tests["SKIP"]) > 0 || len(tests["PASS"]) < leastPassed {
		t.Fatalf("%v: %d passed, failed: %v, skipped: %v\n%s", err, len(tests["PASS"]), tests["FAIL"], tests["SKIP"], out)
	}
	t.Logf("%d passed", len(tests["PASS"]))
}
