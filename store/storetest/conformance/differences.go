package conformance

import (
	"cmp"
	"fmt"
	"strings"
)

// shown is how much of a request or an answer the page of differences has: the whole is in the case.
const shown = 240

// Differences lists all steps that ours answers otherwise, as a page for people: by their reasons, and in each by
// the pair of answers.
func Differences(files []*File) string {
	reasons := newGroups()
	steps := 0
	for _, f := range files {
		for _, c := range f.Cases {
			for _, s := range c.Steps {
				if s.Differs == nil {
					continue
				}
				steps++
				reasons.of(s.Differs.Why).add(s.Differs.Agrees, pair{f.Name, c.Name, s})
			}
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Where our DynamoDB API and DynamoDB Local answer differently\n\nWritten by the suite in "+
		"`store/storetest/conformance` from the notes in its cases. Its tests fail if one of the\n%d steps listed here no "+
		"longer differs, or another one does. Of steps with the same two refusals the first is shown.\n", steps)
	for _, why := range reasons.order {
		reasons.groups[why].write(&out, why)
	}
	return out.String()
}

// pair is a step that differs, and where it is.
type pair struct {
	file, name string
	step       *Step
}

// groups are the reasons, in the order in which they appear.
type groups struct {
	order  []string
	groups map[string]*group
}

func newGroups() groups { return groups{groups: map[string]*group{}} }

func (g *groups) of(why string) *group {
	if g.groups[why] == nil {
		g.order = append(g.order, why)
		g.groups[why] = &group{count: map[string]int{}}
	}
	return g.groups[why]
}

// group is what differs for one reason.
type group struct {
	agrees string
	total  int
	first  []pair
	count  map[string]int // by the two answers
}

func (g *group) add(agrees string, p pair) {
	g.agrees = agrees
	g.total++
	key := p.answers()
	if g.count[key]++; g.count[key] == 1 {
		g.first = append(g.first, p)
	}
}

func (g *group) write(out *strings.Builder, why string) {
	fmt.Fprintf(out, "\n## %s\n\n%d steps. Agrees with DynamoDB's documentation: %s.\n", strings.TrimSuffix(why, "."), g.total,
		cmp.Or(map[string]string{"ours": "our API", "local": "DynamoDB Local"}[g.agrees], g.agrees))
	for _, p := range g.first {
		times := ""
		if n := g.count[p.answers()]; n > 1 {
			times = fmt.Sprintf(" (%d times)", n)
		}
		fmt.Fprintf(out, "\n%s, %s%s:\n\n```\n%s\n%s```\n", p.file, p.name, times, short(p.step.head), p.answers())
	}
}

// answers are the two, from shortly before where they differ.
func (p pair) answers() string {
	local, ours := oneLine(p.step.Want.String()), oneLine(p.step.Differs.Ours.String())
	same := 0
	for same < min(len(local), len(ours)) && local[same] == ours[same] {
		same++
	}
	if from := same - shown/4; from > shown/4 {
		begin := strings.ToValidUTF8(local[:shown/4], "") + " ... "
		local, ours = begin+strings.ToValidUTF8(local[from:], ""), begin+strings.ToValidUTF8(ours[from:], "")
	}
	return "Local " + short(local) + "\nours  " + short(ours) + "\n"
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n ", "") }

// short is the beginning of a text, on one line.
func short(text string) string {
	text = oneLine(text)
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + " ..."
	}
	return text
}
