// Command words makes the word lists of the word puzzle from SCOWL, as in Debian's packages wamerican-huge and wamerican-small:
//
//	go run ./internal/tools/words /usr/share/dict/american-english-huge /usr/share/dict/american-english-small edge/scorekeeper/words
//
// A guess may be any five-letter word of the huge list. An answer is a word of the small list that is neither a plural nor offensive.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// unfit has words that are allowed as guesses but never as answers.
var unfit = []string{"bitch", "dildo", "fagot", "negro", "penis", "pussy", "raped", "raper", "rapes", "semen", "whore"}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: words HUGE SMALL FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

func run(huge, small, folder string) error {
	all, err := read(huge)
	if err != nil {
		return err
	}
	common, err := read(small)
	if err != nil {
		return err
	}
	guesses, answers := ofFive(all), slices.DeleteFunc(ofFive(common), func(w string) bool { return isPlural(w, all) || slices.Contains(unfit, w) })
	for name, words := range map[string][]string{"guesses.txt": guesses, "answers.txt": answers} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(strings.Join(words, "\n")+"\n"), 0o600); err != nil {
			return err
		}
		fmt.Println(name, len(words))
	}
	return nil
}

// read returns the words of a list, sorted.
func read(path string) ([]string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(raw))
	slices.Sort(words)
	return slices.Compact(words), nil
}

func ofFive(words []string) []string {
	five := regexp.MustCompile(`^[a-z]{5}$`)
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !five.MatchString(w) })
}

// isPlural reports whether a word is another word with an s: nobody likes "books" as an answer.
func isPlural(w string, all []string) bool {
	stem, ok := strings.CutSuffix(w, "s")
	_, known := slices.BinarySearch(all, stem)
	return ok && known && !strings.HasSuffix(stem, "s")
}
