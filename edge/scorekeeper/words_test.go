package scorekeeper

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
)

func letters(grades []Grade) string {
	var b strings.Builder
	for _, g := range grades {
		b.WriteString(map[Grade]string{Correct: "C", Contained: "c", Wrong: "w"}[g])
	}
	return b.String()
}

func TestGradeGuess(t *testing.T) {
	for _, c := range []struct{ guess, answer, want string }{
		{"slate", "stale", "CcCcC"},
		{"hello", "helps", "CCCww"},
		{"crane", "creep", "CCwwc"},
		{"geese", "creep", "wcCww"},
		{"creep", "crane", "CCcww"},
		{"crane", "crane", "CCCCC"},
		{"crane", "", ""},
	} {
		if got := letters(GradeGuess(c.guess, c.answer)); got != c.want {
			t.Errorf("%s against %q: %s, want %s", c.guess, c.answer, got, c.want)
		}
	}
}

// oracle grades by counting: a letter is contained as often as the answer has it outside the positions that the guess has right.
func oracle(guess, answer string) string {
	out := []byte("wwwww")
	for i := range out {
		if guess[i] == answer[i] {
			out[i] = 'C'
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		left := strings.Count(answer, string(c))
		for i := range out {
			if guess[i] == c && out[i] == 'C' {
				left--
			}
		}
		for i := range out {
			if guess[i] == c && out[i] == 'w' && left > 0 {
				out[i], left = 'c', left-1
			}
		}
	}
	return string(out)
}

func TestGradesAreThoseOfAnOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abcdefghijkl")), Letters, Letters, -1)
		guess, answer := word.Draw(t, "guess"), word.Draw(t, "answer")
		if got, want := letters(GradeGuess(guess, answer)), oracle(guess, answer); got != want {
			t.Fatalf("%s against %s: %s, want %s", guess, answer, got, want)
		}
	})
}

// A file replaces both lists. One that is not a list of words is refused, with the reason.
func TestWordFile(t *testing.T) {
	for text, want := range map[string]string{
		"Crane\r\nslate\n\ncrane": "",
		"crane four":              "\"four\" is not a word",
		"crane cra\u00f1a":        "is not a word",
		" \n":                     "contains no words",
		strings.Repeat("crane\n", maxWordFile/6+1): "longer than 1048576 bytes",
	} {
		name := filepath.Join(t.TempDir(), "words")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := NewDictionary(name)
		if want == "" && (err != nil || d.Len() != 2 || !d.Has("crane") || d.Has("moist") || !slices.Equal(d.Answers(), []string{"crane", "slate"})) {
			t.Errorf("%.20q: %v, %v", text, d, err)
		}
		if want != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	if _, err := NewDictionary(filepath.Join(t.TempDir(), "none")); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func TestDictionary(t *testing.T) {
	d, err := NewDictionary("")
	if err != nil {
		t.Fatal(err)
	}
	if guesses, answers := len(d.guesses)/line, len(d.answers)/line; guesses < 10_000 || answers < 2_000 {
		t.Errorf("%d words to guess and %d answers", guesses, answers)
	}
	words := strings.Fields(d.guesses)
	for i, w := range words {
		if !isWord(w) || i > 0 && words[i-1] >= w {
			t.Fatalf("%q is not a valid word, or out of order", w)
		}
		if !d.Has(w) {
			t.Fatalf("%s is not found", w)
		}
	}
	for w := range strings.FieldsSeq(d.answers) {
		if !d.Has(w) {
			t.Errorf("the answer %s is not in the guess list", w)
		}
	}
	for _, w := range []string{"", "aaaaa", "zzzzz", "crane\n", "cran"} {
		if d.Has(w) {
			t.Errorf("%q is accepted as a word", w)
		}
	}
}
