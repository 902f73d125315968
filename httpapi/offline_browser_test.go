//go:build long

package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/httpapi/auth"
	chromium "github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store/storetest"
)

const (
	tapsHome = "http://node.localhost:7777" // the node's address in the browser, wherever it listens
	tapsPage = tapsHome + "/counter/-/"
)

// mapped makes a browser find the node at an address.
func mapped(address string) chromedp.ExecAllocatorOption {
	u, _ := url.Parse(address)
	return chromedp.Flag("host-resolver-rules", "MAP node.localhost:7777 "+u.Host)
}

func tapped3(t *testing.T, f *taps, want ...string) {
	t.Helper()
	wait.Until(t, fmt.Sprint("taps of ", want), func() bool {
		all, err := f.all(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(all) >= len(want)
	})
	all, err := f.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range all {
		got = append(got, one.By)
	}
	if !slices.Equal(got, want) {
		t.Errorf("taps of %v, want %v", got, want)
	}
}

func press(t *testing.T, b *chromium.Tab, by int) {
	t.Helper()
	b.Do(t, chromedp.Click(chromedp.CSS(fmt.Sprintf(`.pad__key[value="%d"]`, by))))
}

const (
	controlled = `navigator.serviceWorker.controller !== null`
	copied     = `caches.keys().then(async (all) => (await (await caches.open(all[0])).match(location.href)) !== undefined)`
	said       = `document.querySelector(".waiting__say").textContent`
)

func waits(n int) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".waits")].filter((li) => li.dataset.state === "queued" || li.dataset.state === "sending").length === %d`, n)
}

// A page is opened, its node stops, three taps wait, the browser is restarted, and so is the node, elsewhere under the same name. It
// receives the three taps in order, once, with the times when they were made.
func TestTapsWithoutTheNode(t *testing.T) {
	s, profile := storetest.Open(t), t.TempDir()
	cfg, f := newTaps(t, s, "one")
	home, stop := start(t, cfg)
	b := chromium.OpenAt(t, profile, mapped(home))
	if b == nil {
		return
	}
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, controlled)
	press(t, b, 1)
	tapped3(t, f, "1")
	b.WaitFor(t, `document.querySelector(".head__figure").textContent === "1" && document.getElementById("waiting").hidden`)
	b.WaitFor(t, copied)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	press(t, b, 3)
	press(t, b, 2)
	press(t, b, 1)
	b.WaitFor(t, waits(3))
	b.WaitFor(t, said+`.includes("3 not sent") && `+said+`.includes("No connection to the node. What you see is")`)
	before := time.Now()
	b.Close()

	b = chromium.OpenAt(t, profile, mapped("http://127.0.0.1:1"))
	b.Do(t, chromedp.EmulateViewport(360, 800), chromedp.Navigate(tapsPage))
	b.WaitFor(t, waits(3))
	b.WaitFor(t, said+`.includes("No connection to the node")`)
	if got := chromium.Eval[string](t, b, `document.querySelector(".waits__what").textContent`); got != "A tap of three" {
		t.Errorf("the first that waits is %q", got)
	}
	chromium.Eval[bool](t, b, `(document.querySelector("#waiting details").open = true)`)
	chromium.Shoot(t, b, "offline-queue")
	b.Close()

	cfg, f = newTaps(t, s, "one")
	home, _ = start(t, cfg)
	b = chromium.OpenAt(t, profile, mapped(home))
	b.Do(t, chromedp.Navigate(tapsPage))
	tapped3(t, f, "1", "3", "2", "1")
	b.WaitFor(t, `document.querySelector(".head__figure").textContent === "4" && document.getElementById("waiting").hidden`)
	all, err := f.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all[1:] {
		if at, err := time.Parse(time.RFC3339Nano, one.At); err != nil || at.After(before.Add(time.Second)) {
			t.Errorf("a tap of %s is of %s, after the browser ended at %s: %v", one.By, one.At, before, err)
		}
	}
}

// storedTaps is a condition: the stored copy of the page shows n taps.
func storedTaps(n int) string {
	return fmt.Sprintf(`caches.keys().then(async (all) => {
		const text = await (await (await caches.open(all[0])).match(location.href)).text();
		return new DOMParser().parseFromString(text, "text/html").querySelector(".head__figure").textContent === "%d";
	})`, n)
}

// A page whose stream has changed it is opened from its copy: it shows what it showed, with its age, also if it could not be stored since;
// then it says that there was something newer.
func TestWhatWasSeenDoesNotGoBack(t *testing.T) {
	s := storetest.Open(t)
	cfg, f := newTaps(t, s, "one")
	home, stop := start(t, cfg)
	b := chromium.OpenAt(t, t.TempDir(), mapped(home))
	if b == nil {
		return
	}
	shows := func(n int) string {
		return fmt.Sprintf(`document.querySelector(".head__figure").textContent === "%d"`, n)
	}
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, controlled)
	b.WaitFor(t, copied)
	press(t, b, 1)
	tapped3(t, f, "1")
	b.WaitFor(t, shows(1))
	b.WaitFor(t, storedTaps(1))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, shows(1)+` && `+said+`.includes("What you see is ")`)
	chromium.Shoot(t, b, "copy")
	if words := chromium.Eval[string](t, b, said); strings.Contains(words, "newer") {
		t.Errorf("the newest copy: %s", words)
	}
	chromium.Eval[bool](t, b, `(() => {
		const notes = JSON.parse(localStorage["touchline shown"]);
		for (const note of Object.values(notes)) note.version = note.version.replace(/\d+$/, (n) => Number(n) + 2);
		localStorage["touchline shown"] = JSON.stringify(notes);
		return true;
	})()`)
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, said+`.includes("This device has shown a newer state, ")`)
	chromium.Shoot(t, b, "older")
}

// An open page learns of a new version of its node, sends what waits, and reloads; nothing of the old version remains.
func TestUpgradeSeenByAnOpenPage(t *testing.T) {
	s := storetest.Open(t)
	cfg, _ := newTaps(t, s, "one")
	home, stop := start(t, cfg)
	var to atomic.Pointer[url.URL] // the same address for both
	aim := func(at string) {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		to.Store(u)
	}
	aim(home)
	front := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to.Load())
		r.Out.Host = r.In.Host
	}})
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	b := chromium.OpenAt(t, t.TempDir(), mapped(front.URL))
	if b == nil {
		return
	}
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, controlled)
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, `document.querySelector(".head__title").textContent === "Taps one"`)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	press(t, b, 2)
	b.WaitFor(t, waits(1))
	cfg, f := newTaps(t, s, "two")
	home, _ = start(t, cfg)
	aim(home)
	tapped3(t, f, "2")
	b.WaitFor(t, `performance.getEntriesByType("navigation")[0].type === "reload" && document.querySelector(".head__title").textContent === "Taps two"`)
	b.WaitFor(t, `caches.keys().then(async (all) => all.length === 1 && (await (await (await caches.open(all[0])).match(location.href))?.text())?.includes("Taps two"))`)
}

// A write shown in two tabs is sent once, and each tab sees what the other has done.
func TestTwoTabs(t *testing.T) {
	s := storetest.Open(t)
	cfg, f := newTaps(t, s, "one")
	var posts, away atomic.Int32
	srv := newServer(t, cfg)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() == 1 && !strings.HasSuffix(r.URL.Path, "/stream") {
			panic(http.ErrAbortHandler)
		}
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		srv.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	b := chromium.OpenAt(t, t.TempDir(), mapped(front.URL))
	if b == nil {
		return
	}
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, controlled)
	other := b.Another(t)
	other.Do(t, chromedp.Navigate(tapsPage))
	other.WaitFor(t, controlled)
	away.Store(1)
	press(t, b, 1)
	b.WaitFor(t, waits(1))
	other.WaitFor(t, waits(1))
	press(t, other, 2)
	press(t, other, 3)
	b.WaitFor(t, waits(3)+` && `+said+`.includes("3 not sent, oldest ")`)
	away.Store(0)
	for _, tab := range []*chromium.Tab{b, other} {
		chromium.Eval[bool](t, tab, `(dispatchEvent(new Event("online")), true)`)
	}
	tapped3(t, f, "1", "2", "3")
	b.WaitFor(t, waits(0))
	other.WaitFor(t, waits(0))
	if n := posts.Load(); n != 3 {
		t.Errorf("%d requests for three taps", n)
	}
}

// A taken write waits until the cloud has it. A refused one says why, and can be retried or discarded. One that was not sent can be
// discarded.
func TestStatesOfAWrite(t *testing.T) {
	s := storetest.Open(t)
	cfg, f := newTaps(t, s, "one")
	var confirmed, away atomic.Bool
	var posts atomic.Int32
	cfg.Sync = waited{wait: func(ctx context.Context) (uint64, error) {
		if confirmed.Load() {
			return 0, nil
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}}
	srv := newServer(t, cfg)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() && !strings.HasSuffix(r.URL.Path, "/stream") {
			panic(http.ErrAbortHandler)
		}
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		srv.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	b := chromium.OpenAt(t, t.TempDir(), mapped(front.URL))
	if b == nil {
		return
	}
	state := func(name string) string {
		return fmt.Sprintf(`document.querySelector('.waits[data-state="%s"]') !== null`, name)
	}
	b.Do(t, chromedp.Navigate(tapsPage))
	chromium.Eval[bool](t, b, `(document.querySelector("#waiting details").open = true)`)
	press(t, b, 2)
	b.WaitFor(t, state("taken")+` && `+said+`.includes("1 received by the node, not yet confirmed by the cloud.")`)
	press(t, b, 9)
	b.WaitFor(t, state("refused")+` && document.querySelector('.waits[data-state="refused"] .waits__words').textContent === "Nobody taps nine times at once."`)
	chromium.Shoot(t, b, "states")
	confirmed.Store(true)
	b.WaitFor(t, `!(`+state("taken")+`)`)
	b.Do(t, chromedp.Click(chromedp.CSS(`.waits[data-state="refused"] [data-retry]`)))
	wait.Until(t, "it is sent again", func() bool { return posts.Load() == 3 })
	b.WaitFor(t, state("refused"))
	b.Do(t, chromedp.Click(chromedp.CSS(`.waits[data-state="refused"] [data-discard]`)))
	b.WaitFor(t, `document.getElementById("waiting").hidden`)
	away.Store(true)
	press(t, b, 1)
	b.WaitFor(t, state("queued"))
	b.Do(t, chromedp.Click(chromedp.CSS(`.waits[data-state="queued"] [data-discard]`)))
	b.WaitFor(t, `document.querySelectorAll(".waits").length === 0`)
	away.Store(false)
	tapped3(t, f, "2")
}

// Full or denied storage is reported, and writes are sent all the same: those stored before, and those only in the page's memory.
// Chromium is denied storage by a setting, as people do it, and given a quota that is used up.
func TestNoStorage(t *testing.T) {
	s := storetest.Open(t)
	cfg, f := newTaps(t, s, "one")
	var away atomic.Bool
	srv := newServer(t, cfg)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() && !strings.HasSuffix(r.URL.Path, "/stream") {
			panic(http.ErrAbortHandler)
		}
		srv.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	note := `document.querySelector(".waiting__note").textContent`

	profile := t.TempDir()
	b := chromium.OpenAt(t, profile, mapped(front.URL))
	if b == nil {
		return
	}
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, controlled)
	b.WaitFor(t, copied)
	away.Store(true)
	press(t, b, 3)
	b.WaitFor(t, waits(1)+` && !`+note+`.includes("what is not sent is lost")`)
	b.Close()
	b = chromium.OpenAt(t, profile, mapped(front.URL))
	b.Quota(t, tapsHome, 1) // before it has reserved space
	b.Do(t, chromedp.Navigate(tapsPage))
	press(t, b, 1)
	b.WaitFor(t, waits(2)+` && `+note+`.includes("This browser's storage is full")`)
	chromium.Shoot(t, b, "storage-full")
	away.Store(false)
	chromium.Eval[bool](t, b, `(dispatchEvent(new Event("online")), true)`)
	tapped3(t, f, "3", "1")
	b.WaitFor(t, `document.querySelectorAll(".waits").length === 0`)
	b.Close()

	denied := t.TempDir() // a person's setting: no site may store anything
	if err := os.MkdirAll(filepath.Join(denied, "Default"), 0o700); err != nil {
		t.Fatal(err)
	}
	prefs := `{"profile": {"default_content_setting_values": {"cookies": 2}}}`
	if err := os.WriteFile(filepath.Join(denied, "Default", "Preferences"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	b = chromium.OpenAt(t, denied, mapped(front.URL))
	b.Do(t, chromedp.Navigate(tapsPage))
	away.Store(true)
	press(t, b, 2)
	b.WaitFor(t, waits(1)+` && `+note+`.includes("This browser cannot store anything")`)
	away.Store(false)
	chromium.Eval[bool](t, b, `(dispatchEvent(new Event("online")), true)`)
	tapped3(t, f, "3", "1", "2")
	b.WaitFor(t, `document.querySelectorAll(".waits").length === 0`)
}

// Every part of the kit works at every width: readable, and large enough for a thumb. A browser reports no problem on the kit, or on a
// page that works offline.
func TestKitInABrowser(t *testing.T) {
	b := chromium.Open(t)
	if b == nil {
		return
	}
	cfg, _ := newTaps(t, storetest.Open(t), "one")
	cfg.Development = true
	home, _ := start(t, cfg)
	for _, path := range []string{
		"/_/gallery/kit/parts", "/_/gallery/kit/waiting", "/_/gallery/kit/signin", "/_/gallery/kit/signin-refused", "/_/gallery/kit/signed-in",
		"/_/gallery/kit/signed-out", "/_/gallery/kit/sessions", "/_/gallery/kit/people", "/_/gallery/kit/tls", "/_/gallery/kit/status", "/counter/-/",
	} {
		b.Do(t, chromedp.EmulateViewport(320, 640), chromedp.Navigate(home+path))
		for _, w := range []int64{320, 360, 719, 720, 1200, 1920} {
			b.Do(t, chromedp.EmulateViewport(w, 800))
			if got := chromium.Eval[int64](t, b, `document.documentElement.scrollWidth`); got > w {
				t.Errorf("%s is %d wide on a screen of %d", path, got, w)
			}
			small := chromium.Eval[string](t, b, `[...document.querySelectorAll("main button, main .tabs a, main .choice label, main input:not([type=radio])")].filter((el) => el.checkVisibility() && el.getBoundingClientRect().height < 40).map((el) => el.outerHTML).join("\n")`)
			if small != "" {
				t.Errorf("%s at %d: too small for a thumb: %s", path, w, small)
			}
		}
		b.Do(t, chromedp.EmulateViewport(320, 800))
		if bad := chromium.Eval[string](t, b, unseenScroll); bad != "" || path == "/_/gallery/kit/parts" && !chromium.Eval[bool](t, b, wideTable) {
			t.Errorf("%s: a table is cut without a hint, or none is wide: %s", path, bad)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.Scheme(t, scheme)
			if faint := chromium.Eval[string](t, b, faintText); faint != "" {
				t.Errorf("%s, %s: too faint:\n%s", path, scheme, faint)
			}
			chromium.Shoot(t, b, "kit"+strings.ReplaceAll(path, "/", "-")+scheme)
		}
	}
	if bad := b.Complaints(home); len(bad) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(bad, "\n"))
	}
}

// unseenScroll lists tables that are wider than their box without visible sign, or that a keyboard cannot scroll.
const unseenScroll = `[...document.querySelectorAll("main .scroll")].filter((el) => el.scrollWidth > el.clientWidth && !(el.tabIndex === 0 &&
	el.matches("[role=region]:is([aria-label], [aria-labelledby])") && getComputedStyle(el).backgroundImage.includes("gradient"))).map((el) => el.outerHTML).join("\n")`

const wideTable = `[...document.querySelectorAll("main .scroll")].some((el) => el.scrollWidth > el.clientWidth)`

// faintText lists text with a contrast below 4.5 to its background, or below 7 for figures and keys.
const faintText = `(() => {
	const parse = (c) => (c.match(/[\d.]+/g) ?? []).map(Number);
	const channel = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
	const under = (el) => {
		for (; el; el = el.parentElement) {
			const c = parse(getComputedStyle(el).backgroundColor);
			if (c.length === 3 || c[3] === 1) return c;
		}
		return [255, 255, 255];
	};
	const out = [];
	for (const el of document.body.querySelectorAll("*")) {
		if (![...el.childNodes].some((n) => n.nodeType === 3 && n.nodeValue.trim()) || !el.checkVisibility() || el.closest(".vh, .skip, :disabled")) continue;
		const [a, b] = [light(parse(getComputedStyle(el).color)), light(under(el))].sort((x, y) => y - x);
		const got = (a + 0.05) / (b + 0.05);
		if (got < (el.closest(".head__figure, .pad__key") ? 7 : 4.5)) out.push(got.toFixed(2) + " " + el.className + " " + el.textContent.trim().slice(0, 40));
	}
	return out.join("\n");
})()`

// signOutSwitch is an Authenticator whose only user can sign out.
type signOutSwitch struct {
	web.ByName
	out atomic.Bool
}

func (a *signOutSwitch) Identify(ctx context.Context, r *http.Request) (auth.Identity, error) {
	if a.out.Load() {
		return auth.Identity{}, auth.ErrNone
	}
	return a.ByName.Identify(ctx, r)
}

// After a sign-out the browser shows no page of the last reader, even without the node. What waits to be sent stays, and is sent after the
// next sign-in.
func TestSignedOutPagesAreForgotten(t *testing.T) {
	s := storetest.Open(t)
	cfg, f := newTaps(t, s, "one")
	user := &signOutSwitch{ByName: web.ByName{Silent: auth.Identity{Subject: "u0"}}}
	cfg.Auth = user
	var away atomic.Bool
	srv := newServer(t, cfg)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() && !strings.HasSuffix(r.URL.Path, "/stream") {
			panic(http.ErrAbortHandler)
		}
		srv.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	b := chromium.OpenAt(t, t.TempDir(), mapped(front.URL))
	if b == nil {
		return
	}
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, controlled)
	b.WaitFor(t, copied)
	away.Store(true)
	press(t, b, 1)
	b.WaitFor(t, waits(1))
	user.out.Store(true)
	away.Store(false)
	b.Do(t, chromedp.Navigate(tapsHome+pathSignIn))
	b.WaitFor(t, `"forgotten" in document.documentElement.dataset`)
	away.Store(true)
	b.Do(t, chromedp.Navigate(tapsPage))
	b.WaitFor(t, `document.querySelector("h1").textContent === "The node cannot be reached"`)
	tapped3(t, f)
	user.out.Store(false)
	away.Store(false)
	b.Do(t, chromedp.Navigate(tapsPage))
	tapped3(t, f, "1")
}
