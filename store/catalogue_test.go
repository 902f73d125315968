package store

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// Rows of the catalogue as the first version wrote them are tables with all their indexes filled.
func TestOldCatalogueRow(t *testing.T) {
	old := `{"id":3,"name":"balls","key":["match","S","ball","N"],"indexes":[{"id":4,"name":"bowler-index",` +
		`"key":["bowler","S","",""],"projection":2,"include":["runs"]}],"ttl":"ttl","policy":"intent","why":"a test"}`
	got, err := decodeTable([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	want := newTable(3, TableSpec{
		Name:    "balls",
		Key:     KeySpec{Partition: KeyAttr{"match", KeyString}, Sort: KeyAttr{"ball", KeyNumber}},
		Indexes: []IndexSpec{{Name: "bowler-index", Key: KeySpec{Partition: KeyAttr{"bowler", KeyString}}, Projection: ProjectInclude, Include: []string{"runs"}}},
		TTL:     "ttl", Policy: PolicyIntent, Why: "a test",
	})
	want.indexes = []*index{newIndex(4, want.spec.Indexes[0])}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	again, err := got.encode()
	if err != nil || string(again) != old {
		t.Errorf("written as %s, %v", again, err)
	}
}

// An index with several attributes a key part is an object in its row: programs from before there were such keys cannot
// read the row, and so do not take the index for one of its first attributes.
func TestCatalogueRowOfMultiKey(t *testing.T) {
	key := NewKeySpec(
		[]KeyAttr{{"h1", KeyString}, {"h2", KeyNumber}}, []KeyAttr{{"r1", KeyBinary}, {"r2", KeyString}, {"r3", KeyString}, {"r4", KeyNumber}})
	want := newTable(3, TableSpec{Name: "tab", Key: KeySpec{Partition: KeyAttr{"id", KeyString}}, Indexes: []IndexSpec{{Name: "many", Key: key}}})
	want.indexes = []*index{newIndex(4, want.spec.Indexes[0])}
	row, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeTable(row)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	var before struct {
		Indexes []struct {
			Key [4]string `json:"key"`
		} `json:"indexes"`
	}
	if err := json.Unmarshal(row, &before); err == nil {
		t.Errorf("programs from before read %+v of %s", before, row)
	}
}

// Every field of a table lies in its row.
func TestCatalogueRow(t *testing.T) {
	want := newTable(3, TableSpec{Name: "notes", Key: notes.Key, TTL: "ttl", Policy: PolicyLocal, Why: "why"})
	want.uuid, want.created, want.dropped, want.through = newUUID(), 1<<60, true, 1<<41
	want.spec.Internal = true
	want.settings = TableSettings{
		Billing: BillingOnDemand, BillingSince: time.Unix(7, 8).UTC(), Class: "STANDARD", ClassSince: time.Unix(9, 0).UTC(),
		Protected: true, Encrypted: true, EncryptedBy: "key", Stream: ViewBoth,
		Throughput: Throughput{
			Read: 5, Write: 6, MaxRead: -1, MaxWrite: 8,
			Increased: time.Unix(1, 0).UTC(), Decreased: time.Unix(2, 0).UTC(), Decreases: 3,
		},
		Indexes: map[string]Throughput{"by-more": {Read: 1}}, Tags: map[string]string{"team": "edge"},
	}
	want.streams = []Stream{
		{Label: "a", View: ViewOld, Began: time.Unix(3, 0).UTC(), After: 4, Ended: time.Unix(5, 0).UTC(), Through: 6},
		{Label: "b", View: ViewBoth, Began: time.Unix(7, 0).UTC(), After: 8},
	}
	want.leaving = []leftover{{kind: kindIndex, id: 7, name: "by-text"}, {kind: kindTable, id: 3}}
	ix := newIndex(8, IndexSpec{Name: "by-more", Local: true, Key: KeySpec{Partition: notes.Key.Partition}})
	ix.fill = &filling{upTo: []byte{0, 255}, items: 12}
	want.setIndexes([]*index{ix})
	encoded, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeTable(encoded)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v: %v", got, want, err)
	}
	if _, err := decodeTable([]byte(`{"leaving":[{"kind":"","id":1}]}`)); err == nil {
		t.Error("a bucket of no kind was taken")
	}
	if _, err := decodeTable([]byte(`{`)); err == nil {
		t.Error("a row that is no JSON was taken")
	}
}
