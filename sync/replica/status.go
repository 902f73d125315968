package replica

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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

// Status describes how far the node and the cloud are in sync, at one instant.
type Status struct {
	At time.Time `json:"at"` // by the node's clock
	// State is in_step, behind (writes wait), offline (the cloud cannot be reached), or stopped (a person has to look: a clone,
	// credentials, a table).
	State  string    `json:"state"`
	Since  time.Time `json:"since,omitzero"`   // of behind, offline and stopped; of behind it is Oldest
	Reason string    `json:"reason,omitempty"` // of stopped, and what to do about it
	flow.LinkState

	Waiting    int64   `json:"waiting"`    // writes that the cloud does not have yet
	LagSeconds float64 `json:"lagSeconds"` // age of the oldest of them; 0: none waits, or nobody knows (Oldest)
	// Oldest is when the oldest of them was written: what was written since would be lost with this machine. Zero: none waits, or
	// nobody knows, for what was written before the machine knew the time is left out.
	Oldest     time.Time `json:"unsyncedSince,omitzero"`
	Unanswered int64     `json:"unanswered"` // units sent of which nobody knows yet whether they applied, as far as the lanes have read
	Unkept     int64     `json:"-"`          // units of them whose answers cannot be stored here; that is tried again
	Doubtful   int64     `json:"doubtful"`   // entries that are not shown: their condition does not hold on what lies below them

	Tables    []TableStatus    `json:"tables"` // by name, those with something to tell
	Lanes     []LaneStatus     `json:"lanes"`  // those with something to do
	Feed      []feed.Status    `json:"feed"`   // one for each rule
	Conflicts conflict.Status  `json:"conflicts"`
	Replay    outbox.LogSums   `json:"replayLog"`
	Budget    flow.BudgetState `json:"budget"`
	Node      identity.Status  `json:"node"`
	Usage     remote.Usage     `json:"usage"`       // since the process began
	Skew      float64          `json:"skewSeconds"` // the cloud's clock minus ours
	Alarms    []string         `json:"alarms"`      // in plain words: what a person has to look at
}

// TableStatus describes the waiting writes of one table.
type TableStatus struct {
	Table   string             `json:"table"`
	Waiting int64              `json:"waiting"`
	Bytes   int64              `json:"-"`
	Stopped *flow.StoppedTable `json:"stopped,omitempty"` // nil: it is sent to
	flow.Pace
}

// Hindered says in a few words what holds up the table's writes; empty: nothing does.
func (t *TableStatus) Hindered() string {
	switch {
	case t.Stopped != nil:
		return t.Stopped.Why
	case t.Pace.Rate > 0:
		return fmt.Sprintf("slowed down by the cloud to %.0f a second", max(t.Pace.Rate, 1))
	}
	return ""
}

// LaneStatus describes one lane (a worker with its queue).
type LaneStatus struct {
	Lane   int          `json:"lane"`
	Busy   bool         `json:"busy"`   // a request of it is on its way
	Parked []ParkStatus `json:"parked"` // what waits while the lane goes on, the oldest first, at most maxParks
}

// ParkStatus describes a batch that waits aside while its lane goes on.
type ParkStatus struct {
	WriteID string          `json:"writeId"`
	Table   string          `json:"table"`
	Key     json.RawMessage `json:"key,omitempty"` // of its first item, as DynamoDB JSON; nil: it has just left the outbox
	Why     string          `json:"why"`
	Until   time.Time       `json:"until,omitzero"` // zero: until somebody decides
	Behind  int             `json:"behind"`         // units that wait on its items until it is settled
}

// Words says for a person why the batch waits. Reasons that are plain words already are returned unchanged.
func (p *ParkStatus) Words() string {
	switch p.Why {
	case "hold":
		return "the item may still be made by a late copy of the request that made it: it is deleted when none can come any more"
	case "events":
		return "the events that belong to it are sent first"
	case "count guard":
		return "others write the item faster than a full replacement can be sent"
	case "yields":
		return "a full replacement of the item by another node, which others' writes kept from being sent, goes first"
	case "replay":
		return "the cloud was restored: all nodes send what it lost before this is judged"
	case "table":
		return "its table is missing, or closed to this node"
	case "transactions":
		return "the cloud has no transactions, and this write needs one"
	default:
		return p.Why
	}
}

// maxParks bounds what a lane lists.
const maxParks = 100

// Status returns the present status. It reads counters and the first batches of each lane, so its cost does not depend on how
// much waits.
func (r *Replica) Status(ctx context.Context) (Status, error) {
	st := Status{
		At: r.clock.Now(), LinkState: r.net.State(), Skew: r.cloud.Skew().Seconds(), Usage: r.usage(), Feed: r.feed.Status(),
		Node: r.identity.Status(),
	}
	err := r.store.View(ctx, func(tx *store.Tx) error { return r.readStatus(tx, &st) })
	st.judge(r.made)
	return st, err
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
		l, oldest, unanswered, err := r.laneStatus(tx, i)
		if err != nil {
			return err
		}
		if l.Busy || len(l.Parked) > 0 {
			st.Lanes = append(st.Lanes, l)
		}
		st.Unanswered += unanswered
		st.Unkept += int64(r.workers[i].stuckUnits())
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

// tableStatus lists the tables of which something waits, those to which nothing is sent, and those that were throttled.
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
		of(stopped.Table).Stopped = &stopped
	}
	for name, pace := range r.paces.Slowed(r.clock.Now()) {
		of(name).Pace = pace
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[name])
	}
	return out
}

