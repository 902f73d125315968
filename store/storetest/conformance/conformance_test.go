package conformance_test

import (
	"os"
	"testing"

	"github.com/touchline/touchline/store/storetest/conformance"
)

const differences = "../DIFFERENCES.md"

func TestDifferencesAreListed(t *testing.T) {
	files, err := conformance.Files()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(differences)
	if want := conformance.Differences(string(got), files); err != nil || string(got) != want {
		t.Errorf("%s is not what the notes in the cases say (%v): its list is written by -update", differences, err)
	}
}
