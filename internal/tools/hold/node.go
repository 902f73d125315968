package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/testrig/process"
)

// node is a running node.
type node struct {
	*process.Process

	http, dynamodb string // addresses
}

// applications is the configuration: all of them, with their defaults, and users that requests name.
const applications = "auth: {dev_issuer: true}\nthreefc: {}\nhacktracker: {}\nscorekeeper: {}\npickem: {}\n"

// startWithin is how long a node may take until it answers.
const startWithin = 30 * time.Second

// startNode starts a node with an empty database below folder, whose process may open so many files. A shell sets the limit, the hard one
// too: the Go runtime raises the soft one up to it.
func startNode(ctx context.Context, folder, binary string, files int) (*node, error) {
	dir, err := os.MkdirTemp(folder, "node-")
	if err != nil {
		return nil, err
	}
	n := &node{}
	for _, addr := range []*string{&n.http, &n.dynamodb} {
		port, err := process.Port(ctx)
		if err != nil {
			return nil, err
		}
		*addr = "127.0.0.1:" + port
	}
	config := filepath.Join(dir, "config.yaml") // not the machine's
	if err := os.WriteFile(config, []byte(applications), 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the node has its own
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(files),
		binary, "serve", "--config", config, "--data-dir", filepath.Join(dir, "data"), "--log-level", "warn",
		"--listen", n.http, "--dynamodb-listen", n.dynamodb)
	cmd.Stderr = log
	if n.Process, err = process.Start(cmd); err != nil {
		return nil, err
	}
	if err := n.awaitAnswer(ctx); err != nil {
		n.Kill()
		text, _ := os.ReadFile(log.Name()) // best effort: it explains the error
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return n, nil
}

// awaitAnswer waits until the node answers.
func (n *node) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for httpVisit(n)(ctx, 0) != nil {
		select {
		case <-n.Exited:
			return errors.New("the node has ended")
		case <-ctx.Done():
			return errors.New("the node does not answer")
		case <-time.After(probeEvery):
		}
	}
	return nil
}
