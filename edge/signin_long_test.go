//go:build long

package edge

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/cache"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// Third-party issuers, in the versions that the test was written for.
const (
	zitadelServer = "github.com/zitadel/oidc/v3/example/server@v3.51.17"
	issuerSecret  = "secret" // the only one in zitadel's example
)

// A person signs in, in Chromium, at two third-party issuers: npm's oidc-provider and the example server of zitadel/oidc.
func TestSignInAtOtherIssuers(t *testing.T) {
	ln := listening(t)
	home := fmt.Sprintf("http://localhost:%d", portIn(ln))
	c := DefaultConfig()
	c.Auth.Issuers = map[string]node.IssuerConfig{
		"npm": {
			Title: "npm", URL: startNPM(t, home), ClientID: "node", ClientSecret: issuerSecret, AdminClaim: "groups", AdminValue: "admin", AdminOf: []string{"node"},
		},
		"zitadel": {Title: "zitadel", URL: startZitadel(t, home), ClientID: "web", ClientSecret: issuerSecret},
	}
	if problems := c.Problems(); len(problems) > 0 {
		t.Fatal(problems)
	}
	runNode(t, ln, c)
	tab := openTab(t)
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		ctx, cancel := context.WithTimeout(tab, hang.Limit(time.Minute))
		defer cancel()
		if err := chromedp.Do(ctx, steps...); err != nil {
			t.Fatal(err)
		}
	}
	sees := func(condition string) {
		t.Helper()
		is := func() bool {
			ctx, cancel := context.WithTimeout(tab, hang.Limit(time.Minute))
			defer cancel()
			is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`!!(`+condition+`)`))
			return err == nil && is
		}
		wait.Until(t, condition, is, func() any {
			at, _ := chromedp.Run(tab, chromedp.Evaluate[string](`location.href + " " + document.body.innerText`))
			return at
		})
	}
	press := func(selector string) { t.Helper(); do(chromedp.Click(chromedp.CSS(selector))) }
	begin := func(issuer string) {
		t.Helper()
		do(chromedp.Navigate(home + "/cricket/-/matches?x=1"))
		sees(`location.pathname === "/signin"`)
		press(`a[href^="/_/signin/with/` + issuer + `"]`)
	}
	ends := func(who, issuer string) {
		t.Helper()
		sees(`location.href === "` + home + `/cricket/-/matches?x=1" && document.cookie === ""`)
		do(chromedp.Navigate(home + "/_/sessions"))
		sees(`document.querySelectorAll("[data-session]").length === 1 && document.body.innerText.includes("` + who + `")`)
		do(chromedp.Navigate(home + "/signin"))
		press(`form[action="/signout"] button`)
		sees(`location.href === "` + home + `/signin?out=` + issuer + `" && document.querySelector('a[href*="client_id="]').textContent === "Sign out at ` + issuer + ` too"`)
		press(`a[href*="client_id="]`)
		sees(`location.origin !== "` + home + `"`)
	}

	begin("npm")
	sees(`document.querySelector("[name=login]")`)
	do(chromedp.SendKeys(chromedp.CSS("[name=login]"), "olga"), chromedp.SendKeys(chromedp.CSS("[name=password]"), "any"))
	press("button[type=submit]")
	sees(`document.querySelector("[name=prompt][value=consent]")`)
	press("button[type=submit]")
	sees(`location.pathname === "/cricket/-/matches"`)
	do(chromedp.Navigate(home + "/_/people"))
	sees(`document.body.innerText.includes("olga") || document.body.innerText.includes("Name of olga")`)
	do(chromedp.Navigate(home + "/cricket/-/matches?x=1"))
	ends("olga", "npm")

	begin("zitadel")
	sees(`document.querySelector("[name=username]")`)
	do(chromedp.SendKeys(chromedp.CSS("[name=username]"), "test-user@localhost"), chromedp.SendKeys(chromedp.CSS("[name=password]"), "verysecure"))
	press("button[type=submit]")
	ends("id1", "zitadel")
}

func listening(t *testing.T) net.Listener {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func portIn(ln net.Listener) int { return ln.Addr().(*net.TCPAddr).Port }

// runNode serves a configuration until the test ends.
func runNode(t *testing.T, ln net.Listener, c Config) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	n, err := node.Open(t.Context(), t.TempDir(), node.Parts{
		Clock: clock.Real(), Log: log, Apps: c.running(), Auth: c.Auth.Maker(c.DataDir, log), IssuersOf: c.Auth.IssuersOf, Session: c.Auth.Session,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, ln) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// need fails in CI, and skips elsewhere, if something for the test is missing.
func need(t *testing.T, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("%s: %v", what, err)
	default:
		t.Skipf("%s: %v", what, err)
	}
}

// issuer runs a program until the test ends, and waits for its discovery document.
func issuer(t *testing.T, url string, cmd *exec.Cmd) string {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	wait.Until(t, cmd.String()+" answers", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+".well-known/openid-configuration", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return true
	})
	return url
}

func startNPM(t *testing.T, home string) (url string) {
	t.Helper()
	program, err := exec.LookPath("node")
	need(t, "Node 20 or newer (Debian: nodejs npm)", err)
	dir, err := cache.Folder(t.Context(), "oidc-provider-9.13.3", func(ctx context.Context, dir string) error {
		for _, name := range []string{"package.json", "package-lock.json"} {
			if err := copyFile(filepath.Join("testdata/issuer", name), filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		_, err := cache.Run(ctx, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
		return err
	})
	need(t, "npm's oidc-provider", err)
	at, script := t.TempDir(), "provider.mjs"
	if err := os.Symlink(filepath.Join(dir, "node_modules"), filepath.Join(at, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(filepath.Join("testdata/issuer", script), filepath.Join(at, script)); err != nil {
		t.Fatal(err)
	}
	port := process.FreePort(t)
	cmd := exec.Command(program, filepath.Join(at, script), port, "node", issuerSecret, home+"/_/signin/back/npm")
	url = "http://localhost:" + port
	issuer(t, url+"/", cmd)
	return url
}

func startZitadel(t *testing.T, home string) (url string) {
	t.Helper()
	dir, err := cache.Folder(t.Context(), "zitadel-oidc-3.51.17", func(ctx context.Context, dir string) error {
		_, err := cache.Run(ctx, dir, "env", "GOFLAGS=", "CGO_ENABLED=0", "GOBIN="+dir, "go", "install", zitadelServer)
		return err
	})
	need(t, "zitadel's example server, by go install", err)
	port := process.FreePort(t)
	cmd := exec.Command(filepath.Join(dir, "server"))
	cmd.Env = append(os.Environ(), "PORT="+port, "REDIRECT_URI="+home+"/_/signin/back/zitadel")
	return issuer(t, "http://localhost:"+port+"/", cmd)
}

func copyFile(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o600)
}

// openTab starts Chromium.
func openTab(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		need(t, "Chromium", exec.ErrNotFound)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(hang.Limit(time.Minute)), chromedp.Flag("disable-component-update", true))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); cancel(); stop() })
	if err := chromedp.Do(ctx); err != nil { // otherwise it ends with the timeout of the first step
		t.Fatal(err)
	}
	return ctx
}
