package main

import (
	"testing"

	"github.com/touchline/touchline/edge"
)

// report is a report with one of everything.
func report() *edge.CloudReport {
	return &edge.CloudReport{Cloud: "eu-west-1 (https://x)", Prefix: "p-", Remaining: 4, Tables: []edge.CloudTableReport{
		{Table: "a", State: "created"}, {Table: "b", State: "ok"}, {Table: "c", State: "missing"},
		{Table: "d", State: "differs", Differences: []edge.CloudDifference{
			{What: "sort key", Have: "none", Want: "x (S)", Fixed: true},
			{What: "stream", Have: "KEYS_ONLY", Want: "both"},
			{What: "index y", Have: "present", Want: "absent", Harmless: true},
			{What: "expiry (TTL)", Have: "none", Want: "by ttl", Addable: true},
			{What: "index x", Have: "missing", Want: "global", Addable: true, Added: true},
		}}, {}, // a table that a failed run did not reach
	}}
}

func TestCloudText(t *testing.T) {
	const head = "the cloud eu-west-1 (https://x), table name prefix p-\na: created\n"
	const differs = `d: differs
  sort key: it is none, and should be x (S) (this cannot be changed while the table exists)
  stream: it is KEYS_ONLY, and should be both (not changed here: it may not be this node's; change it in the cloud)
  index y: it is present, and should be absent (a node works with it as it is)
  expiry (TTL): it is none, and should be by ttl`
	for _, tt := range []struct {
		name  string
		o     edge.CloudMigration
		dry   bool
		whole bool
		want  string
	}{
		{"whole", edge.CloudMigration{}, false, true,
			head + "b: ok\nc: missing\n" + differs + "\n  index x: added: global\n1 of these can be added: use --yes to add them\n"},
		{"dry", edge.CloudMigration{DryRun: true, Add: true}, true, true,
			head + "b: ok\nc: missing, would be created\n" + differs + " (would be added)\n  index x: added: global\nnothing was done: this was a dry run\n"},
		{"failed", edge.CloudMigration{}, false, false, head + "c: missing\n" + differs + "\n  index x: added: global\n"},
	} {
		r := report()
		r.DryRun = tt.dry
		if got := cloudText(r, tt.o, tt.whole); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.name, got, tt.want)
		}
		if !didAnything(r) {
			t.Errorf("%s: nothing done", tt.name)
		}
	}
	if didAnything(&edge.CloudReport{Tables: []edge.CloudTableReport{{Table: "a", State: "ok"}, {Table: "b", State: "missing"}}}) {
		t.Error("looking is no doing")
	}
}
