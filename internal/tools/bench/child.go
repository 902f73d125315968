package main

import (
	"context"
	"io"
	"net/rpc"
	"os"
	"time"

	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
)

// Child is a process of this program that runs a part of it: a server, a client on a processor of its own, or a node whose memory is
// measured. Its methods are called over its standard input and output (net/rpc).
type Child struct {
	ctx   context.Context //nolint:containedctx // of the process
	store *store.Store
}

// child serves the methods of Child until its input ends.
func child(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &Child{ctx: ctx}
	calls := rpc.NewServer()
	if err := calls.Register(c); err != nil {
		return err
	}
	calls.ServeConn(pipe{os.Stdin, os.Stdout})
	if c.store == nil {
		return nil
	}
	return c.store.Close()
}

// Ask sends requests as a client and counts them.
func (c *Child) Ask(o Order, requests *int) (err error) {
	*requests, err = o.carryOut(c.ctx)
	return err
}

// Open opens a store and returns how many milliseconds that took.
func (c *Child) Open(path string, millis *float64) (err error) {
	began := time.Now()
	c.store, err = store.Open(path, store.Options{})
	*millis = time.Since(began).Seconds() * 1e3
	return err
}

// Serve opens a store, serves it, and returns the address.
func (c *Child) Serve(path string, addr *string) (err error) {
	if err = c.Open(path, new(float64)); err == nil {
		*addr, err = serveStore(c.ctx, c.store)
	}
	return err
}

// Work keeps the open store busy.
func (c *Child) Work(o Order, _ *int) error { return work(c.ctx, c.store, o) }

// pipe combines both directions of a connection.
type pipe struct {
	io.Reader
	io.WriteCloser
}

// remote is a child as seen by its parent. Closing the connection ends the child in an orderly way.
type remote struct {
	*process.Process
	*rpc.Client
}

// startChild starts this program as a child, on one processor, or on all if cpu is -1.
func startChild(ctx context.Context, cpu int) (*remote, error) {
	cmd, err := measure.Self(ctx)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p, err := process.Start(cmd, cpu)
	return &remote{p, rpc.NewClient(pipe{out, in})}, err
}
