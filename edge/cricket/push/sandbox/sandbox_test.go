package sandbox

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"go.uber.org/goleak"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2019, 7, 14, 9, 30, 0, 0, time.UTC)

// rig is a running sandbox with one phone and a bare HTTP/2 client.
type rig struct {
	*Sandbox
	t      testing.TB
	clk    *clock.Stepped
	client *http.Client
	url    string
	phone  Phone
	began  []Activity
	issued time.Time // the good provider token: one that is new every minute is refused as too many
}

func newRig(t testing.TB, cfg Config) *rig {
	t.Helper()
	r := &rig{t: t, clk: clock.NewStepped(start)}
	cfg.Clock = r.clk
	cfg.Seed = "test"
	var err error
	if r.Sandbox, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	r.issued = r.cfg.wall()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	r.url = r.URL()
	transport := &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: r.roots},
	}
	r.client = &http.Client{Transport: transport, Timeout: time.Minute}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	r.phone, err = r.AddPhone(Phone{Name: "Ada", Model: "iPhone 15", UserID: "u1", DeviceID: "d1"},
		func(_ context.Context, _ Phone, a Activity) error {
			r.began = append(r.began, a)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pass lets time go by.
func (r *rig) pass(d time.Duration) {
	if err := r.clk.Wait(r.t.Context(), r.clk.Now().Add(d), nil); err != nil {
		r.t.Fatal(err)
	}
}

// bearer signs a provider token.
func (r *rig) bearer(keyID, team string, key *ecdsa.PrivateKey, iat time.Time) string {
	t := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iss": team, "iat": iat.Unix()})
	t.Header["kid"] = keyID
	signed, err := t.SignedString(key)
	if err != nil {
		r.t.Fatal(err)
	}
	return "bearer " + signed
}

func (r *rig) goodBearer() string {
	return r.bearer(r.cfg.KeyID, r.cfg.TeamID, r.key, r.issued)
}

// push is a request of a test.
type push struct {
	method, path string
	header       http.Header
	body         []byte
}

func (r *rig) newPush(token string, body string) *push {
	return &push{
		method: http.MethodPost, path: "/3/device/" + token, body: []byte(body),
		header: http.Header{
			"Apns-Topic": {r.cfg.BundleID + liveActivitySuffix}, "Apns-Push-Type": {"liveactivity"},
			"Apns-Priority": {"10"}, "Authorization": {r.goodBearer()},
			"Apns-Expiration": {fmt.Sprint(r.clk.Now().Unix() + 60)},
		},
	}
}

type answer struct {
	status    int
	reason    string
	timestamp int64
	id        string
}

func (r *rig) do(p *push) answer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), p.method, r.url+p.path, bytes.NewReader(p.body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header = p.header
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.ProtoMajor != 2 {
		r.t.Errorf("HTTP/%d, want HTTP/2", res.ProtoMajor)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	var a struct {
		Reason    string
		Timestamp int64
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &a); err != nil {
			r.t.Errorf("body %q: %v", body, err)
		}
	}
	return answer{res.StatusCode, a.Reason, a.Timestamp, res.Header.Get("Apns-Id")}
}

// accepted sends a push that must be answered with 200.
func (r *rig) accepted(p *push) {
	r.t.Helper()
	if a := r.do(p); a.status != http.StatusOK {
		r.t.Fatalf("answer %+v", a)
	}
}

func (r *rig) view() PhoneView { return r.Phones()[0] }

const goodState = `{"phase":"live","status":"1st Innings","teams":[
 {"id":1,"code":"NZ","runs":3,"wickets":0,"overs":"0.2","batting":true,"batted":true},
 {"id":2,"code":"ENG","runs":0,"wickets":0,"overs":"0.0","batting":false,"batted":false}],
 "batters":[{"name":"Guptill","runs":3,"balls":2,"onStrike":true}],"lastBalls":["1","2"],"updatedAt":585822600.5}`

func startBody(at time.Time) string {
	return fmt.Sprintf(`{"aps":{"timestamp":%d,"event":"start","content-state":%s,"attributes-type":"MatchAttributes",
 "attributes":{"matchId":"7","league":"World Cup","teams":[{"id":1,"code":"NZ","name":"New Zealand"}]},
 "alert":{"title":"NZ v ENG","body":"It has begun"}}}`, at.Unix(), goodState)
}

func updateBody(at time.Time, event, more string) string {
	return fmt.Sprintf(`{"aps":{"timestamp":%d,"event":%q,"content-state":%s%s}}`, at.Unix(), event, goodState, more)
}

// begin starts a Live Activity and returns its update token.
func (r *rig) begin() string {
	r.t.Helper()
	r.accepted(r.newPush(r.phone.PushToStartToken, startBody(r.clk.Now())))
	if len(r.began) == 0 {
		r.t.Fatalf("the app was not called: %+v", r.view())
	}
	r.pass(time.Second)
	return r.began[len(r.began)-1].UpdateToken
}

// TestValidation breaks one rule a row.
func TestValidation(t *testing.T) {
	t.Parallel()
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, tc := range []struct {
		name   string
		change func(r *rig, p *push)
		status int
		reason string
	}{
		{"as it should be", func(*rig, *push) {}, 200, ""},
		{"id is not a UUID", func(_ *rig, p *push) { p.header.Set("Apns-Id", "seven") }, 400, "BadMessageId"},
		{"GET", func(_ *rig, p *push) { p.method, p.body = http.MethodGet, nil }, 405, "MethodNotAllowed"},
		{"two topics", func(_ *rig, p *push) { p.header.Add("Apns-Topic", "x") }, 400, "DuplicateHeaders"},
		{"no topic", func(_ *rig, p *push) { p.header.Del("Apns-Topic") }, 400, "MissingTopic"},
		{"malformed topic", func(_ *rig, p *push) { p.header.Set("Apns-Topic", "a b") }, 400, "BadTopic"},
		{"another app's topic", func(_ *rig, p *push) { p.header.Set("Apns-Topic", "com.other") }, 400, "TopicDisallowed"},
		{"topic without suffix", func(r *rig, p *push) { p.header.Set("Apns-Topic", r.cfg.BundleID) }, 400, "BadTopic"},
		{"suffix on an alert", func(_ *rig, p *push) { p.header.Set("Apns-Push-Type", "alert") }, 400, "BadTopic"},
		{"long collapse id", func(_ *rig, p *push) { p.header.Set("Apns-Collapse-Id", strings.Repeat("x", 65)) }, 400, "BadCollapseId"},
		{"longest collapse id", func(_ *rig, p *push) { p.header.Set("Apns-Collapse-Id", strings.Repeat("x", 64)) }, 200, ""},
		{"priority 7", func(_ *rig, p *push) { p.header.Set("Apns-Priority", "7") }, 400, "BadPriority"},
		{"priority 1", func(_ *rig, p *push) { p.header.Set("Apns-Priority", "1") }, 200, ""},
		{"expiration is not a number", func(_ *rig, p *push) { p.header.Set("Apns-Expiration", "soon") }, 400, "BadExpirationDate"},
		{"no push type", func(_ *rig, p *push) { p.header.Del("Apns-Push-Type") }, 400, "InvalidPushType"},
		{"unknown push type", func(_ *rig, p *push) { p.header.Set("Apns-Push-Type", "x") }, 400, "InvalidPushType"},
		{"other path", func(_ *rig, p *push) { p.path = "/4/broadcasts" }, 404, "BadPath"},
		{"no token", func(_ *rig, p *push) { p.path = "/3/device/" }, 400, "MissingDeviceToken"},
		{"token is not hex", func(_ *rig, p *push) { p.path = "/3/device/" + strings.Repeat("xy", 32) }, 400, "BadDeviceToken"},
		{"token too short", func(_ *rig, p *push) { p.path = "/3/device/abcd" }, 400, "BadDeviceToken"},
		{"token never issued", func(_ *rig, p *push) { p.path = "/3/device/" + strings.Repeat("ab", 32) }, 400, "BadDeviceToken"},
		{"unregistered", func(r *rig, _ *push) { r.Unregister(r.phone.PushToStartToken) }, 410, "Unregistered"},
		{"device token for an activity", func(r *rig, p *push) { p.path = "/3/device/" + r.phone.DeviceToken }, 400, "DeviceTokenNotForTopic"},
		{"no bearer", func(_ *rig, p *push) { p.header.Del("Authorization") }, 403, "MissingProviderToken"},
		{"basic", func(_ *rig, p *push) { p.header.Set("Authorization", "Basic eDp5") }, 403, "MissingProviderToken"},
		{"garbage", func(_ *rig, p *push) { p.header.Set("Authorization", "bearer a.b.c") }, 403, "InvalidProviderToken"},
		{"other key id", func(r *rig, p *push) {
			p.header.Set("Authorization", r.bearer("KEY0000002", r.cfg.TeamID, r.key, now))
		}, 403, "InvalidProviderToken"},
		{"other team", func(r *rig, p *push) {
			p.header.Set("Authorization", r.bearer(r.cfg.KeyID, "TEAM000002", r.key, now))
		}, 403, "InvalidProviderToken"},
		{"other key", func(r *rig, p *push) {
			p.header.Set("Authorization", r.bearer(r.cfg.KeyID, r.cfg.TeamID, stranger, now))
		}, 403, "InvalidProviderToken"},
		{"from the future", func(r *rig, p *push) {
			p.header.Set("Authorization", r.bearer(r.cfg.KeyID, r.cfg.TeamID, r.key, now.Add(5*time.Minute)))
		}, 403, "InvalidProviderToken"},
		{"an hour old", func(r *rig, p *push) {
			p.header.Set("Authorization", r.bearer(r.cfg.KeyID, r.cfg.TeamID, r.key, now.Add(-61*time.Minute)))
		}, 403, "ExpiredProviderToken"},
		{"second token too soon", func(r *rig, p *push) {
			p.header.Set("Authorization", r.bearer(r.cfg.KeyID, r.cfg.TeamID, r.key, now.Add(-30*time.Minute)))
			r.accepted(p)
			p.header.Set("Authorization", r.bearer(r.cfg.KeyID, r.cfg.TeamID, r.key, now.Add(-11*time.Minute)))
		}, 429, "TooManyProviderTokenUpdates"},
		{"second token in time", func(r *rig, p *push) {
			p.header.Set("Authorization", r.bearer(r.cfg.KeyID, r.cfg.TeamID, r.key, now.Add(-30*time.Minute)))
			r.accepted(p)
			r.pass(time.Second)
			p.header.Set("Authorization", r.bearer(r.cfg.KeyID, r.cfg.TeamID, r.key, now.Add(-9*time.Minute)))
		}, 200, ""},
		{"empty", func(_ *rig, p *push) { p.body = nil }, 400, "PayloadEmpty"},
		{"4096 bytes", func(_ *rig, p *push) { p.body = bytes.Repeat([]byte("x"), 4096) }, 200, ""},
		{"4097 bytes", func(_ *rig, p *push) { p.body = bytes.Repeat([]byte("x"), 4097) }, 413, "PayloadTooLarge"},
		{"twice in a second", func(r *rig, p *push) {
			r.accepted(p)
			r.pass(999 * time.Millisecond)
		}, 429, "TooManyRequests"},
		{"twice in two seconds", func(r *rig, p *push) {
			r.accepted(p)
			r.pass(time.Second)
		}, 200, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{})
			p := r.newPush(r.phone.PushToStartToken, startBody(r.clk.Now()))
			tc.change(r, p)
			got := r.do(p)
			if got.status != tc.status || got.reason != tc.reason {
				t.Errorf("answer %d %q, want %d %q", got.status, got.reason, tc.status, tc.reason)
			}
			if uuid.Validate(got.id) != nil {
				t.Errorf("apns-id %q", got.id)
			}
			if (got.timestamp != 0) != (tc.status == 410) {
				t.Errorf("timestamp %d with %d", got.timestamp, got.status)
			}
		})
	}
}

