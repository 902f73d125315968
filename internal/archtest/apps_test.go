package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// appWords matches the applications' names, and words that only one application needs.
var appWords = regexp.MustCompile(`(?i)\b(cricket|threefc|hacktracker|scorekeeper|pickem|innings|wickets?|leagues?|teams?|phones?)\b`)

// appWordProblems finds an application's words in code that serves all of them: httpapi, except the folders of applications and of the
// DynamoDB API, which serves none.
func appWordProblems(tr *tree) (problems []string) {
	for _, name := range tr.matching(".go", ".js", ".css", ".html") {
		if !strings.HasPrefix(name, "httpapi/") || strings.HasPrefix(name, "httpapi/dynamoapi/") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") || ofApp(name) {
			continue
		}
		for i, line := range strings.Split(string(tr.files[name]), "\n") {
			if word := appWords.FindString(line); word != "" {
				problems = append(problems, fmt.Sprintf("%s:%d says %s: httpapi serves applications that it does not know; it belongs "+
					"in the application's folder, which hands it in with its httpapi.App", name, i+1, word))
			}
		}
	}
	return problems
}

// ofApp reports whether a file of httpapi is in an application's folder.
func ofApp(name string) bool {
	for _, app := range appNames {
		if strings.HasPrefix(name, "httpapi/"+path.Base(app)+"/") {
			return true
		}
	}
	return false
}

func TestHTTPKnowsNoApplication(t *testing.T) { report(t, appWordProblems(project(t))) }

// appName matches the applications' names.
var appName = regexp.MustCompile(`(?i)\b(cricket|threefc|hacktracker|scorekeeper|pickem)`)

// appNameProblems finds an application's name in code that is not its own: outside its folders only the list of applications may have it,
// and programs that are not released.
func appNameProblems(tr *tree) (problems []string) {
	for _, name := range tr.matching(".go") {
		if name == "edge/apps.go" || strings.HasSuffix(name, "_test.go") || covers(path.Dir(name), "internal/tools/...", "internal/archtest") || ofApp(name) {
			continue
		}
		if covers(path.Dir(name), deep(appNames)...) {
			continue
		}
		for i, line := range strings.Split(string(tr.files[name]), "\n") {
			if word := appName.FindString(line); word != "" {
				problems = append(problems, fmt.Sprintf("%s:%d says %s: an application is its own folders and one line in edge/apps.go; "+
					"what it needs of others goes through edge/app", name, i+1, word))
			}
		}
	}
	return problems
}

// deep returns patterns for packages and everything below them.
func deep(names []string) (out []string) {
	for _, name := range names {
		out = append(out, name+"/...")
	}
	return out
}

func TestNobodyKnowsAnApplication(t *testing.T) { report(t, appNameProblems(project(t))) }

// walks is the package with which a test walks all transactions of an application.
const walks = module + "/internal/testrig/actions"

// transactionProblems finds packages of applications that make transactions, and have no test that walks them. The builders are left out: their
// demos make the transactions of the rules.
func transactionProblems(tr *tree) (problems []string) {
	for dir, files := range tr.packages() {
		if !covers(dir, deep(appNames)...) || covers(dir, appBuilders...) {
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
