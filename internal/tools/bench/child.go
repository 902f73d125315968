package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
)

// child is the program where it runs as a part of itself: as a server, as a client on a processor of its own, or as a node
// whose memory is looked at. A child is told what to do by lines of JSON on its input and answers each with one; it ends
// with its input.
func child(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("child: of which kind?")
	}
	say, orders := json.NewEncoder(os.Stdout), json.NewDecoder(bufio.NewReader(os.Stdin))
	switch args[0] {
	case "client":
		return clientChild(ctx, say, orders)
	case "server":
		return serverChild(ctx, args[1], say, orders)
	case "node":
		return nodeChild(ctx, args[1], say, orders)
	}
	return fmt.Errorf("child: there is no kind %q", args[0])
}

func clientChild(ctx context.Context, say *json.Encoder, orders *json.Decoder) error {
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			return ended(err)
		}
		var r result
		n, err := o.carryOut(ctx, new(net.Dialer).DialContext)
		if r.Requests = n; err != nil {
			r.Failure = err.Error()
		}
		if err := say.Encode(r); err != nil {
			return err
		}
	}
}

// ended takes the end of the input for what it is.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func serverChild(ctx context.Context, path string, say *json.Encoder, orders *json.Decoder) error {
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	defer measure.Shut(s)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_ = orders.Decode(new(any)) // the input ends
		stop()
	}()
	return serveStore(ctx, s, func(addr string) error { return say.Encode(addr) })
}

// opened is what a node child tells when its store is open.
type opened struct {
	Millis float64
}

// nodeChild opens a store, tells how long that took, and works for each order until it is killed or told to end.
func nodeChild(ctx context.Context, path string, say *json.Encoder, orders *json.Decoder) error {
	began := time.Now()
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	defer measure.Shut(s)
	if err := say.Encode(opened{Millis: time.Since(began).Seconds() * 1e3}); err != nil {
		return err
	}
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			return ended(err)
		}
		var r result
		if err := work(ctx, s, o); err != nil {
			r.Failure = err.Error()
		}
		if err := say.Encode(r); err != nil {
			return err
		}
	}
}

// process is a child seen from outside.
type process struct {
	*measure.Process

	in     io.WriteCloser
	orders *json.Encoder
	say    *json.Decoder
}

// startChild starts this program as a child, on one processor or with -1 on all.
func startChild(ctx context.Context, cpu int, args ...string) (*process, error) {
	cmd, err := measure.Self(ctx, args...)
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
	p, err := measure.Start(cmd, cpu)
	return &process{Process: p, in: in, orders: json.NewEncoder(in), say: json.NewDecoder(out)}, err
}

// hear reads a line of the child.
func (p *process) hear(v any) error {
	if err := p.say.Decode(v); err != nil {
		return fmt.Errorf("a child of the run has ended: %w", err)
	}
	return nil
}

// do gives the child an order and waits until it is carried out.
func (p *process) do(o order) (int, error) {
	if err := p.orders.Encode(o); err != nil {
		return 0, err
	}
	var r result
	if err := p.hear(&r); err != nil {
		return 0, err
	}
	if r.Failure != "" {
		return 0, errors.New(r.Failure)
	}
	return r.Requests, nil
}

// end lets the child end by itself, in order.
func (p *process) end() {
	_ = p.in.Close()
	p.Await(time.Minute)
}
