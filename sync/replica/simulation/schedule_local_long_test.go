//go:build long

package simulation_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/replica/remote"
)

// TestSchedulesOnDynamoDBLocal is TestSchedules against Amazon's own version, through the adapter that production uses.
func TestSchedulesOnDynamoDBLocal(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-of-the-test", "AWS_SESSION_TOKEN": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_PROFILE": "",
		"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_DYNAMODB": "", "HTTP_PROXY": "", "HTTPS_PROXY": "",
	} {
		t.Setenv(name, value)
	}
	server := ddblocal.Start(t)
	// The first table takes a Java that has just started longer than a client waits.
	_, err := server.Do(t.Context(), "CreateTable", []byte(`{"TableName":"first","BillingMode":"PAY_PER_REQUEST",
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}`))
	must(t, err)
	for i, s := range schedules() {
		if s.sim || s.moved {
			continue // it needs the simulated cloud or virtual time
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // they spend most of their time waiting
			s.on(t, newLocalStage(t, server, i))
		})
	}
}

// localStage is DynamoDB Local with its own tables, under a clock that jumps.
type localStage struct {
	t      *testing.T
	server *ddblocal.Server
	prefix string
	time   *jumpClock
	asked  atomic.Int32 // requests without an answer
}

func newLocalStage(t *testing.T, server *ddblocal.Server, no int) *localStage {
	s := &localStage{t: t, server: server, prefix: fmt.Sprintf("s%d-", no), time: &jumpClock{jumped: make(chan struct{})}}
	c := s.client()
	for _, spec := range cloudSpecs() {
		must(t, c.Create(t.Context(), spec, false))
		for {
			d, ok, err := c.Describe(t.Context(), spec.Name)
			must(t, err)
			if ok && d.Status == "ACTIVE" {
				break
			}
		}
	}
	return s
}

func (s *localStage) client() *dynamo.Client {
	c, err := dynamo.New(context.Background(), dynamo.Config{
		Endpoint: s.server.URL, Region: "eu-west-1", Prefix: s.prefix, Deadline: 10 * time.Second,
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &askingConn{Conn: c, asked: &s.asked}, nil
		},
	})
	must(s.t, err)
	s.t.Cleanup(c.Reset)
	return c
}

func (s *localStage) cloud(string) remote.Cloud { return s.client() }
func (s *localStage) clock() clock.Clock        { return s.time }

// pass advances the clock in steps, and gives whatever each step wakes a moment of real time, and the cloud all the time it needs to
// answer: a slow machine must not look like a slow cloud.
func (s *localStage) pass(d time.Duration) {
	const step = 250 * time.Millisecond
	for left := d; left > 0; left -= step {
		s.time.jump(min(step, left))
		for enough := time.Now().Add(hang.Limit(time.Second)); ; {
			<-time.After(6 * time.Millisecond)
			if s.asked.Load() == 0 || time.Now().After(enough) {
				break
			}
		}
	}
}

// askingConn counts itself among asked from a request to the first byte of its answer.
type askingConn struct {
	net.Conn
	asked *atomic.Int32
	asks  atomic.Bool
}

// Write implements net.Conn.
func (c *askingConn) Write(b []byte) (int, error) {
	if !c.asks.Swap(true) {
		c.asked.Add(1)
	}
	return c.Conn.Write(b)
}

// Read implements net.Conn.
func (c *askingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.answered()
	return n, err
}

// Close implements net.Conn.
func (c *askingConn) Close() error {
	c.answered()
	return c.Conn.Close()
}

func (c *askingConn) answered() {
	if c.asks.Swap(false) {
		c.asked.Add(-1)
	}
}

// jumpClock is real time plus what was skipped.
type jumpClock struct {
	mu     sync.Mutex
	ahead  time.Duration
	jumped chan struct{}
}

func (c *jumpClock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
	close(c.jumped)
	c.jumped = make(chan struct{})
}

// Now implements clock.Clock.
func (c *jumpClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead).UTC()
}

// Wall implements clock.Clock.
func (c *jumpClock) Wall() time.Time { return c.Now() }

// Wait implements clock.Clock.
func (c *jumpClock) Wait(ctx context.Context, until time.Time, sig *clock.Signal) error {
	for {
		c.mu.Lock()
		jumped, left := c.jumped, until.Sub(time.Now().Add(c.ahead))
		c.mu.Unlock()
		var due <-chan time.Time
		if !until.IsZero() {
			timer := time.NewTimer(left)
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-sig.C():
			sig.Clear()
			return nil
		case <-due:
			return nil
		case <-jumped:
		}
	}
}

// Join implements clock.Clock.
func (*jumpClock) Join() (leave func()) { return func() {} }

// Suspend implements clock.Clock.
func (*jumpClock) Suspend(f func()) { f() }
