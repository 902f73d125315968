package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/touchline/touchline/internal/tools/measure"
)

// settings is what the command line says.
type settings struct {
	measure.Flags
	binary string
}

func main() {
	// A second signal ends the program at once; the first one lets it clean up.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	var err error
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		err = child(ctx)
	} else {
		err = start(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "benchapi:", err)
		os.Exit(1)
	}
}

// child is this program as the server that answers canned bytes.
func child(ctx context.Context) error {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	return serveCanned(ctx, ln)
}

// start asks everybody and prints the tables. What was measured before something failed is printed too.
func start(ctx context.Context, args []string, out, progress io.Writer) error {
	set, err := parse(args, progress)
	if err != nil {
		return err
	}
	folder, machine, err := measure.MakeFolder(set.Dir)
	if err != nil {
		return err
	}
	defer measure.Remove(folder)
	b := newBench(set, folder, progress)
	defer b.end()
	err = b.startAll(ctx)
	if err == nil {
		err = b.measure(ctx)
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	r := b.report(machine)
	if set.JSON {
		return errors.Join(err, measure.WriteJSON(out, r))
	}
	return errors.Join(err, r.writeText(out))
}

func parse(args []string, progress io.Writer) (set settings, err error) {
	flags := flag.NewFlagSet("benchapi", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.StringVar(&set.binary, "binary", "bin/touchline", "`file` of the program that is measured")
	set.Flags, err = measure.ParseFlags(flags, args)
	return set, err
}
