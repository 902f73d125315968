// Command touchline is an edge node for live sports.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/touchline/touchline/internal/cli"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitForced  = 130 // a second interrupt
)

func main() {
	os.Exit(run())
}

// run executes the command line. The first interrupt ends the work in order, a second one at once. SIGHUP never ends it: commands that
// can reload do so (hangups), and the others do not need the terminal.
func run() int {
	signal.Ignore(syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitForced)
	}()
	err := newRoot().ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(os.Stderr, "touchline: "+cli.Message(err))
	if errors.As(err, new(cli.UsageError)) {
		return exitUsage
	}
	return exitFailure
}

// hangups delivers SIGHUPs until stop is called.
func hangups() (ask <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1) // further ones merge while one is being handled
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Ignore(syscall.SIGHUP) }
}
