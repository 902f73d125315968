package ddblocal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// startLimit is how long Java may take to answer: a second on an idle machine.
const startLimit = time.Minute

// Instance is a running DynamoDB Local.
type Instance struct {
	*process.Process

	Addr string // on loopback, host:port

	dial  dialer // connects to Java itself
	relay *relay // nil if Addr is Java's own
}

type dialer = func(ctx context.Context) (net.Conn, error)

// Kill ends it.
func (i *Instance) Kill() {
	i.Process.Kill()
	if i.relay != nil {
		i.relay.end()
	}
}

// lacking is an error that says what the machine lacks.
type lacking struct{ error }

// StartOnDisk runs a DynamoDB Local for measurements, with Java's default settings and its tables in a folder, until Kill. An error says
// what the machine lacks.
func StartOnDisk(ctx context.Context, folder string) (*Instance, error) {
	return start(ctx, nil, "-dbPath", folder)
}

// StartInMemory is StartOnDisk with the tables in memory.
func StartInMemory(ctx context.Context) (*Instance, error) { return start(ctx, nil, "-inMemory") }

// start runs Java with the given options, and waits until it accepts connections.
func start(ctx context.Context, machine []string, tables ...string) (*Instance, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, lacking{errors.New("DynamoDB Local needs Java 17 or newer (Debian: apt-get install default-jre-headless)")}
	}
	lib, err := fetch(ctx)
	if err != nil {
		return nil, lacking{err}
	}
	port, err := process.Port(ctx)
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	command := func() *exec.Cmd {
		//nolint:gosec,noctx // what runs is the java of this machine; it ends with the test, by Kill
		cmd := exec.Command(java, slices.Concat(machine, []string{"-Djava.net.preferIPv4Stack=true", "-cp", filepath.Join(lib, "*"),
			"software.amazon.dynamodb.services.local.main.ServerRunner"}, tables, []string{"-sharedDb", "-disableTelemetry", "-port", port})...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = lib, &said, &said
		return cmd
	}
	i := &Instance{Addr: "127.0.0.1:" + port}
	if err := i.begin(ctx, command); err != nil {
		return nil, err
	}
	if err := i.reach(ctx); err != nil {
		i.Kill()
		return nil, fmt.Errorf("%w\n%s", err, &said)
	}
	return i, nil
}

// begin runs Java in a network namespace, with a relay to it, or on this machine if that is not permitted.
func (i *Instance) begin(ctx context.Context, command func() *exec.Cmd) (err error) {
	if i.Process, i.dial, err = startAlone(command(), i.Addr); err != nil {
		i.dial = func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", i.Addr) }
		i.Process, err = process.Start(command())
		return err
	}
	if i.relay, err = startRelay(ctx, i.dial); err != nil {
		i.Process.Kill()
		return err
	}
	i.Addr = i.relay.ln.Addr().String()
	return nil
}

// reach waits until connections can be opened.
func (i *Instance) reach(ctx context.Context) error {
	var conn net.Conn
	var dialed error
	over := func() bool {
		conn, dialed = i.dial(ctx)
		return dialed == nil || ctx.Err() != nil || i.HasExited()
	}
	switch err := wait.Try(startLimit, "DynamoDB Local opens a connection", over, func() any { return dialed }); {
	case err != nil:
		return err
	case dialed == nil:
		return conn.Close()
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("DynamoDB Local has ended: %w", dialed)
}
