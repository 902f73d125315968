package edge

import (
	"context"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/replica/intent"
)

type (
	// CloudReport is what was found and done in the cloud.
	CloudReport = migrations.CloudReport
	// CloudTableReport is its part about one table.
	CloudTableReport = migrations.CloudTableReport
)

// CloudMigration says what may be done to the cloud's tables.
type CloudMigration struct {
	DryRun    bool // nothing
	Add       bool // what tables that are there lack
	NoStreams bool // for a server that has none
}

// lookAgain is how long a table that is being made is left alone.
const lookAgain = 2 * time.Second

// MigrateCloud makes the tables that the cloud of a configuration lacks, and tells how those that are there differ from
// what the applications declare. The progress counts tables in Done and Total.
func (c Config) MigrateCloud(ctx context.Context, o CloudMigration, log *slog.Logger, progress func(Progress)) (CloudReport, error) {
	if !c.Cloud.configured() {
		return CloudReport{}, fault.New(fault.Invalid, "no_cloud", "there is no cloud: set cloud.region, and cloud.endpoint if it is not AWS's")
	}
	for _, p := range c.Cloud.problems() {
		return CloudReport{}, fault.New(fault.Invalid, "bad_config", "%s: %s", p.Key, p.Text)
	}
	client, err := dynamo.New(ctx, dynamo.Config{
		Endpoint: c.Cloud.Endpoint, Region: c.Cloud.Region, Profile: c.Cloud.Profile, Prefix: c.Cloud.Prefix,
		Deadline: c.Cloud.Deadline, Log: log,
	})
	if err != nil {
		return CloudReport{}, err
	}
	defer client.Reset()
	tables := c.cloudTables()
	for i := range tables {
		tables[i].Stream = tables[i].Stream && !o.NoStreams
	}
	run := migrations.CloudOptions{
		DryRun: o.DryRun, Add: o.Add,
		Wait: func(ctx context.Context) error { return clock.Sleep(ctx, clock.Real(), lookAgain) },
	}
	if progress != nil {
		run.Progress = func(doing string, done, total int) {
			progress(Progress{What: doing, Done: int64(done), Total: int64(total)})
		}
	}
	return migrations.MigrateCloud(ctx, cloudTables{client}, tables, run)
}

// cloudTables are those of the applications and the replicator's own.
func (c *Config) cloudTables() []migrations.CloudTable {
	return append(migrations.CloudTables(), migrations.CloudTable{TableSpec: store.TableSpec{
		Name: c.Cloud.SyncTable, TTL: intent.SyncTTL,
		Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}},
	}})
}

// cloudTables has the client answer as migrations asks.
type cloudTables struct{ *dynamo.Client }

// Describe implements migrations.Cloud.
func (c cloudTables) Describe(ctx context.Context, table string) (s migrations.CloudState, ok bool, err error) {
	t, ok, err := c.Client.Describe(ctx, table)
	if err != nil || !ok {
		return s, false, err
	}
	s = migrations.CloudState{
		TableSpec: t.TableSpec, Status: t.Status, Building: t.Building, OnDemand: t.OnDemand, Stream: t.Stream,
	}
	if s.Status == migrations.StatusActive {
		s.TTL, err = c.DescribeExpiry(ctx, table)
	}
	return s, true, err
}
