package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	"github.com/touchline/touchline/internal/tools/measure"
)

func main() { measure.Main("benchapi", start, child) }

// child runs this program as the server of canned bytes.
func child(ctx context.Context, _ []string) error {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	return serveCanned(ctx, ln)
}

// start measures all servers and prints the tables. If something fails, it also prints what was measured before.
func start(ctx context.Context, args []string, out, progress io.Writer) error {
	var binary string
	run, err := measure.Begin("benchapi", targets, args, progress, func(flags *flag.FlagSet) {
		flags.StringVar(&binary, "binary", "bin/touchline", "`file` of the program that is measured")
	})
	if err != nil {
		return err
	}
	defer run.End()
	b := newBench(run, binary)
	defer b.end()
	err = b.startAll(ctx)
	if err == nil {
		err = b.measure(ctx)
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return errors.Join(err, b.Print(out, b.report()))
}
