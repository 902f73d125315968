package main

import (
	"embed"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed planted
var planted embed.FS

// mutant is a deliberate fault.
type mutant struct {
	name    string // of its file, without the extension
	words   string
	tests   []testRun
	sim     bool
	changes []change
}

// testRun selects tests of one package.
type testRun struct {
	pkg string // an argument of go test, such as ./sync/replica
	run string // a regular expression of test names
}

// change replaces a text in a file.
type change struct {
	in       string // a file, or the folder of a package, relative to the module, with slashes
	old, new string
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

// parse parses one mutant: a txtar archive whose comment is the head, and whose files are pairs of old and new.
func parse(name, text string) (mutant, error) {
	m := mutant{name: name}
	archive := txtar.Parse([]byte(text))
	for line := range strings.Lines(string(archive.Comment)) {
		if err := m.headLine(strings.TrimSpace(line)); err != nil {
			return m, err
		}
	}
	for pair := range slices.Chunk(archive.Files, 2) {
		in, isOld := strings.CutPrefix(pair[0].Name, "old ")
		if !isOld || len(pair) < 2 || pair[1].Name != "new" {
			return m, fmt.Errorf("%q is not the first of a pair of old and new", pair[0].Name)
		}
		m.changes = append(m.changes, change{in: in, old: string(pair[0].Data), new: string(pair[1].Data)})
	}
	switch {
	case len(m.changes) == 0:
		return m, errors.New("it needs pairs of old and new")
	case m.words == "":
		return m, errors.New("it has no words")
	case len(m.tests) == 0 && !m.sim:
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
		m.sim = value == "yes"
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

// apply returns the files that the mutant changes, with the changes made. root is the folder of the module.
func (m *mutant) apply(root string) (map[string][]byte, error) {
	changed := map[string][]byte{}
	for _, c := range m.changes {
		name, text, err := c.find(root, changed)
		if err != nil {
			return nil, err
		}
		changed[name] = []byte(strings.Replace("\n"+text, "\n"+c.old, "\n"+c.new, 1)[1:])
	}
	for name, text := range changed {
		if _, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// find returns the one file that contains the old text. changed has the results of earlier changes.
func (c *change) find(root string, changed map[string][]byte) (in, text string, err error) {
	sources, err := c.sources(root)
	if err != nil {
		return "", "", err
	}
	n := 0
	for _, name := range sources {
		have, ok := changed[name]
		if !ok {
			if have, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(name))); err != nil {
				return "", "", err
			}
		}
		if k := strings.Count("\n"+string(have), "\n"+c.old); k > 0 {
			in, text, n = name, string(have), n+k
		}
	}
	if n != 1 {
		return "", "", fmt.Errorf("%s: the old text occurs %d times:\n%s", c.in, n, c.old)
	}
	return in, text, nil
}

// sources returns the files that a change may apply to: one, or those of a package.
func (c *change) sources(root string) (names []string, err error) {
	if strings.HasSuffix(c.in, ".go") {
		return []string{c.in}, nil
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(c.in), "*.go"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			names = append(names, c.in+"/"+filepath.Base(f))
		}
	}
	return names, nil
}

// check refuses a mutant that cannot be planted or that no test can notice.
func (m *mutant) check(root string) error {
	for _, c := range m.changes {
		switch {
		case c.old == c.new:
			return fmt.Errorf("%s: it changes nothing", c.in)
		case strings.HasSuffix(c.in, "_test.go"):
			return fmt.Errorf("%s is a test", c.in)
		}
	}
	if _, err := m.apply(root); err != nil {
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
