package main

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
)

// measureHTTP compares the GET of an item with a hello, and 64 clients that PUT with one.
func measureHTTP(ctx context.Context, b *bench) error {
	path, err := b.filled(ctx, b.size.small)
	if err != nil {
		return err
	}
	defer measure.Remove(path)
	if err := b.measureHello(ctx, path); err != nil {
		return err
	}
	if !b.Wants("http/crowd") {
		return nil
	}
	srv, addr, err := startServer(ctx, -1, path)
	if err != nil {
		return err
	}
	defer srv.end()
	client, err := startChild(ctx, -1)
	if err != nil {
		return err
	}
	defer client.end()
	put := Order{Addr: addr, Kind: "put", Items: b.size.small, Conns: 1, Millis: b.size.web.Milliseconds()}
	many := put
	many.Conns = 64
	got, err := measure.Interleave(ctx, webRounds(b), client.side(many), client.side(put))
	if err != nil {
		return err
	}
	b.Compare("http/crowd", measure.Rate(got[0].Wall), measure.Rate(got[1].Wall))
	return nil
}

// webRounds is less than for others: their slices are long.
func webRounds(b *bench) int { return max(2, b.size.rounds-4) }

// measureHello gives the server one processor and the client another: what is measured is the server, as long as it is
// the slower one. 16 connections keep it busy.
func (b *bench) measureHello(ctx context.Context, path string) error {
	if !b.Wants("http/get") {
		return nil
	}
	srv, addr, err := startServer(ctx, 0, path)
	if err != nil {
		return err
	}
	defer srv.end()
	client, err := startChild(ctx, 1)
	if err != nil {
		return err
	}
	defer client.end()
	get := Order{Addr: addr, Kind: "get", Items: b.size.small, Conns: 16, Millis: b.size.web.Milliseconds()}
	hello := get
	hello.Kind = "hello"
	began, used := time.Now(), measure.ProcessTime(srv.PID())
	got, err := measure.Interleave(ctx, webRounds(b), client.side(get), client.side(hello))
	if err != nil {
		return err
	}
	busy := (measure.ProcessTime(srv.PID()) - used).Seconds() / time.Since(began).Seconds()
	b.Say("http: the server had its processor for %.0f %% of the time; much less than 100 is another's doing, or the client's", busy*100)
	b.Compare("http/get", measure.Rate(got[0].Wall), measure.Rate(got[1].Wall))
	return nil
}

// filled makes the file of a store with items and closes it.
func (b *bench) filled(ctx context.Context, items int) (string, error) {
	s, err := b.openOurs(ctx, items, 0)
	if err != nil {
		return "", err
	}
	return s.Path(), s.Close()
}

// startServer runs the server on a file and returns its address.
func startServer(ctx context.Context, cpu int, path string) (srv *remote, addr string, err error) {
	if srv, err = startChild(ctx, cpu); err != nil {
		return nil, "", err
	}
	if err := srv.Call("Child.Serve", path, &addr); err != nil {
		srv.Kill()
		return nil, "", err
	}
	return srv, addr, nil
}

// side makes a side of an order.
func (r *remote) side(o Order) measure.Side {
	return measure.Side{Run: func() (requests int, err error) {
		err = r.Call("Child.Ask", o, &requests)
		return requests, err
	}}
}

// end lets the child end by itself, in order.
func (r *remote) end() {
	_ = r.Close()
	r.Await(time.Minute)
}
