package dynamo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// write is an ordinary put.
func write(t testing.TB, c *Client) *intent.Error {
	t.Helper()
	_, err := c.Write(t.Context(), intent.Call{Op: store.OpPut, Table: "events", Item: item("a")})
	e, ok := errors.AsType[*intent.Error](err)
	if err != nil && !ok {
		t.Fatalf("not sorted: %v", err)
	}
	return e
}

// failure is the content of an error of this package.
func failure(t testing.TB, err error) *CallError {
	t.Helper()
	f, ok := errors.AsType[*CallError](err)
	if !ok {
		t.Fatalf("no failure in %v", err)
	}
	return f
}

// Every spelling of every answer gets its class in the protocol.
func TestCodes(t *testing.T) {
	tests := []struct {
		code, message string
		want          intent.Class
	}{
		{"ConditionalCheckFailedException", "The conditional request failed", intent.ConditionFailed},
		{"TransactionInProgressException", "", intent.Unknown},
		{"IdempotentParameterMismatchException", "", intent.Unknown},
		{"SomethingNewException", "nobody knows", intent.Unknown},
		{"UnknownOperationException", "", intent.Unknown},
		{"ProvisionedThroughputExceededException", "", intent.Throttled},
		{"ThrottlingException", "Rate exceeded", intent.Throttled},
		{"Throttling", "", intent.Throttled},
		{"ThrottledException", "", intent.Throttled},
		{"ThrottlingError", "", intent.Throttled},
		{"RequestLimitExceeded", "", intent.Throttled},
		{"RequestThrottled", "", intent.Throttled},
		{"RequestThrottledException", "", intent.Throttled},
		{"TooManyRequestsException", "", intent.Throttled},
		{"LimitExceededException", "", intent.Throttled},
		{"SlowDown", "", intent.Throttled},
		{"TransactionConflictException", "", intent.Throttled},
		{"ReplicatedWriteConflictException", "", intent.Throttled},
		{"ResourceInUseException", "", intent.Throttled},
		{"ExpiredTokenException", "The security token included in the request is expired", intent.Credentials},
		{"ExpiredToken", "", intent.Credentials},
		{"UnrecognizedClientException", "", intent.Credentials},
		{"InvalidSignatureException", "", intent.Credentials},
		{"SignatureDoesNotMatch", "", intent.Credentials},
		{"IncompleteSignatureException", "", intent.Credentials},
		{"MissingAuthenticationTokenException", "", intent.Credentials},
		{"MissingAuthenticationToken", "", intent.Credentials},
		{"InvalidClientTokenId", "", intent.Credentials},
		{"RequestTimeTooSkewed", "", intent.Credentials},
		{"RequestExpired", "", intent.Credentials},
		{"ValidationException", "The provided key element does not match the schema", intent.Validation},
		{"ValidationError", "", intent.Validation},
		{"SerializationException", "", intent.Validation},
		{"ValidationException", "Item size has exceeded the maximum allowed size", intent.TooLarge},
		{"ValidationException", "Item size to update has exceeded the maximum allowed size", intent.TooLarge},
		{"ItemCollectionSizeLimitExceededException", "", intent.TooLarge},
		{"ResourceNotFoundException", "Requested resource not found", intent.NoTable},
		{"AccessDeniedException", "", intent.Denied},
	}
	for _, tt := range tests {
		t.Run(tt.code+" "+tt.message, func(t *testing.T) {
			s := serve(t, refuse(tt.code, tt.message))
			e := write(t, client(t, s.URL))
			if e == nil || e.Class != tt.want {
				t.Errorf("%v, want %v", e, tt.want)
			}
			if n := s.asked.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
			if f := failure(t, e); f.Code != tt.code || f.Message != tt.message || f.RequestID != "REQ1" || f.Offline() {
				t.Errorf("%+v", f)
			}
		})
	}
}

