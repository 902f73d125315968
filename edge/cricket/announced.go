package cricket

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Announced holds the recorded facts that must stay true. It is packed like SeenKeys, each fact as a text: "w:1:3=21906".
type Announced SeenKeys

// The standing of a fact is the sign between its key and its subject.
const (
	factAnnounced      = '=' // announced to phones
	factQuiet          = '~' // recorded without an alert
	factWithdrawn      = '!' // announced to phones and withdrawn
	factTransient      = '@' // announced, and passes by itself; the subject is when
	factTransientQuiet = '^' // recorded without an alert, and passes by itself
)

// fact is a recorded event that must stay true.
type fact struct {
	key      string
	standing byte
	subject  string
	words    string // if a recent ball made it: the ball, and a digest of the row's text
}

// beforeWords separates the subject of a fact from its words.
const beforeWords = "|"

func (t Announced) facts() []fact {
	var out []fact
	for _, text := range SeenKeys(t).Keys() {
		if i := strings.IndexAny(text, string([]byte{factAnnounced, factQuiet, factWithdrawn, factTransient, factTransientQuiet})); i > 0 {
			f := fact{key: text[:i], standing: text[i]}
			f.subject, f.words, _ = strings.Cut(text[i+1:], beforeWords)
			out = append(out, f)
		}
	}
	return out
}

func packAnnounced(facts []fact) Announced {
	ks := keySet{}
	for _, f := range facts {
		text := f.key + string(f.standing) + f.subject
		if f.words != "" {
			text += beforeWords + f.words
		}
		ks.add(text)
	}
	return Announced(ks.pack())
}

// challenge is a fact that the snapshot contradicts, and how to correct it.
type challenge struct {
	fact fact
	now  *Candidate // what the snapshot has under the key, nil if nothing
	same bool       // with the same subject
	more bool       // same, and the snapshot says more about it
	rows bool       // no fact is kept of it: the rows alone show that it is not so

	elsewhere int  // the number of the wicket as which the batter fell instead, 0 if still in
	retake    bool // not announced: the event is withdrawn silently
	reword    bool // need not be announced: only the row changes
}

// takeBack starts the key under which a silent withdrawal is held, as corrections are held under corr:. No event has such a key.
const takeBack = "undo:"

// challengeFacts compares recorded facts with the snapshot. It returns what is no longer true as candidates, which
// are held like any other, and their challenges by key. all is everything the snapshot shows.
func (st *State) challengeFacts(all []Candidate, s *Snapshot, known keySet, now time.Time) ([]Candidate, map[string]challenge) {
	var out []Candidate
	byKey := map[string]challenge{}
	facts := st.Announced.facts()
	judged := s.judgedFrom()
	found := make(map[string]*Candidate, len(facts))
	for i := range facts {
		found[facts[i].key] = nil
	}
	for i := range all {
		key := factKey(&all[i].Event)
		if is, asked := found[key]; asked && is == nil {
			found[key] = &all[i]
		}
	}
	for _, f := range facts {
		ch := challenge{fact: f, now: found[f.key]}
		if ch.now != nil {
			how := f.agreement(ch.now)
			ch.same, ch.more = how != differs, how == fuller
		}
		if !s.contradicts(&ch, judged, now) || f.key == targetFact && ch.now != nil && !known.has(ch.now.Key) {
			continue // a new target is announced as an event of its own
		}
		if ch.now == nil {
			ch.elsewhere = fellAs(&f, all)
		}
		ch.hush()
		c := st.correction(ch, all, s, known)
		byKey[c.Key] = ch
		out = append(out, c)
	}
	for _, key := range st.miscounted(all, s, known) {
		c := Candidate{Event: Event{Key: takeBack + key, Type: EventCorrection, Detail: key}, Mark: "gone"}
		byKey[c.Key] = challenge{fact: fact{key: key, standing: factQuiet}, retake: true, rows: true}
		out = append(out, c)
	}
	return out, byKey
}

// contradicts reports whether the snapshot disagrees with a fact.
func (s *Snapshot) contradicts(ch *challenge, judged int64, now time.Time) bool {
	f := &ch.fact
	reworded := ch.same && s.rewords(f, ch.now)
	switch {
	case f.standing == factWithdrawn:
		return false // the key is free: if it is true after all, it is news
	case ch.more:
		return true
	case f.fromScore() && f.minor() && !reworded:
		return (f.isCount() || !s.cameIn(f)) && ch.now == nil && f.place() >= judged
	case f.minor() || reworded:
		return f.place() >= judged && (!ch.same || reworded)
	case !s.judges(f):
		return false
	case f.standing == factTransient, f.standing == factTransientQuiet:
		return !f.hasOutlived(now) && !s.standsStill(f.key)
	case ch.same:
		return false
	default: // a different result must not be contradicted by the scores; while they leave it open it waits
		return f.key != resultKey || ch.now == nil || s.isSettled() || s.Winner != 0 && s.verdict() == verdictOpen
	}
}

// fellAs returns the number of the wicket as which the batter of a fact fell, if it is not the announced one; 0 if the batter is in.
func fellAs(f *fact, all []Candidate) int {
	family, was := splitKey(f.key)
	if family != familyWicket {
		return 0
	}
	who, _, _ := strings.Cut(f.subject, "+")
	for i := range all {
		if c := &all[i]; c.Type == EventWicket && c.Innings == int(was[0]) && strings.HasPrefix(c.Subject+"+", who+"+") {
			_, numbers := splitKey(c.Key)
			return int(numbers[1])
		}
	}
	return 0
}

