// Package browser controls a headless Chromium for tests: steps, JavaScript, and the browser's complaints.
package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/testrig/hang"
)

// Tab is a tab of a headless Chromium and its complaints.
type Tab struct {
	ctx   context.Context //nolint:containedctx // the browser is one
	close func()
	mu    sync.Mutex
	said  []string // console errors, exceptions, blocked requests
	asks  []string // all requested addresses
}

// Open starts Chromium with a new profile. Without Chromium CI fails; elsewhere the test logs that and continues with a nil tab.
func Open(t *testing.T) *Tab {
	t.Helper()
	return OpenAt(t, t.TempDir())
}

// OpenAt is Open with a profile that outlives the browser, and with command line switches.
func OpenAt(t *testing.T, profile string, switches ...chromedp.ExecAllocatorOption) *Tab {
	t.Helper()
	path := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no Chromium: install it, or name it in CHROMIUM")
		}
		t.Log("NOT TESTED IN A BROWSER: there is no Chromium here; install it, or name it in CHROMIUM")
		return nil
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(hang.Limit(time.Minute)), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	opts = append(opts, switches...)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	b := &Tab{ctx: ctx}
	b.close = sync.OnceFunc(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("close Chromium: %v", err)
		}
		cancel()
		stop()
	})
	t.Cleanup(b.close)
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

// Close closes the browser, or only the tab if Another opened it.
func (b *Tab) Close() { b.close() }

// Another opens another tab with the same storage.
func (b *Tab) Another(t *testing.T) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	tab := &Tab{ctx: ctx, close: cancel}
	t.Cleanup(cancel)
	if err := chromedp.Listen(ctx, tab.hear); err != nil {
		t.Fatal(err)
	}
	return tab
}

func (b *Tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		b.asks = append(b.asks, e.Request.URL)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.said = append(b.said, e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, fmt.Sprint(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.said = append(b.said, fmt.Sprint(e.Args))
		}
	}
}

// Complaints returns the browser's complaints, and every request to a host other than home's.
func (b *Tab) Complaints(home string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(b.said)
	host, err := url.Parse(home)
	if err != nil {
		return []string{err.Error()}
	}
	for _, a := range b.asks {
		if u, err := url.Parse(a); err != nil || u.Host != host.Host && u.Scheme != "data" && u.Scheme != "about" {
			out = append(out, "request to "+a)
		}
	}
	return out
}

// Asked reports whether an address containing part was requested.
func (b *Tab) Asked(part string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.asks, func(a string) bool { return strings.Contains(a, part) })
}

// Do runs steps.
func (b *Tab) Do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, hang.Limit(time.Minute))
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// WaitFor waits until a JavaScript condition holds. If the page is left while the condition is evaluated, it is evaluated on the next
// page. A condition that throws does not hold: a page that is still loading lacks elements.
func (b *Tab) WaitFor(t *testing.T, condition string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, hang.Limit(time.Minute))
	defer cancel()
	expression := "(() => { try { return " + condition + " } catch { return false } })()"
	for {
		_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(110*time.Second)))
		if err == nil {
			return
		}
		const serverError = -32000 // such as: Cannot find context with specified id
		if left, ok := errors.AsType[*cdproto.Error](err); !ok || left.Code != serverError || ctx.Err() != nil {
			t.Fatalf("never: %s: %v", condition, err)
		}
	}
}

// Eval evaluates JavaScript.
func Eval[T any](t *testing.T, b *Tab, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, hang.Limit(time.Minute))
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Await evaluates JavaScript whose result may be a promise. A page that is left meanwhile is an error.
func Await[T any](b *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, hang.Limit(time.Minute))
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Visit opens a page, or gives up after a while: a browser waits for ever for a connection whose other end is gone.
func (b *Tab) Visit(address string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(b.ctx, hang.Limit(within))
	defer cancel()
	return chromedp.Do(ctx, chromedp.Navigate(address))
}

// Before has a script run before those of every page that is opened from now on.
func (b *Tab) Before(t *testing.T, script string) {
	t.Helper()
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		t.Fatal(err)
	}
}

// SetCookie sets a cookie of an origin.
func (b *Tab) SetCookie(t *testing.T, origin, name, value string) {
	t.Helper()
	if _, err := chromedp.Call(b.ctx, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: origin}); err != nil {
		t.Fatal(err)
	}
}

// Clear deletes what an origin has stored, except its cookies, as a browser does that needs space.
func (b *Tab) Clear(t *testing.T, origin string) {
	t.Helper()
	kinds := "indexeddb,local_storage,cache_storage,service_workers"
	if _, err := chromedp.Call(b.ctx, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: origin, StorageTypes: kinds}); err != nil {
		t.Fatal(err)
	}
}

// Scheme sets the color scheme of pages, "light" or "dark".
func (b *Tab) Scheme(t *testing.T, scheme string) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Press clicks an element that leads to another page, and waits for that page.
func (b *Tab) Press(t *testing.T, selector string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, hang.Limit(time.Minute))
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		t.Fatalf("press %s: %v", selector, err)
	}
}

// Shoot saves a screenshot if the environment variable PICTURES names a folder.
func Shoot(t *testing.T, b *Tab, name string) {
	t.Helper()
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	for _, w := range []int64{360, 1280} {
		b.Do(t, chromedp.EmulateViewport(w, 800))
		picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fmt.Sprintf("%s/%s-%d.png", dir, name, w), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Quota sets how many bytes an origin may store from now on.
func (b *Tab) Quota(t *testing.T, origin string, size float64) {
	t.Helper()
	if _, err := chromedp.Call(b.ctx, storage.OverrideQuotaForOrigin, storage.OverrideQuotaForOriginParams{Origin: origin, QuotaSize: &size}); err != nil {
		t.Fatal(err)
	}
}

// Download has the browser save what pages download into a folder.
func (b *Tab) Download(t *testing.T, folder string) {
	t.Helper()
	b.Do(t) // opens the tab, if it is not open yet
	if _, err := chromedp.Call(b.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder}); err != nil {
		t.Fatal(err)
	}
}
