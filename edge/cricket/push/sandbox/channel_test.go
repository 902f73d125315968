package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/wait"
)

// newChannel makes a channel and returns its id.
func (r *rig) newChannel() string {
	r.t.Helper()
	a := r.do(r.manage(http.MethodPost, "channels", `{"push-type":"LiveActivity","message-storage-policy":1}`))
	if a.status != http.StatusCreated {
		r.t.Fatalf("answer %+v", a)
	}
	views := r.Channels()
	return views[len(views)-1].ID
}

func (r *rig) manage(method, what, body string) *push {
	return &push{
		method: method, path: "/1/apps/" + r.cfg.BundleID + "/" + what, body: []byte(body),
		header: http.Header{"Authorization": {r.goodBearer()}},
	}
}

func (r *rig) newBroadcast(channel, body string) *push {
	p := r.newPush("", body)
	p.path = "/4/broadcasts/apps/" + r.cfg.BundleID
	p.header.Del("Apns-Topic")
	p.header.Set("Apns-Channel-Id", channel)
	return p
}

// TestBroadcast reaches the phones that were started on the channel, and only those whose system knows channels.
func TestBroadcast(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	id := r.newChannel()
	var phones []Phone
	for i, system := range []string{"18.0", "26.1", "17.6", ""} {
		p, err := r.AddPhone(Phone{Name: "iOS " + system, DeviceID: fmt.Sprint("x", i), System: system}, nil)
		if err != nil {
			t.Fatal(err)
		}
		phones = append(phones, p)
		body := strings.Replace(startBody(r.clk.Now()), `"event":"start"`, `"event":"start","input-push-channel":"`+id+`"`, 1)
		r.accepted(r.newPush(p.PushToStartToken, body))
	}
	if v := r.Channels(); v[0].Listeners != 2 {
		t.Fatalf("%+v", v)
	}
	r.pass(time.Second)
	r.accepted(r.newBroadcast(id, updateBody(r.clk.Now(), "update", `,"alert":{"title":"Wicket","body":"x"}`)))
	for i, p := range phones {
		v := r.Phones()[i+1]
		if got := len(v.Alerts) == 2; got != (i < 2) {
			t.Errorf("%q: alerts %+v", p.System, v.Alerts)
		}
	}
	if a := r.do(r.newBroadcast(id, updateBody(r.clk.Now(), "update", ""))); a.status != 429 {
		t.Errorf("a second one at once: %+v", a)
	}
	r.pass(time.Second)
	r.accepted(r.newBroadcast(id, updateBody(r.clk.Now(), "end", "")))
	if v := r.Channels(); v[0].Listeners != 0 {
		t.Errorf("after the end %+v", v)
	}
}

