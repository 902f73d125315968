package main

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
)

// measureHTTP compares the GET of an item with a hello, and 64 clients that PUT with one. For the first, the server has one processor and
// the client another, so the server is what is measured as long as it is the slower one; 16 connections keep it busy.
func measureHTTP(ctx context.Context, b *bench) error {
	for _, c := range []struct {
		id             string
		server, client int // their processors
		ours, floor    Order
	}{
		{"http/get", 0, 1, Order{Kind: "get", Conns: 16}, Order{Kind: "hello", Conns: 16}},
		{"http/crowd", -1, -1, Order{Kind: "put", Conns: 64}, Order{Kind: "put", Conns: 1}},
	} {
		if !b.Wants(c.id) {
			continue
		}
		err := b.serve(ctx, c.server, func(srv *remote, addr string) error {
			client, err := startChild(ctx, c.client)
			if err != nil {
				return err
			}
			defer client.end()
			began, used := time.Now(), measure.ProcessTime(srv.PID())
			got, err := measure.Interleave(ctx, webRounds(b), client.side(b.order(c.ours, addr)), client.side(b.order(c.floor, addr)))
			if err != nil {
				return err
			}
			busy := (measure.ProcessTime(srv.PID()) - used).Seconds() / time.Since(began).Seconds()
			b.Say("%s: the server used %.0f %% of a processor; if it may use much more, the client or another program was the limit", c.id, busy*100)
			b.Compare(c.id, measure.Rate(got[0].Wall), measure.Rate(got[1].Wall))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// webRounds is lower than the usual number of rounds, because the slices are long.
func webRounds(b *bench) int { return max(2, b.size.rounds-4) }

// order fills in an order for a slice.
func (b *bench) order(ask Order, addr string) Order {
	ask.Addr, ask.Items, ask.Millis = addr, b.size.small, b.size.web.Milliseconds()
	return ask
}

// filled creates a store with items, closes it and returns its path.
func (b *bench) filled(ctx context.Context, items int) (string, error) {
	s, err := openOurs(ctx, b.file("store.db"), items, 0)
	if err != nil {
		return "", err
	}
	return s.Path(), s.Close()
}

// serve runs the server on a file with items while do runs.
func (b *bench) serve(ctx context.Context, cpu int, do func(srv *remote, addr string) error) error {
	path, err := b.filled(ctx, b.size.small)
	if err != nil {
		return err
	}
	defer measure.Remove(path)
	srv, err := startChild(ctx, cpu)
	if err != nil {
		return err
	}
	defer srv.end()
	var addr string
	if err := srv.Call("Child.Serve", path, &addr); err != nil {
		return err
	}
	return do(srv, addr)
}

// side returns a side that carries out an order.
func (r *remote) side(o Order) measure.Side {
	return measure.Side{Run: func() (requests int, err error) {
		err = r.Call("Child.Ask", o, &requests)
		return requests, err
	}}
}

// end lets the child end in an orderly way.
func (r *remote) end() {
	_ = r.Close()
	r.Await(time.Minute)
}
