package edge

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// The node's policy in docs/cloud.md names exactly the tables in the cloud.
func TestNodePolicyNamesTheTables(t *testing.T) {
	page, err := os.ReadFile("../docs/cloud.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- node policy -->")
	policy, _, _ := strings.Cut(rest, "\n```\n")
	var got, want []string
	for line := range strings.Lines(policy) {
		if _, name, ok := strings.Cut(line, "123456789012:table/prod-"); ok {
			got = append(got, strings.TrimRight(name, "\",\n"))
		}
	}
	c := DefaultConfig()
	for _, table := range c.cloudTables() {
		want = append(want, table.Name)
		if table.Policy == store.PolicyLocal || table.Internal {
			t.Errorf("%s is in the cloud", table.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the policy names\n%q\nand in the cloud are\n%q", got, want)
	}
}

func TestMigrateCloudRefuses(t *testing.T) {
	c := DefaultConfig()
	if _, err := c.MigrateCloud(t.Context(), CloudMigration{}, nil, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("no cloud: %v", err)
	}
	c.Cloud.Region, c.Cloud.Endpoint = "eu-west-1", "x"
	if _, err := c.MigrateCloud(t.Context(), CloudMigration{}, nil, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("no URL: %v", err)
	}
	c.Cloud.Endpoint, c.Log.Format = "http://127.0.0.1:1", "xml"
	if _, err := c.MigrateCloud(t.Context(), CloudMigration{}, nil, nil); err == nil || !strings.Contains(err.Error(), "log.format: must be auto, text or json") {
		t.Errorf("no format: %v", err)
	}
}

// A table that never becomes ready is waited for until the limit, and the error names it.
func TestMigrateCloudGivesUp(t *testing.T) {
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		fmt.Fprint(w, `{"Table":{"TableStatus":"CREATING"}}`)
	}))
	defer cloud.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	c := DefaultConfig()
	c.Cloud.Region, c.Cloud.Endpoint = "eu-west-1", cloud.URL
	_, err := c.MigrateCloud(t.Context(), CloudMigration{Limit: time.Second}, slog.New(slog.DiscardHandler), nil)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), ": CREATING for ") {
		t.Errorf("%v", err)
	}
}
