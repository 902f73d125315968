//go:build !linux

package replica

import "errors"

// exchange is not possible on other systems.
func exchange(string, string) error { return errors.ErrUnsupported }
