package cricket

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Told is what was recorded and must stay true of the record, packed as Emitted is: facts as texts, "w:1:3=21906".
type Told Emitted

// The standing of a fact: the sign between its key and its subject.
const (
	factTold      = '=' // phones were told
	factQuiet     = '~' // it was recorded, and phones were not told
	factWithdrawn = '!' // phones were told, and told that it was not so
	factPassing   = '@' // phones were told, and it passes by itself; the subject is when
)

// fact is an event that was recorded and must stay true.
type fact struct {
	key      string
	standing byte
	subject  string
}

func (t Told) facts() []fact {
	var out []fact
	for _, text := range Emitted(t).Keys() {
		if i := strings.IndexAny(text, string([]byte{factTold, factQuiet, factWithdrawn, factPassing})); i > 0 {
			out = append(out, fact{key: text[:i], standing: text[i], subject: text[i+1:]})
		}
	}
	return out
}

func packTold(facts []fact) Told {
	ks := keySet{}
	for _, f := range facts {
		ks.add(f.key + string(f.standing) + f.subject)
	}
	return Told(ks.pack())
}

// challenge is a fact that the reading contradicts, with what is to be said about it.
type challenge struct {
	fact   fact
	now    *Candidate // what the reading has under the key, nil: nothing
	retake bool       // nobody was told: the event is taken back without a word
}

// Corrections are held as events are. A taking back is held under a key that no event has.
const takeBack = "undo:"

// challenged finds what was recorded and is not so in the reading, as candidates that are to hold like any other, and
// the challenges by their keys. all is everything the reading tells.
func (st *State) challenged(
	prev *State, all []Candidate, s *Snapshot, known keySet, now time.Time,
) ([]Candidate, map[string]challenge) {
	var out []Candidate
	byKey := map[string]challenge{}
	facts := st.Told.facts()
	found := make(map[string]*Candidate, len(facts))
	for i := range facts {
		found[facts[i].key] = nil
	}
	for i := range all {
		if is, asked := found[all[i].Key]; asked && is == nil {
			found[all[i].Key] = &all[i]
		}
	}
	for _, f := range facts {
		ch := challenge{fact: f, now: found[f.key]}
		if !s.contradicts(&ch, now) {
			continue
		}
		if ch.now != nil && ch.now.Text == "" {
			ch.now = inWords(prev, s, known, f.key)
		}
		ch.retake = f.standing == factQuiet && f.key != resultKey
		c := st.correction(ch, s, known)
		byKey[c.Key] = ch
		out = append(out, c)
	}
	return out, byKey
}

// contradicts tells whether a reading says otherwise than a fact.
func (s *Snapshot) contradicts(ch *challenge, now time.Time) bool {
	f := &ch.fact
	same := ch.now != nil && (ch.now.Subject == f.subject || f.subject == anySubject)
	switch {
	case !s.judges(f.key, f.subject):
		return false
	case f.standing == factPassing:
		return !f.outlived(now) && !s.still(f.key)
	case f.standing == factWithdrawn:
		return ch.now != nil
	case same:
		return false
	default: // another end of the match has to be believed first
		return f.key != resultKey || ch.now == nil || s.settled()
	}
}

// inWords finds an event again that was left without its text: that it is challenged is rare.
func inWords(prev *State, s *Snapshot, known keySet, key string) *Candidate {
	all := detect(prev, s, known, nil).out
	if i := slices.IndexFunc(all, func(c Candidate) bool { return c.Key == key }); i >= 0 {
		return &all[i]
	}
	return nil
}

// anySubject is the subject of a fact whose own was not kept.
const anySubject = "?"

// judges tells whether a reading can contradict a fact: without the balls it was found in, it cannot, nor by a target that
// was revised since.
func (s *Snapshot) judges(key, subject string) bool {
	family, numbers := splitKey(key)
	switch family {
	case familyHatTrick, familySixes:
		return len(s.Balls) > 0 && slices.ContainsFunc(s.Innings, func(in Innings) bool {
			balls := s.ballsIn(in.No)
			return len(balls) > 0 && balls[0].ID <= numbers[1]
		})
	case closeKey:
		return subject == s.closeSubject()
	default:
		return true
	}
}

// correction is the candidate that a challenge makes.
func (st *State) correction(ch challenge, s *Snapshot, known keySet) Candidate {
	c := Candidate{Event: Event{Key: takeBack + ch.fact.key, Type: EventCorrection, Detail: ch.fact.key}}
	if !ch.retake {
		c.Key = correctionKey(ch.fact.key, known)
	}
	c.Mark = "gone"
	if ch.now != nil {
		c.Innings, c.Over, c.Subject = ch.now.Innings, ch.now.Over, ch.now.Subject
		c.Mark = "now " + ch.now.Subject
	}
	c.Text = s.correctionText(ch)
	return c
}

// correctionKey is the first that is free: an event can be corrected again.
func correctionKey(key string, known keySet) string {
	corr := "corr:" + key
	for n := 2; known.has(corr); n++ {
		corr = "corr:" + key + ":" + strconv.Itoa(n)
	}
	return corr
}

