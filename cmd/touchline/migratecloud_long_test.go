//go:build long

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/testrig/faultproxy"
)

// cloudRig is a DynamoDB Local behind a proxy, and their environment.
type cloudRig struct {
	*ddblocal.Server
	t    *testing.T
	bin  string
	door *faultproxy.Proxy
	dir  string
}

func newCloudRig(t *testing.T) *cloudRig {
	t.Helper()
	r := &cloudRig{Server: ddblocal.Start(t), t: t, bin: binary(t), dir: t.TempDir()}
	r.door = faultproxy.Start(t, r.Addr, 1)
	return r
}

func (r *cloudRig) command(args ...string) *exec.Cmd {
	cmd := within(r.t, r.bin, args...)
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=node", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=",
		"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "HTTP_PROXY=",
		"TOUCHLINE_CLOUD__REGION=us-east-1", "TOUCHLINE_CLOUD__PREFIX=p-", "TOUCHLINE_CLOUD__ENDPOINT="+r.door.URL())
	return cmd
}

// migrate runs the command and returns its report and its exit code.
func (r *cloudRig) migrate(args ...string) (edge.CloudReport, int) {
	r.t.Helper()
	cmd := r.command(append([]string{"migrate", "--cloud", "-o", "json", "--limit", "3m"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	var report edge.CloudReport
	if err := json.Unmarshal(out, &report); err != nil {
		r.t.Fatalf("%v in %q; %s", err, out, stderr.String())
	}
	return report, cmd.ProcessState.ExitCode()
}

func (r *cloudRig) do(operation, body string) string {
	r.t.Helper()
	out, err := r.Do(r.t.Context(), operation, []byte(body))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(out)
}

func states(report *edge.CloudReport) map[string]int {
	out := map[string]int{}
	for _, t := range report.Tables {
		out[t.State]++
	}
	return out
}

// From an empty cloud to a usable one, and then every kind of difference.
func TestMigrateCloud(t *testing.T) {
	r := newCloudRig(t)
	r.do("CreateTable", `{"TableName":"p-cricket-teams","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`)
	r.do("CreateTable", `{"TableName":"p-cricket-fixtures","KeySchema":[{"AttributeName":"matchId","KeyType":"HASH"}],
		"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5},
		"AttributeDefinitions":[{"AttributeName":"matchId","AttributeType":"S"}]}`)

	report, code := r.migrate("--dry-run")
	n := len(report.Tables)
	if s := states(&report); code != 1 || s["missing"] != n-2 || s["differs"] != 2 || n < 10 {
		t.Errorf("dry: exit %d, %v", code, s)
	}
	if out := r.do("ListTables", `{}`); strings.Count(out, "p-") != 2 {
		t.Errorf("a dry run has made %s", out)
	}

	report, code = r.migrate("--yes")
	if s := states(&report); code != 1 || s["created"] != n-2 || s["differs"] != 2 || report.Remaining != 2 {
		t.Errorf("exit %d, %+v", code, report)
	}
	report, code = r.migrate()
	if code != 1 || report.Remaining != 2 {
		t.Errorf("again: exit %d, %+v", code, report)
	}
	for _, table := range report.Tables {
		for _, d := range table.Differences {
			switch text := table.Table + ": " + d.String(); {
			case d.Harmless:
			case text == "cricket-teams: partition key: it is id (S), and should be teamId (S)":
			case text == "cricket-teams: stream: it is none, and should be NEW_AND_OLD_IMAGES": // not added to what is not ours
			default:
				t.Error(text)
			}
		}
	}
	if out := r.do("DescribeTable", `{"TableName":"p-cricket-fixtures"}`); !strings.Contains(out, "leagueCode-startTime-index") ||
		!strings.Contains(out, "NEW_AND_OLD_IMAGES") {
		t.Errorf("what was lacking is not there: %s", out)
	}
	if out := r.do("DescribeTimeToLive", `{"TableName":"p-touchline-sync"}`); !strings.Contains(out, `"AttributeName":"ttl"`) {
		t.Errorf("touchline-sync: %s", out)
	}

	// Nothing is added to an existing table without --yes.
	r.do("UpdateTable", `{"TableName":"p-cricket-leagues","StreamSpecification":{"StreamEnabled":false}}`)
	for i, add := range [][]string{nil, {"--yes"}} {
		if report, _ = r.migrate(add...); report.Remaining != 3-i {
			t.Errorf("without a stream, %v: %+v", add, report)
		}
	}

	cmd := r.command("migrate", "--cloud")
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "cricket-teams: differs\n  partition key: it is id (S), and should be teamId (S) "+
		"(this cannot be changed while the table exists)\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A run that is killed at any moment is completed by the next ones.
func TestMigrateCloudKilled(t *testing.T) {
	r := newCloudRig(t)
	r.door.Set(faultproxy.Conditions{Fault: faultproxy.Slow, Delay: 10 * time.Millisecond})
	for life := range 6 {
		cmd := r.command("migrate", "--cloud")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(100*time.Millisecond + time.Duration(life)*150*time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	r.door.Set(faultproxy.Conditions{})
	if report, code := r.migrate("--yes"); code != 0 || report.Remaining != 0 {
		t.Errorf("exit %d, %+v", code, report)
	}
	report, code := r.migrate()
	if s := states(&report); code != 0 || s["ok"] != len(report.Tables) {
		t.Errorf("exit %d, %v", code, s)
	}
}
