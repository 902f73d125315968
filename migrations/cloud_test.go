package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
)

// cloud is a cloud in memory that is slow, and fails when told to.
type cloud struct {
	tables map[string]*migrations.CloudState
	busy   map[string]int // number of descriptions until it is settled
	did    []string
	fail   map[string]error // of a call, once
}

func newCloud() *cloud {
	return &cloud{tables: map[string]*migrations.CloudState{}, busy: map[string]int{}, fail: map[string]error{}}
}

func (c *cloud) note(call string) error {
	if err := c.fail[call]; err != nil {
		delete(c.fail, call)
		return err
	}
	c.did = append(c.did, call)
	return nil
}

func (c *cloud) Describe(_ context.Context, table string) (migrations.CloudState, bool, error) {
	if err := c.fail["describe "+table]; err != nil {
		delete(c.fail, "describe "+table)
		return migrations.CloudState{}, false, err
	}
	t := c.tables[table]
	if t == nil {
		return migrations.CloudState{}, false, nil
	}
	if c.busy[table]--; c.busy[table] < 0 {
		t.Status, t.Building = migrations.StatusActive, nil
	}
	out := *t
	out.Indexes = slices.Clone(t.Indexes)
	return out, true, nil
}

func (c *cloud) Create(_ context.Context, spec store.TableSpec, stream bool) error {
	if err := c.note("create " + spec.Name); err != nil {
		return err
	}
	t := &migrations.CloudState{TableSpec: spec, Status: "CREATING", OnDemand: true}
	t.TTL = ""
	if stream {
		t.Stream = migrations.StreamBoth
	}
	c.tables[spec.Name], c.busy[spec.Name] = t, 2
	return nil
}

func (c *cloud) usable(table string) error {
	if t := c.tables[table]; t == nil || t.Status != migrations.StatusActive || len(t.Building) > 0 {
		return fmt.Errorf("%s is not to be changed now", table)
	}
	return nil
}

func (c *cloud) AddIndex(_ context.Context, spec store.TableSpec, x store.IndexSpec) error {
	if err := errors.Join(c.usable(spec.Name), c.note("index "+spec.Name+" "+x.Name)); err != nil {
		return err
	}
	t := c.tables[spec.Name]
	t.Indexes, t.Building, c.busy[spec.Name] = append(t.Indexes, x), []string{x.Name}, 2
	return nil
}

func (c *cloud) SetExpiry(_ context.Context, table, attribute string) error {
	if err := errors.Join(c.usable(table), c.note("expiry "+table)); err != nil {
		return err
	}
	c.tables[table].TTL = attribute
	return nil
}

func (c *cloud) SetStream(_ context.Context, table string) error {
	if err := errors.Join(c.usable(table), c.note("stream "+table)); err != nil {
		return err
	}
	c.tables[table].Stream = migrations.StreamBoth
	return nil
}

func key(name string) store.KeySpec {
	return store.KeySpec{Partition: store.KeyAttr{Name: name, Type: store.KeyString}}
}

// two returns tables as applications declare them.
func two() []migrations.CloudTable {
	return []migrations.CloudTable{
		{Stream: true, TableSpec: store.TableSpec{
			Name: "matches", Key: key("matchId"), TTL: "ttl",
			Indexes: []store.IndexSpec{
				{Name: "by-league", Key: key("league")},
				{Name: "by-team", Key: key("team"), Projection: store.ProjectInclude, Include: []string{"a", "b"}},
			},
		}},
		{TableSpec: store.TableSpec{Name: "locks", Key: key("lockKey"), Policy: store.PolicyLock}},
	}
}

func run(t *testing.T, c *cloud, o migrations.CloudOptions) (migrations.CloudReport, error) {
	t.Helper()
	waits := 0
	o.Wait = func(context.Context) error {
		if waits++; waits > 50 {
			return errors.New("it waits for ever")
		}
		return nil
	}
	c.did = nil
	return migrations.MigrateCloud(t.Context(), c, two(), o)
}

