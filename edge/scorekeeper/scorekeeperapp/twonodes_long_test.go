//go:build long

package scorekeeperapp

import "testing"

// TestTwoNodesApart with longer scripts, in which more steps interact.
func TestTwoNodesApartForLong(t *testing.T) { checkApart(t, 60, 100, 200) }
