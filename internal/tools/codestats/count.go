package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// stats are the figures of a tree.
type stats struct {
	files        int
	functions    []function
	lines        int // of functions
	branches     int
	initSwitches int
	higherOrder  int            // functions that take a function and return one
	methods      map[string]int // of each type
	folders      map[string]int // lines of each folder
	imported     map[string][]string
	module       string
}

type function struct{ name, place string }

// countTree counts the Go files below a folder.
func countTree(root string) (*stats, error) {
	s := &stats{methods: map[string]int{}, folders: map[string]int{}, imported: map[string][]string{}}
	if mod, err := os.ReadFile(filepath.Join(root, "go.mod")); err == nil {
		s.module = modulePath(string(mod))
	}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && isSkippedFolder(entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return s.countFile(filepath.ToSlash(relative), source)
	})
	return s, err
}

func isSkippedFolder(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// modulePath returns the path that a go.mod declares.
func modulePath(mod string) string {
	for line := range strings.Lines(mod) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

func (s *stats) countFile(name string, source []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	s.files++
	s.folders[path.Dir(name)] += strings.Count(string(source), "\n")
	for _, spec := range file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		s.imported[name] = append(s.imported[name], target)
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			s.countFunction(set, path.Dir(name), f)
		}
	}
	return nil
}

func (s *stats) countFunction(set *token.FileSet, folder string, f *ast.FuncDecl) {
	from, to := set.Position(f.Body.Lbrace), set.Position(f.Body.Rbrace)
	s.functions = append(s.functions, function{f.Name.Name, from.Filename + ":" + strconv.Itoa(from.Line)})
	s.lines += max(1, to.Line-from.Line-1)
	if f.Recv != nil {
		s.methods[folder+"."+receiverType(f.Recv.List[0].Type)]++
	}
	if hasFunction(f.Type.Params) && hasFunction(f.Type.Results) {
		s.higherOrder++
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		s.branches += branchesOf(n)
		if sw, ok := n.(*ast.SwitchStmt); ok && sw.Init != nil {
			s.initSwitches++
		}
		return true
	})
}

// branchesOf returns how many ways a node adds to those through its function.
func branchesOf(n ast.Node) int {
	switch n := n.(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.CommClause:
		return 1
	case *ast.CaseClause:
		return len(n.List)
	case *ast.BinaryExpr:
		if n.Op == token.LAND || n.Op == token.LOR {
			return 1
		}
	}
	return 0
}

func hasFunction(fields *ast.FieldList) bool {
	return fields != nil && slices.ContainsFunc(fields.List, func(f *ast.Field) bool {
		_, ok := f.Type.(*ast.FuncType)
		return ok
	})
}

func receiverType(t ast.Expr) string {
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.Name
		default:
			return "?"
		}
	}
}

// imports returns how many files below one folder import a package below another.
func (s *stats) imports(from, to string) (files int) {
	prefix := path.Join(s.module, to)
	for name, targets := range s.imported {
		if strings.HasPrefix(name, from+"/") && slices.ContainsFunc(targets, func(target string) bool {
			return target == prefix || strings.HasPrefix(target, prefix+"/")
		}) {
			files++
		}
	}
	return files
}

func (s *stats) meanNameLength() float64 {
	var letters int
	for _, f := range s.functions {
		letters += len(f.name)
	}
	return ratio(letters, len(s.functions))
}

func ratio(a, b int) float64 { return float64(a) / float64(max(1, b)) }

type counted struct {
	name  string
	count int
}

// largest returns the entries with the highest counts, the highest first.
func largest(counts map[string]int, n int) []counted {
	var all []counted
	for name, count := range counts {
		all = append(all, counted{name, count})
	}
	slices.SortFunc(all, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name))
	})
	return all[:min(n, len(all))]
}
