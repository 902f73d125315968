package scorekeeper

import (
	"crypto/rand"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Service implements the puzzle on a table. It is safe for concurrent use.
type Service struct {
	table.Handle
	Words *Dictionary
	cache answers
}

// plan is the work of a transaction. Until its first error, what could not be read is empty.
type plan struct {
	*Service
	table.Plan
}

func (s *Service) plan(tx *store.Tx) *plan { return &plan{s, s.Plan(tx)} }

// Puzzle is a day's answer. Word is for admins: for any other reader, callers clear it.
type Puzzle struct {
	Date   string `dynamodbav:"puzzle_date" json:"date"`
	Word   string `dynamodbav:"word" json:"word,omitempty"`
	TeamID string `dynamodbav:"team_id" json:"teamId,omitempty"`
}

// answers caches answers until a journal record reports a change to any of them, whoever made it.
type answers struct {
	mu      sync.Mutex
	words   map[string]string
	changed uint64 // sequence number of the last change; words read by earlier transactions are not cached
}

func (a *answers) get(date string) (word string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	word, ok = a.words[date]
	return word, ok
}

// cacheWord caches a word read by a transaction that saw the journal up to seq.
func (a *answers) cacheWord(date, word string, seq uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.words == nil {
		a.words = map[string]string{}
	}
	if seq >= a.changed {
		a.words[date] = word
	}
}

// DropChangedAnswers clears the cache if one of the records is about an answer, which happens about once a day.
func (s *Service) DropChangedAnswers(records []store.Record) {
	for i := range records {
		if records[i].Key["sk"].Str() == skAnswer {
			s.ClearCache(records[i].Seq)
		}
	}
}

// ClearCache clears the cache. Words read before the journal record with sequence number changed are not cached again.
func (s *Service) ClearCache(changed uint64) {
	a := &s.cache
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.words)
	a.changed = max(a.changed, changed)
}

// answer returns a day's word. The puzzle does not exist for players until the day has begun in some time zone.
func (p *plan) answer(date string) string {
	p.Refuse(!hasBegun(date, p.Tx.Now()), noPuzzle())
	word := p.word(date)
	p.Refuse(word == "", noPuzzle())
	return word
}

// word returns the word of any day, future ones too. It is empty if there is none.
func (p *plan) word(date string) string {
	if word, ok := p.cache.get(date); ok {
		return word
	}
	var of Puzzle
	if p.load(AnswerKey(date), &of) {
		p.cache.cacheWord(date, of.Word, p.Tx.Seq())
	}
	return of.Word
}

// load decodes the row with key k. found is false if there is no such row, or if another program wrote it in a form that cannot be decoded: that
// one is skipped.
func (p *plan) load(k attr.Item, into any) (found bool) {
	row := p.Get(k)
	return row != nil && p.decode(row, into)
}

// needs is load for a row that is asked for, of a kind that has a name for people: one that cannot be decoded is an error.
func (p *plan) needs(k attr.Item, what string, into any) (found bool) {
	row := p.Get(k)
	if row == nil {
		return false
	}
	if err := table.Unmarshal(row, into); err != nil {
		p.Unreadable(what, row, err)
	}
	return true
}

// decode decodes one of many rows. ok is false for one that cannot be decoded, which is skipped.
func (p *plan) decode(row attr.Item, into any) (ok bool) {
	err := table.Unmarshal(row, into)
	if err != nil {
		p.Skip(row, err)
	}
	return err == nil
}

// Puzzle returns the puzzle of a day, with its word.
func (s *Service) Puzzle(tx *store.Tx, date string) (Puzzle, error) {
	p, of := s.plan(tx), Puzzle{}
	p.Refuse(!isDay(date), badDate())
	p.Refuse(!p.needs(AnswerKey(date), "puzzle", &of), fault.New(fault.NotFound, "not_found", "No puzzle found for date %s", date))
	return of, p.Err()
}

// Puzzles lists the puzzles from one day to another, oldest first. If both are empty it lists all.
func (s *Service) Puzzles(tx *store.Tx, from, to string) ([]Puzzle, error) {
	switch {
	case (from == "") != (to == ""):
		return nil, badRequest("Both start_date and end_date are required")
	case from != "" && (!isDay(from) || !isDay(to)):
		return nil, badDate()
	case from > to:
		return nil, badRequest("end_date must not be before start_date")
	}
	p := s.plan(tx)
	return rows(p, prefixPuzzle, skAnswer, func(row attr.Item) (of Puzzle, ok bool) {
		return of, p.decode(row, &of) && (from == "" || from <= of.Date && of.Date <= to)
	}), p.Err()
}

// rows collects what take returns for the rows with sort key sk in partitions that begin with prefix. take reports false for a row to skip,
// such as one that another program wrote in a form that cannot be decoded.
func rows[T any](p *plan, prefix, sk string, take func(row attr.Item) (T, bool)) []T {
	all := []T{}
	for row := range p.Rows(p.Tx.ScanAll(p.ScanWith(sk, prefix))) {
		if v, ok := take(row); ok {
			all = append(all, v)
		}
	}
	return all
}

// NewAnswer is an admin's request to set the answer of a day: to Word or, if it is empty and Random is set, to a random unused word.
type NewAnswer struct {
	Date, Word, TeamID string
	Random             bool
}

// SetAnswer sets or changes the answer of a day. Changing it re-grades the games of that day. If two nodes set an answer at once, the first
// to reach the cloud wins, and the other's is an open conflict.
func (s *Service) SetAnswer(tx *store.Tx, n NewAnswer) (Puzzle, error) {
	p, old := s.plan(tx), Puzzle{}
	now, err := s.chooseWord(tx, n)
	p.Fail(err)
	team := attr.Null()
	if now.TeamID != "" {
		team = attr.S(now.TeamID)
	}
	if p.needs(AnswerKey(n.Date), "puzzle", &old) {
		seen := table.IfTrue("word = :seen", attr.Item{":word": attr.S(now.Word), ":team": team, ":seen": attr.S(old.Word)})
		p.Commit(p.Update(AnswerKey(n.Date), "SET word = :word, team_id = :team", seen))
	} else {
		row := AnswerKey(n.Date)
		row["puzzle_date"], row["word"], row["team_id"] = attr.S(n.Date), attr.S(now.Word), team
		p.Commit(p.Create(row))
	}
	s.ClearCache(tx.Seq()) // now: the journal record arrives a moment later
	return now, p.Err()
}

// chooseWord validates a request, and picks the word of a random one.
func (s *Service) chooseWord(tx *store.Tx, n NewAnswer) (Puzzle, error) {
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
	i, err := rand.Int(rand.Reader, big.NewInt(int64(len(free)))) // nobody can predict the next words from earlier ones
	if err != nil {
		return p, err
	}
	p.Word = free[i.Int64()]
	return p, nil
}
