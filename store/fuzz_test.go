package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// FuzzRecord: any bytes are refused or read without a panic, and what is read says the same when written again.
func FuzzRecord(f *testing.F) {
	item := attr.Encode(nil, attr.Item{"id": attr.Int(1)})
	for _, r := range []storedRecord{
		{op: OpPut, at: 1, table: 7, key: []byte("k"), now: item},
		{op: OpDelete, at: 2, txn: 3, table: 7, key: []byte("k"), origin: "cloud", prev: 9},
		{op: OpUpdate, table: 7, key: []byte("k"), old: item, now: item, request: Request{
			Update: "SET a = :b", Condition: "#c = :b",
			Params: expr.Params{Names: map[string]string{"#c": "c"}, Values: attr.Item{":b": attr.Bool(true)}},
		}},
	} {
		f.Add(r.encode())
	}
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRecord(b)
		if err != nil {
			return
		}
		again, err := decodeRecord(r.encode())
		if err != nil || !bytes.Equal(again.encode(), r.encode()) {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}

// FuzzVerify lays bytes over a good file: verifyFile refuses it or not, and never panics.
func FuzzVerify(f *testing.F) {
	path := filepath.Join(f.TempDir(), "s.db")
	s, err := Open(path, Options{NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	if err := s.Define(f.Context(), notes); err != nil {
		f.Fatal(err)
	}
	for id := range 50 {
		if err := putNote(f.Context(), s, id, 200); err != nil {
			f.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(16), []byte{0xff, 0xff})
	f.Add(uint32(3*4096+8), []byte{2, 0, 0xff, 0xff})
	f.Add(uint32(5*4096+16), bytes.Repeat([]byte{0x80}, 32))
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, at uint32, over []byte) {
		bad := filepath.Join(t.TempDir(), "bad.db")
		b := bytes.Clone(good)
		copy(b[int(at)%len(b):], over)
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(bad)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		if _, err := verifyFile(file, false); err != nil && err.Error() == "" {
			t.Error("refused without a reason")
		}
	})
}
