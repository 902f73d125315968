package conformance_test

import (
	"os"
	"testing"

	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/storetest/conformance"
	"github.com/touchline/touchline/store/storetest/wire"
)

const differences = "../DIFFERENCES.md"

// ours opens a store of ours without tables.
func ours(t testing.TB) conformance.Target { return wire.New(storetest.Open(t)) }

func TestOurStore(t *testing.T) { conformance.Run(t, conformance.Ours, ours) }

func TestDifferencesAreListed(t *testing.T) {
	files, err := conformance.Files()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(differences)
	if want := conformance.Differences(files); err != nil || string(got) != want {
		t.Errorf("%s is not what the notes in the cases say (%v): it is written by -update", differences, err)
	}
}
