package cricket

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A feed gives a ball another id, deletes it and enters it again, and corrects earlier balls, which changes the count in the
// keys of later ones: a batter's fifth four was his fourth. What was recorded is therefore recognised by its content, the kind,
// the player and the place of the ball, before anything is corrected.

// series are the events of one kind that a player's count tells apart.
type series struct {
	kind    EventType
	innings int
	player  int64
}

// countedKind returns the kind of event that the keys of a family count, "" if they count nothing.
func countedKind(family string, numbers []int64) EventType {
	switch family {
	case familyBoundary:
		if numbers[0] == 4 {
			return EventFour
		}
		return EventSix
	case familyHatTrick, oldHatTrick:
		return EventHatTrick
	case familyOnHatTrick, oldOnHatTrick:
		return EventOnHatTrick
	case familySixes, oldSixes:
		return EventConsecutiveSixes
	default:
		return ""
	}
}

// seriesOf returns the series of a key; counted is false for keys that count nothing, and for those of earlier versions.
func seriesOf(key string) (of series, counted bool) {
	family, numbers := splitKey(key)
	kind := countedKind(family, numbers)
	switch {
	case kind == "" || len(numbers) < 3:
		return series{}, false
	case family == familyBoundary:
		numbers = numbers[1:]
	}
	return series{kind, int(numbers[0]), numbers[1]}, true
}

// key returns the nth key of a series.
func (k series) key(n int) string {
	switch k.kind {
	case EventFour:
		return fourKey(k.innings, k.player, n)
	case EventSix:
		return sixKey(k.innings, k.player, n)
	case EventHatTrick:
		return hatTrickKey(k.innings, k.player, n)
	case EventOnHatTrick:
		return onHatTrickKey(k.innings, k.player, n)
	default:
		return sixesKey(k.innings, k.player, n)
	}
}

// splitFact returns family and numbers of a fact's key: innings and player first, also for a key of an earlier version.
func (s *Snapshot) splitFact(f *fact) (family string, numbers []int64) {
	family, numbers = splitKey(f.key)
	switch innings := f.place() >> 21; family {
	case oldHatTrick:
		return familyHatTrick, []int64{innings, numbers[0]}
	case oldOnHatTrick:
		return familyOnHatTrick, []int64{innings, numbers[0]}
	case oldSixes:
		return familySixes, []int64{innings, numbers[0]}
	default:
		return family, numbers
	}
}

// recognise gives candidates the keys under which their facts are recorded. It returns the facts, those of boundaries under the
// keys that their counts now are, and the events whose rows moved with them. known gets the keys that need no row.
func (s *Snapshot) recognise(all []Candidate, facts []fact, known keySet) (kept []fact, moved []Event, changed bool) {
	changed = s.modern(all, facts, known)
	groups := matchingsOf(facts, known)
	if len(groups) == 0 {
		return facts, nil, changed
	}
	for i := range all {
		switch all[i].Type {
		case EventFour, EventSix, EventHatTrick, EventOnHatTrick, EventConsecutiveSixes:
		default:
			continue
		}
		if of, counted := seriesOf(all[i].Key); counted && groups[of] != nil {
			groups[of].shown = append(groups[of].shown, &all[i])
		}
	}
	for of, m := range groups {
		if m.agrees() {
			continue
		}
		slices.SortFunc(m.facts, func(a, b *fact) int { return cmp.Compare(countOf(a), countOf(b)) })
		m.pair()
		if of.kind == EventFour || of.kind == EventSix {
			moved = append(moved, m.moveFacts()...)
		}
		m.rename()
		changed = changed || len(moved) > 0
	}
	slices.SortFunc(moved, func(a, b Event) int { return strings.Compare(a.Key, b.Key) })
	return facts, moved, changed
}

