package cricketapp

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// Applying the schema a second time, after a restart, writes nothing.
func TestApplyTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "touchline.db")
	var commits []uint64
	for range 2 {
		s, err := store.Open(path, store.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := schema().Apply(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got, want := len(s.Tables()), len(schema().Tables); got != want {
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

// Every table gives a policy and the reason for it, for the readers of the catalogue.
func TestTablesSayWhy(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range schema().Tables {
		if spec.Why == "" || spec.Policy == "" || seen[spec.Name] {
			t.Errorf("table %q: policy %q, why %q, name used before: %t", spec.Name, spec.Policy, spec.Why, seen[spec.Name])
		}
		seen[spec.Name] = true
	}
}

// Clients see the applications' tables under their documented names. The locks are among them, because instances that run
// elsewhere take theirs in the same table. The node's own tables are hidden, with a prefix that no application uses.
func TestHiddenTables(t *testing.T) {
	var shown, hidden []string
	for _, spec := range schema().Tables {
		if spec.Internal {
			hidden = append(hidden, spec.Name)
			if spec.Policy != store.PolicyLocal || !strings.HasPrefix(spec.Name, "touchline-") {
				t.Errorf("%s has the policy %s", spec.Name, spec.Policy)
			}
			continue
		}
		shown = append(shown, spec.Name)
	}
	slices.Sort(shown)
	slices.Sort(hidden)
	wantShown := []string{
		"DisplayStateCache", "active-matches", "cricket-devices", "cricket-events", "cricket-fixture-cache", "cricket-fixtures",
		"cricket-leagues", "cricket-locks", "cricket-match-follows", "cricket-team-seasons", "cricket-teams", "live-activities",
	}
	if diff := cmp.Diff(wantShown, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	wantHidden := []string{
		"touchline-device-tokens", "touchline-keys", "touchline-migrations", "touchline-push-state", "touchline-replays",
	}
	if diff := cmp.Diff(wantHidden, hidden); diff != "" {
		t.Errorf("hidden (-want +got):\n%s", diff)
	}
}

// An application's table cannot be dropped, not even one that an earlier version created.
func TestTablesStay(t *testing.T) {
	s := storetest.Open(t, early()...)
	if err := schema().Apply(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, spec := range schema().Tables {
		if spec.Internal {
			continue
		}
		if err := s.DropTable(t.Context(), spec.Name); !fault.Is(err, fault.Invalid) {
			t.Errorf("drop %s: %v", spec.Name, err)
		}
		if _, err := s.Describe(spec.Name); err != nil {
			t.Error(err)
		}
	}
}

// The cloud has all tables that are neither local nor the node's own, including the locks.
func TestCloudTables(t *testing.T) {
	names := map[string]migrations.CloudTable{}
	for _, table := range schema().CloudTables() {
		names[table.Name] = table
	}
	for _, spec := range schema().Tables {
		_, there := names[spec.Name]
		if want := !spec.Internal && spec.Policy != store.PolicyLocal; there != want {
			t.Errorf("%s (%s): %v", spec.Name, spec.Policy, there)
		}
	}
	if locks := names["cricket-locks"]; locks.Stream || locks.TTL != "" || locks.Name == "" {
		t.Errorf("%+v", locks)
	}
	if events := names["cricket-events"]; !events.Stream || events.TTL != "ttl" {
		t.Errorf("%+v", events)
	}
}
