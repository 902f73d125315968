package edge

import (
	"slices"
	"sync"
	"testing"

	"github.com/touchline/touchline/edge/app"
)

// Cloud only computes a value: several goroutines may call it, and it changes nothing that they use. The race detector judges.
func TestCloudOfEveryApplicationChangesNothing(t *testing.T) {
	for _, a := range applications() {
		t.Run(a.Name, func(t *testing.T) {
			var callers sync.WaitGroup
			for range 2 {
				callers.Go(func() { _ = a.Cloud() })
			}
			callers.Wait()
		})
	}
}

// Each table that an application shares with other nodes is read from the cloud by a rule, or when its lock is taken: a table that is only
// sent would differ between nodes for ever.
func TestSharedTablesAreRead(t *testing.T) {
	for _, a := range applications() {
		reads := a.Cloud().Reads
		for _, spec := range a.Schema().Tables {
			read := slices.ContainsFunc(reads, func(r app.Read) bool { return r.Table == spec.Name })
			if spec.Sends() && spec.Lock == "" && !read {
				t.Errorf("%s: nothing reads table %s", a.Name, spec.Name)
			}
		}
	}
}