// TestBroadcastRefused covers every rule of broadcasts and channels.
func TestBroadcastRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	id := r.newChannel()
	for _, tc := range []struct {
		name   string
		change func(p *push)
		status int
		reason string
	}{
		{"id is not a UUID", func(p *push) { p.header.Set("Apns-Request-Id", "x") }, 400, "BadMessageId"},
		{"GET", func(p *push) { p.method, p.body = http.MethodGet, nil }, 405, "MethodNotAllowed"},
		{"another app", func(p *push) { p.path = "/4/broadcasts/apps/com.other" }, 400, "TopicDisallowed"},
		{"priority", func(p *push) { p.header.Set("Apns-Priority", "7") }, 400, "BadPriority"},
		{"expiration", func(p *push) { p.header.Set("Apns-Expiration", "x") }, 400, "BadExpirationDate"},
		{"no push type", func(p *push) { p.header.Del("Apns-Push-Type") }, 400, "MissingPushType"},
		{"push type", func(p *push) { p.header.Set("Apns-Push-Type", "alert") }, 400, "InvalidPushType"},
		{"no channel", func(p *push) { p.header.Del("Apns-Channel-Id") }, 400, "MissingChannelId"},
		{"no id of a channel", func(p *push) { p.header.Set("Apns-Channel-Id", "%") }, 400, "BadChannelId"},
		{"unknown channel", func(p *push) { p.header.Set("Apns-Channel-Id", "AAAA") }, 400, "ChannelNotRegistered"},
		{"no bearer", func(p *push) { p.header.Del("Authorization") }, 403, "MissingProviderToken"},
		{"empty", func(p *push) { p.body = nil }, 400, "PayloadEmpty"},
		{"large", func(p *push) { p.body = make([]byte, maxPayload+1) }, 413, "PayloadTooLarge"},
	} {
		p := r.newBroadcast(id, updateBody(r.clk.Now(), "update", ""))
		tc.change(p)
		if a := r.do(p); a.status != tc.status || a.reason != tc.reason {
			t.Errorf("%s: %+v", tc.name, a)
		}
	}
	for _, tc := range []struct {
		p      *push
		status int
		reason string
	}{
		{r.manage(http.MethodPost, "channels", ``), 400, "PayloadEmpty"},
		{r.manage(http.MethodPost, "channels", `{"push-type":"LiveActivity"}`), 400, "BadRequest"},
		{r.manage(http.MethodPost, "channels", `{"message-storage-policy":0}`), 400, "MissingPushType"},
		{r.manage(http.MethodPost, "channels", `{"push-type":"x","message-storage-policy":0}`), 400, "InvalidPushType"},
		{r.manage(http.MethodDelete, "channels", ``), 400, "MissingChannelId"},
		{r.manage(http.MethodPut, "channels", ``), 405, "MethodNotAllowed"},
		{r.manage(http.MethodGet, "others", ``), 404, "BadPath"},
		{r.manage(http.MethodGet, "all-channels", ``), 200, ""},
	} {
		if a := r.do(tc.p); a.status != tc.status || a.reason != tc.reason {
			t.Errorf("%s %s: %+v", tc.p.method, tc.p.path, a)
		}
	}
	del := r.manage(http.MethodDelete, "channels", "")
	del.header.Set("Apns-Channel-Id", id)
	if a := r.do(del); a.status != http.StatusNoContent || len(r.Channels()) != 0 {
		t.Errorf("delete: %+v", a)
	}
}

// TestSettings tells a client one stream at first, more after its first valid provider token, and fewer on demand; the
// server below never learns of it.
func TestSettings(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Streams: 50})
	var w *conn // the first one: a client whose limit is low opens others
	look := func() (announced, allowed uint32) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.announced, w.allowed
	}
	p := r.newPush(r.phone.PushToStartToken, startBody(r.clk.Now()))
	bad := *p
	bad.header = p.header.Clone()
	bad.header.Set("Authorization", "bearer x.y.z")
	if a := r.do(&bad); a.reason != "InvalidProviderToken" {
		t.Fatalf("%+v", a)
	}
	w = r.openConns()[0]
	if announced, _ := look(); announced != 1 {
		t.Errorf("%d streams before a valid provider token", announced)
	}
	r.accepted(p)
	if announced, _ := look(); announced != 50 {
		t.Errorf("%d streams after one", announced)
	}
	r.pass(time.Second)
	token := r.began[0].UpdateToken
	r.Script(token, 1, Reply{Streams: 1})
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", "")))
	if announced, _ := look(); announced != 1 {
		t.Errorf("%d streams after the script's reply", announced)
	}
	r.pass(time.Second)
	wait.Until(t, "the client acknowledges", func() bool { _, allowed := look(); return allowed == 1 })
	r.GoAway()
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", "")))
	if n, beyond := r.Connections(), r.StreamsBeyond(); n < 2 || beyond != 0 {
		t.Errorf("%d connections, %d streams beyond the limit", n, beyond)
	}
}

// TestLenient takes any app's tokens and states.
func TestLenient(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{Lenient: true})
	token := strings.Repeat("cd", 32)
	body := fmt.Sprintf(`{"aps":{"timestamp":%d,"event":"update","content-state":{"goals":3}}}`, r.clk.Now().Unix())
	r.accepted(r.newPush(token, body))
	v := r.Phones()[1]
	if len(v.Activities) != 1 || string(v.Activities[0].State) != `{"goals":3}` || v.Ignored != 0 {
		t.Errorf("%+v", v)
	}
}
