//go:build !linux

package ddblocal

import "errors"

// startAlone is Linux's.
func (p *process) startAlone() (dialer, error) { return nil, errors.ErrUnsupported }
