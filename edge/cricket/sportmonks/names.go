package sportmonks

import (
	"strings"
	"unicode"

	"github.com/touchline/touchline/edge/cricket"
)

// nameOf returns a player's full name and the name for a scoreboard.
func nameOf(p *wirePlayer) cricket.Name {
	first, last := words(p.FirstName), words(p.LastName)
	full := words(p.FullName)
	if full == "" {
		full = strings.TrimSpace(first + " " + last)
	}
	return cricket.Name{Full: full, Last: lastName(first, last, full)}
}

// lastName returns the full name without the first name: that keeps "de Villiers" whole, and works if the feed's
// last name is empty. Leading initials are removed too ("BA Stokes", "Ben A Stokes").
func lastName(first, last, full string) string {
	if rest, ok := strings.CutPrefix(full, first+" "); ok && first != "" {
		return withoutInitials(rest)
	}
	if last != "" {
		return last
	}
	rest := strings.Fields(withoutInitials(full))
	if len(rest) < 2 {
		return strings.Join(rest, " ")
	}
	i := len(rest) - 1
	for i > 0 && particle(rest[i-1]) {
		i--
	}
	return strings.Join(rest[i:], " ")
}

// withoutInitials removes words such as "BA", "K." and "M.S." from the front, but never the last word.
func withoutInitials(name string) string {
	parts := strings.Fields(name)
	for len(parts) > 1 && initials(parts[0]) {
		parts = parts[1:]
	}
	return strings.Join(parts, " ")
}

func initials(word string) bool {
	letters := 0
	for _, r := range word {
		switch {
		case r == '.':
		case unicode.IsUpper(r):
			letters++
		default:
			return false
		}
	}
	return letters > 0 && letters <= 5
}

// particle reports whether a word is in lower case and so belongs to the family name after it: "van der Dussen".
func particle(word string) bool {
	for _, r := range word {
		return unicode.IsLower(r)
	}
	return false
}
