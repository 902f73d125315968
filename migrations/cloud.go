package migrations

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Cloud has the operations of the cloud that MigrateCloud needs. Names are without the cloud's prefix. An error of kind fault.Throttled
// is temporary: too much is being created at once, or somebody else is changing the table.
type Cloud interface {
	// Describe returns the state of a table; ok is false if there is none.
	Describe(ctx context.Context, table string) (t CloudState, ok bool, err error)
	// Create starts to create a table with on-demand billing and all its indexes, but without TTL.
	Create(ctx context.Context, spec store.TableSpec, stream bool) error
	// AddIndex starts to create a global index of an existing table.
	AddIndex(ctx context.Context, spec store.TableSpec, x store.IndexSpec) error
	// SetExpiry sets the TTL attribute of a table.
	SetExpiry(ctx context.Context, table, attribute string) error
	// SetStream adds a stream of old and new images to a table.
	SetStream(ctx context.Context, table string) error
}

// CloudState is the state of a table in the cloud.
type CloudState struct {
	store.TableSpec          // name, keys, indexes, TTL attribute
	Status          string   // StatusActive when the table can be used
	Building        []string // indexes being filled
	OnDemand        bool     // on-demand billing
	Stream          string   // its view type, StreamBoth for old and new images; empty: no stream
}

// DynamoDB's values of these states.
const (
	StatusActive = "ACTIVE"
	StreamBoth   = "NEW_AND_OLD_IMAGES"
)

func (s *CloudState) isReady() bool {
	return (s.Status == StatusActive || s.Status == "") && len(s.Building) == 0
}

// CloudTable is a table that the cloud should have.
type CloudTable struct {
	store.TableSpec
	Stream bool // other nodes follow its changes
}

// CloudTables returns the tables that belong in the cloud: all but those that never leave a node.
func (m Schema) CloudTables() []CloudTable {
	var out []CloudTable
	for _, spec := range m.Tables {
		if spec.Internal || spec.Policy == store.PolicyLocal || spec.Policy == "" {
			continue
		}
		out = append(out, CloudTable{TableSpec: spec, Stream: spec.Policy != store.PolicyLock})
	}
	return out
}

// CloudOptions configures MigrateCloud.
type CloudOptions struct {
	DryRun   bool                                // change nothing, only report
	Add      bool                                // also add what existing tables lack
	Wait     func(ctx context.Context) error     // pauses before the state is checked again
	Progress func(doing string, done, total int) // may be nil
}

// CloudReport describes what was found and done.
type CloudReport struct {
	Cloud  string             `json:"cloud,omitempty"`  // a description of the place
	Prefix string             `json:"prefix,omitempty"` // of every table name there
	Tables []CloudTableReport `json:"tables"`
	DryRun bool               `json:"dryRun"`
	// Remaining is the number of missing tables, and of differences that keep a node from working properly.
	Remaining int `json:"remaining"`
}

// CloudTableReport describes one table. State is "ok", "created", "missing", "being created" or "differs".
type CloudTableReport struct {
	Table       string            `json:"table"`
	State       string            `json:"state"`
	Differences []CloudDifference `json:"differences,omitempty"`
}

// CloudDifference is a difference between a table and its declaration.
type CloudDifference struct {
	What string `json:"what"` // "partition key", "index by-c", "expiry", ...
	Have string `json:"have"`
	Want string `json:"want"`
	// Addable: something is missing that can be added while the table is in use. Nothing is added to a table with other keys.
	Addable bool `json:"addable"`
	// Added: the missing part has been added.
	Added bool `json:"added"`
	// Harmless: a node works with the table as it is.
	Harmless bool `json:"harmless"`
	// Fixed: the difference stays as long as the table exists.
	Fixed bool `json:"fixed"`

	add func(ctx context.Context, cloud Cloud) error
}

// String returns the difference as a sentence.
func (d CloudDifference) String() string {
	return fmt.Sprintf("%s: it is %s, and should be %s", d.What, d.Have, d.Want)
}

// cloudRun is one run over all tables.
type cloudRun struct {
	cloud  Cloud
	o      CloudOptions
	tables []CloudTable
	report CloudReport
	done   int
}

// MigrateCloud brings the cloud's tables in line with their declarations: it creates missing tables, reports where existing ones differ,
// and with CloudOptions.Add adds the indexes, TTL and streams that they lack. It never changes or drops anything that exists. After an
// interruption, call it again to continue.
func MigrateCloud(ctx context.Context, cloud Cloud, tables []CloudTable, o CloudOptions) (CloudReport, error) {
	r := &cloudRun{cloud: cloud, o: o, tables: tables, report: CloudReport{DryRun: o.DryRun}}
	r.report.Tables = make([]CloudTableReport, len(tables))
	for i, step := range []func(context.Context, *CloudTable, *CloudTableReport) error{r.begin, r.build, r.finish} {
		r.done = i * len(tables)
		for j := range tables {
			if err := step(ctx, &tables[j], &r.report.Tables[j]); err != nil {
				return r.report, err
			}
			r.done++
		}
	}
	r.count()
	return r.report, nil
}

func (r *cloudRun) progress(format string, args ...any) {
	if r.o.Progress != nil {
		r.o.Progress(fmt.Sprintf(format, args...), r.done, 3*len(r.tables))
	}
}

