package replica

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Status describes how far the node and the cloud are in sync at one instant.
type Status struct {
	At time.Time `json:"at"` // by the node's clock
	// State is in_step, behind (writes wait), offline (the cloud cannot be reached), or stopped (a person must act: a clone,
	// credentials, a table).
	State  string    `json:"state"`
	Since  time.Time `json:"since,omitzero"`   // of behind, offline and stopped; for behind it is Oldest
	Reason string    `json:"reason,omitempty"` // of stopped, with the remedy; of in_step and behind: that the line is poor
	flow.LinkState

	Waiting    int64   `json:"waiting"`    // writes that the cloud does not have yet
	LagSeconds float64 `json:"lagSeconds"` // age of the oldest of them; 0: none waits, or unknown (Oldest)
	// Oldest is when the oldest of them was written: everything written since would be lost with this machine. Zero: none waits,
	// or unknown, since writes made before the machine knew the time are left out.
	Oldest     time.Time `json:"unsyncedSince,omitzero"`
	Unanswered int64     `json:"unanswered"` // batches sent whose outcome is unknown, as far as the workers have read
	Unkept     int64     `json:"-"`          // batches whose answers cannot be stored here; that is retried
	Doubtful   int64     `json:"doubtful"`   // entries not shown because their condition fails on what precedes them

	Tables    []TableStatus    `json:"tables"`              // by name; only those with something to report
	Workers   []WorkerStatus   `json:"lanes"`               // only those with something to do
	Feed      []feed.Status    `json:"feed"`                // one per rule
	SendsOnly []string         `json:"sendsOnly,omitempty"` // tables that no rule reads: what others write there does not arrive here
	Refused   []feed.Refusal   `json:"-"`                   // reads on which requests depend and that the cloud has refused for too long
	Conflicts conflict.Status  `json:"conflicts"`
	Replay    outbox.LogSums   `json:"replayLog"`
	Budget    flow.BudgetState `json:"budget"`
	Node      identity.Status  `json:"node"`
	Usage     remote.Usage     `json:"usage"`       // since the process started
	Skew      float64          `json:"skewSeconds"` // the cloud's clock minus ours
	Alarms    []string         `json:"alarms"`      // in plain words, for an operator

	Standstill []string `json:"-"` // those of them that say what does not move although the cloud can be reached
}

// TableStatus describes the waiting writes of one table.
type TableStatus struct {
	Table   string             `json:"table"`
	Waiting int64              `json:"waiting"`
	Bytes   int64              `json:"-"`
	Behind  int64              `json:"-"`                 // of a stopped table: writes that wait for it, transactions that begin in another table included
	Stopped *flow.StoppedTable `json:"stopped,omitempty"` // nil: not stopped
	Stands  time.Time          `json:"-"`                 // since when writes have waited and none was sent, if that is too long; zero: it is not
	flow.Pace
}

// HeldUpBy says briefly what holds up the table's writes; "": nothing.
func (t *TableStatus) HeldUpBy() string {
	switch {
	case t.Stopped != nil:
		return t.Stopped.Why
	case t.Pace.Rate > 0:
		return fmt.Sprintf("slowed down by the cloud to %.0f a second", max(t.Pace.Rate, 1))
	}
	return ""
}

// WorkerStatus describes one worker.
type WorkerStatus struct {
	Worker int          `json:"lane"`
	Busy   bool         `json:"busy"`   // one of its requests is on its way
	Parked []ParkStatus `json:"parked"` // what waits while the worker goes on, oldest first, at most maxParks
}

// ParkStatus describes a batch that is parked while its worker goes on.
type ParkStatus struct {
	WriteID string          `json:"writeId"`
	Table   string          `json:"table"`
	Key     json.RawMessage `json:"key,omitempty"` // of its first item, as DynamoDB JSON; nil: it has just left the outbox
	Why     string          `json:"why"`
	Until   time.Time       `json:"until,omitzero"` // zero: until somebody decides
	Behind  int             `json:"behind"`         // batches that wait behind it on its items

	tables []string // all of its tables
}

