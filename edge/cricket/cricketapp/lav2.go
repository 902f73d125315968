package cricketapp

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/touchline/touchline/edge/cricket/lav2"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// MigrateLAv2 migrates the old tables of the database in dir to the tables of Live Activities v2. If a node is
// running on it, the node does it.
func MigrateLAv2(ctx context.Context, dir string, o lav2.Options, progress func(admin.Progress)) (report lav2.Report, err error) {
	err = node.OnDatabase(dir, func(s *store.Store) (err error) {
		report, err = migrateLAv2(ctx, s, o, progress)
		return err
	}, func(c *admin.Client) error {
		return c.Command(ctx, pathMigrateLAv2, migrateAsk{o.Apply, o.DropOld}, progress, &report)
	})
	return report, err
}

// migrateLAv2 migrates a store opened by this process. With Apply it creates tables that a file of an earlier
// version lacks; a dry run creates nothing.
func migrateLAv2(ctx context.Context, s *store.Store, o lav2.Options, progress func(admin.Progress)) (lav2.Report, error) {
	if o.Apply {
		if err := schema().Apply(ctx, s); err != nil {
			return lav2.Report{}, err
		}
	}
	if progress != nil {
		o.Progress = func(table string, rows int64) { progress(admin.Progress{What: table, Done: rows}) }
	}
	return lav2.Run(ctx, s, o)
}

// pathMigrateLAv2 is the path of the command on the admin socket.
const pathMigrateLAv2 = "/" + name + "/migrate/la-v2"

// migrateAsk is the body of that command.
type migrateAsk struct {
	Apply   bool `json:"apply"`
	DropOld bool `json:"dropOld"`
}

// migrateLAv2 handles the command of the admin socket.
func (a *application) migrateLAv2(ctx context.Context, raw json.RawMessage, progress func(admin.Progress)) (any, error) {
	var ask migrateAsk
	if err := json.Unmarshal([]byte(cmp.Or(string(raw), "{}")), &ask); err != nil {
		return nil, fault.New(fault.Invalid, "validation", "the body is not the expected JSON object: %v", err)
	}
	done, err := a.host.Maintain()
	if err != nil {
		return nil, err
	}
	defer done()
	return migrateLAv2(ctx, a.host.Store, lav2.Options{Apply: ask.Apply, DropOld: ask.DropOld}, progress)
}
