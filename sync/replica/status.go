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
	"github.com/touchline/touchline/sync/replica/intent"
)

// Status is how far the node and the cloud are one, at one instant.
type Status struct {
	At     time.Time // by the node's clock
	Link   LinkState
	Skew   time.Duration // the cloud's clock minus ours
	Usage  Usage
	Tables []TableStatus // by name, those with something to tell
	Lanes  []LaneStatus  // all of them

	Waiting int64 // writes that the cloud does not have yet
	// Oldest is when the oldest of them was written: what was written since would be lost with this machine. Zero: none waits, or
	// nobody knows, for what was written before the machine knew the time is left out.
	Oldest     time.Time
	Unanswered int64 // units sent of which nobody knows yet whether they applied, as far as the lanes have read
	Unkept     int64 // units of them whose answers cannot be stored here; that is tried again
	Doubtful   int64 // entries that are not shown: their condition does not hold on what lies below them

	Feed      []FeedStatus // one for each rule
	Conflicts ConflictStatus
	Replay    ReplayStatus
	Budget    BudgetState
	Node      IdentityStatus
}

// TableStatus is what waits of a table.
type TableStatus struct {
	Table   string        `json:"table"`
	Waiting int64         `json:"waiting"`
	Bytes   int64         `json:"-"`
	Stopped *StoppedTable `json:"stopped,omitempty"` // nil: it is sent to
	Pace
}

// Hindered says in a few words what keeps the table's writes, if anything does.
func (t *TableStatus) Hindered() string {
	switch {
	case t.Stopped != nil:
		return t.Stopped.Why
	case t.Pace.Rate > 0:
		return fmt.Sprintf("slowed down by the cloud to %.0f a second", max(t.Pace.Rate, 1))
	}
	return ""
}

// LaneStatus is how a lane goes.
type LaneStatus struct {
	Lane   int          `json:"lane"`
	Busy   bool         `json:"busy"`   // a request of it is on its way
	Parked []ParkStatus `json:"parked"` // what waits while the lane goes on, the oldest first, at most maxParks
}

// ParkStatus is a unit that waits by itself.
type ParkStatus struct {
	WriteID string          `json:"writeId"`
	Table   string          `json:"table"`
	Key     json.RawMessage `json:"key,omitempty"` // of its first item, as DynamoDB JSON; nil: it has just left the outbox
	Why     string          `json:"why"`
	Until   time.Time       `json:"until,omitzero"` // zero: until somebody decides
	Behind  int             `json:"behind"`         // units that wait on its items until it is settled
}

// Words says for a person why the item waits. Reasons that are words already stay as they are.
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

// FeedStatus is how a rule of the feed fares.
type FeedStatus struct {
	Rule      string    `json:"rule"`              // the table, and of what partitions
	LastPass  time.Time `json:"lastPass,omitzero"` // the end of the last complete one; zero: there was none
	Items     int       `json:"items"`             // that it had
	Passes    uint64    `json:"-"`                 // complete ones
	Errors    uint64    `json:"errors"`
	LastError string    `json:"lastError,omitempty"` // of the latest pass; empty: it was good
}

// ConflictStatus counts the records of conflicts.
type ConflictStatus struct {
	Open        int   `json:"open"`        // that somebody should look at, without quarantined ones
	Quarantined int   `json:"quarantined"` // open
	Kept        int   `json:"kept"`        // all records
	Bytes       int64 `json:"bytes"`
	MaxBytes    int64 `json:"maxBytes"`
}

// ReplayStatus is the log of what was sent.
type ReplayStatus struct {
	Entries int64     `json:"entries"`
	Bytes   int64     `json:"bytes"`
	Oldest  time.Time `json:"oldest,omitzero"`
}

// IdentityStatus is who the node is to the cloud.
type IdentityStatus struct {
	Node        string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Boot        string `json:"boot,omitempty"`
	Stopped     string `json:"clone,omitempty"` // why nothing is sent: another process works under this node's name; empty: it is
}

// Status reads how things stand. It looks at counts and at the first units of the lanes, so it costs the same however
// much waits.
func (r *Replica) Status(ctx context.Context) (Status, error) {
	st := Status{
		At: r.clock.Now(), Link: r.net.state(), Skew: r.cloud.Skew(), Usage: r.usage(), Feed: r.feedStatus(),
		Node: IdentityStatus{Node: r.store.Node(), Incarnation: r.store.Incarnation(), Boot: r.bootID(), Stopped: r.stoppedWhy()},
	}
	err := r.store.View(ctx, func(tx *store.Tx) error { return r.readStatus(tx, &st) })
	return st, err
}

func (r *Replica) readStatus(tx *store.Tx, st *Status) error {
	all, err := readCounts(tx)
	if err != nil {
		return err
	}
	st.Waiting = all.total().entries
	st.Tables = r.tableStatus(all)
	st.Budget = r.levels.state(r.cfg.Budget, all.total())
	if st.Doubtful, err = readDoubtful(tx); err != nil {
		return err
	}
	for i := range r.lanes {
		l, oldest, unanswered, err := r.laneStatus(tx, i)
		if err != nil {
			return err
		}
		st.Lanes = append(st.Lanes, l)
		st.Unanswered += unanswered
		st.Unkept += int64(r.lanes[i].stuckUnits())
		if !oldest.IsZero() && (st.Oldest.IsZero() || oldest.Before(st.Oldest)) {
			st.Oldest = oldest
		}
	}
	if st.Replay, err = r.replayStatus(tx); err != nil {
		return err
	}
	l, err := openConflicts(tx)
	if err != nil {
		return err
	}
	st.Conflicts = ConflictStatus{
		Open: l.sums.Open, Quarantined: l.sums.Quarantined, Kept: l.sums.Kept, Bytes: l.sums.Bytes, MaxBytes: l.max,
	}
	return nil
}

