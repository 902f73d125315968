package cricketapp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// runSandbox runs the sandbox as its command does and returns what it prints.
func runSandbox(t *testing.T, change func(*cricketapp.SandboxConfig)) cricketapp.SandboxReady {
	t.Helper()
	ready := make(chan cricketapp.SandboxReady, 1)
	c := cricketapp.SandboxConfig{
		Listen: "127.0.0.1:0", Control: "127.0.0.1:0", Dir: filepath.Join(t.TempDir(), "apns"), Phones: 1, System: "18.0",
		Strict: true, Log: slog.New(slog.DiscardHandler), Ready: func(r cricketapp.SandboxReady) { ready <- r },
	}
	if change != nil {
		change(&c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- cricketapp.Sandbox(ctx, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("sandbox: %v", err)
		}
	})
	select {
	case r := <-ready:
		return r
	case err := <-done:
		done <- nil
		t.Fatalf("sandbox: %v", err)
		return cricketapp.SandboxReady{}
	}
}

// TestPushTest tests a correct configuration and every wrong one. Each has its own sandbox, because each signs a token, and Apple
// accepts one token per 20 minutes.
func TestPushTest(t *testing.T) {
	rightFor := func(t *testing.T) (cricketapp.PushTestConfig, cricketapp.SandboxReady) {
		box := runSandbox(t, nil)
		key, err := os.ReadFile(box.Key)
		if err != nil {
			t.Fatal(err)
		}
		return cricketapp.PushTestConfig{CA: box.CA, Push: cricketapp.PushConfig{
			Host: box.URL, BundleID: box.BundleID, TeamID: box.TeamID, KeyID: box.KeyID, Key: string(key),
		}}, box
	}
	for name, tc := range map[string]struct {
		change func(*cricketapp.PushTestConfig, cricketapp.SandboxReady)
		ok     bool
		says   string
	}{
		"a made-up token":   {func(*cricketapp.PushTestConfig, cricketapp.SandboxReady) {}, true, "are right"},
		"a device":          {func(c *cricketapp.PushTestConfig, box cricketapp.SandboxReady) { c.Token = box.Phones[0].DeviceToken }, true, "accepted"},
		"another's device":  {func(c *cricketapp.PushTestConfig, _ cricketapp.SandboxReady) { c.Token = strings.Repeat("ab", 32) }, false, "BadDeviceToken"},
		"the wrong team":    {func(c *cricketapp.PushTestConfig, _ cricketapp.SandboxReady) { c.Push.TeamID = "OTHER00000" }, false, "InvalidProviderToken"},
		"the wrong key id":  {func(c *cricketapp.PushTestConfig, _ cricketapp.SandboxReady) { c.Push.KeyID = "OTHER00000" }, false, "InvalidProviderToken"},
		"the wrong bundle":  {func(c *cricketapp.PushTestConfig, _ cricketapp.SandboxReady) { c.Push.BundleID = "com.other" }, false, "TopicDisallowed"},
		"unknown authority": {func(c *cricketapp.PushTestConfig, _ cricketapp.SandboxReady) { c.CA = "" }, false, "No answer came"},
		"no server":         {func(c *cricketapp.PushTestConfig, _ cricketapp.SandboxReady) { c.Push.Host = "https://127.0.0.1:1" }, false, "No answer came"},
	} {
		t.Run(name, func(t *testing.T) {
			c, box := rightFor(t)
			tc.change(&c, box)
			res, err := cricketapp.PushTest(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if res.OK != tc.ok || !strings.Contains(res.Says, tc.says) || res.OK == (res.Advice != "") {
				t.Errorf("%+v", res)
			}
			if strings.Count(res.Says+res.Advice, "No answer came") > 1 {
				t.Errorf("repeated: %+v", res)
			}
			if text := res.String(); strings.Contains(text, "abab") {
				t.Error(text)
			}
		})
	}
	good, _ := rightFor(t)
	for name, change := range map[string]func(*cricketapp.PushTestConfig){
		"no key":    func(c *cricketapp.PushTestConfig) { c.Push.Key = "" },
		"no team":   func(c *cricketapp.PushTestConfig) { c.Push.TeamID = "" },
		"not a key": func(c *cricketapp.PushTestConfig) { c.Push.Key = "x" },
		"no CA":     func(c *cricketapp.PushTestConfig) { c.CA = "/nowhere" },
	} {
		c := good
		change(&c)
		if _, err := cricketapp.PushTest(t.Context(), c); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// runIn runs a node in dir until the returned function is called. It waits for the node's admin socket.
func runIn(t *testing.T, dir string) (stop func()) {
	t.Helper()
	n, err := node.Open(t.Context(), dir, node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{cricketapp.New()}})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, ln) }()
	wait.Until(t, "the node has an admin socket", func() bool {
		_, err := os.Stat(filepath.Join(dir, "admin.sock"))
		return err == nil
	})
	return func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestPushTestUsesTheNodesToken: tests before, during and after a run of the node use the same provider token. With another data
// directory the token is another, which Apple refuses; the result explains that.
func TestPushTestUsesTheNodesToken(t *testing.T) {
	box := runSandbox(t, nil)
	key, err := os.ReadFile(box.Key)
	if err != nil {
		t.Fatal(err)
	}
	// Provider tokens are dated in whole seconds: another one of the same second would not be newer.
	newSecond := func() {
		at := time.Now().Unix()
		wait.Until(t, "the next second begins", func() bool { return time.Now().Unix() != at })
	}
	dir := filepath.Join(t.TempDir(), "data")
	c := cricketapp.PushTestConfig{Dir: dir, Push: cricketapp.PushConfig{
		Host: box.URL, BundleID: box.BundleID, TeamID: box.TeamID, KeyID: box.KeyID, Key: string(key), CAFile: box.CA,
	}}
	test := func(when string) cricketapp.PushTestResult {
		t.Helper()
		res, err := cricketapp.PushTest(t.Context(), c)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		return res
	}
	for _, when := range []string{"before a node", "again"} {
		if res := test(when); !res.OK || res.Reason != "BadDeviceToken" || res.Note != "" {
			t.Errorf("%s: %+v", when, res)
		}
		newSecond()
	}
	stop := runIn(t, dir)
	if res := test("with the node"); !res.OK || res.Reason != "BadDeviceToken" {
		t.Errorf("with the node: %+v", res)
	}
	stop()
	if res := test("after the node"); !res.OK || res.Reason != "BadDeviceToken" {
		t.Errorf("after the node: %+v", res)
	}
	c.Dir = filepath.Join(t.TempDir(), "elsewhere")
	if res := test("elsewhere"); !res.OK || res.Status != 429 || !strings.Contains(res.Says, "another process") {
		t.Errorf("elsewhere: %+v", res)
	}
	c.Token = box.Phones[0].DeviceToken
	if res := test("elsewhere again"); res.OK || res.Status != 0 || !strings.Contains(res.Says, "20 minutes") {
		t.Errorf("elsewhere again: %+v", res)
	}
	c.Dir = filepath.Join(box.CA, "no", "directory")
	if res := test("nowhere"); res.Status != 429 || !strings.Contains(res.Note, "not kept") {
		t.Errorf("nowhere: %+v", res)
	}
}

// TestSandboxControl controls the sandbox over HTTP, as an app developer does.
func TestSandboxControl(t *testing.T) {
	box := runSandbox(t, func(c *cricketapp.SandboxConfig) { c.Strict = false })
	ask := func(method, path, body string, want int) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, box.Control+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		got, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want {
			t.Errorf("%s %s: %d %s, want %d", method, path, res.StatusCode, got, want)
		}
		return string(got)
	}
	var made struct{ DeviceToken, PushToStartToken string }
	if err := json.Unmarshal([]byte(ask("POST", "/phones", `{"name":"Ada","osVersion":"17.0"}`, 200)), &made); err != nil || len(made.DeviceToken) != 64 {
		t.Errorf("%+v, %v", made, err)
	}
	ask("POST", "/scripts", `{"token":"`+made.DeviceToken+`","n":1,"status":503,"reason":"ServiceUnavailable"}`, 204)
	key, err := os.ReadFile(box.Key)
	if err != nil {
		t.Fatal(err)
	}
	test := cricketapp.PushTestConfig{CA: box.CA, Token: made.DeviceToken, Push: cricketapp.PushConfig{
		Host: box.URL, BundleID: box.BundleID, TeamID: box.TeamID, KeyID: box.KeyID, Key: string(key),
	}}
	for _, want := range []bool{false, true} {
		if res, err := cricketapp.PushTest(t.Context(), test); err != nil || res.OK != want {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if log := ask("GET", "/log.txt", "", 200); !strings.Contains(log, "503 ServiceUnavailable") || !strings.Contains(log, `"Push works."`) {
		t.Errorf("log %s", log)
	}
	if page := ask("GET", "/", "", 200); !strings.Contains(page, "Ada") || !strings.Contains(page, "Push works.") {
		t.Errorf("page %s", page)
	}
	for path, want := range map[string]string{"/log?after=1": `"status":200`, "/phones": made.PushToStartToken, "/counts": `"200":1`, "/channels": `[]`} {
		if got := ask("GET", path, "", 200); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	ask("POST", "/burst", `{"n":2,"status":500,"reason":"InternalServerError"}`, 204)
	ask("DELETE", "/scripts", "", 204)
	ask("POST", "/goaway", "", 204)
	ask("POST", "/streams", `{"streams":1}`, 204)
	ask("POST", "/tokens/"+made.DeviceToken+"/unregister", "", 204)
	if res, err := cricketapp.PushTest(t.Context(), test); err != nil || res.Reason != "Unregistered" {
		t.Errorf("%+v, %v", res, err)
	}
	ask("POST", "/phones/phone-2/rotate?match=7", "", 404)
	ask("POST", "/phones/phone-2/what", "", 404)
	ask("POST", "/streams", `{"streams":0}`, 400)
	ask("POST", "/burst", `{"n":0}`, 400)
	ask("POST", "/scripts", `{"nobody":1}`, 400)
	ask("GET", "/log?after=x", "", 400)
}

// TestSandboxAgain: a configuration for one sandbox works with the next one in the same directory.
func TestSandboxAgain(t *testing.T) {
	dir := t.TempDir()
	in := func(c *cricketapp.SandboxConfig) { c.Dir = dir }
	first := runSandbox(t, in)
	key, err := os.ReadFile(first.Key)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(first.CA)
	if err != nil {
		t.Fatal(err)
	}
	trusted := filepath.Join(t.TempDir(), "ca.pem") // a copy, such as a running node has
	if err := os.WriteFile(trusted, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	second := runSandbox(t, in)
	if first.Phones[0] != second.Phones[0] {
		t.Errorf("phones %+v, then %+v", first.Phones, second.Phones)
	}
	res, err := cricketapp.PushTest(t.Context(), cricketapp.PushTestConfig{Token: first.Phones[0].DeviceToken, Push: cricketapp.PushConfig{
		Host: second.URL, BundleID: first.BundleID, TeamID: first.TeamID, KeyID: first.KeyID, Key: string(key), CAFile: trusted,
	}})
	if err != nil || !res.OK {
		t.Errorf("%+v, %v", res, err)
	}
	if err := os.WriteFile(first.Key, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := cricketapp.SandboxConfig{Listen: "127.0.0.1:0", Dir: dir, Log: slog.New(slog.DiscardHandler)}
	if err := cricketapp.Sandbox(t.Context(), c); !fault.Is(err, fault.Invalid) {
		t.Errorf("a damaged key: %v", err)
	}
}

// TestSandboxStaysLocal refuses addresses that other machines can reach.
func TestSandboxStaysLocal(t *testing.T) {
	c := cricketapp.SandboxConfig{Listen: "0.0.0.0:0", Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	if err := cricketapp.Sandbox(t.Context(), c); !fault.Is(err, fault.Invalid) {
		t.Errorf("%v", err)
	}
	c.Listen, c.Control = "127.0.0.1:0", "0.0.0.0:0"
	if err := cricketapp.Sandbox(t.Context(), c); !fault.Is(err, fault.Invalid) {
		t.Errorf("control: %v", err)
	}
}

// TestSandboxWithinBounds refuses values that would fill the machine's memory, and negative ones.
func TestSandboxWithinBounds(t *testing.T) {
	for _, c := range []cricketapp.SandboxConfig{{Phones: 1_000_000_000}, {Phones: -1}, {Delay: -time.Second}} {
		c.Listen, c.Dir, c.Log = "127.0.0.1:0", t.TempDir(), slog.New(slog.DiscardHandler)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := cricketapp.Sandbox(ctx, c); !fault.Is(err, fault.Invalid) {
			t.Errorf("%d phones, delay %s: %v", c.Phones, c.Delay, err)
		}
	}
}
