package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/pages"
)

// FuzzRecord: any bytes are refused or read without a panic, and what is read is written back the same.
func FuzzRecord(f *testing.F) {
	item := attr.Encode(nil, attr.Item{"id": attr.Int(1)})
	for _, r := range []format.StoredRecord{
		{Op: OpPut, At: 1, Table: 7, Key: []byte("k"), Now: item},
		{Op: OpDelete, At: 2, Txn: 3, Table: 7, Key: []byte("k"), Origin: "cloud", Prev: 9},
		{Op: OpUpdate, Table: 7, Key: []byte("k"), Old: item, Now: item, Request: Request{
			Update: "SET a = :b", Condition: "#c = :b",
			Params: expr.Params{Names: map[string]string{"#c": "c"}, Values: attr.Item{":b": attr.Bool(true)}},
		}},
	} {
		f.Add(r.Encode())
	}
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := format.DecodeRecord(b)
		if err != nil {
			return
		}
		again, err := format.DecodeRecord(r.Encode())
		if err != nil || !bytes.Equal(again.Encode(), r.Encode()) {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}

// FuzzVerify overwrites parts of a good file: verification refuses it or not, and never panics.
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
		if _, err := pages.Verify(file, false); err != nil && err.Error() == "" {
			t.Error("refused without a reason")
		}
	})
}
