//go:build !linux

package identity

import "errors"

// exchange is not possible on other systems.
func exchange(string, string) error { return errors.ErrUnsupported }
