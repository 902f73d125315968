package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed overlay
var added embed.FS

const (
	bolt = "go.etcd.io/bbolt"
	disk = "github.com/touchline/touchline/store/internal/disk"
)

// patch is the change of one package.
type patch struct {
	pkg     string
	adds    string              // a file in folder overlay that is added to the package
	renames []string            // functions that get the prefix simReal; methods as (T).Name
	ordered map[string][]string // by file: maps whose loops are ordered by key
}

func patches() []patch {
	return []patch{
		{pkg: "os", adds: "os.go.txt", renames: []string{
			"(File).Write", "(File).WriteAt", "(File).Sync", "(File).Truncate",
			"OpenFile", "Rename", "Link", "Remove", "Mkdir",
		}},
		{pkg: disk, adds: "disk.go.txt", renames: []string{"Allocate", "FillHoles"}},
		{
			pkg: bolt, adds: "bbolt.go.txt", renames: []string{"fdatasync"},
			ordered: map[string][]string{"bucket.go": {"b.buckets", "b.nodes"}},
		},
		{
			pkg: bolt + "/internal/freelist", adds: "freelist.go.txt",
			ordered: map[string][]string{"hashmap.go": {"bm", "f.freemaps"}},
		},
	}
}

// write writes the copies to dir and returns the flags for the go command. Packages of this module and of the standard library are
// overlaid. That is impossible for a module in the module cache, so bbolt is copied as a whole and replaced.
func write(folder string) (string, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, "bbolt")
	if err := copyModule(bolt, copied); err != nil {
		return "", fmt.Errorf("%s: %w", bolt, err)
	}
	overlay := map[string]string{}
	for _, p := range patches() {
		put := func(from string, text []byte) error {
			overlay[from] = filepath.Join(dir, "overlay", filepath.FromSlash(p.pkg), filepath.Base(from))
			return writeFile(overlay[from], text)
		}
		if rest, ok := strings.CutPrefix(p.pkg, bolt); ok {
			put = func(from string, text []byte) error {
				return writeFile(filepath.Join(copied, filepath.FromSlash(rest), filepath.Base(from)), text)
			}
		}
		if err := p.apply(put); err != nil {
			return "", fmt.Errorf("%s: %w", p.pkg, err)
		}
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": overlay}, "", "\t")
	if err != nil {
		return "", err
	}
	overlayFile, modFile := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "go.mod")
	if err := errors.Join(writeFile(overlayFile, text), writeModFile(modFile, copied)); err != nil {
		return "", err
	}
	// Shells split the flags at spaces, so the paths stay as short as they were given.
	return fmt.Sprintf("-overlay=%s -modfile=%s", filepath.Join(folder, "overlay.json"), filepath.Join(folder, "go.mod")), nil
}

// writeModFile writes our go.mod with the copy of bbolt, and go.sum beside it.
func writeModFile(path, copied string) error {
	ours, err := goCommand("env", "GOMOD")
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(ours)
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(strings.TrimSuffix(ours, ".mod") + ".sum")
	if err != nil {
		return err
	}
	mod = fmt.Appendf(mod, "\nreplace %s => %q\n", bolt, copied)
	return errors.Join(writeFile(path, mod), writeFile(strings.TrimSuffix(path, ".mod")+".sum", sum))
}

func copyModule(module, to string) error {
	from, err := goCommand("list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rest, _ := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rest == "cmd" || rest == "tests"):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" && rest != "go.mod":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return writeFile(filepath.Join(to, rest), text)
	})
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func goCommand(args ...string) (string, error) {
	out, err := exec.Command("go", args...).Output() //nolint:noctx // it ends soon
	return strings.TrimSpace(string(out)), err
}

// apply passes the changed files of a package, and the added one, to put.
func (p patch) apply(put func(from string, text []byte) error) error {
	list, err := goCommand("list", "-f", `{{.Dir}}{{range .GoFiles}}{{"\n"}}{{.}}{{end}}`, p.pkg)
	if err != nil {
		return err
	}
	files := strings.Split(list, "\n")
	dir, missing := files[0], slices.Clone(p.renames)
	for _, name := range files[1:] {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		changed, renamed, err := p.change(name, text)
		if err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, func(n string) bool { return slices.Contains(renamed, n) })
		if bytes.Equal(changed, text) {
			continue
		}
		if err := put(path, changed); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("there is no %s", strings.Join(missing, ", "))
	}
	text, err := added.ReadFile("overlay/" + p.adds)
	if err != nil {
		return err
	}
	return put(filepath.Join(dir, "sim_disk.go"), text)
}

// edit inserts text at a position.
type edit struct {
	at   token.Pos
	text string
}

// change returns the text of a file with functions renamed and loops ordered.
func (p patch) change(name string, text []byte) (out []byte, renamed []string, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	var edits []edit
	ordered := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if full := fullName(n); slices.Contains(p.renames, full) {
				edits = append(edits, edit{n.Name.Pos(), "simReal"})
				renamed = append(renamed, full)
			}
		case *ast.RangeStmt:
			if x := types.ExprString(n.X); slices.Contains(p.ordered[name], x) {
				edits = append(edits, edit{n.X.Pos(), "simOrdered("}, edit{n.X.End(), ")"})
				ordered[x] = true
			}
		}
		return true
	})
	if len(ordered) < len(p.ordered[name]) {
		return nil, nil, fmt.Errorf("%s: no loops over all of %v", name, p.ordered[name])
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return int(b.at - a.at) })
	out = slices.Clone(text)
	for _, e := range edits {
		at := fset.Position(e.at).Offset
		out = slices.Concat(out[:at], []byte(e.text), out[at:])
	}
	return out, renamed, nil
}

// fullName returns F for func F and (T).F for func (t *T) F.
func fullName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return "(" + strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*") + ")." + fn.Name.Name
}