func must(t *testing.T, c *cloud, o migrations.CloudOptions) migrations.CloudReport {
	t.Helper()
	r, err := run(t, c, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func states(r *migrations.CloudReport) string {
	var out []string
	for _, t := range r.Tables {
		out = append(out, t.Table+" "+t.State)
	}
	return strings.Join(out, ", ")
}

func TestCloudFromNothing(t *testing.T) {
	c := newCloud()
	if r := must(t, c, migrations.CloudOptions{DryRun: true}); states(&r) != "matches missing, locks missing" || r.Remaining != 2 || len(c.did) > 0 {
		t.Errorf("dry: %+v, did %v", r, c.did)
	}
	var seen []string
	r := must(t, c, migrations.CloudOptions{Progress: func(doing string, _, _ int) { seen = append(seen, doing) }})
	if states(&r) != "matches created, locks created" || r.Remaining != 0 {
		t.Errorf("%+v", r)
	}
	if got := strings.Join(c.did, ", "); got != "create matches, create locks, expiry matches" {
		t.Errorf("did %s", got)
	}
	if !slices.Contains(seen, "matches: CREATING") {
		t.Errorf("shown %q", seen)
	}
	if r := must(t, c, migrations.CloudOptions{}); states(&r) != "matches ok, locks ok" || r.Remaining != 0 || len(c.did) > 0 {
		t.Errorf("again: %+v, did %v", r, c.did)
	}
}

// What a table lacks is reported, and only added if requested.
func TestCloudLacks(t *testing.T) {
	c := newCloud()
	must(t, c, migrations.CloudOptions{})
	m := c.tables["matches"]
	m.TTL, m.Stream, m.Indexes = "", "", nil
	for _, o := range []migrations.CloudOptions{{}, {DryRun: true}, {DryRun: true, Add: true}} {
		r := must(t, c, o)
		if states(&r) != "matches differs, locks ok" || r.Remaining != 4 || len(c.did) > 0 {
			t.Errorf("%+v: %+v, did %v", o, r, c.did)
		}
		for _, d := range r.Tables[0].Differences {
			if !d.Addable || d.Added {
				t.Errorf("%+v", d)
			}
		}
	}
	r := must(t, c, migrations.CloudOptions{Add: true})
	if r.Remaining != 0 || len(r.Tables[0].Differences) != 4 {
		t.Errorf("%+v", r)
	}
	if got := strings.Join(c.did, ", "); got != "index matches by-league, index matches by-team, stream matches, expiry matches" {
		t.Errorf("did %s", got)
	}
	if r := must(t, c, migrations.CloudOptions{}); states(&r) != "matches ok, locks ok" {
		t.Errorf("again: %+v", r)
	}
}

// A table with other keys belongs to somebody else: nothing is added to it, least of all TTL, which deletes.
func TestCloudLeavesOtherTables(t *testing.T) {
	c := newCloud()
	must(t, c, migrations.CloudOptions{})
	m := c.tables["matches"]
	m.Key.Partition.Name, m.TTL, m.Stream, m.Indexes = "id", "", "", nil
	r := must(t, c, migrations.CloudOptions{Add: true})
	if r.Remaining != 5 || len(c.did) > 0 {
		t.Errorf("%+v, did %v", r, c.did)
	}
	for i, d := range r.Tables[0].Differences {
		if d.Addable || d.Added || d.Fixed != (i == 0) {
			t.Errorf("%+v", d)
		}
	}
}

// Differences are reported and left as they are, even if additions are requested.
func TestCloudDiffers(t *testing.T) {
	tests := []struct {
		name      string
		change    func(matches, locks *migrations.CloudState)
		want      string // the one difference
		remaining int
	}{
		{"partition key", func(m, _ *migrations.CloudState) { m.Key.Partition.Name = "id" },
			"partition key: it is id (S), and should be matchId (S)", 1},
		{"type", func(m, _ *migrations.CloudState) { m.Key.Partition.Type = store.KeyNumber },
			"partition key: it is matchId (N), and should be matchId (S)", 1},
		{"sort key", func(m, _ *migrations.CloudState) { m.Key.Sort = store.KeyAttr{Name: "sk", Type: store.KeyString} },
			"sort key: it is sk (S), and should be none", 1},
		{"index key", func(m, _ *migrations.CloudState) { m.Indexes[0].Key.Partition.Name = "liga" },
			"index by-league, partition key: it is liga (S), and should be league (S)", 1},
		{"index with more in its key", func(m, _ *migrations.CloudState) {
			m.Indexes[0].Key.MorePartition[0] = store.KeyAttr{Name: "region", Type: store.KeyNumber}
		}, "index by-league, partition key: it is league (S), region (N), and should be league (S)", 1},
		{"index local", func(m, _ *migrations.CloudState) { m.Indexes[0].Local = true },
			"index by-league: it is local, and should be global", 1},
		{"projection", func(m, _ *migrations.CloudState) { m.Indexes[0].Projection = store.ProjectKeysOnly },
			"index by-league, projection: it is the keys alone, and should be all attributes", 1},
		{"included", func(m, _ *migrations.CloudState) { m.Indexes[1].Include = []string{"b", "c"} },
			"index by-team, projection: it is the keys and b, c, and should be the keys and a, b", 1},
		{"order of what is included", func(m, _ *migrations.CloudState) { m.Indexes[1].Include = []string{"b", "a"} }, "", 0},
		{"more than is wanted", func(m, _ *migrations.CloudState) { m.Indexes[1].Projection = store.ProjectAll },
			"index by-team, projection: it is all attributes, and should be the keys and a, b", 0},
		{"another index", func(m, _ *migrations.CloudState) { m.Indexes = append(m.Indexes, store.IndexSpec{Name: "x"}) },
			"index x: it is present, and should be absent: it costs write units, and no application reads it", 0},
		{"expiry", func(m, _ *migrations.CloudState) { m.TTL = "expires" }, "expiry (TTL): it is by expires, and should be by ttl", 1},
		{"expiry of locks", func(_, l *migrations.CloudState) { l.TTL = "expiresAt" }, "expiry (TTL): it is by expiresAt, and should be none", 1},
		{"stream", func(m, _ *migrations.CloudState) { m.Stream = "KEYS_ONLY" }, "stream: it is KEYS_ONLY, and should be NEW_AND_OLD_IMAGES", 1},
		{"a stream of locks", func(_, l *migrations.CloudState) { l.Stream = "KEYS_ONLY" }, "", 0},
		{"billing", func(m, _ *migrations.CloudState) { m.OnDemand = false },
			"billing: it is by provisioned units, and should be by the request: a node that comes back from being offline sends all at once", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCloud()
			must(t, c, migrations.CloudOptions{})
			tt.change(c.tables["matches"], c.tables["locks"])
			r := must(t, c, migrations.CloudOptions{Add: true})
			var got []string
			for _, table := range r.Tables {
				for _, d := range table.Differences {
					got = append(got, d.String())
					if d.Addable || d.Added {
						t.Errorf("%+v", d)
					}
				}
			}
			if strings.Join(got, "\n") != tt.want || r.Remaining != tt.remaining || len(c.did) > 0 {
				t.Errorf("%q, %d remain, did %v", got, r.Remaining, c.did)
			}
		})
	}
}

// An interrupted run is continued by the next one, which finishes what it had started without being asked to add.
func TestCloudInterrupted(t *testing.T) {
	c := newCloud()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := migrations.MigrateCloud(ctx, c, two(), migrations.CloudOptions{Wait: func(ctx context.Context) error {
		cancel()
		return ctx.Err()
	}})
	if !errors.Is(err, context.Canceled) || len(c.tables) != 2 {
		t.Fatalf("%v with %d tables", err, len(c.tables))
	}
	c.busy["matches"], c.busy["locks"] = 2, 2
	r := must(t, c, migrations.CloudOptions{})
	if states(&r) != "matches created, locks created" || r.Remaining != 0 || strings.Join(c.did, ", ") != "expiry matches" {
		t.Errorf("%+v, did %v", r, c.did)
	}
}

func TestCloudThrottled(t *testing.T) {
	c := newCloud()
	later := fault.New(fault.Throttled, "x", "too many")
	c.fail["create matches"], c.fail["create locks"], c.fail["expiry matches"] = later, later, later
	if r := must(t, c, migrations.CloudOptions{}); states(&r) != "matches created, locks created" {
		t.Errorf("%+v", r)
	}
	c.fail["describe locks"] = later
	if r := must(t, c, migrations.CloudOptions{}); states(&r) != "matches ok, locks ok" {
		t.Errorf("%+v", r)
	}
	c = newCloud()
	c.fail["create matches"] = fault.New(fault.Forbidden, "x", "no")
	if _, err := run(t, c, migrations.CloudOptions{}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("%v", err)
	}
}
