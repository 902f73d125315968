package scorekeeper

import (
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Service is the puzzle over a table. It is safe for concurrent use.
type Service struct {
	Table string
	Words *Dictionary
	cache answers
}

// Puzzle is a day's answer. Word is for admins, and for who has lost.
type Puzzle struct {
	Date   string `dynamodbav:"puzzle_date" json:"date"`
	Word   string `dynamodbav:"word" json:"word,omitempty"`
	TeamID string `dynamodbav:"team_id" json:"teamId,omitempty"`
}

// answers keeps the answers that were read, until a journal record says that one has changed, whoever wrote it.
type answers struct {
	mu      sync.Mutex
	words   map[string]string
	changed uint64 // the last journal record about an answer: what a transaction before it has read is not kept
}

func (a *answers) get(date string) (word string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	word, ok = a.words[date]
	return word, ok
}

// keep keeps what a transaction has read that saw the journal up to seq.
func (a *answers) keep(date, word string, seq uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if seq < a.changed {
		return
	}
	if a.words == nil {
		a.words = map[string]string{}
	}
	a.words[date] = word
}

// Changed drops the answers that journal records are about.
func (s *Service) Changed(records []store.Record) {
	for i := range records {
		if date, ok := answerDate(records[i].Key); ok {
			s.cache.mu.Lock()
			delete(s.cache.words, date)
			s.cache.changed = max(s.cache.changed, records[i].Seq)
			s.cache.mu.Unlock()
		}
	}
}

// ClearCache forgets all answers that were read; changed is the journal's last record.
func (s *Service) ClearCache(changed uint64) {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	clear(s.cache.words)
	s.cache.changed = max(s.cache.changed, changed)
}

// HasAnswer reports whether a day's answer is known without a read.
func (s *Service) HasAnswer(date string) bool {
	_, ok := s.cache.get(date)
	return ok
}

// answer is a day's word. A day that has begun nowhere has none yet.
func (s *Service) answer(tx *store.Tx, date string) (string, error) {
	if !begun(date, tx.Now()) {
		return "", NoPuzzle()
	}
	word, err := s.word(tx, date)
	if err == nil && word == "" {
		err = NoPuzzle()
	}
	return word, err
}

// word is the word of any day; empty: there is none.
func (s *Service) word(tx *store.Tx, date string) (string, error) {
	if word, ok := s.cache.get(date); ok {
		return word, nil
	}
	p, found, err := s.puzzle(tx, date)
	if err == nil && found {
		s.cache.keep(date, p.Word, tx.Seq())
	}
	return p.Word, err
}

func (s *Service) puzzle(tx *store.Tx, date string) (p Puzzle, found bool, err error) {
	found, err = s.load(tx, AnswerKey(date), &p)
	return p, found, err
}

// load reads the row with a key into a value; a row that is not there changes nothing.
func (s *Service) load(tx *store.Tx, k attr.Item, into any) (found bool, err error) {
	item, err := tx.Get(s.Table, k)
	if err != nil || item == nil {
		return false, err
	}
	return true, attr.Unmarshal(item, into)
}

// Puzzle returns the puzzle of a day, with its word.
func (s *Service) Puzzle(tx *store.Tx, date string) (Puzzle, error) {
	if !isDay(date) {
		return Puzzle{}, badDate()
	}
	p, found, err := s.puzzle(tx, date)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "not_found", "No puzzle found for date %s", date)
	}
	return p, err
}

// Puzzles lists the puzzles of a range of days, of all where both ends are empty, in the order of their days.
func (s *Service) Puzzles(tx *store.Tx, from, to string) ([]Puzzle, error) {
	switch {
	case (from == "") != (to == ""):
		return nil, badRequest("Both start_date and end_date are required")
	case from != "" && (!isDay(from) || !isDay(to)):
		return nil, badDate()
	case from > to:
		return nil, badRequest("end_date must not be before start_date")
	}
	all := []Puzzle{}
	for item, err := range tx.ScanAll(s.scan(prefixPuzzle, skAnswer)) {
		var p Puzzle
		if err != nil {
			return nil, err
		}
		if attr.Unmarshal(item, &p) == nil && (from == "" || from <= p.Date && p.Date <= to) {
			all = append(all, p)
		}
	}
	return all, nil
}

// scan reads the rows with a sort key whose partitions begin with prefix.
func (s *Service) scan(prefix, sk string) store.Scan {
	return store.Scan{Table: s.Table, Prefix: prefix, Filter: "sk = :sk", Params: expr.Params{Values: attr.Item{":sk": attr.S(sk)}}}
}

// NewAnswer is what an admin wants of a day: a word, or a random one that was never asked for.
type NewAnswer struct {
	Date, Word, TeamID string
	Random             bool
}

// SetAnswer sets the answer of a day. Where there is one it is changed as asked, and the games of the day are graded anew; of two
// nodes that set one at once the first in the cloud has it, and the other's is an open conflict.
func (s *Service) SetAnswer(tx *store.Tx, n NewAnswer) (Puzzle, error) {
	p, err := s.chosen(tx, n)
	if err != nil {
		return p, err
	}
	old, found, err := s.puzzle(tx, n.Date)
	if err != nil {
		return p, err
	}
	team := attr.Null()
	if p.TeamID != "" {
		team = attr.S(p.TeamID)
	}
	if !found {
		item := AnswerKey(n.Date)
		item["puzzle_date"], item["word"], item["team_id"] = attr.S(n.Date), attr.S(p.Word), team
		_, err = tx.Put(store.PutItem{Table: s.Table, Item: item, Condition: "attribute_not_exists(pk)", NoOld: true})
		return p, err
	}
	_, err = tx.Update(store.UpdateItem{
		Table: s.Table, Key: AnswerKey(n.Date), Update: "SET word = :word, team_id = :team", Condition: "word = :seen",
		Params: expr.Params{Values: attr.Item{":word": attr.S(p.Word), ":team": team, ":seen": attr.S(old.Word)}},
	})
	return p, err
}

// chosen is the puzzle that an admin wants, if it may be.
func (s *Service) chosen(tx *store.Tx, n NewAnswer) (Puzzle, error) {
	p := Puzzle{Date: n.Date, Word: strings.ToLower(n.Word), TeamID: n.TeamID}
	switch {
	case !isDay(n.Date):
		return p, badDate()
	case n.Word == "" && !n.Random:
		return p, badRequest("Either provide a word or set set_random_unused_word to true")
	case n.Word == "":
		return s.random(tx, p)
	case len([]rune(p.Word)) != Letters:
		return p, badRequest("Word must be exactly 5 letters")
	case !isWord(p.Word):
		return p, badRequest("Word must contain only letters (a-z)")
	case !s.Words.Has(p.Word):
		return p, badRequest("Word not in dictionary")
	}
	return p, nil
}

func (s *Service) random(tx *store.Tx, p Puzzle) (Puzzle, error) {
	used := map[string]bool{}
	all, err := s.Puzzles(tx, "", "")
	for i := range all {
		used[all[i].Word] = true
	}
	if err != nil {
		return p, err
	}
	word, ok, err := s.Words.Random(used)
	if err == nil && !ok {
		err = badRequest("No unused words available in the dictionary")
	}
	p.Word = word
	return p, err
}
