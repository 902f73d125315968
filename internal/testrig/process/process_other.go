//go:build !linux

// Package process starts programs. Elsewhere than on Linux they may outlive the process that started them.
package process

import "os/exec"

// Start starts a command; exited is closed when it has ended. Processors cannot be chosen here.
func Start(cmd *exec.Cmd, _ int) (exited <-chan struct{}, err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	return done, nil
}
