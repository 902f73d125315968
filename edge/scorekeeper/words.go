package scorekeeper

import (
	_ "embed" // the lists
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/touchline/touchline/internal/fault"
)

// The lists of SCOWL, a word a line, sorted (internal/tools/words makes them).
var (
	//go:embed words/guesses.txt
	embeddedGuesses string
	//go:embed words/answers.txt
	embeddedAnswers string
)

// Dictionary is the words that may be guessed, and those that a random answer is taken from. It is a sorted text of words of one
// length, and takes no more memory than that.
type Dictionary struct{ guesses, answers string }

const line = Letters + 1 // a word and its line feed

// NewDictionary reads the embedded lists, or a file with one word a line, all of which may be guessed and asked for.
func NewDictionary(file string) (*Dictionary, error) {
	if file == "" {
		return &Dictionary{guesses: embeddedGuesses, answers: embeddedAnswers}, nil
	}
	if info, err := os.Stat(file); err == nil && info.Size() > maxWordFile {
		return nil, fault.New(fault.TooLarge, "bad_words", "the list of words %s is larger than %d bytes", file, maxWordFile)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_words", "the list of words cannot be read")
	}
	words := strings.Fields(strings.ToLower(string(raw)))
	for _, w := range words {
		if !isWord(w) {
			return nil, fault.New(fault.Invalid, "bad_words", "%s: %q is not a word of five letters a to z", file, w)
		}
	}
	if len(words) == 0 {
		return nil, fault.New(fault.Invalid, "bad_words", "%s has no words", file)
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

// Answers are the words that a random answer is taken from.
func (d *Dictionary) Answers() []string { return strings.Fields(d.answers) }

// isWord reports whether a text is five letters a to z.
func isWord(text string) bool {
	return len(text) == Letters && !strings.ContainsFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
}

// Len is the number of words that may be guessed.
func (d *Dictionary) Len() int { return len(d.guesses) / line }

// Letters is the length of every word.
const Letters = 5

// MaxGuesses end a game.
const MaxGuesses = 6

// Grade is what a guess says of one letter.
type Grade string

// The grades.
const (
	Correct   Grade = "correct"   // the answer has this letter here
	Contained Grade = "contained" // the answer has it elsewhere
	Wrong     Grade = "wrong"
)

// GradeGuess grades a guess in two passes: letters in their place use up the answer's letter first; of the others each uses up
// one that is left, from left to right. So the second e of "creep" is wrong where the answer is "crane", which has one:
//
//	creep against crane: correct correct contained wrong wrong
//
// An answer that is not known, of a day whose row is gone, grades nothing: the list is empty.
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
