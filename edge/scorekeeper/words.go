package scorekeeper

import (
	_ "embed" // the lists
	"slices"
	"sort"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
)

// The embedded lists come from SCOWL: sorted, one word a line. The program internal/tools/words generates them.
var (
	//go:embed words/guesses.txt
	embeddedGuesses string
	//go:embed words/answers.txt
	embeddedAnswers string
)

// Dictionary holds the words that may be guessed, and those from which random answers are drawn. Each list is one sorted string of lines
// of equal length, which a binary search reads in place: it needs no further memory.
type Dictionary struct{ guesses, answers string }

const line = Letters + 1 // a word and its line feed

// NewDictionary returns the embedded lists or, if file is not empty, the words of that file, one a line, as both guesses and answers.
func NewDictionary(file string) (*Dictionary, error) {
	if file == "" {
		return &Dictionary{guesses: embeddedGuesses, answers: embeddedAnswers}, nil
	}
	raw, err := secretfile.ReadAny(file, maxWordFile)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_words", "the word list cannot be read: %v", err)
	}
	words := strings.Fields(strings.ToLower(string(raw)))
	for _, w := range words {
		if !isWord(w) {
			return nil, fault.New(fault.Invalid, "bad_words", "%s: %q is not a word of five letters a-z", file, w)
		}
	}
	if len(words) == 0 {
		return nil, fault.New(fault.Invalid, "bad_words", "%s contains no words", file)
	}
	slices.Sort(words)
	text := strings.Join(slices.Compact(words), "\n") + "\n"
	return &Dictionary{guesses: text, answers: text}, nil
}

const maxWordFile = 1 << 20

// Has reports whether a word may be guessed.
func (d *Dictionary) Has(word string) bool {
	_, found := sort.Find(d.Len(), func(i int) int { return strings.Compare(word, d.guesses[i*line:i*line+Letters]) })
	return found
}

// Answers returns the words from which random answers are drawn. The caller may change the slice.
func (d *Dictionary) Answers() []string { return strings.Fields(d.answers) }

// isWord reports whether text is five letters a-z.
func isWord(text string) bool {
	return len(text) == Letters && !strings.ContainsFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
}

// Len returns the number of words that may be guessed.
func (d *Dictionary) Len() int { return len(d.guesses) / line }

// Letters is the length of every word.
const Letters = 5

// MaxGuesses is the number of guesses after which a game is over.
const MaxGuesses = 6

// Grade is the grade of one letter of a guess.
type Grade string

// The grades.
const (
	Correct   Grade = "correct"   // the answer has this letter here
	Contained Grade = "contained" // the answer has it elsewhere
	Wrong     Grade = "wrong"
)

// GradeGuess grades a guess in two passes. Letters in their place use up letters of the answer first; then each other letter, from left to
// right, uses up one that remains. The answer "crane" has a single e, so the second e of "creep" is wrong:
//
//	creep against crane: correct correct contained wrong wrong
//
// If the answer is not known, because the day's row is gone, the list is empty.
func GradeGuess(guess, answer string) []Grade {
	grades := make([]Grade, 0, Letters)
	if len(guess) != Letters || len(answer) != Letters {
		return grades
	}
	var left [256]int
	for i := range Letters {
		if guess[i] != answer[i] {
			left[answer[i]]++
		}
	}
	for i := range Letters {
		switch c := guess[i]; {
		case c == answer[i]:
			grades = append(grades, Correct)
		case left[c] > 0:
			left[c]--
			grades = append(grades, Contained)
		default:
			grades = append(grades, Wrong)
		}
	}
	return grades
}
