package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/touchline/touchline/internal/tools/overlay"
)

//go:embed planted
var planted embed.FS

// mutant is a deliberate fault.
type mutant struct {
	name    string // of its file, without the extension
	words   string
	tests   []testRun
	sim     string // which simulation should notice it: yes, page; empty: none
	changes []overlay.Change
}

// testRun selects tests of one package.
type testRun struct {
	pkg string // an argument of go test, such as ./sync/replica
	run string // a regular expression of test names
}

// readMutants reads all mutants, in the order of their names.
func readMutants() ([]mutant, error) {
	entries, err := planted.ReadDir("planted")
	if err != nil {
		return nil, err
	}
	var out []mutant
	for _, e := range entries {
		text, err := planted.ReadFile("planted/" + e.Name())
		if err != nil {
			return nil, err
		}
		m, err := parse(strings.TrimSuffix(e.Name(), ".txt"), string(text))
		if err != nil {
			return nil, fmt.Errorf("planted/%s: %w", e.Name(), err)
		}
		out = append(out, m)
	}
	return out, nil
}

// parse parses one mutant: a txtar archive whose comment is the head, and whose files are changes.
func parse(name, text string) (mutant, error) {
	m := mutant{name: name}
	archive := txtar.Parse([]byte(text))
	for line := range strings.Lines(string(archive.Comment)) {
		if err := m.headLine(strings.TrimSpace(line)); err != nil {
			return m, err
		}
	}
	var err error
	m.changes, err = overlay.Parse(archive.Files)
	switch {
	case err != nil:
		return m, err
	case len(m.changes) == 0:
		return m, errors.New("it needs pairs of old and new")
	case m.words == "":
		return m, errors.New("it has no words")
	case len(m.tests) == 0 && m.sim == "":
		return m, errors.New("nothing should notice it")
	}
	return m, nil
}

func (m *mutant) headLine(line string) error {
	if line == "" {
		return nil
	}
	key, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch key {
	case "words":
		m.words = value
	case "sim":
		if _, ok := simulations()[value]; !ok {
			return fmt.Errorf("there is no simulation %q", value)
		}
		m.sim = value
	case "test":
		pkg, run, found := strings.Cut(value, " ")
		if !found {
			return fmt.Errorf("%q: a test is a package and a regular expression", value)
		}
		m.tests = append(m.tests, testRun{pkg: pkg, run: strings.TrimSpace(run)})
	default:
		return fmt.Errorf("the head has no %q", key)
	}
	return nil
}

// check refuses a mutant that cannot be planted or that no test can notice.
func (m *mutant) check(root string) error {
	for _, c := range m.changes {
		switch {
		case c.Old == c.New:
			return fmt.Errorf("%s: it changes nothing", c.In)
		case strings.HasSuffix(c.In, "_test.go"):
			return fmt.Errorf("%s is a test", c.In)
		}
	}
	if _, err := overlay.Apply(root, m.changes); err != nil {
		return err
	}
	for _, t := range m.tests {
		names, err := testNames(filepath.Join(root, filepath.FromSlash(t.pkg)))
		if err != nil {
			return err
		}
		re, err := regexp.Compile(t.run)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(names, re.MatchString) {
			return fmt.Errorf("no test of %s is called %s", t.pkg, t.run)
		}
	}
	return nil
}

// testNames returns the tests in a folder.
func testNames(dir string) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if test, ok := strings.CutPrefix(line, "func Test"); ok {
				name, _, _ := strings.Cut(test, "(")
				names = append(names, "Test"+name)
			}
		}
	}
	return names, nil
}
