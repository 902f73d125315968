package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/touchline/touchline/internal/tools/measure"
)

type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// server is one that is asked.
type server struct {
	name   string
	lacks  string // id of an operation that it does not have
	empty  bool   // it holds nothing, so it is not filled
	slow   bool   // it needs time until it is as fast as it gets
	pid    int    // 0: it is a part of this process
	began  time.Duration
	client *dynamodb.Client
	stop   func()
}

// newClient makes the SDK's client with its defaults, but for three: it repeats nothing, it keeps as many connections
// as it needs, and it knows its credentials.
func newClient(addr string, dial dialer) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + addr),
		Credentials: credentials.NewStaticCredentialsProvider("bench", "bench", ""),
		Retryer:     aws.NopRetryer{},
		HTTPClient: transport{awshttp.NewBuildableClient().WithTimeout(time.Minute).WithTransportOptions(
			func(t *http.Transport) {
				t.DialContext, t.Proxy = dial, nil
				t.MaxIdleConns, t.MaxIdleConnsPerHost = 4*many, 4*many
			})},
	})
}

// transport is the SDK's client, kept from closing connections that it could use again. It closes a request's body as
// soon as the answer begins. net/http may not have looked for the end of the body by then, and what a closed body's
// WriteTo says (smithy-go v1.28.8: io.EOF) it takes for a failure to write the request: it closes the connection, and a
// long answer cannot be read to its end. Servers that answer within microseconds meet that, about once in thirty requests
// where client and server share processors. What the body's Read says is taken as it is meant.
type transport struct{ client aws.HTTPClient }

// Do implements aws.HTTPClient.
func (t transport) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return t.client.Do(r)
}

// answered is when a server has started: it has answered a request.
func answered(ctx context.Context, c *dynamodb.Client) error {
	_, err := c.ListTables(ctx, &dynamodb.ListTablesInput{})
	return err
}

// program is a command that serves, and says at which address in what it writes.
type program struct {
	cmd    *exec.Cmd
	out    io.ReadCloser
	exited <-chan struct{}
}

var address = regexp.MustCompile(`127\.0\.0\.1:[1-9][0-9]*`)

// startTimeout is how long a program may take to name its address.
const startTimeout = 30 * time.Second

// startProgram runs a command until stop, and returns the address that it names.
func startProgram(cmd *exec.Cmd) (p *program, addr string, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	cmd.Stdout, cmd.Stderr = w, w
	p = &program{cmd: cmd, out: r}
	p.exited, err = measure.StartOn(cmd, -1)
	measure.Shut(w) // the command has it; when that ends, so does what can be read
	if err != nil {
		measure.Shut(r)
		return nil, "", err
	}
	if err := r.SetReadDeadline(time.Now().Add(startTimeout)); err != nil {
		p.kill()
		return nil, "", err
	}
	var said []byte
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		if found := address.Find(line); found != nil {
			err = r.SetReadDeadline(time.Time{})
			go func() { _, _ = io.Copy(io.Discard, lines) }() // until it ends
			return p, string(found), err
		}
		if said = append(said, line...); err != nil {
			p.kill()
			return nil, "", fmt.Errorf("%s does not say where it listens: %w\n%s", cmd.Path, err, said)
		}
	}
}

// stop lets it end in order.
func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(startTimeout):
		p.kill()
	}
	measure.Shut(p.out)
}

func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// serve starts a command that serves, and waits until it has answered.
func serve(ctx context.Context, name string, cmd *exec.Cmd) (*server, error) {
	began := time.Now()
	p, addr, err := startProgram(cmd)
	if err != nil {
		return nil, err
	}
	s := &server{name: name, pid: p.cmd.Process.Pid, stop: p.stop, client: newClient(addr, new(net.Dialer).DialContext)}
	if err := answered(ctx, s.client); err != nil {
		p.stop()
		return nil, errors.Join(fmt.Errorf("%s does not answer", name), err)
	}
	s.began = time.Since(began)
	return s, nil
}
