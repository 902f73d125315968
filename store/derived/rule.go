package derived

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Rule says how rows of one kind are derived. They are derived unit by unit: a unit is a game, or a year.
type Rule struct {
	// Name says what is derived, for people: "standings". It is unique in the application.
	Name string
	// Rows is the table with the derived rows. It has the facts too, unless they are in News.
	Rows table.Handle
	// Units names the units whose rows the records may change; for nil records, all units.
	Units func(tx *store.Tx, records []store.Record) ([]string, error)
	// Sources lists what must have been read whole before a unit is derived.
	Sources func(tx *store.Tx, unit string) ([]Source, error)
	// Read computes the rows of a unit, without writing.
	Read func(tx *store.Tx, unit string) (Unit, error)

	// Busy reports whether the application itself is deriving a unit now, so that the node leaves it alone. Its end is a record that concerns
	// the unit. nil: it never does.
	Busy func(tx *store.Tx, unit string) (bool, error)

	// News names units whose facts have changed outside of the store. nil: all facts are rows of the table.
	News *News

	known memory
}

// Source is what must have been read whole from the cloud: a partition, or a whole table. Without a table it is something else that counting
// waits for, such as a write that has not reached the cloud.
type Source struct {
	Table     string
	Partition attr.Value // absent: the whole table
	After     uint64     // number of the latest read that may have been too early (app.Sync)
	What      string     // for people: "the predictions of all users"
}

// Unit is the derived rows of one unit.
type Unit struct {
	Rows []Row
	// Checks are conditions on the facts, judged in the transaction of each write. At most 45.
	Checks []store.WriteItem
	// Held says why nothing of the unit may be written, such as a fact that cannot be read. Empty: nothing stands in the way.
	Held []string
	// Unread says, in sentences, which facts cannot be decoded: "Counting waits for ...". Unless it is empty, nothing of the unit is
	// written, and nobody can have it recounted.
	Unread []string
	// Shared says that another program has counted some of the facts: only rows with a signature are this program's own.
	Shared bool
}

// Outcome is what became of a unit.
type Outcome struct {
	Written int      // rows
	Others  []Row    // rows that are not as the facts say, and stay: this program cannot prove that it wrote them
	Held    []string // why nothing was written, if something should have been
	Unread  []string // what the unit waits for, because facts cannot be decoded
}

// perBatch is the most rows in one transaction.
const perBatch = 45

// SettleUnit writes those rows of a unit that are this program's own and not as the facts say. Each transaction begins from the rows as they
// are, so that repeating SettleUnit after a crash gives the same rows.
func (r *Rule) SettleUnit(ctx context.Context, s *store.Store, unit string) (Outcome, error) {
	return settleUnit(ctx, s, r, unit, r.split)
}

// SettleIdle is SettleUnit, but leaves alone a unit that the application is deriving itself.
func (r *Rule) SettleIdle(ctx context.Context, s *store.Store, unit string) (Outcome, error) {
	return settleUnit(ctx, s, r, unit, func(tx *store.Tx, unit string) (split, error) {
		if r.Busy == nil {
			return r.split(tx, unit)
		}
		if busy, err := r.Busy(tx, unit); busy || err != nil {
			return split{}, err
		}
		return r.split(tx, unit)
	})
}

func settleUnit(ctx context.Context, s *store.Store, r *Rule, unit string, read func(tx *store.Tx, unit string) (split, error)) (out Outcome, err error) {
	for {
		var due split
		if err := s.View(ctx, func(tx *store.Tx) (err error) {
			due, err = read(tx, unit)
			return err
		}); err != nil || len(due.own) == 0 {
			return Outcome{out.Written, due.others, due.held, due.unread}, err
		}
		if err := s.Update(ctx, func(tx *store.Tx) (err error) {
			if due, err = read(tx, unit); err != nil {
				return err
			}
			due.own = due.own[:min(len(due.own), perBatch)]
			return r.commit(tx, due.own, due.checks)
		}); err != nil {
			return out, err
		}
		if out.Written += len(due.own); out.Written > 2*due.rows {
			return out, fmt.Errorf("%s of %s do not come to rest: a row that was written still differs", r.Name, unit)
		}
	}
}

// SettleIn writes, in a transaction, those rows of a unit that are this program's own and not as the facts say.
func (r *Rule) SettleIn(tx *store.Tx, unit string) error {
	due, err := r.split(tx, unit)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(due.own, perBatch) {
		if err := r.commit(tx, some, due.checks); err != nil {
			return err
		}
	}
	return nil
}

// split is the rows of a unit that are not as the facts say.
type split struct {
	rows        int // of the unit
	own, others []Row
	checks      []store.WriteItem
	held        []string
	unread      []string
}

func (r *Rule) split(tx *store.Tx, unit string) (out split, err error) {
	u, err := r.Read(tx, unit)
	if err != nil {
		return out, err
	}
	if len(u.Unread) > 0 {
		return split{unread: u.Unread}, nil
	}
	out.rows, out.checks = len(u.Rows), u.Checks
	for i := range u.Rows {
		row := &u.Rows[i]
		switch {
		case !row.differs():
			if !u.Shared && len(u.Held) == 0 {
				r.known.learn(row)
			}
		case row.Was == nil || row.Blank || row.isSigned() || !u.Shared && r.known.proves(row):
			out.own = append(out.own, *row)
		default:
			out.others = append(out.others, *row)
		}
	}
	if len(u.Held) > 0 && len(out.own)+len(out.others) > 0 {
		return split{held: u.Held}, nil
	}
	return out, nil
}

// commit writes rows. Without checks each is a write of its own: rows do not depend on each other.
func (r *Rule) commit(tx *store.Tx, rows []Row, checks []store.WriteItem) error {
	writes := append([]store.WriteItem(nil), checks...)
	for i := range rows {
		w := rows[i].write(r.Rows)
		if len(checks) > 0 {
			writes = append(writes, w)
			continue
		}
		if err := table.Commit(tx, w); err != nil {
			return err
		}
	}
	if len(rows) == 0 || len(checks) == 0 {
		return nil
	}
	return table.Commit(tx, writes...)
}

// Differences returns the rows of a unit that SettleUnit would leave as they are.
func (r *Rule) Differences(tx *store.Tx, unit string) ([]Row, error) {
	due, err := r.split(tx, unit)
	return due.others, err
}

// Fingerprint identifies differences, for a person who has seen them.
func Fingerprint(differences []Row) string {
	h := sha256.New()
	for i := range differences {
		r := &differences[i]
		for _, it := range []attr.Item{r.Key, r.Was, r.After} {
			_, _ = h.Write(attr.AppendJSON(nil, it))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// errSeenOther says that rows have changed since a person saw them.
func errSeenOther() error {
	return fault.New(fault.Conflict, "recount_changed", "The rows have changed since this list was made: look at the differences again.")
}

// Adopt writes those differences of a unit that a person has seen, which have the given fingerprint. From then on the rows are this
// program's own. It returns how many it wrote.
func (r *Rule) Adopt(ctx context.Context, s *store.Store, unit, seen string) (written int, err error) {
	err = s.Update(ctx, func(tx *store.Tx) error {
		due, err := r.split(tx, unit)
		if err != nil {
			return err
		}
		if Fingerprint(due.others) != seen {
			return errSeenOther()
		}
		for written < len(due.others) {
			some := due.others[written:min(len(due.others), written+perBatch)]
			if err := r.commit(tx, some, due.checks); err != nil {
				return err
			}
			written += len(some)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return written, nil
}
