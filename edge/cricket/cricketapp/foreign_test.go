package cricketapp_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// foreignRows writes rows that no node would write to every table that clients of the DynamoDB API can write: rows of keys
// alone, and rows with all attributes of the wrong type, for the played match and for others.
func foreignRows(t *testing.T, dir, match string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(dir, "touchline.db"), store.Options{NoSync: true})
	if err == nil {
		err = cricketSchema().Apply(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wrong := attr.Item{}
	for name := range strings.FieldsSeq("state status matchPhase finishedAt expiresAt holder fence rvn ttlMs alert type text at " +
		"deviceId updateToken pushToStartToken apnsToken startTries startAnswer resumedAt createdAt last30Balls cooldowns pending teamId startTime " +
		"active marquee adminFields raw squad archivedAt liveUpdatedAt") {
		wrong[name] = attr.M(attr.Item{"x": attr.L(attr.S("y"))})
	}
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		for _, spec := range cricketSchema().Tables {
			if spec.Internal {
				continue
			}
			for _, of := range []string{match, "other"} {
				if spec.Key.Sort.Name == "" && of == match {
					continue // this row is the match itself
				}
				for _, sort := range []string{"keys alone", "all wrong"} {
					item := attr.Item{}
					if sort == "all wrong" {
						maps.Copy(item, wrong)
					}
					item[spec.Key.Partition.Name] = attr.S(of)
					if spec.Key.Sort.Name != "" {
						item[spec.Key.Sort.Name] = attr.S(sort)
					} else {
						item[spec.Key.Partition.Name] = attr.S(of + sort)
					}
					for _, ix := range spec.Indexes { // the store refuses an item whose index key has the wrong type
						delete(item, ix.Key.Partition.Name)
						delete(item, ix.Key.Sort.Name)
					}
					if _, err := tx.Put(store.PutItem{Table: spec.Name, Item: item}); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Rows that clients of the DynamoDB API write to the applications' tables stop neither the node nor a match.
func amongForeignRows(t *testing.T, match string, clean *cricketapp.Summary) {
	t.Helper()
	dir := t.TempDir()
	foreignRows(t, filepath.Join(dir, match), match)
	got := playDemo(t, match, dir)
	delete(got.Events, "") // the row of keys alone is an event without a type
	if diff := cmp.Diff(clean, got); diff != "" {
		t.Errorf("with rows of others (-without +with):\n%s", diff)
	}
}

// cricketSchema returns the schema of a node with only cricket.
func cricketSchema() migrations.Schema { return node.Schema([]*app.App{cricketapp.New()}) }
