package node

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
)

func TestCloudProblems(t *testing.T) {
	good := func(change func(*CloudConfig)) CloudConfig {
		c := DefaultCloud()
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		config CloudConfig
		keys   []string
	}{
		"none":             {DefaultCloud(), nil},
		"AWS":              {good(func(c *CloudConfig) { c.Region, c.Profile, c.Prefix = "eu-west-1", "edge", "prod-" }), nil},
		"DynamoDB Local":   {good(func(c *CloudConfig) { c.Region, c.Endpoint = "local", "http://127.0.0.1:8000" }), nil},
		"Alternator":       {good(func(c *CloudConfig) { c.Region, c.Endpoint = "x", "http://10.0.0.7:8000" }), nil},
		"in the clear":     {good(func(c *CloudConfig) { c.Region, c.Endpoint = "x", "http://example.com" }), []string{"cloud.endpoint"}},
		"a key in the URL": {good(func(c *CloudConfig) { c.Region, c.Endpoint = "x", "https://k:s@example.com" }), []string{"cloud.endpoint"}},
		"no URL":           {good(func(c *CloudConfig) { c.Region, c.Endpoint = "x", "example.com:8000" }), []string{"cloud.endpoint"}},
		"no region":        {good(func(c *CloudConfig) { c.Endpoint = "http://127.0.0.1:8000" }), []string{"cloud.region"}},
		"a prefix alone":   {good(func(c *CloudConfig) { c.Prefix = "prod-" }), []string{"cloud.region"}},
		"another's table":  {good(func(c *CloudConfig) { c.Region, c.SyncTable = "x", "cricket-teams" }), []string{"cloud.sync_table"}},
		"everything": {good(func(c *CloudConfig) {
			c.Endpoint, c.Region, c.Prefix, c.SyncTable, c.Offline, c.Transactions = "ftp://x", "a b", "a b", "x", "no", "maybe"
			c.Deadline, c.LeaseTTL, c.Poll.Tables, c.Poll.Live = 0, time.Second, 0, 0
			c.Budget.Megabytes, c.Budget.Entries, c.Budget.Age, c.Budget.ReplayMB, c.Budget.ReplayAge = 1, 1, 1, 0, -1
		}), []string{
			"cloud.budget.age", "cloud.budget.entries", "cloud.budget.megabytes", "cloud.budget.replay_age", "cloud.budget.replay_megabytes",
			"cloud.deadline", "cloud.endpoint", "cloud.lease_ttl", "cloud.offline", "cloud.poll.live", "cloud.poll.tables", "cloud.prefix",
			"cloud.region", "cloud.sync_table", "cloud.transactions",
		}},
		"more bytes than a number holds": {good(func(c *CloudConfig) {
			c.Region, c.Budget.Megabytes, c.Budget.Entries, c.Budget.ReplayMB = "x", 1<<43, 1<<43, 1<<43
		}), []string{"cloud.budget.entries", "cloud.budget.megabytes", "cloud.budget.replay_megabytes"}},
	} {
		var keys []string
		for _, p := range c.config.Problems([]store.TableSpec{{Name: "cricket-teams"}}) {
			keys = append(keys, p.Key)
		}
		slices.Sort(keys)
		if !slices.Equal(keys, c.keys) {
			t.Errorf("%s: %q, want %q", name, keys, c.keys)
		}
	}
}

func TestCloudChoices(t *testing.T) {
	c := DefaultCloud()
	if c.IsConfigured() || c.transactions() != nil {
		t.Error("the default is a cloud")
	}
	for text, want := range map[string]bool{"on": true, "off": false} {
		c.Transactions = text
		if got := c.transactions(); got == nil || *got != want {
			t.Errorf("transactions %s: %v", text, got)
		}
	}
	b := c.Budget.budget()
	if b.Bytes != 2<<30 || b.Entries != 5_000_000 || b.ReplayBytes != 256<<20 || b.Age != 14*24*time.Hour || b.ReplayAge != 72*time.Hour {
		t.Errorf("%+v", b)
	}
}
