//go:build !linux

package ddblocal

import (
	"errors"
	"syscall"
)

// startAlone is Linux's.
func (p *process) startAlone() (dialer, error) { return nil, errors.ErrUnsupported }

// run starts the command.
func (p *process) run(*syscall.SysProcAttr) error {
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = p.cmd.Wait() // it is killed: how it ended says nothing
		close(p.exited)
	}()
	return nil
}
