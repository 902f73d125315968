// Package actions measures the transactions that an application makes, with the conditions on rows that they do not change: DynamoDB takes 100
// actions. A test walks all of an application's transactions with lists beyond their limits, as nodes leave them that were cut off and have both
// filled a list. Each transaction must still have a fixed bound, and none may be left out of the walk.
package actions

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Most is the most actions that a transaction of an application may have. The rest of the 100 is for the row of an Idempotency-Key and for the
// proof that the transaction has taken effect.
const Most = 95

// Watch sees the transactions made on a store. It takes the place of the replicator.
type Watch struct {
	t       testing.TB
	mu      sync.Mutex
	largest int
	lines   map[string]bool // lines of code from which transactions were made: "app/game.go:12"
}

// On begins to watch a store without a cloud.
func On(t testing.TB, s *store.Store) *Watch {
	t.Helper()
	w := &Watch{t: t, lines: map[string]bool{}}
	s.Replicate(w)
	return w
}

// Compile implements store.Replicator.
func (w *Watch) Compile(_ *store.Tx, writes []store.Write) error {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	w.mu.Lock()
	defer w.mu.Unlock()
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		w.lines[place(f.File, f.Line)] = true
	}
	w.largest = max(w.largest, len(writes))
	return nil
}

// place names a line by file and folder: the compiler may have left out the path to the folder.
func place(file string, line int) string {
	return fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(file)), filepath.Base(file), line)
}

// Expire implements store.Replicator.
func (w *Watch) Expire(*store.Tx, *store.TableSpec, attr.Item) (bool, error) { return true, nil }

// Largest returns how many actions the largest transaction since the last call had. It fails the test if that is more than Most.
func (w *Watch) Largest(what string) int {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.largest
	if w.largest = 0; n > Most {
		w.t.Errorf("%s: a transaction of %d actions, at most %d are allowed", what, n, Most)
	}
	return n
}

// Bounded fails the test if the writes of one transaction, such as those of a merge rule, are more than Most.
func (w *Watch) Bounded(what string, writes []store.WriteItem) {
	w.t.Helper()
	if len(writes) > Most {
		w.t.Errorf("%s: a transaction of %d actions, at most %d are allowed", what, len(writes), Most)
	}
}

// Covers fails the test unless a transaction was seen from each place in the Go files of a folder that makes one: each call of table.Plan.Commit,
// table.Commit and store.Tx.TransactWrite, and of functions of the folder that make such calls. A call is recognized by its name; other lists
// functions that only share their name with one that makes transactions.
func (w *Watch) Covers(folder string, other ...string) {
	w.t.Helper()
	calls := parse(w.t, folder)
	calls = slices.DeleteFunc(calls, func(c call) bool { return slices.Contains(other, c.name) })
	makes := map[string]bool{"Commit": true, "TransactWrite": true}
	for before := 0; before < len(makes); {
		before = len(makes)
		for _, c := range calls {
			if makes[c.name] {
				makes[c.in] = true
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var missing []string
	for _, c := range calls {
		if makes[c.name] && !w.seen(&c) {
			missing = append(missing, fmt.Sprintf("%s:%d: %s calls %s", c.file, c.from, c.in, c.name))
		}
	}
	if len(missing) > 0 {
		w.t.Errorf("the walk leaves out transactions; add them to it:\n%s", strings.Join(missing, "\n"))
	}
}

// call is a call of a function by its name.
type call struct {
	file     string
	from, to int    // lines
	name, in string // what is called, and in which function
}

func (w *Watch) seen(c *call) bool {
	for line := c.from; line <= c.to; line++ {
		if w.lines[place(c.file, line)] {
			return true
		}
	}
	return false
}

// parse returns the calls in the Go files of a folder, without tests.
func parse(t testing.TB, folder string) (calls []call) {
	t.Helper()
	root, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(root, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d Go files, %v", root, len(paths), err)
	}
	files := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				calls = append(calls, callsIn(files, fn)...)
			}
		}
	}
	return calls
}

func callsIn(files *token.FileSet, fn *ast.FuncDecl) (calls []call) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := ""
		switch f := c.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		if from := files.Position(c.Pos()); name != "" {
			calls = append(calls, call{from.Filename, from.Line, files.Position(c.End()).Line, name, fn.Name.Name})
		}
		return true
	})
	return calls
}
