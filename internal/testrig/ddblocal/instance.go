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
)

// startLimit is how long Java may take to answer: a second on an idle machine.
const startLimit = time.Minute

// Instance is a running DynamoDB Local.
type Instance struct {
	*process.Process

	Addr string // on loopback, host:port
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
	//nolint:gosec,noctx // what runs is the java of this machine; it ends with the test, by Kill
	cmd := exec.Command(java, slices.Concat(machine, []string{"-Djava.net.preferIPv4Stack=true", "-cp", filepath.Join(lib, "*"),
		"software.amazon.dynamodb.services.local.main.ServerRunner"}, tables, []string{"-sharedDb", "-disableTelemetry", "-port", port})...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = lib, &said, &said
	i := &Instance{Addr: "127.0.0.1:" + port}
	if i.Process, err = process.Start(cmd); err != nil {
		return nil, err
	}
	if err := i.reach(ctx); err != nil {
		i.Kill()
		return nil, fmt.Errorf("%w\n%s", err, &said)
	}
	return i, nil
}

// reach waits until connections can be opened.
func (i *Instance) reach(ctx context.Context) error {
	deadline := time.After(startLimit)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", i.Addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-i.Exited:
			return errors.New("DynamoDB Local has ended")
		case <-deadline:
			return fmt.Errorf("DynamoDB Local does not answer: %w", err)
		case <-again.C:
		}
	}
}
