//go:build long

package scorekeeperapp

import "testing"

// TestTwoNodesApart over longer scripts, in which more comes together.
func TestTwoNodesApartForLong(t *testing.T) { checkApart(t, 60, 100, 200) }
