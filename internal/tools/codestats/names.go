package main

import (
	"slices"
	"strings"
	"unicode"
)

// bare returns the functions that are named by a particle, a participle or a verb without the object that it needs.
func (s *stats) bare() (all []function) {
	for _, f := range s.functions {
		if isBare(f.name) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b function) int {
		if a.name != b.name {
			return strings.Compare(a.name, b.name)
		}
		return strings.Compare(a.place, b.place)
	})
	return all
}

// isBare reports whether a name is a single word that does not say what it is about.
func isBare(name string) bool {
	if strings.IndexFunc(name[1:], unicode.IsUpper) >= 0 {
		return false // several words
	}
	word := strings.ToLower(name)
	return isOneOf(particles, word) || isOneOf(bareVerbs, word) || isParticiple(word)
}

// isParticiple reports whether a word is the past form of a verb: "adopted", "took". Nouns that look so are left out.
func isParticiple(word string) bool {
	if isOneOf(pastForms, word) {
		return true
	}
	return len(word) > 4 && strings.HasSuffix(word, "ed") && !strings.HasSuffix(word, "eed") && !isOneOf(fieldNames, word)
}

func isOneOf(words, word string) bool { return slices.Contains(strings.Fields(words), word) }

const (
	particles = `about above across after against along among apart around as aside at away back before behind below beneath beside besides
		between beyond but by down during except for from here hence in inside instead into like near of off on onto out outside over past per
		rather since than then there through till to together toward under until up upon via when where while with within without yet also anew
		else ever how later once only other same so some still such these this those too very what which who whose why`
	// bareVerbs need an object to say anything: what is taken, kept, judged? Those that Go's own packages use alone (Do, Find, Set) are left out.
	bareVerbs = `bring come fall feel give go grow have heed hold judge keep lay leave let lie look mean
		note owe own pass pay pick settle show stay take tell tend think try turn want wake weigh`
	pastForms = `been began begun bound broke broken brought built came chosen done drawn drew fallen fell forgot found gave given gone
		got grew grown heard held kept knew known laid led left lent lost made meant met paid ran risen rose said sat saw seen sent shown
		shut sought spent spoke stood stuck sunk taken taught thought thrown told took torn understood undone went withdrawn won worn written wrote`
	// fieldNames end like participles, but are what their field calls a thing or a property.
	fieldNames = `closed expired embed feed seed speed unread`
)
