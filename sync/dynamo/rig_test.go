package dynamo

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/lease"
)

// keys gives the SDK credentials, and hides those of whoever runs the test.
func keys(t testing.TB) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-of-the-test", "AWS_SESSION_TOKEN": "token-of-the-test",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_PROFILE": "",
		"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_DYNAMODB": "", "HTTP_PROXY": "", "HTTPS_PROXY": "",
	} {
		t.Setenv(name, value)
	}
}

// client returns a client for a URL. Its deadline allows for a busy machine; tests of deadlines set their own.
func client(t testing.TB, endpoint string, options ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{Endpoint: endpoint, Region: "eu-west-1", Prefix: "t-", Deadline: time.Minute}
	for _, o := range options {
		o(&cfg)
	}
	c, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Reset)
	return c
}

func deadline(d time.Duration) func(*Config) { return func(c *Config) { c.Deadline = d } }

// piped serves each connection in memory by its own call of serve, in a synctest bubble, where deadlines use the bubble's time.
func piped(handle func(net.Conn)) func(*Config) {
	return func(c *Config) {
		c.Dial = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				handle(theirs)
			}()
			return ours, nil
		}
	}
}

// silent reads everything until its client closes, and never answers.
func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func logTo(l *slog.Logger) func(*Config) { return func(c *Config) { c.Log = l } }

// local returns a client of a private DynamoDB Local.
func local(t testing.TB, options ...func(*Config)) *Client {
	t.Helper()
	keys(t)
	return client(t, ddblocal.Start(t).URL, options...)
}

func spec(name string) store.TableSpec {
	return store.TableSpec{Name: name, Key: store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}}
}

// define creates a table and waits until it can be used.
func define(t testing.TB, c *Client, s store.TableSpec) {
	t.Helper()
	if err := c.Create(t.Context(), s, false); err != nil {
		t.Fatal(err)
	}
	for {
		d, ok, err := c.Describe(t.Context(), s.Name)
		if err != nil || !ok {
			t.Fatalf("%s after it was created: %v, %v", s.Name, ok, err)
		}
		if d.Status == "ACTIVE" {
			return
		}
	}
}

// num is a number.
func num(text string) attr.Value {
	v, err := attr.N(text)
	if err != nil {
		panic(err)
	}
	return v
}

func item(pk string, rest ...any) attr.Item {
	it := attr.Item{"pk": attr.S(pk)}
	for i := 0; i < len(rest); i += 2 {
		it[rest[i].(string)] = rest[i+1].(attr.Value)
	}
	return it
}

// server is an HTTP server that answers as a test wants, and counts requests.
type server struct {
	*httptest.Server
	asked   atomic.Int64
	dialled atomic.Int64
}

func serve(t testing.TB, answer http.HandlerFunc) *server {
	t.Helper()
	keys(t)
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		answer(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.dialled.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// amazon answers like DynamoDB.
func amazon(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("X-Amzn-Requestid", "REQ1")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// refuse answers with a DynamoDB error.
func refuse(code, message string) http.HandlerFunc {
	return amazon(http.StatusBadRequest, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":%q}`, code, message))
}

// clocks is a machine's clocks, set by a test.
type clocks struct {
	mu  sync.Mutex
	now lease.Instant
}

func (c *clocks) Now() lease.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// pass advances all clocks.
func (c *clocks) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.Wall, c.now.Mono, c.now.Boot = c.now.Wall.Add(d), c.now.Mono+d, c.now.Boot+d
}

// step sets the wall clock.
func (c *clocks) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.Wall = c.now.Wall.Add(d)
}

// tcp listens and passes every connection to a function.
func tcp(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	keys(t)
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer c.Close()
				handle(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		group.Wait()
	})
	return (&url.URL{Scheme: "http", Host: l.Addr().String()}).String()
}
