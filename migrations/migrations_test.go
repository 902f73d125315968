package migrations_test

import (
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
)

// Applying twice writes once, and what was written is there after a restart.
func TestApplyTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "touchline.db")
	var commits []uint64
	for range 2 {
		s, err := store.Open(path, store.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := migrations.Apply(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got, want := len(s.Tables()), len(migrations.Tables()); got != want {
			t.Errorf("%d tables, want %d", got, want)
		}
		commits = append(commits, s.Stats().Commits)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if commits[0] == 0 || commits[1] != 0 {
		t.Errorf("commits of the two starts: %v, want some and none", commits)
	}
}

// The catalogue is written for the people who read it: every policy has its reason.
func TestTablesSayWhy(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range migrations.Tables() {
		if spec.Why == "" || spec.Policy == "" || seen[spec.Name] {
			t.Errorf("table %q: policy %q, why %q, name used before: %t", spec.Name, spec.Policy, spec.Why, seen[spec.Name])
		}
		seen[spec.Name] = true
	}
}
