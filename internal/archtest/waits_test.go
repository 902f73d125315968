package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// waitProblems finds loops of tests and test rigs that wait for something by themselves, and limits of their own. Such a limit is too
// short on some machine, and seldom says what it waited for: internal/testrig/wait does both. A loop waits if it may end early and rests
// meanwhile, or if it ends by the time of the machine. One that ends with its elements, its context or an error only keeps a pace. What is
// inside synctest.Test is in virtual time, where a limit is never too short.
func waitProblems(tr *tree) (problems []string) {
	for _, found := range waitsOfTests(tr) {
		if ownWaits[found.in] == "" {
			problems = append(problems, fmt.Sprintf("%s: it waits by %s: use internal/testrig/wait, or name the reason in ownWaits", found.at, found.how))
		}
	}
	return problems
}

// ownWaits are the functions that may wait by themselves, and why.
var ownWaits = map[string]string{
	"edge/cricket/push/bench_test.go until":                    "a benchmark measures how long this takes",
	"internal/testrig/faultproxy/proxy_test.go askUntil":       "that nothing comes is no condition",
	"internal/testrig/nodes/pair.go Pass":                      "virtual time passes, and consumers work meanwhile",
	"sync/dynamo/faults_long_test.go holdOnce":                 "work under a lease for a random time",
	"sync/replica/feed_node_test.go drained":                   "virtual time passes",
	"sync/replica/olddisk_world_test.go settles":               "virtual time passes",
	"sync/replica/simulation/clusters_test.go rest":            "virtual time passes, and locks are checked meanwhile",
	"sync/replica/simulation/schedule_local_long_test.go Wait": "a clock",
	"sync/replica/simulation/schedule_local_long_test.go pass": "the work that a step of the clock has woken gets a moment, and nothing is judged by it",
}

// ownWait is a wait of a test's own.
type ownWait struct{ at, in, how string }

func waitsOfTests(tr *tree) (found []ownWait) {
	for dir, files := range tr.packages() {
		if dir == "internal/testrig/wait" {
			continue
		}
		rests := restingFunctions(files)
		for _, src := range files {
			if src.test || strings.HasPrefix(dir, "internal/testrig/") {
				found = append(found, waitsIn(tr, src, rests)...)
			}
		}
	}
	slices.SortFunc(found, func(a, b ownWait) int { return strings.Compare(a.at, b.at) })
	return found
}

// waitsIn finds the waits of one file.
func waitsIn(tr *tree, src source, rests map[string]bool) (found []ownWait) {
	for _, decl := range src.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && callsFunction(call, "synctest", "Test") {
				return false
			}
			how := loopWaits(n, rests)
			if how == "" && limitsAWait(n) {
				how = "a limit of its own"
			}
			if how != "" {
				found = append(found, ownWait{tr.fset.Position(n.Pos()).String(), src.path + " " + fn.Name.Name, how})
			}
			return how == ""
		})
	}
	return found
}

// restingFunctions returns the names of a package's functions that rest by themselves, such as pause(ctx, d).
func restingFunctions(files []source) map[string]bool {
	rests := map[string]bool{}
	for _, src := range files {
		for _, decl := range src.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Body != nil && !strings.HasPrefix(fn.Name.Name, "Test") && restsIn(fn.Body, nil) != "" {
				rests[fn.Name.Name] = true
			}
		}
	}
	return rests
}

// loopWaits says what a loop waits by; empty: the node is no loop, or it does not wait.
func loopWaits(n ast.Node, rests map[string]bool) string {
	var body *ast.BlockStmt
	mayEnd := false
	switch loop := n.(type) {
	case *ast.ForStmt:
		if loop.Cond != nil && readsTime(loop.Cond) {
			return "the time in its condition"
		}
		body = loop.Body
		mayEnd = loop.Cond != nil && !allIsWell(loop.Cond)
		if loop.Post != nil && restsIn(loop.Post, rests) != "" {
			return restsIn(loop.Post, rests)
		}
	case *ast.RangeStmt:
		body = loop.Body
	default:
		return ""
	}
	if how := restsIn(body, rests); how != "" && (mayEnd || leaves(body)) {
		return how
	}
	if endsByTime(body) {
		return "the time in a condition"
	}
	return ""
}

// limitsAWait reports whether a node is a select of something else than a context, and of some time.
func limitsAWait(n ast.Node) bool {
	choice, ok := n.(*ast.SelectStmt)
	if !ok {
		return false
	}
	timed, others := false, 0
	for _, clause := range choice.Body.List {
		comm := clause.(*ast.CommClause).Comm
		from := receivedFrom(comm)
		method := ""
		if from != nil {
			method, _ = methodOf(from)
		}
		switch {
		case from != nil && callsFunction(from, "time", "After"):
			timed = true
		case method != "Done":
			others++
		}
	}
	return timed && others > 0
}

// receivedFrom returns the call whose channel a statement receives from; nil: it is none.
func receivedFrom(s ast.Stmt) *ast.CallExpr {
	expr, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	receive, ok := expr.X.(*ast.UnaryExpr)
	if !ok {
		return nil
	}
	call, _ := receive.X.(*ast.CallExpr)
	return call
}

// allIsWell reports whether a condition is that contexts have not ended and that there is no error: ctx.Err() == nil && err == nil.
func allIsWell(cond ast.Expr) bool {
	compared, ok := cond.(*ast.BinaryExpr)
	switch {
	case !ok:
		return false
	case compared.Op == token.LAND:
		return allIsWell(compared.X) && allIsWell(compared.Y)
	case compared.Op != token.EQL || !isNamed(compared.Y, "nil"):
		return false
	}
	if call, ok := compared.X.(*ast.CallExpr); ok {
		method, _ := methodOf(call)
		return method == "Err" || method == "Check"
	}
	return isNamed(compared.X, "err")
}

