package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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

// serve starts a command that prints the address it serves at, and waits until it has answered.
func serve(ctx context.Context, name string, cmd *exec.Cmd) (*server, error) {
	began := time.Now()
	p, line, err := measure.Start(cmd)
	if err != nil {
		return nil, err
	}
	stop := func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		p.Await(30 * time.Second)
	}
	return newServer(name, address.FindString(line), p.PID(), stop).answered(ctx, began)
}
