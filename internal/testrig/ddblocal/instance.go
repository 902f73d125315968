package ddblocal

import (
	"context"
	"errors"
	"net"
	"os/exec"
)

// Instance is a DynamoDB Local for measurements: Java runs as it does by default.
type Instance struct {
	Addr string // where it answers, to Dial only
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	PID  int

	p *process
}

// lacking is what the machine lacks.
type lacking struct{ error }

// StartOnDisk runs a DynamoDB Local with its tables in a folder until Close. An error says what the machine lacks.
func StartOnDisk(ctx context.Context, folder string) (*Instance, error) {
	return startInstance(ctx, &process{tables: []string{"-dbPath", folder}})
}

// StartInMemory runs a DynamoDB Local with its tables in memory until Close. An error says what the machine lacks.
func StartInMemory(ctx context.Context) (*Instance, error) {
	return startInstance(ctx, &process{tables: []string{"-inMemory"}})
}

func startInstance(ctx context.Context, p *process) (*Instance, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, lacking{errors.New("DynamoDB Local needs Java 17 or newer (Debian: apt-get install default-jre-headless)")}
	}
	lib, err := fetch(ctx)
	if err != nil {
		return nil, lacking{err}
	}
	addr, dial, err := p.start(java, lib)
	if err != nil {
		return nil, err
	}
	reach := func() error {
		conn, err := dial(ctx, "tcp", addr)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	if err := p.await(reach); err != nil {
		p.end()
		return nil, err
	}
	return &Instance{Addr: addr, Dial: dial, PID: p.cmd.Process.Pid, p: p}, nil
}

// Close ends it.
func (i *Instance) Close() { i.p.end() }
