package dynamo

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// asked finds the DynamoDB operations that a file can send: every method taken from a client.
func asked(t *testing.T, name string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		method, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if db, ok := method.X.(*ast.SelectorExpr); ok && db.Sel.Name == "db" && method.Sel.Name != "Options" {
			out[method.Sel.Name] = true
		}
		return true
	})
	return out
}

// actions returns the permissions that operations need; a transaction needs those of each member.
func actions(operations map[string]bool) []string {
	out := map[string]bool{}
	for op := range operations {
		if op != "TransactWriteItems" {
			out["dynamodb:"+op] = true
			continue
		}
		for _, member := range []string{"PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"} {
			out["dynamodb:"+member] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// documented returns the actions of a policy in docs/cloud.md.
func documented(t *testing.T, name string) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "cloud.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "<!-- "+name+" -->\n```json\n")
	text, _, closed := strings.Cut(rest, "\n```")
	if !ok || !closed {
		t.Fatalf("docs/cloud.md has no %s", name)
	}
	var policy struct {
		Version   string
		Statement []struct {
			Sid, Effect string
			Action      []string
			Resource    any
		}
	}
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, s := range policy.Statement {
		if s.Effect != "Allow" || s.Resource == nil || s.Resource == "*" {
			t.Errorf("%s: %s of %v", s.Sid, s.Effect, s.Resource)
		}
		for _, a := range s.Action {
			out[a] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// The documented policies allow exactly what the client can send.
func TestPolicies(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	node, operator := map[string]bool{}, map[string]bool{"DescribeTable": true}
	for _, f := range files {
		switch {
		case strings.HasSuffix(f, "_test.go"):
		case f == "catalogue.go":
			maps.Copy(operator, asked(t, f))
		default:
			maps.Copy(node, asked(t, f))
		}
	}
	if len(node) < 8 || !node["TransactWriteItems"] || !node["Scan"] {
		t.Fatalf("the operations of a node were not found: %v", node)
	}
	if got, want := documented(t, "node policy"), actions(node); !slices.Equal(got, want) {
		t.Errorf("the policy of a node allows\n%v\nbut it sends\n%v", got, want)
	}
	if got, want := documented(t, "operator policy"), actions(operator); !slices.Equal(got, want) {
		t.Errorf("the policy of an operator allows\n%v\nbut the commands send\n%v", got, want)
	}
}
