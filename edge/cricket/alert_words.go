package cricket

import (
	"strconv"
	"strings"
)

// wicketCry starts the text of a wicket.
const wicketCry = "WICKET! "

// WicketsCry follows the number when several wickets fell.
const WicketsCry = " wickets! "

// speaksForWickets reports whether the text of an alert can include the wickets and hauls of its tick.
func speaksForWickets(t EventType) bool {
	return t == EventWicket || t == EventInningsEnd || t == EventHatTrick
}

// inWordsOf returns the text of an alert with the wickets of its tick, in the order they fell, and the hauls they complete.
func inWordsOf(e *Event, wickets, hauls []string) string {
	switch {
	case e.Type == EventWicket, e.Type == EventInningsEnd && len(wickets) > 0:
		text := wicketsText(wickets, hauls)
		if e.Type == EventInningsEnd {
			fell, _, _ := strings.Cut(text, " · ")
			text = fell + ". " + e.Text
		}
		return text
	case e.Type == EventInningsEnd:
		return strings.Join(append(hauls, e.Text), ". ")
	case e.Type == EventHatTrick:
		return withHauls(e.Text, hauls)
	default:
		return e.Text
	}
}

// wicketsText returns "2 wickets! Kohli b Starc 54 (63), Rahul run out 12 (10) · IND 182/5 (32.2)": every batter
// out, and the score after the last wicket.
func wicketsText(wickets, hauls []string) string {
	cry, score := wicketCry, ""
	if n := len(wickets); n > 1 {
		cry = strconv.Itoa(n) + WicketsCry
	}
	var out []string
	for _, w := range wickets {
		who, after, named := strings.Cut(w, " · ")
		if !named { // known only from the score
			who, after = "", w
		}
		score = after
		if who != "" {
			out = append(out, who)
		}
	}
	if len(out) == 0 {
		return withHauls(cry+score, hauls)
	}
	return withHauls(cry+strings.Join(out, ", ")+" · "+score, hauls)
}

// withHauls inserts hauls after the players of a text, "WICKET! Kohli b Bumrah 54 (63), five for Bumrah 5-31 · IND 182/4".
func withHauls(text string, hauls []string) string {
	who, score, _ := strings.Cut(text, " · ")
	for _, h := range hauls {
		who += ", " + strings.ToLower(h[:1]) + h[1:]
	}
	if score == "" {
		return who
	}
	return who + " · " + score
}
