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

// run executes the command line. The first interrupt ends the work in order, the second one at once. A hangup ends nothing:
// a command that can reload does so (hangups), and for the others the terminal is not needed.
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

// hangups returns each SIGHUP, until stop is called.
func hangups() (ask <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1) // those that come while one is handled are one
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Ignore(syscall.SIGHUP) }
}
