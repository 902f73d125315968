//go:build !linux

package ddblocal

import (
	"context"
	"errors"
	"net"
	"os/exec"

	"github.com/touchline/touchline/internal/testrig/process"
)

// startAlone is only supported on Linux.
func startAlone(*exec.Cmd) (*process.Process, func(ctx context.Context, network, addr string) (net.Conn, error), error) {
	return nil, nil, errors.ErrUnsupported
}
