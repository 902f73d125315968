package bind

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

// Any body is either refused with the name of a field, or an object with unique members.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"teamId":10}`, `{"a":1,"a":2}`, `{"a":{"b":[1,{"c":null}]}}`, "[1]", "{} {}", `{"a":"\u0000"}`, "\xff", `{"a":1e999}`, `{"A":1,"a":2}`,
	} {
		f.Add([]byte(seed))
	}
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		b := ParseBody(raw, len(raw)%2 == 0)
		if err := b.unread; err != nil {
			if fail, ok := errors.AsType[*Error](err); !ok || len(fail.Details) == 0 {
				t.Fatalf("%q: %v is no answer", raw, err)
			}
			return
		}
		if len(bytes.TrimSpace(raw)) > 0 && !json.Valid(raw) {
			t.Fatalf("%q is not JSON", raw)
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		names := 0
		if _, err := d.Token(); err == nil {
			for ; d.More(); names++ {
				var v json.RawMessage
				if _, err := d.Token(); err != nil {
					t.Fatal(err)
				}
				if err := d.Decode(&v); err != nil {
					t.Fatal(err)
				}
			}
		}
		if names != len(b.members) {
			t.Fatalf("%q has %d members, %d are known", raw, names, len(b.members))
		}
		for name := range b.members {
			for _, read := range []func(){
				func() { b.Text(name, 10) }, func() { b.ID(name, 9) }, func() { b.Change(name, 9) }, func() { b.OneOf(name, "x") },
				func() { b.Number(name, 0, 9, 1) }, func() { b.Bool(name) }, func() { b.Texts(name, 3, 9) }, func() { b.Instant(name) },
			} {
				read() // none of them panics
			}
		}
	})
}

// In strict mode unknown members are errors, each once; otherwise they are ignored.
func TestStrictBody(t *testing.T) {
	for _, tt := range []struct {
		body   string
		strict bool
		want   string
	}{
		{`{"by":1,"of":2}`, false, ""},
		{`{"by":1,"of":2,"an":null}`, true, "an: is not known here; of: is not known here"},
		{`{"by":1}`, true, ""},
		{`{"by":"x","of":2}`, true, "by: must be a number from 0 to 9; of: is not known here"},
		{`{}`, true, ""},
	} {
		b := ParseBody([]byte(tt.body), tt.strict)
		b.Number("by", 0, 9, 0)
		for range 2 {
			got := ""
			if err := b.Err(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%+v: %q", tt, got)
			}
		}
	}
}