// TestOrder sends pushes that break two rules: the earlier one is the answer.
func TestOrder(t *testing.T) {
	t.Parallel()
	breaks := []struct {
		reason string
		change func(p *push)
	}{
		{"BadMessageId", func(p *push) { p.header.Set("Apns-Id", "x") }},
		{"MethodNotAllowed", func(p *push) { p.method = http.MethodPut }},
		{"MissingTopic", func(p *push) { p.header.Del("Apns-Topic") }},
		{"BadCollapseId", func(p *push) { p.header.Set("Apns-Collapse-Id", strings.Repeat("x", 65)) }},
		{"BadPriority", func(p *push) { p.header.Set("Apns-Priority", "11") }},
		{"InvalidPushType", func(p *push) { p.header.Set("Apns-Push-Type", "x") }},
		{"BadDeviceToken", func(p *push) { p.path = "/3/device/short" }},
		{"MissingProviderToken", func(p *push) { p.header.Del("Authorization") }},
		{"PayloadEmpty", func(p *push) { p.body = nil }},
	}
	r := newRig(t, Config{})
	for i := range breaks {
		for j := i + 1; j < len(breaks); j++ {
			p := r.newPush(r.phone.PushToStartToken, "{}")
			breaks[i].change(p)
			breaks[j].change(p)
			if got := r.do(p).reason; got != breaks[i].reason {
				t.Errorf("%s and %s: %s", breaks[i].reason, breaks[j].reason, got)
			}
		}
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	token := r.begin()
	r.Script(token, 1, Reply{Status: 503, Reason: "ServiceUnavailable", RetryAfter: "7"})
	r.Script(token, 2, Reply{Status: 502, Body: `"a gateway"`})
	r.Script(token, 4, Reply{Delay: 10 * time.Millisecond})
	body := func() string { return updateBody(r.clk.Now(), "update", "") }
	if a := r.do(r.newPush(token, body())); a.status != 503 || a.reason != "ServiceUnavailable" {
		t.Errorf("first: %+v", a)
	}
	p := r.newPush(token, body())
	req, _ := http.NewRequestWithContext(t.Context(), p.method, r.url+p.path, bytes.NewReader(p.body))
	req.Header = p.header
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != 502 || string(got) != `"a gateway"` {
		t.Errorf("second: %d %q", res.StatusCode, got)
	}
	r.accepted(r.newPush(token, body()))
	r.pass(time.Second)
	r.accepted(r.newPush(token, body()))

	r.Script("", 1, Reply{Reset: true})
	p = r.newPush(token, body())
	req, _ = http.NewRequestWithContext(t.Context(), p.method, r.url+p.path, bytes.NewReader(p.body))
	req.Header = p.header
	if res, err := r.client.Do(req); err == nil {
		_ = res.Body.Close()
		t.Error("the stream was not reset")
	}
	counts := r.Counts()
	if counts["200"] != 3 || counts["503 ServiceUnavailable"] != 1 || counts["502"] != 1 {
		t.Errorf("counts %v", counts)
	}
	if recs := r.Records(1); len(recs) != 4 || recs[0].Seq != 2 || recs[3].Shown != "shown" {
		t.Errorf("records %+v", recs)
	}
	if len(r.Records(0)[0].Token) != 6 {
		t.Error("a record shows a whole token")
	}
}

func TestGoAway(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	token := r.begin()
	r.Script(token, 1, Reply{GoAway: true})
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", "")))
	r.pass(time.Second)
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", "")))
	if n := r.Connections(); n != 2 {
		t.Errorf("%d connections, want a second one after GOAWAY", n)
	}
}