// A server error, with or without a DynamoDB body, says nothing about the call, and the request is sent once.
func TestServerErrors(t *testing.T) {
	bodies := map[string]http.HandlerFunc{
		"500":  amazon(500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"x"}`),
		"503":  amazon(503, `{"__type":"com.amazon.coral.availability#ServiceUnavailableException"}`),
		"html": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502); fmt.Fprint(w, "<html>Bad Gateway") },
		"none": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(504) },
	}
	for name, answer := range bodies {
		t.Run(name, func(t *testing.T) {
			s := serve(t, answer)
			if e := write(t, client(t, s.URL)); e == nil || e.Class != intent.Unknown || failure(t, e).Status < 500 {
				t.Errorf("%v", e)
			}
			if n := s.asked.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// A captive portal is never trusted, whatever it answers, and the connection counts as lost.
func TestPortal(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"200": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>Welcome to the stadium")
		},
		"200 empty": func(http.ResponseWriter, *http.Request) {},
		"redirect":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
		"redirect of json": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", "/login")
			w.WriteHeader(307)
			fmt.Fprint(w, "{}")
		},
		"511": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(511); fmt.Fprint(w, "log in") },
		"403": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403); fmt.Fprint(w, "no") },
		"407": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(407) },
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			s := serve(t, answer)
			c := client(t, s.URL)
			e := write(t, c)
			if e == nil || e.Class != intent.Unknown || !failure(t, e).Offline() || !errors.Is(e, errStranger) {
				t.Errorf("%v", e)
			}
			if n := s.asked.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
			if c.Skew() != 0 {
				t.Error("the portal's clock counts")
			}
		})
	}
}

// AWS's own servers send a request id with every answer; an answer without one is from something else.
func TestPortalThatSpeaksJSON(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
	})
	c := client(t, s.URL)
	if e := write(t, c); e != nil {
		t.Errorf("a server other than AWS: %v", e)
	}
	c.http.official = true
	if e := write(t, c); e == nil || e.Class != intent.Unknown || !errors.Is(e, errStranger) {
		t.Errorf("AWS: %v", e)
	}
}

func TestHalfOpen(t *testing.T) {
	keys(t)
	synctest.Test(t, func(t *testing.T) {
		const limit = 10 * time.Second
		c := client(t, "http://cloud", piped(silent), deadline(limit))
		began := time.Now()
		e := write(t, c)
		if e == nil || e.Class != intent.Unknown || !failure(t, e).Offline() {
			t.Errorf("%v", e)
		}
		if took := time.Since(began); took > limit {
			t.Errorf("it took %v", took)
		}
	})
}

// The answer's header comes at once and the rest does not: the deadline covers all of it.
func TestSlowBody(t *testing.T) {
	keys(t)
	synctest.Test(t, func(t *testing.T) {
		const limit = 10 * time.Second
		slow := piped(func(c net.Conn) {
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 100\r\n\r\n{")
			silent(c)
		})
		began := time.Now()
		e := write(t, client(t, "http://cloud", slow, deadline(limit)))
		if e == nil || e.Class != intent.Unknown || !failure(t, e).Offline() || time.Since(began) != limit {
			t.Errorf("%v after %v", e, time.Since(began))
		}
	})
}

func TestBrokenAnswers(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 100\r\n\r\n"
	tests := map[string]string{
		"closed at once":    "",
		"closed mid-head":   "HTTP/1.1 200 OK\r\nContent-Ty",
		"closed mid-body":   head + `{"Attributes":{"pk":{"S":"a"`,
		"no JSON":           strings.Replace(head, "100", "5", 1) + "<html",
		"not HTTP":          "SSH-2.0-OpenSSH_9\r\n\r\n",
		"an attribute gone": strings.Replace(head, "100", "30", 1) + `{"Attributes":{"n":{"N":"x"}}} `,
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			url := tcp(t, func(c net.Conn) {
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				fmt.Fprint(c, answer)
			})
			_, err := client(t, url).Write(t.Context(), intent.Call{
				Op: store.OpUpdate, Table: "events", Key: item("a"), Update: "SET x = :x",
			})
			if e, ok := errors.AsType[*intent.Error](err); !ok || e.Class != intent.Unknown {
				t.Errorf("%v", err)
			}
		})
	}
}

// A body whose checksum is wrong was changed on the way.
func TestChecksum(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Crc32", "1")
		amazon(200, `{"Item":{"pk":{"S":"a"}}}`)(w, nil)
	})
	_, err := client(t, s.URL).Get(t.Context(), "events", item("a"))
	if e, ok := errors.AsType[*intent.Error](err); !ok || e.Class != intent.Unknown {
		t.Errorf("%v", err)
	}
}

// A request that never left is Offline, however it failed.
func TestOffline(t *testing.T) {
	refused := tcp(t, func(net.Conn) {})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	plain := serve(t, amazon(200, "{}"))
	trusted := httptest.NewTLSServer(amazon(200, "{}"))
	defer trusted.Close()
	trusted.Config.ErrorLog = nil
	dial := func(err error) func(*Config) {
		return func(c *Config) {
			c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, err }
		}
	}
	tests := []struct {
		name, url string
		options   []func(*Config)
	}{
		{"refused", closed, nil},
		{"no TLS there", strings.Replace(plain.URL, "http:", "https:", 1), nil},
		{"unknown certificate", trusted.URL, nil},
		{"no name", refused, []func(*Config){dial(&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true})}},
		{"no answer of DNS", refused, []func(*Config){dial(&net.DNSError{Err: "no answer", Name: "x", IsTimeout: true})}},
		{"black hole", refused, []func(*Config){deadline(200 * time.Millisecond), func(c *Config) {
			c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		}}},
		{"dead before the first byte", refused, []func(*Config){func(c *Config) {
			c.Dial = func(context.Context, string, string) (net.Conn, error) { return brokenConn{}, nil }
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			e := write(t, client(t, tt.url, tt.options...))
			if e == nil || e.Class != intent.Offline || !failure(t, e).Offline() {
				t.Errorf("%v", e)
			}
			if took := time.Since(began); took > 30*time.Second { // half of the client's deadline
				t.Errorf("it took %v", took)
			}
		})
	}
}

// brokenConn cannot be written to any more.
type brokenConn struct{ net.Conn }

func (brokenConn) Write([]byte) (int, error)        { return 0, io.ErrClosedPipe }
func (brokenConn) Read([]byte) (int, error)         { select {} }
func (brokenConn) Close() error                     { return nil }
func (brokenConn) SetDeadline(time.Time) error      { return nil }
func (brokenConn) SetReadDeadline(time.Time) error  { return nil }
func (brokenConn) SetWriteDeadline(time.Time) error { return nil }
func (brokenConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (brokenConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// If no answer comes in time the call is unknown, whether the caller's deadline ended or ours.
func TestCallersDeadline(t *testing.T) {
	keys(t)
	synctest.Test(t, func(t *testing.T) {
		c := client(t, "http://cloud", piped(silent))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Get(ctx, "events", item("a"))
		e, ok := errors.AsType[*intent.Error](err)
		if !ok || e.Class != intent.Unknown || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// A caller that gives up says nothing about the connection or the keys, whether it gave up before the request was made or while
// connecting.
func TestCallerGivesUp(t *testing.T) {
	url := tcp(t, func(net.Conn) {})
	for name, early := range map[string]bool{"before it was signed": true, "while dialing": false} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := client(t, url, func(c *Config) {
				c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
					cancel()
					<-ctx.Done()
					return nil, ctx.Err()
				}
			})
			renewed := 0
			c.renew = func() { renewed++ }
			if early {
				cancel()
			}
			_, err := c.Get(ctx, "events", item("a"))
			e, ok := errors.AsType[*intent.Error](err)
			if !ok || e.Class != intent.Unknown || failure(t, err).Offline() || !errors.Is(err, context.Canceled) || renewed != 0 {
				t.Errorf("%v, renewed %d times", err, renewed)
			}
		})
	}
}

// After an outage the same client works at once: no token bucket was emptied, and no dead connection is used again.
func TestAfterAnOutage(t *testing.T) {
	t.Setenv("AWS_RETRY_MODE", "adaptive")
	t.Setenv("AWS_MAX_ATTEMPTS", "7")
	t.Setenv("AWS_NEW_RETRIES_2026", "true")
	var up atomic.Bool
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			amazon(500, `{"__type":"InternalServerError"}`)(w, r)
			return
		}
		amazon(200, "{}")(w, r)
	})
	c := client(t, s.URL)
	const calls = 600 // the SDK's bucket holds 500
	began := time.Now()
	for range calls {
		if e := write(t, c); e == nil || e.Class != intent.Unknown {
			t.Fatalf("%v", e)
		}
	}
	up.Store(true)
	if e := write(t, c); e != nil {
		t.Errorf("%v", e)
	}
	if n := s.asked.Load(); n != calls+1 {
		t.Errorf("%d requests for %d calls", n, calls+1)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %v", took)
	}
}

// AWS quotes the session token in its explanation of a wrong signature. It goes no further.
func TestSecretsStayOut(t *testing.T) {
	const explained = "The request signature we calculated does not match the signature you provided. The Canonical String " +
		"for this request should have been 'POST\n/\n\nhost:x\nx-amz-security-token:token-of-the-test\n'"
	s := serve(t, refuse("InvalidSignatureException", explained))
	var log bytes.Buffer
	c := client(t, strings.Replace(s.URL, "http://", "http://user:password-of-the-test@", 1), logTo(slog.New(slog.NewTextHandler(&log, nil))))
	e := write(t, c)
	if e == nil || e.Class != intent.Credentials {
		t.Fatalf("%v", e)
	}
	s.Close()
	gone := write(t, c)
	all := fmt.Sprintf("%v %+v %#v %v %s %s", e, e, failure(t, e), gone, log.String(), c.Endpoint())
	for _, secret := range []string{"of-the-test", "AKIDEXAMPLE"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in %s", secret, all)
		}
	}
	if !strings.Contains(log.String(), s.Listener.Addr().String()) {
		t.Errorf("the endpoint is not in %s", log.String())
	}
}

func TestTransactionReasons(t *testing.T) {
	s := serve(t, amazon(400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"Transaction cancelled",
		"CancellationReasons":[{"Code":"None"},
		{"Code":"ConditionalCheckFailed","Message":"The conditional request failed","Item":{"pk":{"S":"a"},"n":{"N":"1.50"}}},
		{"Code":"ConditionalCheckFailed"},
		{"Code":"TransactionConflict"},{"Code":"ThrottlingError"},{"Code":"ProvisionedThroughputExceeded"},
		{"Code":"ItemCollectionSizeLimitExceeded"},{"Code":"ValidationError","Message":"a number is missing"},
		{"Code":"ValidationError","Message":"Item size to update has exceeded the maximum allowed size"},
		{"Code":"AccessDenied"},{"Code":"SomethingNew"}]}`))
	err := client(t, s.URL).Transact(t.Context(), []intent.Call{{Op: store.OpPut, Table: "events", Item: item("a")}}, "token")
	e, ok := errors.AsType[*intent.Error](err)
	if !ok || e.Class != intent.Canceled {
		t.Fatalf("%v", err)
	}
	want := []intent.Class{intent.Applied, intent.ConditionFailed, intent.ConditionFailed, intent.Throttled, intent.Throttled,
		intent.Throttled, intent.TooLarge, intent.Validation, intent.TooLarge, intent.Denied, intent.Unknown}
	if len(e.Reasons) != len(want) {
		t.Fatalf("%d reasons", len(e.Reasons))
	}
	for i, w := range want {
		if e.Reasons[i].Class != w {
			t.Errorf("reason %d: %v, want %v", i, e.Reasons[i].Class, w)
		}
	}
	if old := e.Reasons[1].Old; !attr.EqualItems(old, item("a", "n", num("1.5"))) {
		t.Errorf("the conflicting item: %v", old)
	}
	if e.Reasons[2].Old != nil {
		t.Errorf("an item although the condition did not fail: %v", e.Reasons[2].Old)
	}

	s = serve(t, refuse("TransactionCanceledException", "canceled, and nobody knows why"))
	err = client(t, s.URL).Transact(t.Context(), nil, "token")
	if e, ok := errors.AsType[*intent.Error](err); !ok || e.Class != intent.Throttled {
		t.Errorf("without reasons: %v", err)
	}
}

// Callers never see the prefix.
func TestPrefixStaysOut(t *testing.T) {
	s := serve(t, refuse("ResourceNotFoundException", "Requested resource not found: Table: t-events not found"))
	e := write(t, client(t, s.URL))
	if got := failure(t, e).Message; got != "Requested resource not found: Table: events not found" {
		t.Errorf("%q", got)
	}
}

// Missing credentials are reported at once, and only local sources are asked for them.
func TestNoCredentials(t *testing.T) {
	s := serve(t, amazon(200, "{}"))
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_SESSION_TOKEN", "")
	began := time.Now()
	e := write(t, client(t, s.URL))
	if e == nil || e.Class != intent.Credentials || s.asked.Load() != 0 {
		t.Errorf("%v after %d requests", e, s.asked.Load())
	}
	if took := time.Since(began); took > 5*time.Second { // asking EC2's metadata service takes longer
		t.Errorf("it took %v", took)
	}
}
