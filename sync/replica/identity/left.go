package identity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// leftRun is a run of a history that was left. A machine may be put back to a state of that history, whose queue the history may have sent
// later, although the row in the cloud is another history's by then.
//
// An example. A machine has snapshots at 20 and at 36, goes on to 60 and is put back to the first. It leaves the run in which it was at 60.
// It is put back to the second: what is in its queue up to 36 may have been sent, although the row's history has parted from it at 20.
type leftRun struct {
	ID      string
	Settled uint64 // what was settled, as the row said, when its history was left; 0: not noted
	Nonce   string // the row's nonce then; "": not noted
}

// maxLeft is how many such runs are remembered, here and in the cloud.
const maxLeft = 64

// leaveHistory keeps the runs of a row's history, and those that it has left: of the runs that are ours too only the last one, in which the two
// histories have parted.
func (s *identityState) leaveHistory(row *nodeRow) {
	shared := -1
	for i, b := range row.boots {
		if indexBoot(s.Boots, b.ID) >= 0 {
			shared = i
		}
	}
	for _, b := range row.boots[max(0, shared):] {
		s.addLeft(leftRun{ID: b.ID, Settled: row.settled, Nonce: row.nonce})
	}
	for _, run := range row.left {
		s.addLeft(leftRun{ID: run.ID, Settled: run.settledBy(row), Nonce: run.Nonce})
	}
	s.Left = s.Left[max(0, len(s.Left)-maxLeft):]
}

func (s *identityState) addLeft(run leftRun) {
	at := slices.IndexFunc(s.Left, func(known leftRun) bool { return known.ID == run.ID && known.Nonce == run.Nonce })
	if at < 0 {
		s.Left = append(s.Left, run)
		return
	}
	s.Left[at].Settled = max(s.Left[at].Settled, run.Settled)
}

// settledBy is what a row says that the run's history has settled. An earlier version did not note it: then it may be all that the row
// reports.
func (r leftRun) settledBy(row *nodeRow) uint64 {
	if r.Settled == 0 {
		return row.settled
	}
	return r.Settled
}

// MarshalText implements encoding.TextMarshaler. An earlier version reads such a run as one that it does not know.
func (r leftRun) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%s:%d:%s", r.ID, r.Settled, r.Nonce), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. A run of an earlier version is its id alone.
func (r *leftRun) UnmarshalText(text []byte) error {
	id, rest, _ := strings.Cut(string(text), ":")
	settled, nonce, _ := strings.Cut(rest, ":")
	seq, err := strconv.ParseUint(settled, 10, 64)
	if err != nil {
		seq = 0
	}
	*r = leftRun{ID: id, Settled: seq, Nonce: nonce}
	return nil
}

// forkOfLeft is forkOf for a run of a history of which no more is known: it may have gone on to the end of that run here, if the run is
// ours too. 0: it is not. Our last run is left out: it is running, and knows what it has sent.
func forkOfLeft(ours []boot, id string) (fork uint64) {
	if at := indexBoot(ours, id); at >= 0 && at+1 < len(ours) {
		fork = ours[at+1].After
	}
	return fork
}

// leftList encodes runs for the row.
func leftList(left []leftRun) attr.Value {
	out := make([]attr.Value, len(left))
	for i, run := range left {
		text, _ := run.MarshalText() // never fails
		out[i] = attr.S(string(text))
	}
	return attr.L(out...)
}
