package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/touchline/touchline"

// tree is the input of the rules: every file of the project, with the Go files parsed.
type tree struct {
	fset  *token.FileSet
	files map[string][]byte // by path from the root, with slashes
	dirs  map[string]bool
	top   []string
	code  []source
}

// source is one Go file.
type source struct {
	path string
	dir  string // the package's path inside the module
	test bool
	ast  *ast.File
}

// notOurs has folders that git ignores or owns.
var notOurs = []string{".git", ".cache", "bin", "dist", "node_modules"}

// load reads a tree. It keeps what can be parsed of invalid files, which are the compiler's concern.
func load(t *testing.T, root fs.FS) *tree {
	t.Helper()
	tr := &tree{fset: token.NewFileSet(), files: map[string][]byte{}, dirs: map[string]bool{}}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(notOurs, d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil // .git is a file in a work tree
		case d.IsDir():
			tr.dirs[name] = true
		default:
			if tr.files[name], err = fs.ReadFile(root, name); err != nil {
				return err
			}
		}
		if name != "." && !strings.Contains(name, "/") {
			tr.top = append(tr.top, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(tr.files)) {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
			continue
		}
		file, _ := parser.ParseFile(tr.fset, name, tr.files[name], parser.ParseComments)
		if file != nil {
			tr.code = append(tr.code, source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), file})
		}
	}
	return tr
}

// loaded caches the tree that these tests are part of. It is never changed.
var loaded sync.Map

// project returns the tree that these tests are part of.
func project(t *testing.T) *tree {
	t.Helper()
	const root = "../.."
	once, _ := loaded.LoadOrStore(root, sync.OnceValue(func() *tree { return load(t, os.DirFS(root)) }))
	tr := once.(func() *tree)()
	if !bytes.Contains(tr.files["go.mod"], []byte("module "+module+"\n")) {
		t.Fatalf("../.. is not the root of %s: archtest has moved, so mend the path in project", module)
	}
	return tr
}

// exists reports whether a path from the root is a file or a folder.
func (tr *tree) exists(name string) bool {
	name = path.Clean(name)
	return tr.files[name] != nil || tr.dirs[name]
}

// packages returns the Go files of each folder.
func (tr *tree) packages() map[string][]source {
	byDir := map[string][]source{}
	for _, src := range tr.code {
		byDir[src.dir] = append(byDir[src.dir], src)
	}
	return byDir
}

// matching returns the paths of the files with one of the suffixes, sorted.
func (tr *tree) matching(suffixes ...string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(tr.files)) {
		if slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(name, s) }) {
			names = append(names, name)
		}
	}
	return names
}