// matchingsOf groups the facts whose keys hold a count by what they count.
func matchingsOf(facts []fact, known keySet) map[series]*matching {
	groups := map[series]*matching{}
	for i := range facts {
		of, counted := seriesOf(facts[i].key)
		if !counted {
			continue
		}
		m := groups[of]
		if m == nil {
			m = &matching{of: of, known: known, pairs: map[*fact]*Candidate{}}
			groups[of] = m
		}
		if f := &facts[i]; f.standing == factWithdrawn {
			m.gone = append(m.gone, f)
		} else {
			m.facts = append(m.facts, f)
		}
	}
	return groups
}

// modern turns facts of earlier versions, which name a ball by its id, into such that name its place, and gives the events of
// those balls the keys under which they are recorded.
func (s *Snapshot) modern(all []Candidate, facts []fact, known keySet) (changed bool) {
	changed = s.replaceByPlace(facts)
	old := false
	for _, family := range [...]string{oldBall, oldHatTrick, oldOnHatTrick, oldSixes} {
		old = old || known[family] != nil && len(known[family].keys) > 0
	}
	if !old {
		return changed
	}
	for i := range all {
		c := &all[i]
		if c.Was == "" {
			continue
		}
		at := slices.IndexFunc(facts, func(f fact) bool { return f.key == c.Was || f.old() && f.isOf(c) })
		if at < 0 && !known.has(c.Was) {
			continue
		}
		if !known.has(c.Key) { // it is recorded, if under another key
			known.add(c.Key)
			changed = true
		}
		if at < 0 {
			continue
		}
		if c.Key = facts[at].key; facts[at].place() == 0 {
			facts[at].words = s.words(c)
			changed = true
		}
	}
	return changed
}

// old reports whether a fact has a key of an earlier version.
func (f *fact) old() bool {
	family, _ := splitKey(f.key)
	return family == oldBall || family == oldHatTrick || family == oldOnHatTrick || family == oldSixes
}

// isOf reports whether a fact with an old key is about the ball and the kind of event of a candidate.
func (f *fact) isOf(c *Candidate) bool {
	family, numbers := splitKey(f.key)
	if f.place() == 0 || f.place() != c.place() {
		return false
	}
	if family == oldBall {
		return f.subject == string(c.Type)
	}
	of, _ := seriesOf(c.Key)
	return countedKind(family, numbers) == c.Type && of.player == numbers[0]
}

// replaceByPlace replaces the ball's id in the words of facts by its place. A ball that is no longer there has none.
func (s *Snapshot) replaceByPlace(facts []fact) (changed bool) {
	for i := range facts {
		f := &facts[i]
		if f.words == "" || strings.HasPrefix(f.words, atPlace) {
			continue
		}
		id, rest, _ := strings.Cut(f.words, ":")
		at := slices.IndexFunc(s.Balls, func(b Ball) bool { return strconv.FormatInt(b.ID, 10) == id })
		if f.words, changed = "", true; at >= 0 {
			f.words = atPlace + strconv.FormatInt(s.Balls[at].place(), 10) + ":" + rest
		}
	}
	return changed
}

// matching brings the recorded facts of a series together with what the snapshot shows.
type matching struct {
	of    series
	facts []*fact
	gone  []*fact // announced and withdrawn
	shown []*Candidate
	known keySet
	pairs map[*fact]*Candidate
}

// countOf returns the number at the end of a fact's key.
func countOf(f *fact) int64 {
	_, numbers := splitKey(f.key)
	return numbers[len(numbers)-1]
}

// agrees reports whether every fact is shown under its key, or is missing without another in its place.
func (m *matching) agrees() bool {
	for _, f := range m.gone {
		if slices.ContainsFunc(m.shown, func(c *Candidate) bool { return c.Key == f.key || f.place() != 0 && c.place() == f.place() }) {
			return false
		}
	}
	for _, f := range m.facts {
		i := slices.IndexFunc(m.shown, func(c *Candidate) bool { return c.Key == f.key })
		if i < 0 && !m.placeless() || i >= 0 && m.shown[i].place() != 0 && f.place() != 0 && f.place() != m.shown[i].place() {
			return false
		}
	}
	return true
}