// correctionText says what is so, as a scorer would.
func (s *Snapshot) correctionText(ch challenge) string {
	if ch.fact.standing == factPassing {
		return "Correction: " + s.goesOn()
	}
	family, numbers := splitKey(ch.fact.key)
	who := s.called(ch.fact.subject)
	switch family {
	case resultKey:
		if ch.now == nil {
			return "Correction: the match is not over"
		}
		return "Correction: " + ch.now.Text
	case familyWicket:
		switch {
		case ch.now == nil:
			return fmt.Sprintf("Correction: %s not out (review)", who)
		case ch.fact.standing == factWithdrawn:
			return "Corrected wicket: " + strings.TrimPrefix(ch.now.Text, "WICKET! ")
		default:
			return fmt.Sprintf("Correction: it was %s, not %s", s.called(ch.now.Subject), who)
		}
	case familyMilestone:
		if ch.now != nil {
			return "Correction: " + ch.now.Text
		}
		if row := s.battingRow(int(numbers[1]), numbers[2]); row != nil {
			return fmt.Sprintf("Correction: %s on %d, not %d", s.lastName(row.PlayerID), row.Runs, numbers[0])
		}
		return fmt.Sprintf("Correction: no %d for %s", numbers[0], s.lastName(numbers[2]))
	default:
		if ch.now != nil {
			return "Correction: " + ch.now.Text
		}
		return "Correction: " + s.notSo(family, numbers)
	}
}

// notSo denies an event of a family.
func (s *Snapshot) notSo(family string, numbers []int64) string {
	switch family {
	case familyInningsEnd:
		return "the innings goes on"
	case familyHaul:
		return fmt.Sprintf("not %d wickets for %s yet", numbers[0], s.lastName(numbers[2]))
	case familyHatTrick:
		return "no hat-trick for " + s.lastName(numbers[0])
	case familySixes:
		return "not three sixes in a row for " + s.lastName(numbers[0])
	case familySuperOver:
		return "no super over"
	case followOnKey:
		return "no follow-on"
	case closeKey:
		return "the chase is not that close"
	default:
		return "that was not so"
	}
}

// called is the name of the player that a subject is about.
func (s *Snapshot) called(subject string) string {
	if id, err := strconv.ParseInt(subject, 10, 64); err == nil {
		return s.lastName(id)
	}
	return "the batter"
}

func (s *Snapshot) battingRow(innings int, player int64) *BattingRow {
	for i := range s.Batting {
		if r := &s.Batting[i]; r.Innings == innings && r.PlayerID == player {
			return r
		}
	}
	return nil
}

// corrects tells whether the correction of an event is an alert: what phones were told of a wicket, a hundred or the
// result.
func corrects(f fact) bool {
	if f.standing == factQuiet || f.standing == factPassing {
		return false // quiet is of the result: any other is taken back without a word
	}
	family, numbers := splitKey(f.key)
	switch family {
	case resultKey, familyWicket:
		return true
	case familyMilestone:
		return numbers[0] >= 100
	default:
		return false
	}
}

// settleFacts brings the facts up to date with what became sure: new ones, corrected ones, those taken back. It gives
// the keys that are free again, whose rows are to go.
func (r *round) settleFacts(sure []confirmed, events []Event, known keySet) (cleared []string) {
	if len(sure) == 0 {
		return nil
	}
	facts := slices.DeleteFunc(r.state.Told.facts(), func(f fact) bool {
		return f.standing == factPassing && f.outlived(r.now)
	})
	for i := range sure {
		c := &sure[i]
		recorded := slices.ContainsFunc(events, func(e Event) bool { return e.Key == c.Key })
		if ch, ok := r.challenges[c.Key]; ok {
			if recorded || ch.retake {
				cleared = append(cleared, correctFact(&facts, ch)...)
			}
			continue
		}
		if recorded && passing(c.Type) && r.told[c.Key] {
			facts = append(facts, passingFact(c.Key, r.now))
		}
		if !recorded || !ruleOf(c.Type).lasting && c.Key != resultKey {
			continue
		}
		f := fact{key: c.Key, standing: factQuiet, subject: c.Subject}
		if r.told[c.Key] {
			f.standing = factTold
		}
		facts = append(facts, f)
	}
	for _, key := range cleared {
		known.remove(key)
	}
	r.state.Told = packTold(facts)
	return cleared
}

// correctFact takes a correction that became sure into the facts, and gives the key that is free again.
func correctFact(facts *[]fact, ch challenge) (cleared []string) {
	i := slices.IndexFunc(*facts, func(f fact) bool { return f.key == ch.fact.key })
	if i < 0 {
		return nil
	}
	f := &(*facts)[i]
	switch {
	case ch.retake, f.key == resultKey && ch.now == nil:
		*facts = slices.Delete(*facts, i, i+1)
		return []string{ch.fact.key}
	case f.standing == factPassing: // its key stays used: a word that flaps is told once
		*facts = slices.Delete(*facts, i, i+1)
	case ch.now == nil:
		f.standing = factWithdrawn
	default:
		f.subject = ch.now.Subject
		if f.standing == factWithdrawn {
			f.standing = factTold
		}
	}
	return nil
}
