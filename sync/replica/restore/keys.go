package restore

import (
	"fmt"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/remote"
)

// classKeys is what a table with other keys is stopped for.
const classKeys = "other keys"

// hasOtherKeys compares the keys of a table in the cloud with those that are declared here. A table that has others is
// stopped, for the cloud takes no write to it, and it is not read, since what it has are no items of ours, though some may
// look like them; it goes on once they are the same.
func (t *Tables) hasOtherKeys(table string, state *remote.TableState) bool {
	spec := t.Box.Spec(table)
	if spec == nil || state.Key == (store.KeySpec{}) || state.Key == spec.Key {
		t.release(table, classKeys)
		return false
	}
	why := fmt.Sprintf("%s (%s, here %s): touchline migrate --cloud --dry-run shows the differences", remote.WhyOtherKeys, keysText(state.Key), keysText(spec.Key))
	if t.Paces.Hold(table, classKeys, why, t.Clock.Now()) {
		t.Log.Error("nothing of a table is sent", "table", table, "why", why)
	}
	return true
}

// Readable is an error for a table that is not to be read.
func (t *Tables) Readable(table string) error {
	if t.Paces.IsStopped(table, classKeys) {
		return fmt.Errorf("%s is not read: %w", table, remote.ErrOtherKeys)
	}
	return nil
}

func keysText(k store.KeySpec) string {
	text := fmt.Sprintf("%s %c", k.Partition.Name, k.Partition.Type)
	if k.Sort.Name != "" {
		text += fmt.Sprintf(", %s %c", k.Sort.Name, k.Sort.Type)
	}
	return text
}

// release lets a table go that is stopped for a reason of that class, and what waits for it.
func (t *Tables) release(table, class string) {
	if t.Paces.Release(table, class) {
		t.Log.Info("a table is sent to again", "table", table)
		t.Reconsider()
	}
}