// leaves reports whether a block may end the loop that it is in.
func leaves(block *ast.BlockStmt) bool {
	return contains(block, func(n ast.Node) bool {
		branch, ok := n.(*ast.BranchStmt)
		_, returns := n.(*ast.ReturnStmt)
		return returns || ok && branch.Tok == token.BREAK
	})
}

// fails reports whether a block may end the test.
func fails(block *ast.BlockStmt) bool {
	return contains(block, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		method, _ := methodOf(call)
		return method == "Fatal" || method == "Fatalf" || method == "FailNow"
	})
}

// endsByTime reports whether a loop's body ends the loop, or the test, by the time of the machine.
func endsByTime(body *ast.BlockStmt) bool {
	return contains(body, func(n ast.Node) bool {
		branch, ok := n.(*ast.IfStmt)
		return ok && readsTime(branch.Cond) && (leaves(branch.Body) || fails(branch.Body))
	})
}

// contains reports whether a node of some code is one; functions that are written inside are left out, because they may run elsewhere.
func contains(code ast.Node, is func(ast.Node) bool) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		_, function := n.(*ast.FuncLit)
		found = found || n != nil && !function && is(n)
		return !found && !function
	})
	return found
}

// restsIn says what lets time pass in some code.
func restsIn(code ast.Node, rests map[string]bool) (how string) {
	contains(code, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			how = restedBy(call, rests)
		}
		return how != ""
	})
	return how
}

// restedBy says what lets time pass in a call. A clock's Sleep does only with the machine's clock.
func restedBy(call *ast.CallExpr, rests map[string]bool) string {
	if fn, ok := call.Fun.(*ast.Ident); ok && rests[fn.Name] {
		return fn.Name
	}
	method, on := methodOf(call)
	switch {
	case isNamed(on, "time") && slices.Contains([]string{"Sleep", "After", "Tick", "NewTimer", "NewTicker"}, method):
		return "time." + method
	case callsFunction(call, "runtime", "Gosched"):
		return "runtime.Gosched"
	case callsFunction(call, "clock", "Sleep") && len(call.Args) > 1:
		if given, ok := call.Args[1].(*ast.CallExpr); ok && callsFunction(given, "clock", "Real") {
			return "the machine's clock"
		}
	}
	return ""
}

// readsTime reports whether an expression reads the time of the machine.
func readsTime(e ast.Expr) bool {
	return contains(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		return ok && (callsFunction(call, "time", "Now") || callsFunction(call, "time", "Since") || callsFunction(call, "time", "Until"))
	})
}

func callsFunction(call *ast.CallExpr, pkg, name string) bool {
	method, on := methodOf(call)
	return method == name && isNamed(on, pkg)
}

func TestTestsWaitByOneHelper(t *testing.T) {
	report(t, waitProblems(project(t)))
	found := waitsOfTests(project(t))
	for in := range ownWaits {
		if !slices.ContainsFunc(found, func(w ownWait) bool { return w.in == in }) {
			t.Errorf("%s does not wait by itself (any more): remove it from ownWaits", in)
		}
	}
}

func TestWaitRuleFindsWhatItForbids(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"until a time", "func f() { for time.Now().Before(end) { if met() { return } } }", "the time in its condition"},
		{"until a time in the body", "func f() { for !met() { if time.Since(began) > limit { t.Fatal() } } }", "the time in a condition"},
		{"a number of tries", "func f() { for range 100 { if met() { return }; <-time.After(1) } }", "time.After"},
		{"a clock", "func f() { for !met() { clock.Sleep(ctx, clock.Real(), 1) } }", "the machine's clock"},
		{"a busy loop", "func f() { for !met() { runtime.Gosched() } }", "runtime.Gosched"},
		{"a loop in a goroutine", "func f() { go func() { for !met() { time.Sleep(1) } }() }", "time.Sleep"},
		{"a pause in the header", "func f() { for ; !met(); pause() {} }\nfunc pause() { <-time.After(1) }", "pause"},
		{"a pause of the package", "func f() { for !met() { pause() } }\nfunc pause() { <-time.After(1) }", "pause"},
		{"a limit", "func f() { select { case <-done: case <-time.After(1): t.Fatal() } }", "a limit of its own"},

		{"a pause", "func f() { select { case <-ctx.Done(): case <-time.After(1): } }", ""},
		{"a pace", "func f() { for ctx.Err() == nil && err == nil { work(); <-time.After(1) } }", ""},
		{"a pace of elements", "func f() { for range 3 { work(); <-time.After(1) } }", ""},
		{"a measurement", "func f() { for range 3 { work(); took = time.Since(began) } }", ""},
		{"a stepped clock", "func f() { for !met() { clock.Sleep(ctx, c, 1) } }", ""},
		{"virtual time", "func TestX(t *testing.T) { synctest.Test(t, func() { for !met() { <-time.After(1) } }) }", ""},
		{"the helper", "func f() { wait.Until(t, `it`, func() bool { return met() }) }", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code := "package store\n" + tt.code + "\n"
			expect(t, waitProblems, files("store/a_test.go", code), tt.want)
			expect(t, waitProblems, files("internal/testrig/x/a.go", code), tt.want)
			expect(t, waitProblems, files("store/a.go", code, "internal/testrig/wait/wait.go", code), "")
		})
	}
}
