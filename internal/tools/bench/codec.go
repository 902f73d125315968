package main

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// wire is an attribute for encoding/json.
type wire struct {
	S    *string         `json:"S,omitempty"`
	N    *string         `json:"N,omitempty"`
	B    []byte          `json:"B,omitempty"`
	BOOL *bool           `json:"BOOL,omitempty"`
	NULL *bool           `json:"NULL,omitempty"`
	L    []wire          `json:"L,omitempty"`
	M    map[string]wire `json:"M,omitempty"`
}

// measureCodec compares conversions between an item, its encoded form and its JSON with encoding/json.
func measureCodec(ctx context.Context, b *bench) error {
	it, err := matchItem()
	if err != nil {
		return err
	}
	encoded, text := attr.Encoded(attr.Encode(nil, it)), attr.AppendJSON(nil, it)
	var plain map[string]wire
	if err := json.Unmarshal(text, &plain); err != nil {
		return err
	}
	cond, err := expr.ParseFilter("#p = :p AND runs > :n", expr.Params{
		Names: map[string]string{"#p": "phase"}, Values: attr.Item{":p": attr.S("live"), ":n": attr.Int(100)},
	})
	if err != nil {
		return err
	}
	dst, enc := make([]byte, 0, 4096), make([]byte, 0, 4096)
	jsonOut := func() error { _, err := encoded.AppendJSON(dst); return err }
	got, err := b.compareCalls(ctx,
		func() error { _, err := encoded.Decode(); return err },
		func() error { var out map[string]wire; return json.Unmarshal(text, &out) },
		jsonOut,
		func() error { _, err := json.Marshal(plain); return err },
		func() error { _, err := attr.EncodeJSON(enc, text); return err },
		func() error { return passes(cond.Match(encoded)) },
		func() error {
			it, err := encoded.Decode()
			if err != nil {
				return err
			}
			return passes(cond.Match(expr.Item(it)))
		})
	if err != nil {
		return err
	}
	b.compareSpeed("codec/decode", got[0], got[1])
	b.compareSpeed("codec/json-out", got[2], got[3])
	allocs := testing.AllocsPerRun(1000, func() { _ = jsonOut() })
	b.Alone("codec/json-out-allocs", measure.Exactly(allocs, "allocs"))
	b.compareSpeed("codec/json-in", got[4], got[1])
	b.compareSpeed("codec/filter", got[5], got[6])
	return nil
}

// compareSpeed adds a row whose ratio says how many times faster ours is.
func (b *bench) compareSpeed(id string, ours, floor measure.Sample) {
	b.Compare(id, measure.Rate(ours.Wall), measure.Rate(floor.Wall))
}

func passes(ok bool, err error) error {
	if err == nil && !ok {
		err = errors.New("the filter does not hold")
	}
	return err
}
