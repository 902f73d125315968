package identity

import (
	"cmp"
	"slices"
)

// Gaps are ranges of this node's sequences in which another copy of it may have written: a gap begins behind what was written when the
// copies parted, at a crash or at a loss, and ends where this history goes on. What this node reports settled does not hold there, so other
// nodes keep the marks of such writes, and leave tombstones for what they created.
//
// An example. A backup has sequences up to 12. Its node goes on to 27, and is cut off after it has sent 20. The backup is started elsewhere:
// its gap is from 12 to 1<<40. It reports that everything up to 1<<40+5 is settled, and other nodes still keep the mark of 20, which the
// node needs to know that it was applied.

// inGap reports whether a sequence is in one of the gaps.
func inGap(gaps []span, seq uint64) bool {
	return slices.ContainsFunc(gaps, func(s span) bool { return s.has(seq) })
}

// addGap adds a gap. Gaps that overlap become one, and so do the oldest if there are too many: a gap too wide is safe.
func addGap(gaps []span, gap span) []span {
	gap.Ours = false
	if gap.After >= gap.Below {
		return gaps
	}
	all := append(slices.Clone(gaps), gap)
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.After, b.After) })
	joined := all[:1]
	for _, next := range all[1:] {
		last := &joined[len(joined)-1]
		if next.After < last.Below {
			last.Below = max(last.Below, next.Below)
			continue
		}
		joined = append(joined, next)
	}
	for len(joined) > maxSpans {
		joined[1].After = joined[0].After
		joined = joined[1:]
	}
	return joined
}

// gapsOfBoots returns the gaps of a history whose runs are from an earlier version, which did not note the gaps: a run that began with its
// incarnation does not tell what was written before it.
func gapsOfBoots(boots []boot) (gaps []span) {
	before := uint64(0)
	for _, b := range boots {
		if start := b.After >> incarnationShift << incarnationShift; b.After == start {
			gaps = addGap(gaps, span{After: before, Below: start + 1})
		}
		before = b.After
	}
	return gaps
}

// forgottenGap is the gap before the oldest run that is remembered. Of a history of one incarnation it is empty.
func forgottenGap(boots []boot) span {
	if len(boots) == 0 {
		return span{}
	}
	start := boots[0].After >> incarnationShift << incarnationShift
	if start == 0 {
		return span{}
	}
	return span{Below: start + 1}
}

// initialGaps are the gaps of a store from a version that did not note them.
func initialGaps(boots []boot) []span {
	return addGap(gapsOfBoots(boots), forgottenGap(boots))
}
