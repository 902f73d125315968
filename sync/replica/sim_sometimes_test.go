package replica_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/testrig/simcloud"
)

// sometimes lists what has to happen in some seed or other, beside all mishaps and all faults of single requests: what
// never happened was not tested.
func sometimes() []string {
	return slices.Concat(killPoints(), []string{
		// What mishaps come to.
		"TTL early", "TTL late", "older file beside its identity", "foreign PutItem", "foreign DeleteItem",
		"foreign UpdateItem", "foreign read-modify-put", "ENOSPC", "ENOSPC with a long reader", "fsync EIO, the commit is lost",
		"fsync EIO, the commit is there", "power cut, the commit is lost", "power cut, the commit is there", "slow commit",
		"clock skew at boot", "clock drift",

		// What nodes had to do about it.
		"mark closed", "write refused for room", "write refused by the budget of what waits",
		"write refused by a store that has failed", "poison quarantined",
		"too large quarantined", "others drained beside poison", "a complete pass compared", "a table was stopped", "a table made anew was told",
		"conflict record: conflict condition_failed", "conflict record: gone gone",
	})
}

// killPoints are the places where processes die.
func killPoints() (out []string) {
	for _, point := range []string{
		"answer", "attempted", "feed-page", "identity-boot", "identity-file", "identity-flagged", "identity-incarnation",
		"identity-new", "identity-nonce", "restore-noticed", "restore-requeued", "send", "settle", "settled",
	} {
		out = append(out, "kill at "+point)
	}
	return out
}

// checkFired fails a run of many seeds in which something never happened, and says how often all else did.
func checkFired(t *testing.T, fired map[string]int, many bool) {
	t.Helper()
	wanted := sometimes()
	for _, f := range slices.Concat(simcloud.Moments(), simcloud.Modes()) {
		wanted = append(wanted, f.String())
	}
	for _, m := range mishaps() {
		wanted = append(wanted, m.name)
	}
	for _, what := range wanted {
		if many && fired[what] == 0 {
			t.Errorf("never happened: %s", what)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(fired)) {
		t.Logf("%8d %s", fired[what], what)
	}
}