// Words says in plain words why the batch waits. Reasons that are plain words already are returned unchanged.
func (p *ParkStatus) Words() string {
	switch p.Why {
	case "hold":
		return "a late copy of a request may still create the item again: it is deleted once no copy can arrive"
	case "events":
		return "the events that belong to it are sent first"
	case "count guard":
		return "others write the item faster than a full replacement can be sent"
	case "yields":
		return "another node's full replacement of the item goes first, because other writes kept overtaking it"
	case "replay":
		return "the cloud was restored: all nodes send what it lost before this is judged"
	case "table":
		return "its table is missing, or this node may not write to it"
	case "transactions":
		return "the cloud has no transactions, and this write needs one"
	default:
		return p.Why
	}
}

// maxParks bounds the list of a worker.
const maxParks = 100

// Status returns the present status. It reads counters and the first batches of each worker, so its cost does not depend on the
// length of the queue.
func (r *Replica) Status(ctx context.Context) (Status, error) {
	st := Status{
		At: r.clock.Wall(), LinkState: r.shownLink(), Skew: r.cloud.Skew().Seconds(), Usage: r.cloud.Usage(), Feed: r.feed.Status(),
		Node: r.identity.Status(), SendsOnly: r.sendsOnly(), Refused: r.feed.Refusals(),
	}
	err := r.store.View(ctx, func(tx *store.Tx) error { return r.readStatus(tx, &st) })
	st.deriveAlarms(clock.WallAt(r.clock, r.made))
	return st, err
}

// shownLink returns the state of the connection with times for people.
func (r *Replica) shownLink() flow.LinkState {
	st := r.net.State(r.clock.Now())
	st.Away = clock.WallAt(r.clock, st.Away)
	st.LastErrorAt = clock.WallAt(r.clock, st.LastErrorAt)
	return st
}

func (r *Replica) readStatus(tx *store.Tx, st *Status) error {
	all, err := outbox.ReadCounts(tx)
	if err != nil {
		return err
	}
	st.Waiting = all.Total().Entries
	st.Tables = r.tableStatus(all)
	st.Budget = r.levels.State(r.cfg.Budget, all.Total().Entries, all.Total().Bytes)
	if st.Doubtful, err = outbox.ReadDoubtful(tx); err != nil {
		return err
	}
	for i := range r.workers {
		l, oldest, unanswered, err := r.workerStatus(tx, i)
		if err != nil {
			return err
		}
		if l.Busy || len(l.Parked) > 0 {
			st.Workers = append(st.Workers, l)
		}
		st.Unanswered += unanswered
		st.Unkept += int64(r.workers[i].stuckBatches())
		if !oldest.IsZero() && (st.Oldest.IsZero() || oldest.Before(st.Oldest)) {
			st.Oldest = oldest
		}
	}
	if st.Replay, err = outbox.ReadReplayLog(tx); err != nil {
		return err
	}
	st.Conflicts, err = conflict.ReadStatus(tx)
	return err
}

// tableStatus lists the tables that have waiting writes, are stopped, or were throttled.
func (r *Replica) tableStatus(all outbox.Counts) (out []TableStatus) {
	by := map[string]*TableStatus{}
	of := func(name string) *TableStatus {
		if by[name] == nil {
			by[name] = &TableStatus{Table: name}
		}
		return by[name]
	}
	for name, n := range all {
		of(name).Waiting, of(name).Bytes = n.Entries, n.Bytes
	}
	for _, stopped := range r.paces.StoppedTables() {
		stopped.Since = clock.WallAt(r.clock, stopped.Since)
		stopped.Until = clock.WallAt(r.clock, stopped.Until)
		of(stopped.Table).Stopped = &stopped
	}
	for name, pace := range r.paces.SlowedTables(r.clock.Now()) {
		of(name).Pace = pace
	}
	for name, since := range r.stands.standingSince(r.clock.Now()) {
		of(name).Stands = clock.WallAt(r.clock, since)
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[name])
	}
	return out
}

