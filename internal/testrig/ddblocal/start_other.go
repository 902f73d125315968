//go:build !linux

package ddblocal

import (
	"errors"
	"os/exec"

	"github.com/touchline/touchline/internal/testrig/process"
)

// startAlone is only supported on Linux.
func startAlone(*exec.Cmd, string) (*process.Process, dialer, error) {
	return nil, nil, errors.ErrUnsupported
}
