//go:build long

package intent

import "testing"

// TestEveryScript plays all scripts of four moves.
func TestEveryScript(t *testing.T) {
	t.Parallel()
	everyScript(t, 4, 4)
}
