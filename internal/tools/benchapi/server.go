package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/tools/measure"
)

// server is a server that is measured.
type server struct {
	name   string
	lacks  string // id of an operation that it does not have
	empty  bool   // it stores nothing, so it is not filled
	slow   bool   // it needs a warm-up to reach full speed
	pid    int    // 0: part of this process
	began  time.Duration
	addr   string
	client *dynamodb.Client
	stop   func()
}

func newServer(name, addr string, pid int, stop func()) *server {
	return &server{name: name, pid: pid, addr: addr, client: measure.NewClient(addr, 4*many), stop: stop}
}

// answered waits until a server has answered a request, and records how long it took since began.
func (s *server) answered(ctx context.Context, began time.Time) (*server, error) {
	if _, err := s.client.ListTables(ctx, &dynamodb.ListTablesInput{}); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s does not answer: %w", s.name, err)
	}
	s.began = time.Since(began)
	return s, nil
}

var address = regexp.MustCompile(`127\.0\.0\.1:[1-9][0-9]*`)

// startTimeout is how long a program may take to print its address.
const startTimeout = 30 * time.Second

// startProgram runs a command that prints the address it serves at, and returns the address.
func startProgram(cmd *exec.Cmd) (p *process.Process, addr string, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	cmd.Stdout, cmd.Stderr = w, w
	p, err = process.Start(cmd)
	measure.Shut(w) // the command has it: reading ends when the command does
	if err == nil {
		err = r.SetReadDeadline(time.Now().Add(startTimeout))
	}
	if err != nil {
		measure.Shut(r)
		return p, "", err
	}
	var said []byte
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		if found := address.Find(line); found != nil {
			err = r.SetReadDeadline(time.Time{})
			go func() { _, _ = io.Copy(io.Discard, lines); measure.Shut(r) }() // until it ends
			return p, string(found), err
		}
		if said = append(said, line...); err != nil {
			p.Kill()
			measure.Shut(r)
			return nil, "", fmt.Errorf("%s does not say where it listens: %w\n%s", cmd.Path, err, said)
		}
	}
}

// serve starts a command that serves, and waits until it has answered.
func serve(ctx context.Context, name string, cmd *exec.Cmd) (*server, error) {
	began := time.Now()
	p, addr, err := startProgram(cmd)
	if err != nil {
		return nil, err
	}
	stop := func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		p.Await(startTimeout)
	}
	return newServer(name, addr, p.PID(), stop).answered(ctx, began)
}
