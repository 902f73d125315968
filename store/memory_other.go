//go:build !linux

package store

import (
	"errors"
	"os"
)

// anonymousFile is not there on other systems.
func anonymousFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
