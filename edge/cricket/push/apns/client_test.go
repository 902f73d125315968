package apns

import (
	"bytes"
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/hang"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a client in front of a sandbox with one phone.
type rig struct {
	*Client
	t     testing.TB
	box   *sandbox.Sandbox
	clk   *clock.Stepped
	phone sandbox.Phone
	logs  *bytes.Buffer
	cfg   Config
}

func newRig(t testing.TB, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, clk: clock.NewStepped(time.Date(2019, 7, 14, 9, 30, 0, 0, time.UTC)), logs: &bytes.Buffer{}}
	var err error
	if r.box, err = sandbox.New(sandbox.Config{Clock: r.clk}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.box.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("sandbox: %v", err)
		}
	})
	acc := r.box.Account()
	r.cfg = Config{
		Host: r.box.URL(), BundleID: acc.BundleID, TeamID: acc.TeamID, KeyID: acc.KeyID, Key: acc.Key, RootCAs: acc.RootCAs,
		Logger: slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug})), Timeout: time.Minute,
	}
	if change != nil {
		change(&r.cfg)
	}
	r.Client = r.another()
	if r.phone, err = r.box.AddPhone(sandbox.Phone{Name: "Ada", DeviceID: "d1"}, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// another makes a second client of the same configuration, as after a restart.
func (r *rig) another() *Client {
	r.t.Helper()
	c, err := New(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	return c
}

func (r *rig) push() Push {
	return Push{
		Token: r.phone.DeviceToken, Type: TypeAlert, Priority: PriorityNormal,
		Expiration: r.clk.Now().Add(time.Minute), Payload: []byte(`{"aps":{"alert":{"title":"a","body":"b"}}}`),
	}
}

// pass waits out the rate limit of a token.
func (r *rig) pass() { r.passBy(time.Second) }

func (r *rig) passBy(d time.Duration) {
	if err := r.clk.Wait(r.t.Context(), r.clk.Now().Add(d), nil); err != nil {
		r.t.Fatal(err)
	}
}

func TestAccepted(t *testing.T) {
	r := newRig(t, nil)
	p := r.push()
	p.ID = "123e4567-e89b-12d3-a456-426655440000"
	p.CollapseID = "score"
	if res := r.Send(t.Context(), p); res.Action != Accepted || res.ID != p.ID || res.Status != 200 || res.Err != nil {
		t.Fatalf("%+v", res)
	}
	rec := r.box.Records(0)[0]
	if rec.Topic != r.cfg.BundleID || rec.Type != "alert" || rec.Priority != 5 || rec.CollapseID != "score" ||
		rec.Expiration != p.Expiration.Unix() {
		t.Errorf("arrived as %+v", rec)
	}
	live := p
	live.Token, live.Type, live.ID = r.phone.PushToStartToken, TypeLiveActivity, ""
	if res := r.Send(t.Context(), live); res.Action != Accepted || res.ID == "" {
		t.Fatalf("%+v", res)
	}
	if rec := r.box.Records(1)[0]; rec.Topic != r.cfg.BundleID+".push-type.liveactivity" {
		t.Errorf("topic %s", rec.Topic)
	}
}

// TestEveryReason checks the classification of every reason of Apple's. The expectation is stated a second time
// here, as in the table of Apple's documentation.
func TestEveryReason(t *testing.T) {
	want := map[int]map[string]Action{
		400: {
			"BadDeviceToken": Suspend, "DeviceTokenNotForTopic": Suspend, "IdleTimeout": Reconnect,
			"BadTopic": Stop, "MissingTopic": Stop, "TopicDisallowed": Stop, "InvalidPushType": Stop, "BadPriority": Stop,
			"BadExpirationDate": Stop, "BadCollapseId": Stop, "BadMessageId": Stop, "DuplicateHeaders": Stop,
			"MissingDeviceToken": Stop, "PayloadEmpty": Stop, "SomethingNew": Stop,
			"BadChannelId": Gone, "ChannelNotRegistered": Gone, "CannotCreateChannelConfig": Later,
			"MissingChannelId": Stop, "MissingPushType": Stop, "FeatureNotEnabled": Stop,
		},
		403: {
			"InvalidProviderToken": Stop, "MissingProviderToken": Stop, "BadCertificate": Stop,
			"BadCertificateEnvironment": Stop, "BadEnvironmentKeyInToken": Stop, "UnrelatedKeyIdInToken": Stop,
			"Forbidden": Stop, "SomethingNew": Stop,
			"ExpiredProviderToken": Stop, // the token was made a moment ago: a clock is wrong
		},
		404: {"BadPath": Stop, "SomethingNew": Stop},
		405: {"MethodNotAllowed": Stop, "SomethingNew": Stop},
		410: {"Unregistered": Gone, "ExpiredToken": Gone, "ChannelNotRegistered": Gone, "SomethingNew": Gone},
		413: {"PayloadTooLarge": Shrink, "": Shrink},
		429: {"TooManyRequests": Later, "TooManyProviderTokenUpdates": KeepToken, "SomethingNew": Later},
		500: {"InternalServerError": Retry, "SomethingNew": Retry},
		502: {"": Retry},
		503: {"ServiceUnavailable": Retry, "Shutdown": Reconnect, "SomethingNew": Retry},
		307: {"": Stop},
		418: {"": Stop},
	}
	r := newRig(t, nil)
	covered := map[reasonKey]bool{}
	for status, reasons := range want {
		for reason, action := range reasons {
			covered[reasonKey{status, reason}] = true
			r.box.Script(r.phone.DeviceToken, 0, sandbox.Reply{Status: status, Reason: reason})
			r.older()
			res := r.Send(t.Context(), r.push())
			if res.Action != action || res.Status != status || res.Reason != reason || res.Maybe || res.Err != nil {
				t.Errorf("%d %s: %+v, want %s", status, reason, res, action)
			}
			if action == Stop && !res.Alarm {
				t.Errorf("%d %s stops without an alarm", status, reason)
			}
			if (status == 410) == res.Gone.IsZero() {
				t.Errorf("%d %s: gone since %v", status, reason, res.Gone)
			}
		}
	}
	for _, rule := range Rules() {
		if rule.Reason != "" && !covered[reasonKey{rule.Status, rule.Reason}] {
			t.Errorf("no row for %d %s", rule.Status, rule.Reason)
		}
	}
}

// older gives the client a provider token to go back to, as an hour of pushing does.
func (r *rig) older() {
	b, err := r.bearers.get(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	again := *b
	r.bearers.before, r.bearers.hold = &again, time.Time{}
}

// TestForeignAnswers covers answers that are not JSON, not Apple's, or incomplete.
func TestForeignAnswers(t *testing.T) {
	r := newRig(t, nil)
	token := r.phone.DeviceToken
	r.box.Script(token, 1, sandbox.Reply{Status: 503, Body: "<html>bad gateway</html>", RetryAfter: "17"})
	if res := r.Send(t.Context(), r.push()); res.Status != 503 || res.Action != Retry || res.RetryAfter != 17*time.Second {
		t.Errorf("HTML: %+v", res)
	}
	r.box.Script(token, 1, sandbox.Reply{Status: 400, Body: strings.Repeat(" ", 1<<20) + `{"reason":"BadTopic"}`})
	if res := r.Send(t.Context(), r.push()); res.Status != 400 || res.Reason != "" {
		t.Errorf("a megabyte: %+v", res)
	}
	r = newRig(t, nil)
	r.box.Script(r.phone.DeviceToken, 1, sandbox.Reply{Lost: true})
	if res := r.Send(t.Context(), r.push()); res.Action != Retry || !res.Maybe || res.Reason != ReasonNoAnswer {
		t.Errorf("answer lost: %+v", res)
	}
	portal := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>sign in</html>")) })
	r = newRig(t, func(cfg *Config) { cfg.Host, cfg.RootCAs = portal.host, portal.roots })
	if res := r.Send(t.Context(), r.push()); res.Action != Retry || res.Reason != ReasonNotApple || !res.Alarm {
		t.Errorf("captive portal: %+v", res)
	}
}

// server is an HTTP/2 server that is not Apple's.
type server struct {
	host  string
	roots *x509.CertPool
}

func serve(t *testing.T, handle http.HandlerFunc) server {
	t.Helper()
	srv := httptest.NewUnstartedServer(handle)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	return server{srv.URL, roots}
}

// TestNoAnswer covers timeouts and dead hosts: whether the phone may have the push, and that no error or log shows a token.
func TestNoAnswer(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Timeout = hang.Limit(time.Second) })
	r.Send(t.Context(), r.push()) // so that the connection stands
	r.box.Script(r.phone.DeviceToken, 1, sandbox.Reply{Hang: true})
	res := r.Send(t.Context(), r.push())
	if res.Action != Retry || !res.Maybe || res.Err == nil {
		t.Errorf("timeout: %+v", res)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.cfg.Host, r.cfg.Timeout = "https://"+l.Addr().String(), time.Minute
	_ = l.Close()
	dead := r.another().Send(t.Context(), r.push())
	if dead.Action != Retry || dead.Maybe {
		t.Errorf("no server: %+v", dead)
	}
	r.cfg.RootCAs = nil
	r.cfg.Host = r.box.URL()
	untrusted := r.another().Send(t.Context(), r.push())
	if untrusted.Action != Retry || untrusted.Maybe {
		t.Errorf("unknown authority: %+v", untrusted)
	}
	for _, err := range []error{res.Err, dead.Err, untrusted.Err} {
		if err == nil || strings.Contains(err.Error(), r.phone.DeviceToken[:10]) {
			t.Errorf("error %v", err)
		}
	}
	if strings.Contains(r.logs.String(), r.phone.DeviceToken[:10]) || strings.Contains(r.logs.String(), "bearer") {
		t.Errorf("a secret in the log: %s", r.logs)
	}
}

func TestBadPush(t *testing.T) {
	r := newRig(t, nil)
	p := r.push()
	p.Token = "../../x"
	if res := r.Send(t.Context(), p); res.Action != Suspend || res.Status != 0 {
		t.Errorf("a path for a token: %+v", res)
	}
	p = r.push()
	p.Payload = []byte("{")
	if res := r.Send(t.Context(), p); res.Action != Stop || res.Maybe {
		t.Errorf("half a payload: %+v", res)
	}
	if n := r.box.Connections(); n != 0 {
		t.Errorf("%d connections for nothing", n)
	}
}

// TestOneConnection begins with many pushes at once, which must not each open a connection.
func TestOneConnection(t *testing.T) {
	r := newRig(t, nil)
	var wg sync.WaitGroup
	for range 300 {
		wg.Go(func() {
			if res := r.Send(t.Context(), r.push()); res.Status != 200 && res.Status != 429 {
				t.Errorf("%+v", res)
			}
		})
	}
	wg.Wait()
	if n := r.box.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestGoAway(t *testing.T) {
	r := newRig(t, nil)
	r.box.Script("", 3, sandbox.Reply{GoAway: true})
	for range 6 {
		if res := r.Send(t.Context(), r.push()); res.Action != Accepted {
			t.Errorf("%+v", res)
		}
		r.pass()
	}
	if n := r.box.Connections(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// TestNewConnection replaces a connection when Apple says so, with requests still on it.
func TestNewConnection(t *testing.T) {
	for _, reply := range []sandbox.Reply{
		{Status: 503, Reason: "Shutdown"}, {Status: 400, Reason: "IdleTimeout"}, {Status: 403, Reason: "UnrelatedKeyIdInToken"},
	} {
		t.Run(reply.Reason, func(t *testing.T) {
			r := newRig(t, nil)
			if res := r.Send(t.Context(), r.push()); res.Action != Accepted {
				t.Fatalf("%+v", res)
			}
			slow, err := r.box.AddPhone(sandbox.Phone{Name: "Bob", DeviceID: "d2"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.box.Script(slow.DeviceToken, 1, sandbox.Reply{Delay: 200 * time.Millisecond})
			done := make(chan Result, 1)
			go func() {
				p := r.push()
				p.Token = slow.DeviceToken
				done <- r.Send(t.Context(), p)
			}()
			r.box.Script(r.phone.DeviceToken, 1, reply)
			r.pass()
			r.Send(t.Context(), r.push())
			r.pass()
			if res := r.Send(t.Context(), r.push()); res.Action != Accepted {
				t.Errorf("on the new connection: %+v", res)
			}
			if res := <-done; res.Action != Accepted {
				t.Errorf("on the old connection: %+v", res)
			}
			if n := r.box.Connections(); n != 2 {
				t.Errorf("%d connections, want a second one", n)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	r := newRig(t, nil)
	for name, change := range map[string]func(*Config){
		"http":      func(c *Config) { c.Host = "http://x" },
		"no bundle": func(c *Config) { c.BundleID = "" },
		"no team":   func(c *Config) { c.TeamID = "" },
		"no key id": func(c *Config) { c.KeyID = "" },
		"no key":    func(c *Config) { c.Key = nil },
	} {
		cfg := r.cfg
		change(&cfg)
		if _, err := New(cfg); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParseKey([]byte("no key")); !fault.Is(err, fault.Invalid) {
		t.Errorf("key: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "-5": 0, "soon": 0, "99999999999999999999": 0,
		"Thu, 01 Jan 2026 12:01:00 GMT": time.Minute, "Thu, 01 Jan 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

// TestChannels makes a channel, sends to it, lists it and deletes it.
func TestChannels(t *testing.T) {
	r := newRig(t, nil)
	id, res := r.CreateChannel(t.Context())
	if res.Action != Accepted || id == "" {
		t.Fatalf("create: %+v", res)
	}
	if all, res := r.Channels(t.Context()); res.Action != Accepted || len(all) != 1 || all[0] != id {
		t.Errorf("list: %v %+v", all, res)
	}
	p := Push{
		Channel: id, ID: "123e4567-e89b-12d3-a456-426655440000", Type: TypeLiveActivity, Priority: PriorityNormal,
		Expiration: r.clk.Now().Add(time.Minute), Payload: []byte(`{"aps":{"event":"update"}}`),
	}
	if res := r.Send(t.Context(), p); res.Action != Accepted || res.ID != p.ID {
		t.Errorf("broadcast: %+v", res)
	}
	if res := r.Send(t.Context(), p); res.Action != Later || res.Reason != "TooManyRequests" {
		t.Errorf("a second one at once: %+v", res)
	}
	if rec := r.box.Records(0)[0]; rec.Channel != id || rec.Priority != 5 || rec.Expiration != p.Expiration.Unix() {
		t.Errorf("arrived as %+v", rec)
	}
	if res := r.DeleteChannel(t.Context(), id); res.Action != Accepted {
		t.Errorf("delete: %+v", res)
	}
	if res := r.DeleteChannel(t.Context(), id); res.Action != Gone {
		t.Errorf("delete again: %+v", res)
	}
	r.pass()
	if res := r.Send(t.Context(), p); res.Action != Gone {
		t.Errorf("to a channel that is gone: %+v", res)
	}
	r.box.Script(sandbox.ManageToken, 1, sandbox.Reply{Status: 400, Reason: "CannotCreateChannelConfig"})
	if id, res := r.CreateChannel(t.Context()); id != "" || res.Action != Later || !res.Alarm {
		t.Errorf("too many: %q %+v", id, res)
	}
}

func TestManageHost(t *testing.T) {
	for host, want := range map[string]string{
		HostProduction:           "https://api-manage-broadcast.push.apple.com:2196",
		HostDevelopment + ":443": "https://api-manage-broadcast.sandbox.push.apple.com:2195",
		"https://127.0.0.1:1":    "https://127.0.0.1:1",
	} {
		if got := manageHost(host); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

// A token of an app in development goes to the other host, which is the only one that knows it.
func TestTwoHosts(t *testing.T) {
	r := newRig(t, nil)
	account := r.box.Account()
	other, stop, err := sandbox.Start(sandbox.Config{Clock: r.clk, Key: account.Key, CAKey: account.CAKey, Seed: "development"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	p, err := other.AddPhone(sandbox.Phone{Name: "Dev", DeviceID: "d2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{
		Host: r.box.URL(), DevelopmentHost: other.URL(), BundleID: account.BundleID, TeamID: account.TeamID, KeyID: account.KeyID,
		Key: account.Key, RootCAs: account.RootCAs,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, tc := range []struct {
		token       string
		development bool
		want        Action
	}{
		{r.phone.DeviceToken, false, Accepted}, {p.DeviceToken, true, Accepted},
		{p.DeviceToken, false, Suspend}, {r.phone.DeviceToken, true, Suspend},
	} {
		r.pass()
		push := r.push()
		push.Token, push.Development = tc.token, tc.development
		if res := c.Send(t.Context(), push); res.Action != tc.want {
			t.Errorf("development %v: %+v", tc.development, res)
		}
	}
}
