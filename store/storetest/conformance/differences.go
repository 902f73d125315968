package conformance

import (
	"cmp"
	"fmt"
	"strings"
)

// shown is how many bytes of a request or an answer the page shows. The case has all of it.
const shown = 240

// Differences returns a page with all steps that our API answers differently, grouped by reason and by the pair of answers.
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
		"longer differs, or another one does. Steps with the same pair of answers are shown once.\n", steps)
	for _, why := range reasons.order {
		reasons.groups[why].write(&out, why)
	}
	out.WriteString(beyondSteps)
	return out.String()
}

// beyondSteps has the differences that are not steps.
const beyondSteps = `
## Expressions have a budget

No step. Agrees with DynamoDB's documentation: DynamoDB Local.

The service limits the size of a request, and its expressions to 300 operators. Here expressions also have a budget of work, which only
requests exceed that search large values hundreds of times: "The expressions of the request take too much work on the items
that they look at", a ValidationException. A page of a Query or Scan ends when its filter has cost as much, before it has a megabyte,
with a LastEvaluatedKey. The token of a transaction with only condition checks is not remembered: if it is repeated, it is judged again.
A Scan of a segment pays for the items of other segments that it steps over, and is refused after one or two million of them without one
of its own. Then use fewer segments.

## Error texts that differ between regions of the service

No step. Agrees with DynamoDB's documentation: neither. The texts are not documented; this is what was recorded in 2026, or not recorded.

- Newer checks of the service put "1 validation error detected: " before everything that PutItem, UpdateItem and DeleteItem refuse
  without looking at a table: expressions, unused names and values, sets with duplicates, NULL that is not true, ReturnValues, Expected.
  They omit ": ConditionExpression is null" and show sets as ["a", "a"]. Older checks have the texts without the prefix, and not all
  regions had the newer ones. Here only numbers, Select and the limits of a Query have the newer form; the rest has the older one.
- BatchWriteItem, the transactions, Scan and PartiQL parse the exponent of a number as 32 bits in most regions: 1e2147483647 is an
  underflow, and a larger one not a number. Here every operation uses 64 bits.
- A TransactWriteItems with an invalid number among the values of an expression names the value, except in one region.
- An empty TableName of PutItem and UpdateItem is reported as "Value at 'TableName'" in most regions, and as "Value '' at 'tableName'" here.
- Two AttributeDefinitions with the same name are "Attribute Name is duplicated: a" here, as once recorded. The service is said to have
  another text now, which was not recorded.
- For an index with several attributes in a part of its key, more conditions than it has attributes are "Query key condition not
  supported" here, as in DynamoDB Local. The service was recorded for a table only, with the text used for tables here.
`

// pair is a step whose answers differ, and its location.
type pair struct {
	file, name string
	step       *Step
}

// groups holds the groups in order of appearance.
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

// group holds the steps that differ for the same reason.
type group struct {
	agrees string
	total  int
	first  []pair
	count  map[string]int // by the pair of answers
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
	fmt.Fprintf(out, "\n## %s\n\nSteps: %d. Agrees with DynamoDB's documentation: %s.\n", strings.TrimSuffix(why, "."), g.total,
		cmp.Or(map[string]string{"ours": "our API", "local": "DynamoDB Local"}[g.agrees], g.agrees))
	for _, p := range g.first {
		times := ""
		if n := g.count[p.answers()]; n > 1 {
			times = fmt.Sprintf(" (%d times)", n)
		}
		fmt.Fprintf(out, "\n%s, %s%s:\n\n```\n%s\n%s```\n", p.file, p.name, times, short(p.step.head), p.answers())
	}
}

// answers returns both answers, from shortly before their first difference.
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

// short returns the start of a text as one line.
func short(text string) string {
	text = oneLine(text)
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + " ..."
	}
	return text
}
