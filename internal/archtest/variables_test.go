package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// variableProblems finds package variables that are more than named values: ones that code of their package writes to or takes the
// address of, and ones made to change (locks, atomics, pools, channels, empty maps). Two nodes in one process, or two tests at once,
// would share them. Assignments from other packages are left to the linters, and exceptions granted there (//nolint:gochecknoglobals //
// why) count here too.
func variableProblems(tr *tree) (problems []string) {
	for dir, files := range tr.packages() {
		vars := map[string]*ast.ValueSpec{}
		var changed []*ast.Ident
		for _, src := range files {
			if !src.test {
				packageVars(src.ast, vars)
			}
		}
		for _, src := range files {
			if src.test {
				continue
			}
			changed = append(changed, written(src.ast, vars)...)
			changed = append(changed, changeable(src.ast)...)
		}
		for _, ident := range changed {
			if strings.Contains(commentOf(vars[ident.Name]), "nolint:gochecknoglobals") {
				continue
			}
			problems = append(problems, fmt.Sprintf("%s: package variable %s of %s changes: make it a field of the value that "+
				"needs it, a parameter or a constant", tr.fset.Position(ident.Pos()), ident.Name, dir))
		}
	}
	return problems
}

func packageVars(file *ast.File, into map[string]*ast.ValueSpec) {
	for _, spec := range varSpecs(file) {
		for _, name := range spec.Names {
			if name.Name != "_" { // asserts that a type implements an interface
				into[name.Name] = spec
			}
		}
	}
}

// commentOf returns the comment at the end of a declaration's line, including linter directives.
func commentOf(spec *ast.ValueSpec) (text string) {
	if spec.Comment != nil {
		for _, c := range spec.Comment.List {
			text += c.Text
		}
	}
	return text
}

func varSpecs(file *ast.File) (specs []*ast.ValueSpec) {
	for _, decl := range file.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR {
			for _, spec := range gen.Specs {
				specs = append(specs, spec.(*ast.ValueSpec))
			}
		}
	}
	return specs
}

// written returns the places where a variable of the package is assigned to, incremented, deleted from or pointed at.
func written(file *ast.File, vars map[string]*ast.ValueSpec) (found []*ast.Ident) {
	ast.Inspect(file, func(n ast.Node) bool {
		for _, target := range targets(n) {
			ident := root(target)
			if ident == nil || vars[ident.Name] == nil {
				continue
			}
			// The parser resolves names within a file; an unresolved name is from another file.
			if ident.Obj == nil || ident.Obj.Decl == vars[ident.Name] {
				found = append(found, ident)
			}
		}
		return true
	})
	return found
}

// targets returns the expressions that a statement or expression changes, or lets others change.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if isCallOf(n, "delete", "clear", "copy") {
			return n.Args[:1]
		}
	}
	return nil
}

func isCallOf(call *ast.CallExpr, names ...string) bool {
	f, ok := call.Fun.(*ast.Ident)
	return ok && slices.Contains(names, f.Name)
}

// root returns the variable that an expression is a part of.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// changeable returns the variables whose type or initial value is made to be changed.
func changeable(file *ast.File) (found []*ast.Ident) {
	for _, spec := range varSpecs(file) {
		parts := slices.Clone(spec.Values)
		if spec.Type != nil {
			parts = append(parts, spec.Type)
		}
		if slices.ContainsFunc(parts, madeToChange) {
			found = append(found, spec.Names[0])
		}
	}
	return found
}

// madeToChange finds locks, atomics, pools, and results of make and new. The result of sync.OnceValue does not change.
func madeToChange(e ast.Expr) (changes bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // its content is its own
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			changes = changes || ok && (pkg.Name == "sync" || pkg.Name == "atomic") && !strings.HasPrefix(n.Sel.Name, "OnceValue")
		case *ast.CallExpr:
			changes = changes || isCallOf(n, "make", "new")
		}
		return true
	})
	return changes
}

func TestPackageVariablesNeverChange(t *testing.T) {
	report(t, variableProblems(project(t)))
}
