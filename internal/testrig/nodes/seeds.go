package nodes

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Seeds are rows that another program has written, by table: items as DynamoDB JSON, one a line.
type Seeds map[string]string

// items returns the rows of a table.
func (s Seeds) items(t *testing.T, table string) (all []attr.Item) {
	t.Helper()
	for line := range strings.Lines(s[table]) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		it, err := attr.ParseJSON([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, it)
	}
	return all
}

// Keep starts two nodes from a cloud with the seeds, in a bubble, lets 20 minutes pass, and fails the test if a row of the seeds was
// deleted or changed in the cloud meanwhile.
func Keep(t *testing.T, o Options, seeds Seeds) *Fleet {
	t.Helper()
	o.Fill = func(cloud *simcloud.Cloud) {
		original := simcloud.Foreign{Cloud: cloud, Name: "original"}
		for table := range seeds {
			for _, it := range seeds.items(t, table) {
				if err := original.Put(table, it); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	f := Two(t, o)
	f.Pass(20 * time.Minute)
	f.Kept(seeds)
	return f
}

// Kept fails the test if a row of the seeds was deleted or changed in the cloud by a node. The cloud's log shows what was so for a moment
// only.
func (f *Fleet) Kept(seeds Seeds) {
	f.T.Helper()
	for _, e := range f.Cloud.Log(0) {
		if _, ok := seeds[e.Table]; !ok || e.By == "original" || e.Old == nil {
			continue
		}
		was, _ := intent.Split(e.Old)
		is, _ := intent.Split(e.New)
		for _, it := range seeds.items(f.T, e.Table) {
			if attr.EqualItems(it, was) && !attr.EqualItems(is, was) {
				f.T.Errorf("%s %s %s: %s, was %s", e.By, e.Table, attr.AppendJSON(nil, e.Key), attr.AppendJSON(nil, is), attr.AppendJSON(nil, was))
			}
		}
	}
}
