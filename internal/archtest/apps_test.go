package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// appWords matches words that only one application needs.
var appWords = regexp.MustCompile(`(?i)\b(innings|wickets?|leagues?|teams?|phones?)\b`)

// appNames matches the names of the applications of a tree, which are those of their folders; without one, the empty string.
func appNames(tr *tree) *regexp.Regexp {
	var names []string
	for dir := range tr.packages() {
		if app := appOf(dir); app != "" && !slices.Contains(names, app) {
			names = append(names, app)
		}
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(names, "|") + `)`)
}

// appWordProblems finds an application's words in code that serves all of them: httpapi, except the DynamoDB API, which serves none.
func appWordProblems(tr *tree) (problems []string) {
	names := appNames(tr)
	for _, name := range tr.matching(".go", ".js", ".css", ".html") {
		if !strings.HasPrefix(name, "httpapi/") || strings.HasPrefix(name, "httpapi/dynamoapi/") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		for i, line := range strings.Split(string(tr.files[name]), "\n") {
			if word := cmp.Or(appWords.FindString(line), names.FindString(line)); word != "" {
				problems = append(problems, fmt.Sprintf("%s:%d says %s: httpapi serves applications that it does not know; it belongs "+
					"in the application's folder, which hands it in with its httpapi.App", name, i+1, word))
			}
		}
	}
	return problems
}

func TestHTTPKnowsNoApplication(t *testing.T) { report(t, appWordProblems(project(t))) }

// appNameProblems finds an application's name in code that is not its own: outside its folders only the list of applications may have it,
// and programs that are not released.
func appNameProblems(tr *tree) (problems []string) {
	names := appNames(tr)
	for _, name := range tr.matching(".go") {
		if name == "edge/apps.go" || strings.HasSuffix(name, "_test.go") || covers(path.Dir(name), "internal/tools/...", "internal/archtest") || appOf(path.Dir(name)) != "" {
			continue
		}
		for i, line := range strings.Split(string(tr.files[name]), "\n") {
			if word := names.FindString(line); word != "" {
				problems = append(problems, fmt.Sprintf("%s:%d says %s: an application is its own folders and one line in edge/apps.go; "+
					"what it needs of others goes through edge/app", name, i+1, word))
			}
		}
	}
	return problems
}

func TestNobodyKnowsAnApplication(t *testing.T) { report(t, appNameProblems(project(t))) }

// walks is the package with which a test walks all transactions of an application.
const walks = module + "/internal/testrig/actions"

// transactionProblems finds packages of applications that make transactions, and have no test that walks them. The builders are left out: their
// demos make the transactions of the rules.
func transactionProblems(tr *tree) (problems []string) {
	for dir, files := range tr.packages() {
		if appOf(dir) == "" || covers(dir, builders) {
			continue
		}
		makes, walked := "", false
		for _, src := range files {
			if src.test {
				walked = walked || slices.ContainsFunc(src.ast.Imports, func(i *ast.ImportSpec) bool { return strings.Trim(i.Path.Value, `"`+"`") == walks })
			} else if name := transaction(src.ast); name != "" {
				makes = src.path + " calls " + name
			}
		}
		if makes != "" && !walked {
			problems = append(problems, fmt.Sprintf("%s, and no test of %s walks its transactions with internal/testrig/actions: none may grow with the data", makes, dir))
		}
	}
	return problems
}

// transaction returns the name of a call in a file that makes a transaction; "": there is none.
func transaction(f *ast.File) (name string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if s, ok := c.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Commit" || s.Sel.Name == "TransactWrite") {
				name = s.Sel.Name
			}
		}
		return true
	})
	return name
}

func TestTransactionsAreWalked(t *testing.T) { report(t, transactionProblems(project(t))) }
