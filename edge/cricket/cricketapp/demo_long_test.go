//go:build long

package cricketapp_test

import (
	"testing"
)

// A recorded match of each format, through the whole node: feed, client, poller, store, pushes, phones.
func TestDemoOfEveryFormat(t *testing.T) {
	want := readExpected(t)
	for _, id := range oneOfEachFormat() {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			agree(t, playDemo(t, id, t.TempDir()), want[id])
		})
	}
}
