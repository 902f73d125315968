package simulation_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/simcloud"
)

// sometimes lists what must happen in some seed, beside all mishaps and all faults of single requests: what never happened was not
// tested.
func sometimes() []string {
	return slices.Concat(killPoints(), outcomes(), []string{
		"TTL early", "TTL late", "older file beside its identity", "foreign PutItem", "foreign DeleteItem", "foreign UpdateItem",
		"foreign read-modify-put", "ENOSPC", "ENOSPC with a long reader", "fsync EIO, the commit is lost",
		"fsync EIO, the commit is there", "power cut, the commit is lost", "power cut, the commit is there", "slow commit",
		"clock skew at boot", "clock drift", "poison quarantined", "too large quarantined",
		"write refused by the budget of what waits",
	})
}

// outcomes are what nodes had to do about it.
func outcomes() []string {
	return []string{
		"mark closed", "a Put asked for its turn", "write refused for room", "write refused by a store that has failed", "others drained beside poison",
		"a complete pass compared", "a pass was resumed", "a table was stopped", "as if resumed with its memory", "a recreated table was reported", "two halves were read apart",
		"conflict record: conflict condition_failed",
	}
}

// everything lists all that must happen.
func everything() []string {
	out := sometimes()
	for _, f := range slices.Concat(simcloud.Moments(), simcloud.Modes()) {
		out = append(out, f.String())
	}
	for _, m := range mishaps() {
		out = append(out, m.name)
	}
	return out
}

// The page about the simulation names every fault.
func TestSimulationPage(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../../docs/simulation.md"))
	if err != nil {
		t.Fatal(err)
	}
	wanted := everything()
	wanted = slices.DeleteFunc(wanted, func(what string) bool {
		return slices.Contains(outcomes(), what) || strings.HasPrefix(what, "kill at ")
	})
	for _, what := range wanted {
		if !strings.Contains(string(page), "`"+what+"`") {
			t.Errorf("docs/simulation.md does not have %s", what)
		}
	}
}

// failpoints are the points at which processes die.
func failpoints() []string {
	return []string{
		"answer", "attempted", "feed-page", "identity-boot", "identity-file", "identity-flagged", "identity-incarnation",
		"identity-new", "identity-nonce", "restore-noticed", "restore-requeued", "send", "settle", "settled",
	}
}

func killPoints() (out []string) {
	for _, point := range failpoints() {
		out = append(out, "kill at "+point)
	}
	return out
}

// checkFired fails a run of many seeds in which something never happened, and logs how often everything else did.
func checkFired(t *testing.T, fired map[string]int, many bool) {
	t.Helper()
	for _, what := range everything() {
		if many && fired[what] == 0 {
			t.Errorf("never happened: %s", what)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(fired)) {
		t.Logf("%8d %s", fired[what], what)
	}
}