// placeless reports whether nothing shown names its ball.
func (m *matching) placeless() bool {
	return !slices.ContainsFunc(m.shown, func(c *Candidate) bool { return c.place() != 0 })
}

// pair finds the candidate of each fact: that of the same ball, else that of the same key if one of them names no ball.
func (m *matching) pair() {
	taken := map[*Candidate]bool{}
	find := func(f *fact, fits func(c *Candidate) bool) {
		for _, c := range m.shown {
			if m.pairs[f] == nil && !taken[c] && fits(c) {
				m.pairs[f], taken[c] = c, true
			}
		}
	}
	for _, f := range m.facts {
		find(f, func(c *Candidate) bool { return !f.fromScore() && f.place() != 0 && f.place() == c.place() })
	}
	for _, f := range m.facts {
		find(f, func(c *Candidate) bool {
			return c.Key == f.key && (f.fromScore() || f.place() == 0 || c.place() == 0)
		})
	}
	for _, f := range m.gone {
		if !m.isRecorded(f.key) {
			find(f, func(c *Candidate) bool { return f.place() != 0 && f.place() == c.place() })
		}
	}
	for _, f := range m.facts { // a boundary that only its row showed gets its ball
		find(f, func(c *Candidate) bool {
			return f.fromScore() && c.place() != 0 && c.place() >= m.first() && !m.isRecorded(c.Key)
		})
	}
}

// first returns the place of the oldest fact.
func (m *matching) first() int64 {
	first := int64(math.MaxInt64)
	for _, f := range m.facts {
		first = min(first, f.place())
	}
	return first
}

func (m *matching) isRecorded(key string) bool {
	return slices.ContainsFunc(m.facts, func(f *fact) bool { return f.key == key })
}

// moveFacts moves the facts that are still shown to the lowest of their keys, so that those that are not leave no hole. It returns
// the events whose rows change with that.
func (m *matching) moveFacts() (moved []Event) {
	paired := 0
	for _, f := range m.facts {
		if m.pairs[f] != nil {
			paired++
		}
	}
	if paired == len(m.facts) || paired == 0 || len(m.shown) >= len(m.facts) && m.fresh() {
		return nil
	}
	keys := make([]string, 0, len(m.facts))
	for _, f := range m.facts { // they are in the order of their keys
		keys = append(keys, f.key)
	}
	n := 0
	for _, still := range [...]bool{true, false} {
		for _, f := range m.facts {
			if c := m.pairs[f]; (c != nil) == still {
				if f.key != keys[n] && c != nil {
					e := c.Event
					e.Key = keys[n]
					moved = append(moved, e)
				}
				f.key = keys[n]
				n++
			}
		}
	}
	return moved
}

// fresh reports whether something is shown that no fact has.
func (m *matching) fresh() bool {
	return slices.ContainsFunc(m.shown, func(c *Candidate) bool { return !m.known.has(c.Key) })
}

// rename gives the candidates the keys of their facts, and one without a fact whose key another has the next free one. It waits,
// without a key, while its key is that of a fact that is still to be taken back.
func (m *matching) rename() {
	used := map[string]bool{}
	of := map[*Candidate]bool{}
	for f, c := range m.pairs {
		c.Key, used[f.key], of[c] = f.key, true, true
	}
	for _, c := range m.shown {
		if of[c] {
			continue
		}
		if c.place() != 0 && !used[c.Key] && m.isRecorded(c.Key) {
			c.Key = ""
		}
		if !used[c.Key] {
			continue
		}
		for n := 1; used[c.Key]; n++ {
			if key := m.of.key(n); !used[key] && !m.known.has(key) {
				c.Key = key
			}
		}
		used[c.Key] = true
	}
}