// tableStatus lists the tables of which something waits, those to which nothing is sent, and those that were throttled.
func (r *Replica) tableStatus(all counts) (out []TableStatus) {
	by := map[string]*TableStatus{}
	of := func(name string) *TableStatus {
		if by[name] == nil {
			by[name] = &TableStatus{Table: name}
		}
		return by[name]
	}
	for name, n := range all {
		of(name).Waiting, of(name).Bytes = n.entries, n.bytes
	}
	for _, stopped := range r.paces.stoppedTables() {
		of(stopped.Table).Stopped = &stopped
	}
	for name, pace := range r.paces.slowed(r.clock.Now()) {
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
	marked, err := readAttempted(tx, uint8(no))
	if err != nil {
		return st, oldest, 0, err
	}
	st.Busy = len(marked) > 0
	looks := 0
	err = tx.Side(sideOutbox).Each([]byte{uint8(no)}, nil, func(k, v []byte) (bool, error) {
		u, err := readUnit(unitID{lane: k[0], seq: binary.BigEndian.Uint64(k[1:])}, v)
		if err == nil && !u.Entries[0].At.Before(clockSet()) {
			oldest = u.Entries[0].At
		}
		looks++
		return oldest.IsZero() && looks < oldestLooks, err
	})
	if err != nil {
		return st, oldest, 0, err
	}
	for _, p := range r.lanes[no].parkedUnits() {
		parked, err := r.parkStatus(tx, unitID{lane: uint8(no), seq: p.Seq}, p)
		if err != nil {
			return st, oldest, 0, err
		}
		st.Parked = append(st.Parked, parked)
	}
	return st, oldest, int64(len(marked)), nil
}

// parkStatus tells of a unit that waits by itself what it is about, and how much waits for it.
func (r *Replica) parkStatus(tx *store.Tx, id unitID, p LaneUnit) (ParkStatus, error) {
	st := ParkStatus{WriteID: intent.WriteID(r.store.Node(), p.Seq), Table: p.Table, Why: p.Why, Until: p.Until}
	u, err := getUnit(tx, id)
	if err != nil || u == nil {
		return st, err
	}
	st.Key = attr.AppendJSON(nil, u.Entries[0].Key)
	behind := map[unitID]bool{}
	err = u.eachPlace(func(table string, key attr.Item, _ bool) error {
		spec := r.spec(table)
		if spec == nil {
			return nil
		}
		it, err := itemOf(tx, spec, key)
		if err != nil {
			return err
		}
		sh, _, err := readShadow(tx, it)
		if err != nil || sh == nil {
			return err
		}
		at := sh.index(id)
		for _, other := range sh.pending[at+1:] {
			if at >= 0 && !(other.shared && sh.pending[at].shared) {
				behind[other.unitID] = true
			}
		}
		return nil
	})
	st.Behind = len(behind)
	return st, err
}

// Lag is the age of the oldest write that the cloud does not have; 0: it has all, or nobody knows (Oldest).
func (s *Status) Lag() time.Duration {
	if s.Oldest.IsZero() {
		return 0
	}
	return max(0, s.At.Sub(s.Oldest))
}

// Alarms say in plain words what a person has to look at; none: nothing.
func (s *Status) Alarms() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s.Node.Stopped != "" {
		add("Nothing is sent: %s.", s.Node.Stopped)
	} else if s.Link.Why != "" {
		add("Nothing is sent: %s; %s.", s.Link.Why, s.Link.Do)
	}
	out = append(out, stoppedAlarms(s.Tables)...)
	switch {
	case s.Budget.Level > LevelOK && s.Budget.Which == "age":
		add("Writes have been waiting for the cloud for %d hours: they are lost if this machine is.", int(s.Lag().Hours()))
	case s.Budget.Level > LevelOK:
		add("The queue for the cloud is %.0f %% full (%s): %s.", 100*s.Budget.Used, s.Budget.Which, refusedAt(s.Budget.Level))
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

// refusedAt says what is not taken at a level.
func refusedAt(level Level) string {
	switch {
	case level >= LevelReadOnly:
		return "all writes are refused"
	case level >= LevelCorrections:
		return "all writes are refused, except deletes and those that do not grow an item"
	case level >= LevelRebuildable:
		return "writes of data that can be rebuilt are refused"
	}
	return "at 90 % writes begin to be refused"
}

// stoppedAlarms are a line for each reason for which nothing of tables is sent. A table of which nothing waits is no
// alarm, unless nothing of it can be read either.
func stoppedAlarms(all []TableStatus) (out []string) {
	var whys []string
	tables, waiting := map[string][]string{}, map[string]int64{}
	for i := range all {
		t := &all[i]
		if t.Stopped == nil || t.Waiting == 0 && !strings.HasPrefix(t.Stopped.Why, whyKeys) {
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
