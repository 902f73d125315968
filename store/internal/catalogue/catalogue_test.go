package catalogue

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/touchline/touchline/store/internal/format"
)

// Catalogue rows of the first version are tables with all their indexes filled.
func TestOldCatalogueRow(t *testing.T) {
	old := `{"id":3,"name":"balls","key":["match","S","ball","N"],"indexes":[{"id":4,"name":"bowler-index",` +
		`"key":["bowler","S","",""],"projection":2,"include":["runs"]}],"ttl":"ttl","policy":"intent","why":"a test"}`
	got, err := DecodeTable([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	want := NewTable(3, TableSpec{
		Name:    "balls",
		Key:     KeySpec{Partition: KeyAttr{"match", KeyString}, Sort: KeyAttr{"ball", KeyNumber}},
		Indexes: []IndexSpec{{Name: "bowler-index", Key: KeySpec{Partition: KeyAttr{"bowler", KeyString}}, Projection: ProjectInclude, Include: []string{"runs"}}},
		TTL:     "ttl", Policy: PolicyIntent, Why: "a test",
	})
	want.Indexes = []*Index{NewIndex(4, want.Spec.Indexes[0])}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	again, err := got.Encode()
	if err != nil || string(again) != old {
		t.Errorf("written as %s, %v", again, err)
	}
}

// An index with several attributes in a part of its key is an object in its row: older programs cannot read the row, so they do not
// mistake the index for one of its first attributes.
func TestCatalogueRowOfMultiKey(t *testing.T) {
	key := NewKeySpec(
		[]KeyAttr{{"h1", KeyString}, {"h2", KeyNumber}}, []KeyAttr{{"r1", KeyBinary}, {"r2", KeyString}, {"r3", KeyString}, {"r4", KeyNumber}})
	want := NewTable(3, TableSpec{Name: "tab", Key: KeySpec{Partition: KeyAttr{"id", KeyString}}, Indexes: []IndexSpec{{Name: "many", Key: key}}})
	want.Indexes = []*Index{NewIndex(4, want.Spec.Indexes[0])}
	row, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeTable(row)
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

// Every field of a table is in its row, and a row is the same, byte for byte, as that of earlier programs in testdata/row.json.
func TestCatalogueRow(t *testing.T) {
	want := NewTable(3, TableSpec{Name: "notes", Key: KeySpec{Partition: KeyAttr{Name: "id", Type: KeyNumber}}, TTL: "ttl", Policy: PolicyLocal, Why: "why", Lock: "note:{id}"})
	want.UUID, want.Created, want.Dropped, want.Through = "6f3c1f5e-8d0a-4b7e-9a51-2c1d7e9b0f44", 1<<60, true, 1<<41
	want.Spec.Internal = true
	want.Settings = TableSettings{
		Billing: BillingOnDemand, BillingSince: time.Unix(7, 8).UTC(), Class: "STANDARD", ClassSince: time.Unix(9, 0).UTC(),
		Protected: true, Encrypted: true, EncryptedBy: "key", Stream: ViewBoth,
		Throughput: Throughput{
			Read: 5, Write: 6, MaxRead: -1, MaxWrite: 8,
			Increased: time.Unix(1, 0).UTC(), Decreased: time.Unix(2, 0).UTC(), Decreases: 3,
		},
		Indexes: map[string]Throughput{"by-more": {Read: 1}}, Tags: map[string]string{"team": "edge"},
	}
	want.Streams = []Stream{
		{Label: "a", View: ViewOld, Began: time.Unix(3, 0).UTC(), After: 4, Ended: time.Unix(5, 0).UTC(), Through: 6},
		{Label: "b", View: ViewBoth, Began: time.Unix(7, 0).UTC(), After: 8},
	}
	want.Leaving = []Leftover{{Kind: string(format.KindIndex), ID: 7, Name: "by-text"}, {Kind: string(format.KindTable), ID: 3}}
	ix := NewIndex(8, IndexSpec{Name: "by-more", Local: true, Key: KeySpec{Partition: KeySpec{Partition: KeyAttr{Name: "id", Type: KeyNumber}}.Partition}})
	ix.Fill = &Filling{UpTo: []byte{0, 255}, Items: 12}
	many := NewIndex(9, IndexSpec{
		Name: "many", Projection: ProjectInclude, Include: []string{"b", "a"},
		Key: NewKeySpec([]KeyAttr{{"h1", KeyString}, {"h2", KeyNumber}}, []KeyAttr{{"r1", KeyBinary}}),
	})
	many.Added = true
	want.SetIndexes([]*Index{ix, many})
	encoded, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if golden, err := os.ReadFile("testdata/row.json"); err != nil || string(golden) != string(encoded)+"\n" {
		t.Errorf("the row is\n%s\nwant\n%s\n%v", encoded, golden, err)
	}
	got, err := DecodeTable(encoded)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v: %v", got, want, err)
	}
	if _, err := DecodeTable([]byte(`{"leaving":[{"kind":"","id":1}]}`)); err == nil {
		t.Error("a bucket of no kind was taken")
	}
	if _, err := DecodeTable([]byte(`{`)); err == nil {
		t.Error("a row that is no JSON was taken")
	}
}
