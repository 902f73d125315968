package archtest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// topLevel is everything allowed in the root.
var topLevel = []string{
	"cmd", "edge", "httpapi", "internal", "migrations", "store", "sync", "docs", "tools",
	"go.mod", "go.sum", "Makefile", "README.md", "LICENSE", "NOTICE",
	".ci", ".devcontainer", ".editorconfig", ".gitattributes", ".github", ".gitignore", ".golangci.yml",
}

// leftBehind matches files that .gitignore names: profiles and test binaries.
var leftBehind = regexp.MustCompile(`\.(prof|test|out)$`)

func topLevelProblems(tr *tree) (problems []string) {
	for _, name := range tr.top {
		if !slices.Contains(topLevel, name) && !leftBehind.MatchString(name) {
			problems = append(problems, fmt.Sprintf("%s: the top level is fixed; put it below internal/, docs/ or the package "+
				"that it belongs to", name))
		}
	}
	return problems
}

// emptyNamespaces has folders that contain packages but are not packages themselves: "sync" must always mean the standard library.
var emptyNamespaces = []string{"cmd", "sync", "internal", "internal/testrig", "internal/tools", "store/internal", "docs", "tools"}

func packageProblems(tr *tree) (problems []string) {
	for dir, files := range tr.packages() {
		if slices.Contains(emptyNamespaces, dir) {
			problems = append(problems, fmt.Sprintf("%s: %s holds no Go file itself; make a package below it", files[0].path, dir))
		}
		hasCode, documented := false, false
		for _, src := range files {
			hasCode = hasCode || !src.test
			documented = documented || isPackageComment(src)
		}
		if hasCode && !documented {
			problems = append(problems, fmt.Sprintf("%s: no package comment; say in doc.go what it is for, and what not, "+
				`beginning with "Package %s" ("Command ..." for a program)`, dir, files[0].ast.Name.Name))
		}
	}
	return problems
}

func isPackageComment(src source) bool {
	start := "Package " + src.ast.Name.Name + " "
	if src.ast.Name.Name == "main" {
		start = "Command " + path.Base(src.dir) + " "
	}
	return !src.test && strings.HasPrefix(src.ast.Doc.Text(), start)
}

// The maximum lines of files: longer ones hold two things. Tests have tables.
const (
	maxLines     = 400
	maxTestLines = 600
)

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func lengthProblems(tr *tree) (problems []string) {
	for _, name := range tr.matching(".go", ".js", ".sh") {
		limit := maxLines
		if strings.HasSuffix(name, "_test.go") {
			limit = maxTestLines
		}
		text := tr.files[name]
		if lines := strings.Count(string(text), "\n"); lines > limit && !generated.Match(text) {
			problems = append(problems, fmt.Sprintf("%s has %d lines, the limit is %d: split it by what its parts are for",
				name, lines, limit))
		}
	}
	return problems
}

// maxFiles is how many Go files a folder may have, including tests, so that a newcomer finds a file by its name.
const maxFiles = 60

func folderProblems(tr *tree) (problems []string) {
	files := map[string]int{}
	for _, name := range tr.matching(".go") {
		files[path.Dir(name)]++
	}
	for dir, n := range files {
		if n > maxFiles {
			problems = append(problems, fmt.Sprintf("%s has %d Go files, the limit is %d: give a part of it a package of its own", dir, n, maxFiles))
		}
	}
	return problems
}

// unfinishedWords mark postponed work. They are concatenated here so that this file has none.
var unfinishedWords = []string{"TO" + "DO", "FIX" + "ME", "X" + "XX"}

// unfinished matches these words.
var unfinished = regexp.MustCompile(`\b(` + strings.Join(unfinishedWords, "|") + `)\b`)

func wordProblems(tr *tree) (problems []string) {
	names := tr.matching(".go", ".js", ".css", ".html", ".md", ".sh", ".yml", ".yaml", ".txtar", "Makefile", ".ci/run")
	for _, name := range names {
		text := string(tr.files[name])
		if !slices.ContainsFunc(unfinishedWords, func(word string) bool { return strings.Contains(text, word) }) {
			continue // the pattern is slow and rarely needed
		}
		for i, line := range strings.Split(text, "\n") {
			if word := unfinished.FindString(line); word != "" {
				problems = append(problems, fmt.Sprintf("%s:%d says %s: do it now, or write an issue and leave the code as if it "+
					"were never to come", name, i+1, word))
			}
		}
	}
	return problems
}

func TestTopLevelIsFixed(t *testing.T)         { report(t, topLevelProblems(project(t))) }
func TestPackagesAreDocumented(t *testing.T)   { report(t, packageProblems(project(t))) }
func TestFilesAreShort(t *testing.T)           { report(t, lengthProblems(project(t))) }
func TestFoldersAreSmall(t *testing.T)         { report(t, folderProblems(project(t))) }
func TestNothingIsLeftUnfinished(t *testing.T) { report(t, wordProblems(project(t))) }

// report fails with every problem, in a fixed order.
func report(t *testing.T, problems []string) {
	t.Helper()
	slices.Sort(problems)
	for _, p := range problems {
		t.Error(p)
	}
}
