//go:build long

package dynamoapi_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/storetest/conformance"
)

// TestRandomSequences sends the same random requests to DynamoDB Local and the API. A failure prints its seed, for -rapid.seed.
func TestRandomSequences(t *testing.T) {
	local := ddblocal.Start(t)
	for name, sort := range map[string]string{"string": "S", "number": "N", "binary": "B", "none": ""} {
		t.Run(name, func(t *testing.T) {
			shape := conformance.Shape{Name: "tab", Sort: sort}
			rapid.Check(t, func(rt *rapid.T) {
				dir := t.TempDir()
				s, err := store.Open(dir+"/s.db", store.Options{NoSync: true})
				if err != nil {
					rt.Fatal(err)
				}
				defer s.Close()
				ours := overStore(s)
				for _, target := range []conformance.Target{emptied(t, local), ours} {
					if _, err := target.Do(t.Context(), "CreateTable", []byte(shape.CreateTable())); err != nil {
						rt.Fatal(err)
					}
				}
				conformance.Random(rt, t.Context(), shape, local, ours)
				storetest.Check(t, s)
			})
		})
	}
}