// oldestLooks is how many units of a lane are looked at for one that was written when the machine knew the time.
const oldestLooks = 100

// laneStatus looks at the first unit of a lane that has an instant, at what may be on its way, and at what waits aside.
func (r *Replica) laneStatus(tx *store.Tx, no int) (st LaneStatus, oldest time.Time, unanswered int64, err error) {
	st.Lane = no
	marked, err := outbox.ReadAttempted(tx, uint8(no))
	if err != nil {
		return st, oldest, 0, err
	}
	st.Busy = len(marked) > 0
	looks := 0
	err = tx.Side(outbox.SideOutbox).Each([]byte{uint8(no)}, nil, func(k, v []byte) (bool, error) {
		u, err := outbox.Decode(outbox.ID{Lane: k[0], Seq: binary.BigEndian.Uint64(k[1:])}, v)
		if err == nil && !u.Entries[0].At.Before(clockSet()) {
			oldest = u.Entries[0].At
		}
		looks++
		return oldest.IsZero() && looks < oldestLooks, err
	})
	if err != nil {
		return st, oldest, 0, err
	}
	for _, p := range r.workers[no].parkedUnits() {
		parked, err := r.parkStatus(tx, outbox.ID{Lane: uint8(no), Seq: p.Seq}, p)
		if err != nil {
			return st, oldest, 0, err
		}
		st.Parked = append(st.Parked, parked)
	}
	return st, oldest, int64(len(marked)), nil
}

// parkStatus tells of a unit that waits by itself what it is about, and how much waits for it.
func (r *Replica) parkStatus(tx *store.Tx, id outbox.ID, p LaneUnit) (ParkStatus, error) {
	st := ParkStatus{WriteID: intent.WriteID(r.store.Node(), p.Seq), Table: p.Table, Why: p.Why, Until: p.Until}
	u, err := outbox.Get(tx, id)
	if err != nil || u == nil {
		return st, err
	}
	st.Key = attr.AppendJSON(nil, u.Entries[0].Key)
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

// judge says in words what the figures mean, of a replicator that was made then.
func (s *Status) judge(made time.Time) {
	if !s.Oldest.IsZero() {
		s.LagSeconds = max(0, s.At.Sub(s.Oldest).Seconds())
	}
	s.Alarms, s.Reason = s.alarms(), s.Node.Stopped
	if s.Reason == "" && s.Why != "" {
		s.Reason = s.Why + "; " + s.Do
	}
	switch {
	case s.Node.Stopped != "":
		s.State, s.Since = "stopped", s.Away
	case !s.Up:
		s.State, s.Since = "offline", s.Away
		if s.Away.IsZero() { // nobody was reached yet
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
}

func (s *Status) alarms() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s.Node.Stopped != "" {
		add("Nothing is sent: %s.", s.Node.Stopped)
	} else if s.Why != "" {
		add("Nothing is sent: %s; %s.", s.Why, s.Do)
	}
	out = append(out, stoppedAlarms(s.Tables)...)
	switch {
	case s.Budget.Level > flow.LevelOK && s.Budget.Which == "age":
		add("Writes have been waiting for the cloud for %d hours: they are lost if this machine is.", int(s.LagSeconds/3600))
	case s.Budget.Level > flow.LevelOK:
		add("The queue for the cloud is %.0f %% full (%s): %s.", 100*s.Budget.Used, s.Budget.Which, flow.RefusedAt(s.Budget.Level))
	}
	if s.Unkept > 0 {
		add("The cloud's answers to %s cannot be kept here: see the log.", countOf(int(s.Unkept), "write"))
	}
	c := &s.Conflicts
	if c.Quarantined > 0 {
		add("%s cannot be sent as they are: retry or discard their conflicts.", countOf(c.Quarantined, "write"))
	}
	return out
}

// stoppedAlarms are a line for each reason for which nothing of tables is sent. A table of which nothing waits is no
// alarm, unless nothing of it can be read either.
func stoppedAlarms(all []TableStatus) (out []string) {
	var whys []string
	tables, waiting := map[string][]string{}, map[string]int64{}
	for i := range all {
		t := &all[i]
		if t.Stopped == nil || t.Waiting == 0 && !strings.HasPrefix(t.Stopped.Why, remote.WhyOtherKeys) {
			continue
		}
		why := t.Stopped.Why
		if !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
		tables[why] = append(tables[why], t.Table)
		waiting[why] += t.Waiting
	}
	for _, why := range whys {
		of, wait := "table", "writes wait"
		if len(tables[why]) > 1 {
			of = "tables"
		}
		if waiting[why] == 1 {
			wait = "write waits"
		}
		out = append(out, fmt.Sprintf("Nothing of the %s %s is sent (%d %s): %s.", of, strings.Join(tables[why], ", "), waiting[why], wait, why))
	}
	return out
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
