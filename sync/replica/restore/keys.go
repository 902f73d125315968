package restore

import (
	"fmt"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/remote"
)

// classKeys is the reason class of tables stopped for different keys.
const classKeys = "other keys"

// hasOtherKeys compares the keys of a cloud table with those declared here. A table with other keys is stopped, because the cloud accepts
// no writes to it, and not read, because its items are not ours even if some look like it. It goes on once the keys match.
func (t *Tables) hasOtherKeys(table string, state *remote.TableState) bool {
	spec := t.Box.Spec(table)
	if spec == nil || state.Key == (store.KeySpec{}) || state.Key == spec.Key {
		t.release(table, classKeys)
		return false
	}
	why := fmt.Sprintf("%s (%s, here %s): touchline migrate --cloud --dry-run shows the differences", remote.WhyOtherKeys, keysText(state.Key), keysText(spec.Key))
	if t.Paces.StopTable(table, classKeys, why, t.Clock.Now()) {
		t.Log.Error("nothing is sent to a table", "table", table, "why", why)
	}
	return true
}

// Readable returns an error for a table that must not be read.
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
		t.Log.Info("writes to a table are sent again", "table", table)
		t.Reconsider()
	}
}
