package identity

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
)

func TestJudge(t *testing.T) {
	file := &identityFile{Nonces: []string{"n3", "n2"}}
	const seq = 3<<incarnationShift + 100
	tests := []struct {
		name string
		row  *nodeRow
		want verdict
	}{
		{"no row", nil, rowMissing},
		{"as we left it", &nodeRow{incarnation: 3, nonce: "n3", settled: seq}, rowOurs},
		{"a connect whose write was lost", &nodeRow{incarnation: 3, nonce: "n2"}, rowOurs},
		{"a nonce that the file does not know", &nodeRow{incarnation: 3, nonce: "n4"}, rowOthers},
		{"a row that somebody has spoiled", &nodeRow{}, rowOthers},
		{"an incarnation ahead", &nodeRow{incarnation: 4, nonce: "n3"}, rowOthers},
		{"settled ahead", &nodeRow{incarnation: 3, nonce: "n3", settled: seq + 1}, rowOthers},
	}
	for _, tt := range tests {
		if got := compareRow(file, tt.row, 3, seq); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestForkOf(t *testing.T) {
	b := func(id string, after uint64) boot { return boot{ID: id, After: after} }
	tests := []struct {
		name         string
		ours, theirs []boot
		want         uint64
	}{
		{"nothing in common", []boot{b("x", 5)}, []boot{b("y", 7)}, math.MaxUint64},
		{"the same run: its memory was copied", []boot{b("x", 0)}, []boot{b("x", 0)}, math.MaxUint64},
		{"an old file: what was written since it was opened is ours alone", []boot{b("x", 0), b("r", 100)}, []boot{b("x", 0)}, 100},
		{"a copy was opened: it has not what we wrote since", []boot{b("x", 0)}, []boot{b("x", 0), b("c", 120)}, 120},
		{"both", []boot{b("w", 0), b("x", 1), b("r", 100)}, []boot{b("x", 1), b("c", 120)}, 100},
		{"the last run in common counts", []boot{b("w", 0), b("x", 10), b("r", 30)}, []boot{b("w", 0), b("x", 10), b("c", 20), b("d", 25)}, 20},
	}
	for _, tt := range tests {
		if got := forkOf(tt.ours, tt.theirs); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A row with any content can be parsed, and what is written is read back.
func TestNodeRow(t *testing.T) {
	boots := []boot{{ID: "x", After: 3}, {ID: "y", After: math.MaxUint64}}
	row := readRow(attr.Item{
		"id": attr.S("node:a"), attrIncarnation: numberValue(7), attrSettled: numberValue(math.MaxUint64), attrNonce: attr.S("n"),
		attrBoots: bootList(boots), attrCopies: attr.Bool(true),
	})
	if row.incarnation != 7 || row.settled != math.MaxUint64 || row.nonce != "n" || !row.copies {
		t.Errorf("read %+v", row)
	}
	if len(row.boots) != 2 || row.boots[0] != boots[0] || row.boots[1] != boots[1] {
		t.Errorf("runs %v", row.boots)
	}
	spoiled := readRow(attr.Item{
		attrIncarnation: attr.S("x"), attrSettled: attr.Int(-4), attrNonce: attr.Int(5), attrBoots: attr.L(attr.S("x"), attr.S("y:-1"), attr.Int(1)),
		attrCopies: attr.S("true"),
	})
	if spoiled.incarnation != 0 || spoiled.settled != 0 || spoiled.nonce != "5" || len(spoiled.boots) != 0 || spoiled.copies {
		t.Errorf("a spoiled row is read as %+v", spoiled)
	}
}

// A store is older than its file even if the file has long forgotten the store's nonce, but not if the file was about to be written.
func TestStoreOlderThanItsFile(t *testing.T) {
	t.Parallel()
	var f identityFile
	states := []identityState{}
	for i := range 3 * maxNonces {
		s := identityState{Nonce: fmt.Sprint(i), Before: f.newest()}
		if f.newerThan(s, 1) {
			t.Fatalf("nonce %d: the file was about to be written", i)
		}
		f.draw(s.Nonce)
		states = append(states, s)
	}
	for i, s := range states {
		if got, want := f.newerThan(s, 1), i < len(states)-1; got != want && i > 0 {
			t.Errorf("a store of nonce %d beside a file of %d: older %v", i, len(states)-1, got)
		}
	}
}

// An entry that waits in the span of an earlier loss, and may have been sent under a new number, is recorded if nothing can tell.
func TestSpans(t *testing.T) {
	t.Parallel()
	first := &lostQueue{Below: 50}
	first.learnLoss([]boot{{ID: "a", After: 1}, {ID: "c", After: 30}}, &nodeRow{settled: 20, boots: []boot{{ID: "a", After: 1}, {ID: "b", After: 28}}}, nil)
	if first.Fork != 28 || first.Settled != 20 || first.twice(40) {
		t.Errorf("the first loss: %+v", first)
	}
	second := &lostQueue{Below: 90, Fork: math.MaxUint64}
	second.inherit(first)
	second.learnLoss([]boot{{ID: "a", After: 1}, {ID: "c", After: 30}, {ID: "e", After: 80}}, &nodeRow{
		settled: 60, boots: []boot{{ID: "a", After: 1}, {ID: "c", After: 30}, {ID: "d", After: 70}},
		twice: []span{{After: 28, Below: 50}, {After: 3, Below: 5}},
	}, nil)
	if second.Fork != 70 || second.Settled != 60 || len(second.Twice) != 2 {
		t.Errorf("the second loss: %+v", second)
	}
	for seq, want := range map[uint64]bool{28: false, 29: true, 49: true, 50: false, 4: true} {
		if second.twice(seq) != want {
			t.Errorf("%d counts as given twice: %v", seq, !want)
		}
	}
	twice := second.numbersTwice(5)
	if want := []span{{After: 28, Below: 50, Ours: true}, {After: 70, Below: 90, Ours: true}}; !slices.Equal(twice, want) {
		t.Errorf("the row reports %v", twice)
	}
	row := readRow(attr.Item{attrTwice: spanList(twice)})
	if !slices.Equal(row.twice, twice) {
		t.Errorf("and is read as %v", row.twice)
	}
	if row := readRow(attr.Item{attrTwice: attr.L(attr.S("1:x"), attr.S("3"), attr.Int(4))}); len(row.twice) != 0 {
		t.Errorf("a spoiled row is read as %v", row.twice)
	}
}

// What another history has settled says nothing about sequences after the fork, also if an earlier version left the runs' history: there
// it may concern all that the row reports, and a person is asked.
func TestSettledUpToTheFork(t *testing.T) {
	t.Parallel()
	ours := []boot{{ID: "a"}, {ID: "b", After: 12}, {ID: "c", After: 20}}
	theirs := []boot{{ID: "a"}, {ID: "x", After: 15}}
	for name, tt := range map[string]struct {
		left                  []leftRun
		fork, parted, settled uint64
	}{
		"none left":                {nil, 12, 12, 12},
		"ours was left":            {[]leftRun{{ID: "b", Settled: 14, Nonce: "x"}}, 20, 20, 14},
		"in our present state":     {[]leftRun{{ID: "b", Settled: 14, Nonce: "known"}}, 20, 12, 12},
		"by an earlier version":    {[]leftRun{{ID: "b"}}, 20, 20, 20},
		"a run of others was left": {[]leftRun{{ID: "y", Settled: 99}}, 12, 12, 12},
		"our present run was left": {[]leftRun{{ID: "c", Settled: 99}}, 12, 12, 12},
	} {
		l := &lostQueue{Below: 50}
		row := readRow(attr.Item{attrLeft: leftList(tt.left), attrSettled: numberValue(77), attrBoots: bootList(theirs)})
		l.learnLoss(ours, row, []string{"known"})
		if l.Fork != tt.fork || l.Parted != tt.parted || l.Settled != tt.settled {
			t.Errorf("%s: %+v, want %+v", name, l, tt)
		}
	}
	if row := readRow(attr.Item{attrLeft: attr.L(attr.S("b"), attr.S("c:x"))}); !slices.Equal(row.left, []leftRun{{ID: "b"}, {ID: "c"}}) {
		t.Errorf("runs of an earlier version are read as %v", row.left)
	}
}

// What a node reports settled does not hold in its gaps. They are kept over a restored cloud, joined if they overlap, and if there are too
// many the oldest become one. Rows of earlier versions have no gaps: there they follow from the runs.
func TestGaps(t *testing.T) {
	t.Parallel()
	const second, third = uint64(2) << incarnationShift, uint64(3) << incarnationShift
	n := &settledNode{}
	now := time.Unix(1_800_000_000, 0)
	n.learn(&nodeRow{settled: third, gaps: []span{{After: 12, Below: second + 1}}}, now, time.Minute)
	n.learn(&nodeRow{settled: 7}, now, time.Minute)
	for seq, want := range map[uint64]bool{12: true, 13: false, second: false, second + 1: true, third: true, third + 1: false} {
		if n.latest().has(seq) != want {
			t.Errorf("%d counts as settled: %v", seq, !want)
		}
	}
	var gaps []span
	for i := range uint64(3 * maxSpans) {
		gaps = addGap(gaps, span{After: 10 * i, Below: 10*i + 5})
	}
	if len(gaps) != maxSpans || gaps[0].After != 0 || inGap(gaps, 10*(3*maxSpans-1)+7) || !inGap(gaps, 14) {
		t.Errorf("%d gaps are remembered: %v", len(gaps), gaps)
	}
	if gaps = addGap(gaps, span{After: 3, Below: 100 * maxSpans}); len(gaps) != 1 {
		t.Errorf("overlapping gaps are %v", gaps)
	}
	earlier := attr.Item{attrBoots: bootList([]boot{{ID: "a", After: second + 3}, {ID: "b", After: second + 9}, {ID: "c", After: third}})}
	row := readRow(earlier)
	if want := []span{{After: 0, Below: second + 1}, {After: second + 9, Below: third + 1}}; !slices.Equal(row.gaps, want) {
		t.Errorf("a row of an earlier version has the gaps %v, want %v", row.gaps, want)
	}
	earlier[attrGaps] = spanList(nil)
	if row := readRow(earlier); !slices.Equal(row.gaps, []span{{After: second + 9, Below: third + 1}}) {
		t.Errorf("a row whose gaps are noted has %v", row.gaps)
	}
}

func TestSettledNodes(t *testing.T) {
	const signed, learnEvery = 15 * time.Minute, 5 * time.Minute
	now := time.Unix(1_800_000_000, 0)
	var s settledNodes
	n, fresh := s.node("b", now)
	if !fresh || n.latest().seq != 0 || n.settledInThePast(now, signed).seq != 0 {
		t.Fatalf("of an unknown node: %v, %v", n.latest(), n.settledInThePast(now, signed))
	}
	for i := range 10 {
		n.learn(&nodeRow{settled: uint64(100 * i)}, now.Add(time.Duration(i)*learnEvery), signed)
	}
	now = now.Add(9 * learnEvery)
	if n.latest().seq != 900 || n.settledInThePast(now, signed).seq != 600 || len(n.seen) > 5 {
		t.Errorf("latest %v, 15 minutes ago %v, %d kept", n.latest(), n.settledInThePast(now, signed), len(n.seen))
	}
	n.learn(&nodeRow{settled: 50}, now, signed) // a restored cloud
	if n.latest().seq != 900 {
		t.Errorf("the settled number went back: %v", n.latest())
	}
	if due := s.due(now, signed); len(due) != 0 {
		t.Errorf("due at once: %v", due)
	}
	s.nodes["b"].asked = now
	if due := s.due(now.Add(learnEvery), signed); len(due) != 1 {
		t.Errorf("due later: %v", due)
	}
	if due := s.due(now.Add(2*askedFor), signed); len(due) != 0 || len(s.nodes) != 0 {
		t.Errorf("a node is read although nobody asks about it: %v", due)
	}
	for i := range maxNodes + 10 {
		s.node("n"+string(rune('a'+i%26))+time.Duration(i).String(), now.Add(time.Duration(i)))
	}
	if len(s.nodes) != maxNodes {
		t.Errorf("%d nodes are remembered", len(s.nodes))
	}
}
