package archtest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hard has the packages whose guarantees cannot be read from a single file. Each has a page about its purpose, data flow, guarantees, and
// what a crash does to it.
var hard = []string{
	"store", "store/expr", "sync/lease", "sync/dynamo", "sync/replica", "sync/replica/intent", "edge/cricket", "edge/cricket/push",
	"httpapi/auth", "httpapi/dynamoapi",
}

func designProblems(tr *tree) (problems []string) {
	for _, dir := range hard {
		hasCode := false
		for _, src := range tr.code {
			hasCode = hasCode || covers(src.dir, dir+"/...")
		}
		if hasCode && !tr.exists(dir+"/DESIGN.md") {
			problems = append(problems, fmt.Sprintf("%s/DESIGN.md is missing: one page with purpose, data flow, guarantees and "+
				"what a crash does here", dir))
		}
	}
	return problems
}

var (
	link       = regexp.MustCompile(`(?:\]\(|src=")<?([^)>"#\s]+)[^)"]*[)"]`)
	foreign    = regexp.MustCompile(`^([a-z]+:|//)`)
	named      = regexp.MustCompile("`((?:cmd|edge|httpapi|internal|migrations|store|sync|docs|tools)/[A-Za-z0-9_./-]+)`")
	symbol     = regexp.MustCompile(`\.[A-Z]\w*(\.\w+)?$`) // such as store/expr.ParseUpdate or store.Tx.Put
	makeTarget = regexp.MustCompile("`make ([a-z][a-z-]*)")
	lineNumber = regexp.MustCompile(`\w\.(go|js):\d+`)
	fenced     = regexp.MustCompile("(?ms)^```.*?^```$")
)

// records is the folder of the decisions. What they name may not exist any more.
const records = "docs/decisions/"

func documentProblems(tr *tree) (problems []string) {
	for _, name := range tr.matching(".md") {
		text := fenced.ReplaceAllString(string(tr.files[name]), "")
		found := slices.Concat(deadLinks(tr, path.Dir(name), text), deadTargets(tr, text), lineNumbers(text))
		if !strings.HasPrefix(name, records) {
			found = append(found, deadNames(tr, text)...)
		}
		for _, problem := range found {
			problems = append(problems, name+" "+problem)
		}
	}
	return problems
}

func deadLinks(tr *tree, dir, text string) (found []string) {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		target := path.Join(dir, m[1])
		if !foreign.MatchString(m[1]) && !tr.exists(target) {
			found = append(found, fmt.Sprintf("links to %s, and there is no %s: mend the link or write the page", m[1], target))
		}
	}
	return found
}

func deadTargets(tr *tree, text string) (found []string) {
	for _, m := range makeTarget.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(string(tr.files["Makefile"]), "\n"+m[1]+":") {
			found = append(found, fmt.Sprintf("names make %s, which is no target of the Makefile", m[1]))
		}
	}
	return found
}

func deadNames(tr *tree, text string) (found []string) {
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if !tr.exists(m[1]) && !tr.exists(symbol.ReplaceAllString(m[1], "")) {
			found = append(found, fmt.Sprintf("names %s, which does not exist: documents tell what is, so mend the name", m[1]))
		}
	}
	return found
}

func lineNumbers(text string) (found []string) {
	for _, place := range lineNumber.FindAllString(text, -1) {
		found = append(found, fmt.Sprintf("cites a line number (%s), which the next change makes wrong: name the function", place))
	}
	return found
}

// syncMetric is where a metric of synchronisation gets its name.
var syncMetric = regexp.MustCompile(`\b(?:add|each)\("([a-z_]+)"`)

// metricProblems finds the metrics of synchronisation that the operators' page lacks, which says that it lists them all.
func metricProblems(tr *tree) (problems []string) {
	const page = "docs/OPERATIONS.md"
	for _, m := range syncMetric.FindAllStringSubmatch(string(tr.files["sync/replica/metrics.go"]), -1) {
		if !strings.Contains(string(tr.files[page]), "`"+m[1]+"`") {
			problems = append(problems, fmt.Sprintf("%s does not list touchline_sync_%s: it says that it lists them all", page, m[1]))
		}
	}
	return problems
}

func TestMetricsOfSyncAreListed(t *testing.T)  { report(t, metricProblems(project(t))) }
func TestHardPackagesHaveADesign(t *testing.T) { report(t, designProblems(project(t))) }
func TestDocumentsNameWhatExists(t *testing.T) { report(t, documentProblems(project(t))) }