// targetFact is the key of the fact that holds the target announced last: only one is in force.
const targetFact = "dls"

// wasSo ends the subject of a target that was announced and true until another one replaced it.
const wasSo = "+"

// factKey returns the key of an event's fact.
func factKey(e *Event) string {
	if e.Type == EventTargetRevised {
		return targetFact
	}
	return e.Key
}

// eventKey returns the key of a fact's event.
func (f *fact) eventKey() string {
	if f.key == targetFact {
		target, _, _ := strings.Cut(f.subject, "+")
		return revisedPrefix + target
	}
	return f.key
}

// judges reports whether a snapshot can contradict a fact. It cannot without the balls in which the fact was
// found, or if the target was revised since.
func (s *Snapshot) judges(f *fact) bool {
	switch family, _ := splitKey(f.key); family {
	case oldBall:
		return false // kept by earlier versions
	case familyRowSixes:
		return len(s.Balls) == 0 // with balls the same sixes have another key
	case familyHatTrick, familySixes, oldHatTrick, oldSixes:
		return len(s.Balls) > 0 && s.Balls[0].place() <= f.place()
	case closeKey, closeLastKey:
		return f.subject == s.closeSubject()
	case tossKey:
		return s.Toss.TeamID != 0
	default:
		return true
	}
}

// correction returns the candidate for a challenge.
func (st *State) correction(ch challenge, all []Candidate, s *Snapshot, known keySet) Candidate {
	c := Candidate{Event: Event{Key: takeBack + ch.fact.key, Type: EventCorrection, Detail: ch.fact.key}}
	if !ch.silent() {
		c.Key = correctionKey(ch.fact.key, known)
	}
	c.Mark = "gone"
	if ch.now != nil {
		c.Innings, c.Over, c.Subject = ch.now.Innings, ch.now.Over, ch.now.Subject
		c.Mark, c.Instead = "now "+ch.now.Subject+s.words(ch.now), ch.now.Text
	}
	c.Text = s.correctionText(ch)
	if family, _ := splitKey(ch.fact.key); family == familyBoundary && ch.now == nil {
		c.Text = s.boundaryText(ch, all)
	}
	return c
}

// correctionKey returns the first free key: an event can be corrected more than once.
func correctionKey(key string, known keySet) string {
	corr := correctionPrefix + key
	for n := 2; known.has(corr); n++ {
		corr = correctionPrefix + key + ":" + strconv.Itoa(n)
	}
	return corr
}

func (s *Snapshot) battingRow(innings int, player int64) *BattingRow {
	for r := range s.battingOf(innings) {
		if r.PlayerID == player {
			return r
		}
	}
	return nil
}

// corrects reports whether correcting the fact alerts: what phones were told must be put right on phones. For
// transient events the banner is enough.
func corrects(f fact) bool { return f.standing == factAnnounced }

// settleFacts updates the facts with what was confirmed: new, corrected and withdrawn ones. It returns the keys
// that are free again, whose rows are deleted, and the rows that read differently now.
func (r *round) settleFacts(sure []confirmed, events []Event, known keySet) (cleared []string, revised []Event) {
	if len(sure) == 0 {
		return nil, nil
	}
	facts := r.keptFacts()
	for i := range sure {
		c := &sure[i]
		recorded := slices.ContainsFunc(events, func(e Event) bool { return e.Key == c.Key })
		if ch, ok := r.challenges[c.Key]; ok {
			if recorded || ch.silent() {
				free, says := r.correctFact(&facts, ch)
				cleared, revised = append(cleared, free...), append(revised, says...)
			}
			continue
		}
		if recorded && transient(c.Type) {
			facts = append(facts, transientFact(c.Key, r.told[c.Key], r.now))
		}
		if recorded && (ruleOf(c.Type).lasting || c.Key == resultKey || r.revisable(&c.Event)) {
			facts = r.withConfirmed(facts, c)
		}
	}
	for _, key := range cleared {
		known.remove(key)
	}
	r.state.Announced = packAnnounced(facts)
	return cleared, revised
}

// withConfirmed returns the facts with that of a confirmed event.
func (r *round) withConfirmed(facts []fact, c *confirmed) []fact {
	f := fact{key: factKey(&c.Event), standing: factQuiet, subject: c.Subject}
	if r.revisable(&c.Event) {
		f.words = r.snap.words(&c.Candidate)
	}
	if r.told[c.Key] {
		f.standing = factAnnounced
	}
	if old := slices.IndexFunc(facts, func(old fact) bool { return old.key == f.key }); old < 0 {
		return append(facts, f)
	} else if _, counted := seriesOf(f.key); r.told[c.Key] || counted && facts[old].place() != f.place() {
		facts[old] = f
	} else if f.key == targetFact { // phones know the previous target, which was true until now
		facts[old].subject = strings.TrimSuffix(facts[old].subject, wasSo) + wasSo
	}
	return facts
}

// withdrawnKeys lists the keys whose announcement was withdrawn. If one becomes true after all, phones are owed that
// as they are owed a correction.
func (t Announced) withdrawnKeys() map[string]bool {
	out := map[string]bool{}
	for _, f := range t.facts() {
		if f.standing == factWithdrawn {
			out[f.key] = true
		}
	}
	return out
}
