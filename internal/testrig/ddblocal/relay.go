package ddblocal

import (
	"context"
	"io"
	"net"
	"sync"
)

// relay joins connections to a loopback port with connections into the namespace of DynamoDB Local, so that other processes can reach it.
type relay struct {
	ln   net.Listener
	dial func(ctx context.Context) (net.Conn, error)
	work sync.WaitGroup
}

// startRelay listens on a loopback port, until end is called.
func startRelay(ctx context.Context, dial func(ctx context.Context) (net.Conn, error)) (*relay, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{ln: ln, dial: dial}
	r.work.Go(func() {
		for conn, err := ln.Accept(); err == nil; conn, err = ln.Accept() {
			r.work.Go(func() { r.join(context.WithoutCancel(ctx), conn) })
		}
	})
	return r, nil
}

// join copies both ways until one side ends.
func (r *relay) join(ctx context.Context, near net.Conn) {
	far, err := r.dial(ctx)
	if err != nil {
		_ = near.Close()
		return
	}
	ends := func() { _, _ = near.Close(), far.Close() }
	r.work.Go(func() {
		defer ends()
		_, _ = io.Copy(far, near)
	})
	defer ends()
	_, _ = io.Copy(near, far)
}

// end closes the port, and waits until the connections have ended. DynamoDB Local must have ended before.
func (r *relay) end() {
	_ = r.ln.Close()
	r.work.Wait()
}
