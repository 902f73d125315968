package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket/lav2"
)

// A migration that is killed repeatedly, at any moment, ends with all rows written exactly once.
func TestMigrationKilled(t *testing.T) {
	subscriptions := int64(3000)
	if testing.Short() {
		subscriptions = 500
	}
	bin, dir := binary(t), t.TempDir()
	fillOldTable(t, bin, dir, int(subscriptions))
	var report lav2.Report
	kills := 0
	patience := 40 * time.Millisecond
	if testing.Short() {
		patience = max(patience, startUp(t, bin)*3/4) // killing a process before it starts tests nothing
	}
	for ; ; patience += max(10*time.Millisecond, patience/10) { // a busy machine takes seconds
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := exec.CommandContext(ctx, bin, "migrate", "la-v2", "--data-dir", dir, "--apply", "-o", "json")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		killed := ctx.Err() != nil
		cancel()
		if err == nil {
			if err := json.Unmarshal(out, &report); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			break
		}
		if !killed {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		kills++
	}
	t.Logf("killed %d times", kills)
	good := subscriptions - subscriptions/10
	n := report.Total
	if n.Read != subscriptions || n.Written+n.AlreadyThere != good || kills == 0 && n.Written != good ||
		n.Unreadable["no userId"] != subscriptions/10 {
		t.Errorf("after %d kills: %+v", kills, report)
	}
	if out, err := within(t, bin, "check", "--data-dir", dir).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// startUp returns how long the binary takes to start.
func startUp(t *testing.T, bin string) time.Duration {
	t.Helper()
	begun := time.Now()
	if out, err := within(t, bin, "version").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return time.Since(begun)
}

// fillOldTable creates the database in dir with an old table, in which every tenth row has no user.
func fillOldTable(t *testing.T, bin, dir string, n int) {
	t.Helper()
	e := startEndpoint(t, bin, "--data", filepath.Join(dir, "touchline.db"))
	e.ok("CreateTable", `{"TableName":"activity-subscriptions","BillingMode":"PAY_PER_REQUEST",
		"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`)
	for i := 0; i < n; i += 25 {
		puts := make([]string, 25)
		for j := range puts {
			user := fmt.Sprintf(`"userId":{"S":"user-%d"},`, i+j)
			if (i+j)%10 == 0 {
				user = ""
			}
			puts[j] = fmt.Sprintf(`{"PutRequest":{"Item":{"id":{"S":"%d"},%s"matchId":{"S":"71344"},"deviceId":{"S":"phone"},
				"status":{"S":"active"},"updateToken":{"S":"%064x"}}}}`, i+j, user, i+j)
		}
		e.ok("BatchWriteItem", `{"RequestItems":{"activity-subscriptions":[`+strings.Join(puts, ",")+`]}}`)
	}
	e.stop()
}
