package edge

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/replica/intent"
)

type (
	// CloudReport is what a migration found and did in the cloud.
	CloudReport = migrations.CloudReport
	// CloudTableReport is the report about one table.
	CloudTableReport = migrations.CloudTableReport
	// CloudDifference is a difference between a table and its declaration.
	CloudDifference = migrations.CloudDifference
)

// CloudMigration configures what a migration may do to the cloud's tables.
type CloudMigration struct {
	DryRun    bool // change nothing
	Add       bool // add what existing tables lack
	NoStreams bool // require no streams, for a server without them
	// Limit is the total time limit; 0: defaultMigration.
	Limit time.Duration
}

const (
	// lookAgain is how often a table under construction is checked.
	lookAgain = 2 * time.Second
	// tellEvery is how often the log repeats what the migration is waiting for.
	tellEvery = time.Minute
	// defaultMigration is enough to create many tables. A large index takes longer, and is built without us.
	defaultMigration = time.Hour
)

// MigrateCloud creates tables that the configured cloud lacks, and reports how existing ones differ from what the applications declare.
// The progress counts tables in Done and Total.
//
// If DynamoDB has not finished within the limit, the error is of kind fault.Unavailable. The work continues there, and the next run
// does the rest.
func (c Config) MigrateCloud(ctx context.Context, o CloudMigration, log *slog.Logger, progress func(Progress)) (CloudReport, error) {
	if !c.Cloud.IsConfigured() {
		return CloudReport{}, fault.New(fault.Invalid, "no_cloud", "no cloud is configured: set cloud.region, and cloud.endpoint if it is not AWS's")
	}
	for _, p := range c.Problems() { // serve reports the others
		if p.Key == "log.format" || strings.HasPrefix(p.Key, "cloud.") {
			return CloudReport{}, fault.New(fault.Invalid, "bad_config", "%s: %s", p.Key, p.Text)
		}
	}
	client, err := c.Cloud.Client(ctx, log)
	if err != nil {
		return CloudReport{}, err
	}
	defer client.Reset()
	tables := c.cloudTables()
	for i := range tables {
		tables[i].Stream = tables[i].Stream && !o.NoStreams
	}
	if o.Limit <= 0 {
		o.Limit = defaultMigration
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Limit, errSlowCloud)
	defer cancel()
	w := watching{log: log, shown: progress, clock: clock.Real()}
	r, err := migrations.MigrateCloud(ctx, cloudTables{client}, tables, migrations.CloudOptions{
		DryRun: o.DryRun, Add: o.Add, Progress: w.showProgress,
		Wait: func(ctx context.Context) error { return clock.Sleep(ctx, clock.Real(), lookAgain) },
	})
	r.Cloud, r.Prefix = c.Cloud.Name(client), c.Cloud.Prefix
	if err != nil && errors.Is(context.Cause(ctx), errSlowCloud) {
		err = fault.Wrap(err, fault.Unavailable, "cloud_slow", "the cloud had not finished after %s: %s for %s. "+
			"Work already started continues there, and the next run does the rest", o.Limit, w.doing, w.clock.Now().Sub(w.since).Round(time.Second))
	}
	return r, err
}

var errSlowCloud = errors.New("the time limit has passed")

// watching tracks the progress of a migration, for the log and the error.
type watching struct {
	log         *slog.Logger
	shown       func(Progress) // may be nil
	clock       clock.Clock
	doing       string
	since, told time.Time // start of doing, and of its latest log line
}

func (w *watching) showProgress(doing string, done, total int) {
	now := w.clock.Now()
	if doing != w.doing {
		w.doing, w.since, w.told = doing, now, now
	} else if now.Sub(w.told) >= tellEvery {
		w.told = now
		w.log.Warn("the cloud is slow", "for", doing, "since", now.Sub(w.since).Round(time.Second), "done", done, "of", total)
	}
	if w.shown != nil {
		w.shown(Progress{What: doing, Done: int64(done), Total: int64(total)})
	}
}

// cloudTables returns the tables of the applications and the replicator.
func (c *Config) cloudTables() []migrations.CloudTable {
	return append(node.Schema(c.running()).CloudTables(), migrations.CloudTable{TableSpec: store.TableSpec{
		Name: c.Cloud.SyncTable, TTL: intent.SyncTTL,
		Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}},
	}})
}

// cloudTables implements migrations.Cloud with the client.
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
