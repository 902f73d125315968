package dynamoapi

import (
	"slices"
	"testing"
)

// TestPartiQLTouches names the permissions that statements need.
func TestPartiQLTouches(t *testing.T) {
	for name, c := range map[string]struct {
		operation, body string
		want            []string
	}{
		"select":      {"ExecuteStatement", `{"Statement":"SELECT * FROM \"tab\".\"idx\" WHERE a=1"}`, []string{"PartiQLSelect tab"}},
		"insert":      {"ExecuteStatement", `{"Statement":"INSERT INTO tab VALUE {'pk':1}"}`, []string{"PartiQLInsert tab"}},
		"not a thing": {"ExecuteStatement", `{"Statement":"UPDATE tab"}`, nil},
		"batch": {"BatchExecuteStatement", `{"Statements":[{"Statement":"UPDATE one SET a=1 WHERE b=2"},{"Statement":"nonsense"},
			{"Statement":"DELETE FROM two WHERE b=2"}]}`, []string{"PartiQLUpdate one", "PartiQLDelete two"}},
		"transaction": {"ExecuteTransaction", `{"TransactStatements":[{"Statement":"EXISTS(SELECT * FROM one WHERE a=1)"},
			{"Statement":"INSERT INTO two VALUE {'pk':1}"}]}`, []string{"PartiQLSelect one", "PartiQLInsert two"}},
	} {
		r, err := New(Config{}).decode(c.operation, c.body)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		r.touches("", func(action, table string) { got = append(got, action+" "+table) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
