package dynamo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/sync/lease"
)

func noon() time.Time { return time.Date(2026, 10, 9, 12, 0, 0, 0, time.UTC) }

// answers lets a server whose clock is ahead of true time answer n requests of 100 ms, one second apart.
func answers(s *skew, c *clocks, server func() time.Time, n int) {
	for range n {
		sent := c.Now()
		c.pass(50 * time.Millisecond)
		date := server().UTC().Format(http.TimeFormat)
		c.pass(50 * time.Millisecond)
		s.observe(date, sent, c.Now())
		c.pass(900 * time.Millisecond)
	}
}

func TestSkew(t *testing.T) {
	near := func(t *testing.T, s *skew, want time.Duration) {
		t.Helper()
		if got := s.now(); (got - want).Abs() > 700*time.Millisecond {
			t.Errorf("%v, want %v", got, want)
		}
	}
	start := func() (*skew, *clocks, func() time.Time) {
		c := &clocks{now: lease.Instant{Wall: noon().Add(time.Hour), Boot: time.Minute}}
		s := newSkew(c)
		// The server is right; this machine is an hour ahead until it is set.
		return s, c, func() time.Time { return noon().Add(c.Now().Boot - time.Minute) }
	}
	t.Run("before the first answer", func(t *testing.T) {
		s, _, _ := start()
		if s.now() != 0 || s.isKnown() {
			t.Error("the offset is known")
		}
	})
	t.Run("one answer", func(t *testing.T) {
		s, c, server := start()
		answers(s, c, server, 1)
		near(t, s, -time.Hour)
		if !s.isKnown() {
			t.Error("the offset is not known")
		}
	})
	t.Run("one that lies", func(t *testing.T) {
		s, c, server := start()
		answers(s, c, server, 9)
		answers(s, c, func() time.Time { return noon().Add(24 * time.Hour) }, 4)
		near(t, s, -time.Hour)
		answers(s, c, func() time.Time { return noon().Add(24*time.Hour + c.Now().Boot - time.Minute) }, 5)
		near(t, s, 23*time.Hour)
	})
	t.Run("our clock is set", func(t *testing.T) {
		s, c, server := start()
		answers(s, c, server, 5)
		c.step(-time.Hour)
		if got := s.now(); got != 0 {
			t.Errorf("%v", got)
		}
	})
	t.Run("the machine sleeps", func(t *testing.T) {
		s, c, server := start()
		answers(s, c, server, 5)
		c.pass(3 * time.Hour)
		near(t, s, -time.Hour)
		answers(s, c, server, 1)
		near(t, s, -time.Hour)
		if len(s.samples) != 1 {
			t.Errorf("%d samples, all but one of them old", len(s.samples))
		}
	})
	t.Run("what cannot be", func(t *testing.T) {
		s, c, _ := start()
		for _, date := range []string{"", "yesterday", "Thu, 01 Jan 1970 00:00:00 GMT"} {
			s.observe(date, c.Now(), c.Now())
		}
		sent := c.Now()
		c.pass(6 * time.Second)
		s.observe(noon().Format(http.TimeFormat), sent, c.Now())
		if s.isKnown() {
			t.Error("implausible samples are believed")
		}
	})
}

// An idle connection is not used again after the machine gets another address.
func TestNetworkChanges(t *testing.T) {
	s := serve(t, amazon(200, "{}"))
	c := client(t, s.URL)
	times := &clocks{now: lease.Instant{Wall: noon()}}
	home := "10.0.0.2/24"
	c.http.times, c.http.checked, c.http.home, c.http.homes = times, 0, home, func() string { return home }
	ask := func(want int64) {
		t.Helper()
		if e := write(t, c); e != nil {
			t.Fatal(e)
		}
		if n := s.dialled.Load(); n != want {
			t.Errorf("%d connections, want %d", n, want)
		}
	}
	ask(1)
	times.pass(time.Minute)
	ask(1)
	home = "192.168.7.9/24"
	ask(1) // it was checked a moment ago
	times.pass(checkEvery)
	ask(2)
	times.pass(checkEvery)
	ask(2)
}

// After a network error all idle connections are closed: they may use the same dead route.
func TestConnectionsAfterAnError(t *testing.T) {
	keys(t)
	synctest.Test(t, func(t *testing.T) {
		var dialled atomic.Int64
		var slow atomic.Bool
		c := client(t, "http://cloud", piped(func(c net.Conn) {
			dialled.Add(1)
			for in := bufio.NewReader(c); ; {
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if slow.Load() {
					silent(c)
					return
				}
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n{}")
			}
		}))
		if e := write(t, c); e != nil {
			t.Fatal(e)
		}
		slow.Store(true)
		if e := write(t, c); e == nil {
			t.Fatal("a request without an answer succeeded")
		}
		slow.Store(false)
		if e := write(t, c); e != nil {
			t.Fatal(e)
		}
		if n := dialled.Load(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
	})
}

func TestOnEC2(t *testing.T) {
	tests := []struct {
		name, file, text string
		want             bool
	}{
		{"nothing to read", "class/x", "", false},
		{"nitro", "class/dmi/id/sys_vendor", "Amazon EC2\n", true},
		{"xen", "hypervisor/uuid", "ec2e1916-9099-7caf-fd21-012345abcdef\n", true},
		{"metal", "class/dmi/id/board_vendor", "Amazon EC2\n", true},
		{"another", "class/dmi/id/sys_vendor", "QEMU\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := onEC2(fstest.MapFS{tt.file: {Data: []byte(tt.text)}}); got != tt.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	keys(t)
	for name, cfg := range map[string]Config{
		"no region":    {},
		"no URL":       {Region: "eu-west-1", Endpoint: "127.0.0.1:8000"},
		"no scheme":    {Region: "eu-west-1", Endpoint: "ftp://x"},
		"no profile":   {Region: "eu-west-1", Profile: "nobody"},
		"not a region": {Region: "eu west", Endpoint: ""},
	} {
		if _, err := New(t.Context(), cfg); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The log says where requests go, without account ids.
func TestEndpoint(t *testing.T) {
	keys(t)
	t.Setenv("AWS_ACCOUNT_ID", "123456789012")
	c := client(t, "")
	if c.Endpoint() != "https://dynamodb.eu-west-1.amazonaws.com" || !c.http.official {
		t.Errorf("%s, official %v", c.Endpoint(), c.http.official)
	}
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:8000")
	c = client(t, "")
	if c.Endpoint() != "http://127.0.0.1:8000" || c.http.official || c.endpointSource(Config{}) != "AWS environment or profile" {
		t.Errorf("%s, official %v, from %s", c.Endpoint(), c.http.official, c.endpointSource(Config{}))
	}
	t.Setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
	if c = client(t, ""); c.Endpoint() != "https://dynamodb.eu-west-1.amazonaws.com" {
		t.Errorf("%s", c.Endpoint())
	}
}

// The dialled host is the configured one, with or without an account.
func TestAccountsDoNotChangeTheHost(t *testing.T) {
	keys(t)
	t.Setenv("AWS_ACCOUNT_ID", "123456789012")
	t.Setenv("AWS_ACCOUNT_ID_ENDPOINT_MODE", "preferred")
	var dialled string
	c := client(t, "", func(c *Config) {
		c.Dial = func(_ context.Context, _, addr string) (net.Conn, error) {
			dialled = addr
			return nil, errors.New("no way")
		}
	})
	if e := write(t, c); e == nil || dialled != "dynamodb.eu-west-1.amazonaws.com:443" {
		t.Errorf("%v, dialled %q", e, dialled)
	}
}
