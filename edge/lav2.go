package edge

import (
	"context"
	"encoding/json"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
)

type (
	// MigrateConfig is what the attributes of the old tables are called: cricket.migrate in the configuration. A list
	// that is empty is the default one.
	MigrateConfig = migrations.LAv2Names
	// LAv2Report is what the migration did, or would do.
	LAv2Report = migrations.LAv2Report
	// LAv2Counts are its counts.
	LAv2Counts = migrations.LAv2Counts
)

// MigrateNames are the names that the configuration has.
func (c Config) MigrateNames() MigrateConfig { return c.Cricket.Migrate }

// DefaultMigrateConfig are the names that are looked for where the configuration has none.
func DefaultMigrateConfig() MigrateConfig { return migrations.DefaultLAv2Names() }

// LAv2Options say what the migration may do.
type LAv2Options struct {
	Names   MigrateConfig
	Apply   bool // write; else only tell
	DropOld bool // drop the old tables after a complete run
}

// MigrateLAv2 carries the old tables of the database in dir over into those of the second version of Live Activities. A
// node that runs does it itself.
func MigrateLAv2(ctx context.Context, dir string, o LAv2Options, progress func(Progress)) (LAv2Report, error) {
	path, err := database(dir)
	if err != nil {
		return LAv2Report{}, err
	}
	s, err := store.Open(path, store.Options{LockTimeout: heldAfter, CompactAbove: -1})
	if fault.Is(err, fault.Locked) {
		return askMigration(ctx, dir, o, progress)
	}
	if err != nil {
		return LAv2Report{}, err
	}
	report, err := migrateLAv2(ctx, s, o, progress)
	if closing := s.Close(); err == nil {
		err = closing
	}
	return report, err
}

func askMigration(ctx context.Context, dir string, o LAv2Options, progress func(Progress)) (report LAv2Report, err error) {
	client, err := askNode(dir)
	if err != nil {
		return LAv2Report{}, err
	}
	names, err := json.Marshal(o.Names)
	if err != nil {
		return LAv2Report{}, err
	}
	err = client.MigrateLAv2(ctx, httpapi.MigrateAsk{Apply: o.Apply, DropOld: o.DropOld, Names: names}, progress, &report)
	return report, err
}

// migrateLAv2 migrates a store that this process holds. The new tables are made if this is a file of a version before;
// a dry run makes nothing.
func migrateLAv2(ctx context.Context, s *store.Store, o LAv2Options, progress func(Progress)) (LAv2Report, error) {
	if o.Apply {
		if err := migrations.Apply(ctx, s); err != nil {
			return LAv2Report{}, err
		}
	}
	run := migrations.LAv2Options{Apply: o.Apply, DropOld: o.DropOld}
	if progress != nil {
		run.Progress = func(table string, done, total int64) { progress(Progress{What: table, Done: done, Total: total}) }
	}
	return migrations.NewLAv2(s, o.Names).Run(ctx, run)
}

// MigrateLAv2 implements httpapi.Maintenance.
func (m *maintenance) MigrateLAv2(ctx context.Context, ask httpapi.MigrateAsk, progress func(Progress)) (any, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	defer m.busy.Unlock()
	o := LAv2Options{Apply: ask.Apply, DropOld: ask.DropOld}
	if len(ask.Names) > 0 {
		if err := json.Unmarshal(ask.Names, &o.Names); err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "validation", "names must map attribute names to the old ones")
		}
	}
	return migrateLAv2(ctx, m.store, o, progress)
}
