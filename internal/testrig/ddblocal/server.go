package ddblocal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	started "github.com/touchline/touchline/internal/testrig/process"
)

// startLimit is how long Java may take to answer: a second on an idle machine.
const startLimit = time.Minute

// Server is a DynamoDB Local that holds its tables in memory. Its methods may be called from any goroutine.
type Server struct {
	URL    string       // where it answers, to Client only
	Client *http.Client // reaches it, also in a namespace of its own
}

// Start runs a DynamoDB Local until the test ends; it also ends when the process of the test does. Where Java or Maven
// is missing, or Maven finds nothing to download, the test is skipped and says what to install.
func Start(t testing.TB) *Server {
	t.Helper()
	i, err := startInstance(t.Context(), &process{machine: small, tables: []string{"-inMemory"}})
	if why, ok := errors.AsType[lacking](err); ok {
		t.Skip(why.error)
	}
	if err != nil {
		t.Fatalf("start DynamoDB Local: %v", err)
	}
	t.Cleanup(i.Close)
	s := &Server{
		URL: "http://" + i.Addr + "/",
		Client: &http.Client{
			Transport: &http.Transport{DialContext: i.Dial, MaxIdleConnsPerHost: 8},
			Timeout:   time.Minute,
		},
	}
	t.Cleanup(s.Client.CloseIdleConnections)
	return s
}

// Do sends a request, DynamoDB's JSON, and returns the answer. What DynamoDB refuses is an *Error.
func (s *Server) Do(ctx context.Context, operation string, request []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	// The signature is not looked at; who signs and for which region is.
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 "+
		"Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := s.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, &Error{Body: body}
	}
	return body, nil
}

// Error is a refusal.
type Error struct {
	Body []byte // as DynamoDB sent it: JSON with __type, the message and what belongs to that type
}

// Error returns the name and the message.
func (e *Error) Error() string {
	var b struct {
		Type    string `json:"__type"`
		Message string
	}
	if json.Unmarshal(e.Body, &b) != nil {
		return string(e.Body)
	}
	return b.Type[strings.LastIndexByte(b.Type, '#')+1:] + ": " + b.Message
}

// Wire returns the body of the refusal.
func (e *Error) Wire() []byte { return e.Body }

type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// small has Java start fast and stay out of the way of tests.
var small = []string{"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}

// process is the Java that runs.
type process struct {
	machine []string // options of Java
	tables  []string // options that say where the tables are
	cmd     *exec.Cmd
	out     output
	exited  <-chan struct{}
}

// start runs Java in a namespace of its own, or else on a random port, and says where and how to dial.
func (p *process) start(java, lib string) (addr string, dial dialer, err error) {
	const port = 8000
	p.command(java, lib, port)
	if dial, err = p.startAlone(); err == nil {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), dial, nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	addr = l.Addr().String()
	free := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return "", nil, err
	}
	p.command(java, lib, free)
	return addr, new(net.Dialer).DialContext, p.run()
}

func (p *process) command(java, lib string, port int) {
	args := slices.Concat(p.machine, []string{"-Djava.net.preferIPv4Stack=true", "-cp", filepath.Join(lib, "*"),
		"software.amazon.dynamodb.services.local.main.ServerRunner"}, p.tables,
		[]string{"-sharedDb", "-disableTelemetry", "-port", strconv.Itoa(port)})
	//nolint:gosec,noctx // what runs is the java of this machine; it ends with the test, by end
	p.cmd = exec.Command(java, args...)
	p.cmd.Dir = lib
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
}

// run starts the command.
func (p *process) run() (err error) {
	p.exited, err = started.Start(p.cmd, -1)
	return err
}

// end kills the process, which has nothing to save, and waits for it.
func (p *process) end() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// await tries until it works, the process ends or the time is over.
func (p *process) await(try func() error) error {
	deadline := time.After(startLimit)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it has ended:\n%s", p.out.String())
		case <-deadline:
			return fmt.Errorf("it does not answer: %w\n%s", err, p.out.String())
		case <-again.C:
		}
	}
}

// output keeps what the process says, for the case that it fails.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() < 64<<10 {
		o.buf.Write(b)
	}
	return len(b), nil
}

// String returns what was said.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
