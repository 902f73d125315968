package outbox

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

func storedKey(id string) attr.Item { return attr.Item{"pk": attr.S(id)} }

func storedBatch() *Batch {
	write := intent.Write{Seq: 7, Group: 6, Table: "t", Policy: store.PolicyIntent, Key: storedKey("a"), Op: store.OpDelete}
	return &Batch{
		Batch: intent.Batch{Entries: []*intent.Entry{{Write: write}, {Write: write, Progress: intent.Progress{Sent: 2}}}},
		ID:    ID{Seq: 7, Worker: 3}, After: []intent.Ref{{Table: "u", Key: storedKey("b")}},
	}
}

func storedRemote() *Remote {
	at := time.Date(2026, 6, 1, 12, 0, 0, 123456789, time.UTC)
	return &Remote{
		Known:   intent.Known{Item: attr.Item{"pk": attr.S("a"), "n": attr.Int(1)}, Side: intent.Sidecar{Life: "l", Count: 4}},
		Pending: []Place{{ID: ID{Seq: 5, Worker: 2}}, {ID: ID{Seq: 9, Worker: 2}, Shared: true}, {ID: ID{Seq: 8, Worker: 1}}},
		Lost:    true, Set: at, Gone: Gone{Life: "m", At: at.Add(-time.Hour)}, doubtful: 1,
		seen: []Seen{{Seq: 5, Base: storedKey("a"), View: attr.Item{}}, {Seq: 9}},
	}
}

func TestStoredBatch(t *testing.T) {
	want := storedBatch()
	b := want.Encode()
	want.Size = len(b)
	got, err := Decode(want.ID, b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v is read as %+v, %v", want, got, err)
	}
	none := *want
	none.Entries = nil
	later := append([]byte{b[0] + 1}, b[1:]...)
	for name, bad := range map[string][]byte{"empty": nil, "without entries": none.Encode(), "cut": b[:len(b)-1], "of the next version": later} {
		if _, err := Decode(ID{}, bad); !fault.Is(err, fault.Damaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// With nothing pending, the row is the base: its sidecar alone is stored, and a base that was lost is no base.
func TestStoredRemote(t *testing.T) {
	want := storedRemote()
	b := want.Encode()
	got, same, err := DecodeRemote(b)
	if err != nil || same || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v is read as %+v, the row %t, %v", want, got, same, err)
	}
	for name, bad := range map[string][]byte{"empty": nil, "cut": b[:len(b)-1], "of the next version": append([]byte{b[0] + 1}, b[1:]...)} {
		if _, _, err := DecodeRemote(bad); err == nil {
			t.Errorf("%s it is read", name)
		}
	}

	want.Pending = nil
	got, same, err = DecodeRemote(want.Encode())
	want.Known.Item, want.Lost = attr.Item{}, false
	if err != nil || !same || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v is read as %+v, the row %t, %v", want, got, same, err)
	}
	want.Known = intent.Known{}
	if got, same, err = DecodeRemote(want.Encode()); err != nil || same || got.Known.Item != nil {
		t.Errorf("without an item: %+v, the row %t, %v", got, same, err)
	}
}

// FuzzDecode: a batch or what is known of an item is refused, or read and written again as it was.
func FuzzDecode(f *testing.F) {
	corpus.Add(f)
	f.Add(storedBatch().Encode())
	f.Add(storedRemote().Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if u, err := Decode(ID{}, b); err == nil {
			once := u.Encode()
			if u, err = Decode(ID{}, once); err != nil || !bytes.Equal(once, u.Encode()) {
				t.Fatalf("the batch %x is not read again: %v", once, err)
			}
		}
		if sh, _, err := DecodeRemote(b); err == nil {
			once := sh.Encode()
			if sh, _, err = DecodeRemote(once); err != nil || !bytes.Equal(once, sh.Encode()) {
				t.Fatalf("the metadata %x is not read again: %v", once, err)
			}
		}
	})
}
