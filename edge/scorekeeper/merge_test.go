package scorekeeper

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// script parses a game: words, each with its minute if it has one, such as "crane slate@2 manna@9!", where the last word solves it.
func script(text string) *Game {
	g := &Game{UserID: user, Date: day}
	for part := range strings.FieldsSeq(text) {
		part, won := strings.CutSuffix(part, "!")
		word, at, timed := strings.Cut(part, "@")
		when := ""
		if timed {
			when = fmt.Sprintf("2026-02-02T10:%02s:00Z", at)
		}
		g.Guesses, g.GuessTimes, g.GuessKeys = append(g.Guesses, word), append(g.GuessTimes, when), append(g.GuessKeys, "")
		g.Won = won
	}
	return g
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ name, theirs, ours, guesses, dropped string }{
		{"by time", "crane@1 slate@3 moist@5", "crane@1 proud@2 brick@4", "crane proud slate brick moist", ""},
		{"solved there", "crane@1 manna@3!", "crane@1 proud@2 brick@4", "crane proud manna!", "brick"},
		{"solved here", "crane@1 slate@9", "crane@1 proud@2 manna@4!", "crane proud manna!", "slate"},
		{"solved at both", "crane@1 manna@3!", "crane@1 proud@2 manna@5!", "crane proud manna!", ""},
		{"six", "a@1 b@2 c@3 d@4", "e@5 f@6 g@7 h@8", "a b c d e f", "g h"},
		{"the same word", "crane@1 slate@2", "crane@1 moist@3 slate@4", "crane slate moist", ""},
		{"without times first", "crane slate moist", "crane proud@1", "crane slate moist proud", ""},
		{"at one time theirs first", "crane@1", "proud@1", "crane proud", ""},
		{"the same end", "crane@1 manna@2!", "crane@1 manna@2!", "crane manna!", ""},
		{"ours is behind", "crane@1 slate@2", "crane@1", "crane slate", ""},
	} {
		got := Merge(script(c.ours), script(c.theirs))
		text := strings.Join(got.Guesses, " ")
		if got.Won {
			text += "!"
		}
		if text != c.guesses || strings.Join(got.Dropped, " ") != c.dropped {
			t.Errorf("%s: %s, dropped %v; want %s, dropped %s", c.name, text, got.Dropped, c.guesses, c.dropped)
		}
	}
}

// Whatever guesses two nodes have accepted from a player, the merged game contains each word once, every guess that does not count is reported,
// and no guess comes after the end of the game.
func TestMergeLosesNothingSilently(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("crane slate moist proud brick fjord manna joust vexed waltz"))
	rapid.Check(t, func(t *rapid.T) {
		play := func(name string, common []string) *Game {
			g := script(strings.Join(common, " "))
			for !g.Over() && len(g.Guesses) < rapid.IntRange(0, MaxGuesses).Draw(t, name) {
				w := word.Draw(t, name)
				if slices.Contains(g.Guesses, w) {
					continue
				}
				g.Guesses = append(g.Guesses, w)
				g.GuessTimes = append(g.GuessTimes, fmt.Sprintf("2026-02-02T10:%02d:00Z", len(g.Guesses)+rapid.IntRange(0, 9).Draw(t, "minute")))
				g.GuessKeys = append(g.GuessKeys, "")
				g.Won = w == "manna"
			}
			slices.Sort(g.GuessTimes[len(common):])
			return g
		}
		common := []string{"about"}
		ours, theirs := play("ours", common), play("theirs", common)
		got := Merge(ours, theirs)
		if len(got.Guesses) > MaxGuesses || got.Won != slices.Contains(got.Guesses, "manna") {
			t.Fatalf("%v, won %t", got.Guesses, got.Won)
		}
		if i := slices.Index(got.Guesses, "manna"); i >= 0 && i != len(got.Guesses)-1 {
			t.Fatalf("guesses after the end: %v", got.Guesses)
		}
		all := slices.Concat(got.Guesses, got.Dropped)
		for _, w := range slices.Concat(ours.Guesses, theirs.Guesses) {
			if !slices.Contains(all, w) {
				t.Fatalf("%s is lost: %v, dropped %v", w, got.Guesses, got.Dropped)
			}
		}
		if sorted := slices.Sorted(slices.Values(all)); len(slices.Compact(sorted)) != len(all) {
			t.Fatalf("a word is there twice: %v", all)
		}
		if again := Merge(&got, theirs); !slices.Equal(again.Guesses, got.Guesses) {
			t.Fatalf("merged again: %v, was %v", again.Guesses, got.Guesses)
		}
	})
}
