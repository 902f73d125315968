package identity

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// span is a range of sequences that two histories of this node have given to different writes: those after the fork of a loss that were
// waiting when it was noticed. The history that noticed sends none of them: a waiting entry is renumbered first. A later loss finds
// such an entry before its own fork, although the cloud may have the other write under that number.
type span struct {
	After uint64 `json:"after"`
	Below uint64 `json:"below"`
	Ours  bool   `json:"ours,omitempty"` // this history noticed the loss: no copy that has its entries sends them under these numbers
}

func (s span) has(seq uint64) bool { return s.After < seq && seq < s.Below }

// maxSpans is how many spans are remembered, here and in the cloud. Spans in which nothing waits any more are forgotten earlier.
const maxSpans = 32

// inherit takes over what is known of an earlier loss from which entries may still wait.
func (l *lostQueue) inherit(was *lostQueue) {
	l.Settled = min(was.Settled, was.Fork)
	l.Twice = was.numbersTwice(0)
}

// learnLoss takes what the cloud knows of the lost history. Entries from an earlier loss may have been sent in either history. What a
// history has settled says something about the sequences that it shares with ours, and nothing about those after the fork.
func (l *lostQueue) learnLoss(ours []boot, row *nodeRow, drawn []string) {
	l.Parted = forkOf(ours, row.boots)
	l.Settled = max(l.Settled, min(row.settled, l.Parted))
	l.Fork, l.FromRow = l.Parted, true
	for _, run := range row.left {
		left := forkOfLeft(ours, run.ID)
		l.Fork = max(l.Fork, left)
		if slices.Contains(drawn, run.Nonce) {
			continue // as far as that shows, we are the state in which that history was left, and know what it has sent
		}
		l.Settled = max(l.Settled, min(run.settledBy(row), left))
		l.Parted = max(l.Parted, left)
	}
	for _, s := range l.Twice {
		l.Fork, l.Parted = max(l.Fork, s.After), max(l.Parted, s.After)
	}
	for _, s := range row.twice {
		known := slices.ContainsFunc(l.Twice, func(k span) bool { return k.After == s.After && k.Below == s.Below })
		if !known {
			s.Ours = s.Ours && commonSince(s.After, ours, row.boots)
			l.Twice = append(l.Twice, s)
		}
	}
	l.Twice = lastSpans(l.Twice)
}

// commonSince reports whether two histories share a run that began after a sequence.
func commonSince(after uint64, ours, theirs []boot) bool {
	return slices.ContainsFunc(ours, func(b boot) bool { return b.After >= after && indexBoot(theirs, b.ID) >= 0 })
}

// learnLoss takes what the cloud knows of the lost history, and keeps its runs in case a node is restored to one of them.
func (s *identityState) learnLoss(row *nodeRow) {
	s.Lost.learnLoss(s.Boots, row, s.Drawn)
	s.noteGap(span{After: s.Lost.Parted, Below: s.Lost.Below})
	s.leaveHistory(row)
}

// numbersTwice returns the spans of this loss and of earlier ones that are not settled.
func (l *lostQueue) numbersTwice(settled uint64) []span {
	if l == nil {
		return nil
	}
	spans := slices.Clone(l.Twice)
	if own := (span{After: l.Fork, Below: l.Below, Ours: true}); l.FromRow && own.After < own.Below {
		spans = append(spans, own)
	}
	return lastSpans(slices.DeleteFunc(spans, func(s span) bool { return s.Below <= settled }))
}

func lastSpans(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.Below, b.Below) })
	return spans[max(0, len(spans)-maxSpans):]
}

// twice reports whether the number of a waiting entry may have been given to another write by an earlier history.
func (l *lostQueue) twice(seq uint64) bool {
	return slices.ContainsFunc(l.Twice, func(s span) bool { return s.has(seq) })
}

// never reports whether no copy has sent, or will send, the entry that waits here under that number.
func (l *lostQueue) never(seq uint64) bool {
	return slices.ContainsFunc(l.Twice, func(s span) bool { return s.Ours && s.has(seq) })
}

// spanList encodes spans for the row.
func spanList(spans []span) attr.Value {
	out := make([]attr.Value, len(spans))
	for i, s := range spans {
		text := fmt.Sprintf("%d:%d", s.After, s.Below)
		if s.Ours {
			text += spanOurs
		}
		out[i] = attr.S(text)
	}
	return attr.L(out...)
}

// spanOurs is the suffix of a span noticed by the row's own history.
const spanOurs = ":ours"

func parseSpan(text string) (s span, ok bool) {
	text, s.Ours = strings.CutSuffix(text, spanOurs)
	after, below, ok := strings.Cut(text, ":")
	from, err := strconv.ParseUint(after, 10, 64)
	to, err2 := strconv.ParseUint(below, 10, 64)
	s.After, s.Below = from, to
	return s, ok && err == nil && err2 == nil
}
