//go:build long

package edge

import (
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/testrig/browser"
)

// line is the way from browsers to a node.
type line struct {
	t        *testing.T
	to       string
	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
	silent   bool
}

// layLine opens a line to an address.
func layLine(t *testing.T, to string) *line {
	l := &line{t: t, to: to, listener: listening(t)}
	t.Cleanup(l.cut)
	go l.serve(l.listener)
	return l
}

// address returns an address for one page: a browser opens six connections to a name, and a page with a stream keeps one.
func (l *line) address(page int) string {
	return fmt.Sprintf("http://page%d.localhost:%d", page, portIn(l.listener))
}

func (l *line) serve(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return // it is cut
		}
		out, err := (&net.Dialer{}).DialContext(l.t.Context(), "tcp", l.to)
		if err != nil {
			_ = c.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, c, out)
		l.mu.Unlock()
		go l.carry(out, c)
		go l.carry(c, out)
	}
}

// carry copies from one side to the other. What arrives while the line is silent is lost, as is the connection.
func (l *line) carry(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	lost := false
	for {
		n, err := from.Read(buf)
		l.mu.Lock()
		lost = lost || l.silent
		l.mu.Unlock()
		if err == nil && !lost {
			_, err = to.Write(buf[:n])
		}
		if err != nil && lost {
			_, _ = io.Copy(io.Discard, from)
			return // both sides stay open, and hear nothing
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}

// silence makes every connection half open.
func (l *line) silence() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = true
}

// cut ends every connection, and refuses new ones.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

// mend opens the line again, at the same port.
func (l *line) mend() {
	l.t.Helper()
	l.cut()
	ln, err := (&net.ListenConfig{}).Listen(l.t.Context(), "tcp", l.listener.Addr().String())
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener, l.silent = ln, false
	go l.serve(ln)
}

// Conditions of a page. While the node is lost the page says so once, with the age of what it shows, and each badge, clock and verdict is
// grey and has a time.
const (
	saysLoss = `document.documentElement.classList.contains("is-lost") &&
		[...document.querySelectorAll("#link, .waiting__say")].filter((el) => el.checkVisibility() && /No connection to the node. What you see is \d+ s old/.test(el.textContent)).length === 1`
	isGrey = `(() => {
		const soft = getComputedStyle(document.body.appendChild(Object.assign(document.createElement("p"), { className: "none" }))).color;
		const at = [...document.querySelectorAll(".pill, .badges, .clock, .countdown, .verdict, main h1:not(.vh, .head__title)")].filter((el) => el.checkVisibility());
		const wrong = at.filter((el) => getComputedStyle(el).color !== soft || !(el.closest(".tile") || / as of \d\d:\d\d/.test(getComputedStyle(el, "::after").content)));
		return at.length === 0 ? "nothing of the page is grey" : wrong.map((el) => el.outerHTML.slice(0, 200)).join(" ");
	})()`
	isWell = `!document.documentElement.classList.contains("is-lost") && document.getElementById("link").hidden &&
		!document.querySelector(".waiting__say")?.textContent.includes("No connection")`
)

// Pages of all five applications, the node's first page and the Status page lose their node: one that is silent, and one that is gone. Each
// says so, and does not go on saying that something is live or that all is well. When the node is back, so are they.
func TestPagesOverADeadNode(t *testing.T) {
	first := browser.Open(t)
	if first == nil {
		return
	}
	v := demoed(t, "--speed", "20")
	way := layLine(t, strings.TrimPrefix(v.base, "http://"))
	front, _ := v.page("/")
	paths := []string{"/", "/_/hub", "/cricket/-/matches"}
	for _, m := range regexp.MustCompile(`class="tile" href="([^"]+)"`).FindAllStringSubmatch(front, -1) {
		paths = append(paths, m[1])
	}
	paths = append(paths, "/pickem/-/", "/hacktracker/-/")
	tabs := map[string]*browser.Tab{}
	for i, path := range paths {
		tab := first
		if i > 0 {
			tab = first.Another(t)
		}
		tab.Do(t, chromedp.EmulateViewport(360, 800), chromedp.Navigate(way.address(i)+path))
		tabs[path] = tab
	}
	t.Logf("%d pages: %s", len(tabs), strings.Join(paths, " "))
	for _, how := range []struct {
		name string
		lose func()
	}{{"silent", way.silence}, {"gone", way.cut}} {
		for _, tab := range tabs {
			tab.WaitFor(t, `document.readyState === "complete" && `+isWell)
		}
		how.lose()
		for path, tab := range tabs {
			tab.WaitFor(t, saysLoss)
			if wrong := browser.Eval[string](t, tab, isGrey); wrong != "" {
				t.Errorf("%s, whose node is %s: %s", path, how.name, wrong)
			}
			browser.Shoot(t, tab, how.name+strings.ReplaceAll(path, "/", "_"))
		}
		way.mend()
		for path, tab := range tabs {
			t.Log(path, "is back")
			tab.WaitFor(t, isWell)
		}
	}
}