// oldestScan bounds the batches of a worker examined for one written when the machine knew the time.
const oldestScan = 100

// workerStatus reads a worker's first batch with an instant, its marked batches, and its parked ones.
func (r *Replica) workerStatus(tx *store.Tx, no int) (st WorkerStatus, oldest time.Time, unanswered int64, err error) {
	st.Worker = no
	marked, err := outbox.ReadAttempted(tx, uint8(no))
	if err != nil {
		return st, oldest, 0, err
	}
	st.Busy = len(marked) > 0
	scanned := 0
	err = tx.Side(outbox.SideOutbox).Each([]byte{uint8(no)}, nil, func(k, v []byte) (bool, error) {
		u, err := outbox.Decode(outbox.ID{Worker: k[0], Seq: binary.BigEndian.Uint64(k[1:])}, v)
		if err == nil && clock.WasSet(u.Entries[0].At) {
			oldest = u.Entries[0].At
		}
		scanned++
		return oldest.IsZero() && scanned < oldestScan, err
	})
	if err != nil {
		return st, oldest, 0, err
	}
	for _, p := range r.workers[no].parkedBatches() {
		parked, err := r.parkStatus(tx, outbox.ID{Worker: uint8(no), Seq: p.Seq}, p)
		if err != nil {
			return st, oldest, 0, err
		}
		st.Parked = append(st.Parked, parked)
	}
	return st, oldest, int64(len(marked)), nil
}

// parkStatus describes a parked batch and how much waits for it.
func (r *Replica) parkStatus(tx *store.Tx, id outbox.ID, p ParkedBatch) (ParkStatus, error) {
	st := ParkStatus{WriteID: intent.WriteID(r.store.Node(), p.Seq), Table: p.Table, Why: p.Why, Until: clock.WallAt(r.clock, p.Until)}
	u, err := outbox.Get(tx, id)
	if err != nil || u == nil {
		return st, err
	}
	st.Key, st.tables = attr.AppendJSON(nil, u.Entries[0].Key), u.Tables()
	behind := map[outbox.ID]bool{}
	err = u.EachPlace(func(table string, key attr.Item, _ bool) error {
		spec := r.spec(table)
		if spec == nil {
			return nil
		}
		it, err := outbox.ItemOf(tx, spec, key)
		if err != nil {
			return err
		}
		sh, _, err := outbox.ReadRemote(tx, it)
		if err != nil || sh == nil {
			return err
		}
		at := sh.Index(id)
		for _, other := range sh.Pending[at+1:] {
			if at >= 0 && !(other.Shared && sh.Pending[at].Shared) {
				behind[other.ID] = true
			}
		}
		return nil
	})
	st.Behind = len(behind)
	return st, err
}

// deriveAlarms derives state and alarms from the figures; made is when the replicator was created.
func (s *Status) deriveAlarms(made time.Time) {
	if !s.Oldest.IsZero() {
		s.LagSeconds = max(0, s.At.Sub(s.Oldest).Seconds()+s.Skew) // Oldest is by the cloud's clock
	}
	s.countBehind()
	s.Standstill = s.standstill()
	s.Alarms, s.Reason = s.alarms(), s.Node.Stopped
	if s.Reason == "" && s.Why != "" {
		s.Reason = s.Why + "; " + s.Do
	}
	switch {
	case s.Node.Stopped != "":
		s.State, s.Since = "stopped", s.Away
	case !s.Up:
		s.State, s.Since = "offline", s.Away
		if s.Away.IsZero() { // nobody has tried yet
			s.Since = made
		}
		if s.Why != "" {
			s.State = "stopped"
		}
	case s.Waiting > 0:
		s.State, s.Since = "behind", s.Oldest
	default:
		s.State = "in_step"
	}
	if s.Up && s.Reason == "" {
		s.Reason = flow.PoorLine(s.LostShare)
	}
}