// begin starts the creation of a missing table. All are started before any is awaited, because DynamoDB creates them in parallel.
func (r *cloudRun) begin(ctx context.Context, t *CloudTable, report *CloudTableReport) error {
	report.Table, report.State = t.Name, "ok"
	r.progress("%s: looking", t.Name)
	state, ok, err := r.describe(ctx, t.Name)
	switch {
	case err != nil:
		return err
	case ok && state.Status == "CREATING":
		report.State = "being created" // by an interrupted run, or by somebody else
		return nil
	case ok:
		return nil
	}
	report.State = "missing"
	if r.o.DryRun {
		return nil
	}
	return r.create(ctx, t, report)
}

func (r *cloudRun) create(ctx context.Context, t *CloudTable, report *CloudTableReport) error {
	return r.patiently(ctx, func() error {
		r.progress("%s: creating", t.Name)
		err := r.cloud.Create(ctx, t.TableSpec, t.Stream)
		if err == nil {
			report.State = "created"
			return nil
		}
		// Somebody else may be creating it at this moment, or an answer was lost.
		if _, there, looking := r.describe(ctx, t.Name); looking == nil && there {
			report.State = "being created"
			return nil
		}
		return err
	})
}

// build waits for a table, and adds missing indexes and the stream as requested. TTL is set after all of that, because DynamoDB Local
// creates no more indexes once seven tables have TTL.
func (r *cloudRun) build(ctx context.Context, t *CloudTable, report *CloudTableReport) error {
	if report.State == "missing" || r.o.DryRun && report.State == "being created" {
		return nil
	}
	state, err := r.waitReady(ctx, t.Name)
	if err != nil {
		return err
	}
	report.Differences = compare(t, &state)
	return r.add(ctx, t, report, func(d *CloudDifference) bool { return d.What != whatExpiry })
}

// finish sets a missing TTL and determines the final state.
func (r *cloudRun) finish(ctx context.Context, t *CloudTable, report *CloudTableReport) error {
	if err := r.add(ctx, t, report, func(d *CloudDifference) bool { return d.What == whatExpiry }); err != nil {
		return err
	}
	ours := isOurs(report) // what a new table lacked was part of creating it
	var left []CloudDifference
	for _, d := range report.Differences {
		if !ours || !d.Added {
			left = append(left, d)
		}
	}
	report.Differences = left
	switch {
	case len(left) > 0:
		report.State = "differs"
	case ours && !(r.o.DryRun && report.State == "being created"):
		report.State = "created"
	}
	return nil
}

// isOurs reports whether a table was created by this run, or by an earlier one that was interrupted.
func isOurs(report *CloudTableReport) bool {
	return report.State == "created" || report.State == "being created"
}

// add adds the missing parts selected by now, if they are to be added at all.
func (r *cloudRun) add(ctx context.Context, t *CloudTable, report *CloudTableReport, now func(*CloudDifference) bool) error {
	if r.o.DryRun || !r.o.Add && !isOurs(report) {
		return nil
	}
	for i := range report.Differences {
		d := &report.Differences[i]
		if !d.Addable || !now(d) {
			continue
		}
		if err := r.patiently(ctx, func() error {
			r.progress("%s: adding its %s", t.Name, d.What)
			return d.add(ctx, r.cloud)
		}); err != nil {
			return err
		}
		// One at a time: DynamoDB accepts no second change during the first.
		if _, err := r.waitReady(ctx, t.Name); err != nil {
			return err
		}
		d.Added = true
	}
	return nil
}

// patience is how often a temporary error is retried in a row.
const patience = 100

func (r *cloudRun) patiently(ctx context.Context, do func() error) error {
	for tries := 1; ; tries++ {
		err := do()
		if !fault.Is(err, fault.Throttled) || tries == patience {
			return err
		}
		if err := r.o.Wait(ctx); err != nil {
			return err
		}
	}
}

func (r *cloudRun) describe(ctx context.Context, table string) (state CloudState, ok bool, err error) {
	err = r.patiently(ctx, func() error {
		state, ok, err = r.cloud.Describe(ctx, table)
		return err
	})
	return state, ok, err
}

// waitReady waits until a table and its indexes are ready. A dry run does not wait.
func (r *cloudRun) waitReady(ctx context.Context, table string) (CloudState, error) {
	for {
		state, ok, err := r.describe(ctx, table)
		if err != nil {
			return CloudState{}, err
		}
		if !ok {
			return CloudState{}, fault.New(fault.Conflict, "cloud_table_gone", "the table %s was dropped while it was being checked", table)
		}
		if state.isReady() || r.o.DryRun {
			return state, nil
		}
		r.progress("%s: %s", table, doing(&state))
		if err := r.o.Wait(ctx); err != nil {
			return CloudState{}, err
		}
	}
}

func doing(s *CloudState) string {
	if s.Status != StatusActive {
		return s.Status
	}
	return fmt.Sprintf("filling %v", s.Building)
}

// count counts what keeps a node from working properly.
func (r *cloudRun) count() {
	for i := range r.report.Tables {
		t := &r.report.Tables[i]
		if t.State == "missing" || t.State == "being created" {
			r.report.Remaining++
		}
		for _, d := range t.Differences {
			if !d.Added && !d.Harmless {
				r.report.Remaining++
			}
		}
	}
}
