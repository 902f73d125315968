package patch_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/table"
)

// Fields in a body are set, null removes them; the rest of the row stays. Keywords of the expression language are valid names.
func TestPatch(t *testing.T) {
	fields := map[string]patch.Field{
		"name":   {Read: patch.Text(patch.UpTo(5))},
		"size":   {Read: patch.Whole(0, 9), Nullable: true},
		"at":     {Read: patch.Text(patch.Instant), Nullable: true, Blank: true},
		"status": {Read: patch.Text(patch.OneOf(strings.ToUpper, "ON", "OFF"))},
	}
	spec := store.TableSpec{Name: "rows", Key: store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, spec)
	key := attr.Item{"pk": attr.S("a")}
	for _, tt := range []struct{ body, want string }{
		{`{"name":"Ann","size":3,"at":"2026-05-01T12:00:00+02:00"}`, `{"at":{"S":"2026-05-01T10:00:00.000Z"},"name":{"S":"Ann"},"pk":{"S":"a"},"size":{"N":"3"}}`},
		{`{"size":null,"status":"off","other":1}`, `{"at":{"S":"2026-05-01T10:00:00.000Z"},"name":{"S":"Ann"},"pk":{"S":"a"},"status":{"S":"OFF"}}`},
		{`{"at":""}`, `{"name":{"S":"Ann"},"pk":{"S":"a"},"status":{"S":"OFF"}}`},
		{`{}`, "No fields to update"},
		{`{"name":null}`, "name must be a string"},
		{`{"name":"Annabel"}`, "name must have at most 5 characters"},
		{`{"size":1.5}`, "size must be an integer from 0 to 9"},
		{`{"at":"noon"}`, "at must be an ISO 8601 time"},
		{`{"status":"x"}`, "status must be one of ON, OFF"},
	} {
		var in patch.Input
		if err := json.Unmarshal([]byte(tt.body), &in); err != nil {
			t.Fatal(err)
		}
		p, err := patch.ReadSome(fields, in)
		if err != nil {
			if err.Error() != tt.want {
				t.Errorf("%s: %v", tt.body, err)
			}
			continue
		}
		var got attr.Item
		if err := s.Update(t.Context(), func(tx *store.Tx) (err error) {
			if _, err = tx.Update(*p.Update("rows", key, table.IfTrue("attribute_not_exists(gone)", nil))); err == nil {
				got, err = tx.Get("rows", key)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if text := string(attr.AppendJSON(nil, got)); text != tt.want {
			t.Errorf("%s:\n%s, want\n%s", tt.body, text, tt.want)
		}
	}
	if _, err := patch.Read(fields, patch.Input{}, "name"); err == nil || err.Error() != "name is required" {
		t.Errorf("%v", err)
	}
}
