package scorekeeper

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/table"
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
	if a.words == nil {
		a.words = map[string]string{}
	}
	if seq >= a.changed {
		a.words[date] = word
	}
}

// Changed forgets the answers that were read where one has changed, as happens once a day.
func (s *Service) Changed(records []store.Record) {
	for i := range records {
		if records[i].Key["sk"].Str() == skAnswer {
			s.ClearCache(records[i].Seq)
		}
	}
}

// ClearCache forgets all answers that were read before a record of the journal.
func (s *Service) ClearCache(changed uint64) {
	a := &s.cache
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.words)
	a.changed = max(a.changed, changed)
}

// answer is a day's word. A day that has begun nowhere has none yet.
func (s *Service) answer(tx *store.Tx, date string) (string, error) {
	if !begun(date, tx.Now()) {
		return "", noPuzzle()
	}
	word, err := s.word(tx, date)
	if err == nil && word == "" {
		err = noPuzzle()
	}
	return word, err
}

// word is the word of any day; empty: there is none.
func (s *Service) word(tx *store.Tx, date string) (string, error) {
	if word, ok := s.cache.get(date); ok {
		return word, nil
	}
	var p Puzzle
	found, err := s.load(tx, AnswerKey(date), &p)
	if err == nil && found {
		s.cache.keep(date, p.Word, tx.Seq())
	}
	return p.Word, err
}

// load reads the row with a key into a value; one that is not there, or that others have written in another shape, changes nothing.
func (s *Service) load(tx *store.Tx, k attr.Item, into any) (found bool, err error) {
	row, err := tx.Get(s.Table, k)
	return row != nil && err == nil && attr.Unmarshal(row, into) == nil, err
}

// Puzzle returns the puzzle of a day, with its word.
func (s *Service) Puzzle(tx *store.Tx, date string) (Puzzle, error) {
	if !isDay(date) {
		return Puzzle{}, badDate()
	}
	var p Puzzle
	found, err := s.load(tx, AnswerKey(date), &p)
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
	return rows(s, tx, prefixPuzzle, skAnswer, func(row attr.Item) (p Puzzle, ok bool) {
		err := attr.Unmarshal(row, &p)
		return p, err == nil && (from == "" || from <= p.Date && p.Date <= to)
	})
}

// rows reads what a function takes of the rows with a sort key whose partitions begin with prefix. Those that others have written in
// another shape are to be passed over.
func rows[T any](s *Service, tx *store.Tx, prefix, sk string, take func(row attr.Item) (T, bool)) ([]T, error) {
	q := store.Scan{Table: s.Table, Prefix: prefix, Filter: "sk = :sk", Params: expr.Params{Values: attr.Item{":sk": attr.S(sk)}}}
	return table.Collect(tx.ScanAll(q), func(row attr.Item) (T, bool, error) {
		one, ok := take(row)
		return one, ok, nil
	})
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
	team := attr.Null()
	if p.TeamID != "" {
		team = attr.S(p.TeamID)
	}
	var old Puzzle
	found, err := s.load(tx, AnswerKey(n.Date), &old)
	switch {
	case err != nil:
	case found:
		seen := table.When("word = :seen", attr.Item{":word": attr.S(p.Word), ":team": team, ":seen": attr.S(old.Word)})
		_, err = tx.Update(*table.Update(s.Table, AnswerKey(n.Date), "SET word = :word, team_id = :team", seen).Update)
	default:
		row := AnswerKey(n.Date)
		row["puzzle_date"], row["word"], row["team_id"] = attr.S(n.Date), attr.S(p.Word), team
		_, err = tx.Put(*s.create(row).Put)
	}
	s.ClearCache(tx.Seq()) // at once: the journal is read a moment later
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
	all, err := s.Puzzles(tx, "", "")
	if err != nil {
		return p, err
	}
	used := func(word string) bool { return slices.ContainsFunc(all, func(p Puzzle) bool { return p.Word == word }) }
	free := slices.DeleteFunc(s.Words.Answers(), used)
	if len(free) == 0 {
		return p, badRequest("No unused words available in the dictionary")
	}
	p.Word = free[rand.IntN(len(free))]
	return p, nil
}
