package identity

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Attributes of a node's row in the sync table, besides its key "node:<id>".
const (
	nodePrefix = "node:"

	attrIncarnation = "incarnation"
	attrSettled     = "settled"  // the last sequence up to which everything is settled
	attrNonce       = "nonce"    // drawn at each connect, and with each write of the row after a send
	attrBoots       = "boots"    // the last runs, oldest first: "<boot id>:<last sequence before it>"
	attrLeft        = "parted"   // runs of histories this one has left: "<boot id>:<settled then>:<nonce then>"
	attrTwice       = "twice"    // numbers given twice because histories diverged: "<after>:<below>", and spanOurs
	attrGaps        = "gaps"     // sequences that another copy may have used, for which settled does not hold: "<after>:<below>"
	attrCopies      = "copies"   // true: two active copies were seen
	attrReplayed    = "replayed" // by table: id of the restored table whose lost writes this node has sent again
	attrSeen        = "seen"     // server time of the last write, epoch milliseconds, for people
)

// nodeRow is what the cloud knows of a node.
type nodeRow struct {
	incarnation uint64
	settled     uint64
	nonce       string
	boots       []boot
	left        []leftRun
	twice       []span
	gaps        []span
	copies      bool
}

// readRow parses a row; nil: none. Damaged fields count as missing, and a row without a nonce as written by nobody here.
func readRow(it attr.Item) *nodeRow {
	if it == nil {
		return nil
	}
	row := &nodeRow{
		incarnation: number(it[attrIncarnation]),
		settled:     number(it[attrSettled]),
		nonce:       it[attrNonce].Str(),
		copies:      it[attrCopies].Bool(),
	}
	for _, v := range it[attrBoots].List() {
		id, after, ok := strings.Cut(v.Str(), ":")
		seq, err := strconv.ParseUint(after, 10, 64)
		if ok && err == nil {
			row.boots = append(row.boots, boot{ID: id, After: seq})
		}
	}
	for _, v := range it[attrLeft].List() {
		var run leftRun
		_ = run.UnmarshalText([]byte(v.Str())) // never fails
		row.left = append(row.left, run)
	}
	row.twice = readSpans(it[attrTwice])
	row.gaps = gapsOfBoots(row.boots)
	for _, gap := range append(readSpans(it[attrGaps]), row.twice...) {
		row.gaps = addGap(row.gaps, gap)
	}
	if it[attrGaps].IsZero() {
		row.gaps = addGap(row.gaps, forgottenGap(row.boots))
	}
	return row
}

func readSpans(v attr.Value) (spans []span) {
	for _, one := range v.List() {
		if s, ok := parseSpan(one.Str()); ok {
			spans = append(spans, s)
		}
	}
	return spans
}

func number(v attr.Value) uint64 {
	n, err := strconv.ParseUint(v.Str(), 10, 64)
	if err != nil || v.Kind() != attr.KindN {
		return 0
	}
	return n
}

func numberValue(n uint64) attr.Value {
	if n <= math.MaxInt64 {
		return attr.Int(int64(n))
	}
	v, _ := attr.N(strconv.FormatUint(n, 10)) // its 20 digits are within a number's 38
	return v
}

// bootList encodes runs for the row.
func bootList(boots []boot) attr.Value {
	out := make([]attr.Value, len(boots))
	for i, b := range boots {
		out[i] = attr.S(b.ID + ":" + strconv.FormatUint(b.After, 10))
	}
	return attr.L(out...)
}

// verdict says what a row of this node means.
type verdict uint8

const (
	rowOurs    verdict = iota // as this file left it
	rowMissing                // never written, or lost
	rowOthers                 // written by another copy of this node, or by a later state of it
)

// compareRow compares the row (nil: none) with what this node knows of itself. seq is the last sequence of its journal.
func compareRow(file *identityFile, row *nodeRow, incarnation, seq uint64) verdict {
	switch {
	case row == nil:
		return rowMissing
	case !file.knows(row.nonce), row.incarnation > incarnation, row.settled > seq:
		return rowOthers
	}
	return rowOurs
}

// forkOf returns the last sequence that two histories of one node share, judging by the runs that each knows. What waits here up to it
// may have been sent there; what was journaled after it exists in this history only. If the histories share no run, or
// diverged within one, nobody can tell: everything may have been sent.
func forkOf(ours, theirs []boot) uint64 {
	last := -1
	for i := range ours {
		if at := indexBoot(theirs, ours[i].ID); at >= 0 {
			last = i
		}
	}
	if last < 0 {
		return math.MaxUint64
	}
	fork := uint64(math.MaxUint64)
	if last+1 < len(ours) {
		fork = ours[last+1].After
	}
	if at := indexBoot(theirs, ours[last].ID); at+1 < len(theirs) {
		fork = min(fork, theirs[at+1].After)
	}
	return fork
}

func indexBoot(boots []boot, id string) int {
	return slices.IndexFunc(boots, func(b boot) bool { return b.ID == id })
}

// TellReplayed records in this node's row the restored tables, by name and id, whose lost writes it has sent again.
func (id *Identity) TellReplayed(ctx context.Context, done attr.Item) error {
	nonce, shown := id.nonces()
	return id.write(ctx, intent.Call{
		Op: store.OpUpdate, Table: id.Table, Key: nodeKey(id.Store.Node()),
		Update: "SET replayed = :done", Condition: ownNonce,
		Params: expr.Params{Values: attr.Item{":done": attr.M(done), ":nonce": attr.S(nonce), ":shown": attr.S(shown)}},
	})
}

// maxNodePages bounds how much of the sync table is read to find all nodes.
const maxNodePages = 50

// ReplayedReports reads what all nodes have reported by TellReplayed. It returns an error if there is too much to read.
func (id *Identity) ReplayedReports(ctx context.Context) (all []attr.Item, err error) {
	q := remote.Reading{Table: id.Table, Consistent: true}
	for range maxNodePages {
		page, err := id.readPage(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			if name := it[intent.SyncKey].Str(); len(name) > len(nodePrefix) && strings.HasPrefix(name, nodePrefix) {
				all = append(all, it[attrReplayed].Map())
			}
		}
		if len(page.LastKey) == 0 {
			return all, nil
		}
		q.After = page.LastKey
	}
	return nil, fault.New(fault.TooLarge, "many_rows", "the table %s is too large to find all nodes in", id.Table)
}

func (id *Identity) readPage(ctx context.Context, q remote.Reading) (remote.Page, error) {
	ctx, cancel := id.withTimeout(ctx)
	defer cancel()
	return id.Cloud.Read(ctx, q)
}
