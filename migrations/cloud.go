package migrations

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Cloud is what bringing the cloud's tables up needs of it. Names are without the prefix that they have there. An error of
// kind fault.Throttled passes by itself: too much is being made at once, or somebody else is at it.
type Cloud interface {
	// Describe reports how a table is; ok is false where there is none.
	Describe(ctx context.Context, table string) (t CloudState, ok bool, err error)
	// Create begins to make a table billed by the request, with all its indexes, without its expiry.
	Create(ctx context.Context, spec store.TableSpec, stream bool) error
	// AddIndex begins to make a global index of a table that is there.
	AddIndex(ctx context.Context, spec store.TableSpec, x store.IndexSpec) error
	// SetExpiry has items expire by an attribute.
	SetExpiry(ctx context.Context, table, attribute string) error
	// SetStream gives a table a stream of old and new images.
	SetStream(ctx context.Context, table string) error
}

// CloudState is a table as the cloud has it.
type CloudState struct {
	store.TableSpec          // name, keys, indexes, attribute of the expiry
	Status          string   // StatusActive when it can be used
	Building        []string // indexes that are being filled
	OnDemand        bool     // billed by the request
	Stream          string   // what is in it, StreamBoth for one; empty: there is none
}

// What the cloud calls its states.
const (
	StatusActive = "ACTIVE"
	StreamBoth   = "NEW_AND_OLD_IMAGES"
)

func (s *CloudState) settled() bool {
	return (s.Status == StatusActive || s.Status == "") && len(s.Building) == 0
}

// CloudTable is a table that the cloud is to have.
type CloudTable struct {
	store.TableSpec
	Stream bool // others follow its changes
}

// CloudTables are those of the tables that are in the cloud: all but what never leaves a node.
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

// CloudOptions say what may be done.
type CloudOptions struct {
	DryRun   bool                                // nothing: only tell
	Add      bool                                // also to tables that are there, what they lack
	Wait     func(ctx context.Context) error     // a little, before it is looked again
	Progress func(doing string, done, total int) // nil: nobody watches
}

// CloudReport is what was found and done.
type CloudReport struct {
	Cloud  string             `json:"cloud,omitempty"`  // where, in words
	Prefix string             `json:"prefix,omitempty"` // of every table's name there
	Tables []CloudTableReport `json:"tables"`
	DryRun bool               `json:"dryRun"`
	// Remaining are the differences that keep a node from working as it should, and the tables that are missing.
	Remaining int `json:"remaining"`
}

// CloudTableReport is about one table. State is "ok", "created", "missing", "being created" or "differs".
type CloudTableReport struct {
	Table       string            `json:"table"`
	State       string            `json:"state"`
	Differences []CloudDifference `json:"differences,omitempty"`
}

// CloudDifference is where a table is not as it is declared.
type CloudDifference struct {
	What string `json:"what"` // "partition key", "index by-c", "expiry", ...
	Have string `json:"have"`
	Want string `json:"want"`
	// Addable: it lacks something that can be added while it is used. Nothing is added to a table with other keys.
	Addable bool `json:"addable"`
	// Added: that was done.
	Added bool `json:"added"`
	// Harmless: a node works with it as it is.
	Harmless bool `json:"harmless"`
	// Fixed: it stays so as long as the table is there.
	Fixed bool `json:"fixed"`

	add func(ctx context.Context, cloud Cloud) error
}

// String is the difference for people.
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

// MigrateCloud brings the cloud's tables to what is declared: it makes those that are missing, tells where those that are
// there differ, and with CloudOptions.Add gives them the indexes, expiries and streams that they lack. Nothing that is there
// is ever changed or dropped. What was interrupted goes on when it is called again.
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

// begin has a table that is missing made. All are begun before any is waited for: DynamoDB makes them side by side.
func (r *cloudRun) begin(ctx context.Context, t *CloudTable, report *CloudTableReport) error {
	report.Table, report.State = t.Name, "ok"
	r.progress("%s: looking", t.Name)
	state, ok, err := r.describe(ctx, t.Name)
	switch {
	case err != nil:
		return err
	case ok && state.Status == "CREATING":
		report.State = "being created" // by a run that was interrupted, or by somebody else
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
		// Somebody else may make it at this moment, or an answer was lost.
		if _, there, looking := r.describe(ctx, t.Name); looking == nil && there {
			report.State = "being created"
			return nil
		}
		return err
	})
}

// build waits for a table, and adds the indexes and the stream that it lacks as far as that is wanted. Expiries come when
// all of that is done: DynamoDB Local makes no index any more once seven tables have one.
func (r *cloudRun) build(ctx context.Context, t *CloudTable, report *CloudTableReport) error {
	if report.State == "missing" || r.o.DryRun && report.State == "being created" {
		return nil
	}
	state, err := r.settle(ctx, t.Name)
	if err != nil {
		return err
	}
	report.Differences = compare(t, &state)
	return r.add(ctx, t, report, func(d *CloudDifference) bool { return d.What != whatExpiry })
}

// finish adds the expiry that a table lacks, and says how it is now.
func (r *cloudRun) finish(ctx context.Context, t *CloudTable, report *CloudTableReport) error {
	if err := r.add(ctx, t, report, func(d *CloudDifference) bool { return d.What == whatExpiry }); err != nil {
		return err
	}
	ours := isOurs(report) // what it lacked belongs to its making
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

// isOurs reports whether a table is made by this run, or was begun by one before.
func isOurs(report *CloudTableReport) bool {
	return report.State == "created" || report.State == "being created"
}

// add adds what a table lacks of those that are wanted now, if it is to be added at all.
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
		// One at a time: DynamoDB takes no second change while it makes one.
		if _, err := r.settle(ctx, t.Name); err != nil {
			return err
		}
		d.Added = true
	}
	return nil
}

// patience is how often in a row what passes by itself is tried again.
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

// settle waits until a table and its indexes are there. A dry run looks once.
func (r *cloudRun) settle(ctx context.Context, table string) (CloudState, error) {
	for {
		state, ok, err := r.describe(ctx, table)
		if err != nil {
			return CloudState{}, err
		}
		if !ok {
			return CloudState{}, fault.New(fault.Conflict, "cloud_table_gone", "the table %s was dropped while it was being checked", table)
		}
		if state.settled() || r.o.DryRun {
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

// count counts what keeps a node from working as it should.
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
