package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// steadyProblems finds uses of a clock's Now, which is the time of loops, where the wall clock's time belongs (internal/clock): it is
// written down, or given to the standard library as a deadline. A clock is recognized by its name; a transaction's Now is the wall
// clock's. Contexts end after a duration, because their deadlines are compared with the wall clock.
func steadyProblems(tr *tree) (problems []string) {
	for _, files := range tr.packages() {
		for _, src := range files {
			if src.test {
				continue
			}
			ast.Inspect(src.ast, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if what := wrongTime(call); what != "" {
					problems = append(problems, fmt.Sprintf("%s: %s", tr.fset.Position(call.Pos()), what))
				}
				return true
			})
		}
	}
	return problems
}

// wrongTime says what is wrong with the times in a call; empty: nothing.
func wrongTime(call *ast.CallExpr) string {
	method, on := methodOf(call)
	switch {
	case method == "WithDeadline":
		return "a context's deadline is a time of the wall clock: use context.WithTimeout"
	case slices.Contains([]string{"Unix", "UnixMilli", "UnixMicro", "Format", "AppendFormat", "UTC", "Date", "AddDate"}, method) && fromLoops(on):
		return "Now of a clock is the time of loops and is not written down: use Wall"
	case slices.Contains([]string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}, method) && slices.ContainsFunc(call.Args, fromLoops):
		return "a connection's deadline is a time of the wall clock: use Wall"
	}
	if fn, ok := call.Fun.(*ast.SelectorExpr); ok && fn.Sel.Name == "Time" && isNamed(fn.X, "attr") && slices.ContainsFunc(call.Args, fromLoops) {
		return "Now of a clock is the time of loops and is not stored: use Wall"
	}
	return ""
}

// fromLoops reports whether an expression is Now of a clock, or some time after or before it.
func fromLoops(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	method, on := methodOf(call)
	switch method {
	case "Now":
		return isClock(on)
	case "Add", "Truncate", "Round":
		return fromLoops(on)
	}
	return false
}

// isClock reports whether an expression is called like a clock.
func isClock(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return slices.Contains([]string{"clock", "clk", "wall"}, strings.ToLower(x.Name))
	case *ast.SelectorExpr:
		return isClock(x.Sel)
	case *ast.CallExpr: // clock.Real()
		fn, ok := x.Fun.(*ast.SelectorExpr)
		return ok && isNamed(fn.X, "clock")
	}
	return false
}

// methodOf returns the name of a called method and what it is called on; empty: it is no method.
func methodOf(call *ast.CallExpr) (name string, on ast.Expr) {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", nil
	}
	return fn.Sel.Name, fn.X
}

func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

func TestTimesOfLoopsAreNotWrittenDown(t *testing.T) { report(t, steadyProblems(project(t))) }

func TestSteadyRuleFindsWhatItForbids(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"stored", "func f() { attr.Time(p.Clock.Now().Add(1)) }", "is not stored"},
		{"stored as seconds", "func f() { _ = c.clock.Now().Add(1).Unix() }", "is not written down"},
		{"shown", "func f() { _ = clock.Real().Now().Format(``) }", "is not written down"},
		{"a connection's deadline", "func f() { conn.SetWriteDeadline(s.wall.Now().Add(1)) }", "a connection's deadline"},
		{"a context's deadline", "func f() { context.WithDeadline(ctx, at) }", "a context's deadline"},
		{"a transaction's time", "func f() { _ = tx.Now().Unix() }", ""},
		{"the wall clock's", "func f() { _ = p.Clock.Wall().Unix() }", ""},
		{"a wait", "func f() { c.clock.Wait(ctx, c.clock.Now().Add(1), nil) }", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, steadyProblems, files("store/a.go", "package store\n"+tt.code+"\n"), tt.want)
		})
	}
}
