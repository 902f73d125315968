//go:build long && linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/testrig/browser"
)

// fingerPhone is a person's phone: a tab of a browser with storage and cookies of its own.
type fingerPhone struct {
	hall *fingerHall
	name string
	user string
	line *fingerLine
	node *cloudNode // that its line leads to

	tab     *browser.Tab // nil: the page is closed
	state   lineState
	skew    time.Duration // of its clock
	epoch   int           // counts the changes of its clock
	known   map[string]bool
	waits   map[string]bool // keys that waited when the page was closed
	cached  bool            // the worker has a copy of the page
	emptied bool            // its storage was cleared while the page was closed, with entries
	aged    bool            // it was put away
}

// fingerScript runs before the scripts of each page: a clock that can be set, and a look at the storage.
const fingerScript = `(() => {
	if (globalThis.rig) return;
	const Clock = Date;
	const rig = globalThis.rig = { skew: 0, keys: new Set(), handles: new Set() };
	globalThis.Date = class Date extends Clock {
		constructor(...args) { if (args.length) super(...args); else super(Clock.now() + rig.skew); }
		static now() { return Clock.now() + rig.skew; }
	};
	const open = IDBFactory.prototype.open;
	IDBFactory.prototype.open = function (...args) {
		const request = open.apply(this, args);
		request.addEventListener("success", () => rig.handles.add(request.result));
		return request;
	};
	for (const name of ["add", "put"]) {
		const write = IDBObjectStore.prototype[name];
		IDBObjectStore.prototype[name] = function (row, ...more) {
			const request = write.call(this, row, ...more);
			if (row?.key) this.transaction.addEventListener("complete", () => rig.keys.add(row.key));
			return request;
		};
	}
	rig.close = () => { // as WebKit does to pages in the background
		const all = [...rig.handles];
		rig.handles.clear();
		for (const handle of all) {
			handle.close();
			handle.dispatchEvent(new Event("close"));
		}
		return all.length;
	};
	rig.age = async (ms) => { // what is stored becomes older by that
		const handle = await new Promise((ok, no) => {
			const request = open.call(indexedDB, "touchline " + document.documentElement.dataset.scope);
			request.onsuccess = () => ok(request.result);
			request.onerror = () => no(request.error);
		});
		const transaction = handle.transaction("writes", "readwrite");
		const writes = transaction.objectStore("writes");
		writes.getAll().onsuccess = ({ target }) => {
			for (const row of target.result) if (row.key) writes.put({ ...row, at: row.at - ms, ...(row.sentAt && { sentAt: row.sentAt - ms }) });
		};
		await new Promise((ok, no) => { transaction.oncomplete = ok; transaction.onabort = () => no(transaction.error); });
		handle.close();
		return true;
	};
	let pressed = 0;
	rig.calm = async () => { // a key that is pressed sooner counts as the tremble of a thumb
		while (performance.now() - pressed < 300) await new Promise((ok) => setTimeout(ok, 50));
		pressed = performance.now();
	};
	rig.queue = async () => (await import(new URL("./offline.js", document.querySelector('link[href$="queue.js"]').href))).queue;
	rig.entries = async () => (await rig.queue()).entries.map(({ key, state, words }) => ({ key, state, words }));
})();`

// fingerEntry is an entry that a phone lists.
type fingerEntry struct{ Key, State, Words string }

// fingerEval evaluates JavaScript that may return a promise. A page that is left meanwhile is asked again.
func fingerEval[T any](g *fingerSeed, p *fingerPhone, expression string) (out T) {
	g.t.Helper()
	var err error
	g.until(p.name+": "+expression, func() bool {
		out, err = browser.Await[T](p.tab, expression)
		if _, left := errors.AsType[*cdproto.Error](err); err != nil && !left {
			g.t.Fatalf("%s: %s: %v", p.name, expression, err)
		}
		return err == nil
	}, func() any { return err })
	return out
}

// open opens a page of the phone. It reports whether there was one to open: without its node a phone has only copies.
func (p *fingerPhone) open(g *fingerSeed, address string) bool {
	g.t.Helper()
	p.close(g)
	reachable := p.state == lineOpen && g.down != p.node
	if !reachable && !p.cached {
		return false
	}
	p.tab = g.hall.browser.Another(g.t)
	p.tab.Before(g.t, fingerScript+p.clockScript())
	p.tab.SetCookie(g.t, p.line.url, "touchline_token", g.hall.token(p.user))
	p.tab.SetCookie(g.t, p.line.url, "threefc_session", sessionOf(p.user))
	p.tab.Do(g.t, chromedp.EmulateViewport(360, 740))
	var err error
	g.until(p.name+" opens "+address, func() bool { // its person tries again if nothing happens
		err = p.tab.Visit(p.line.url+address, 20*time.Second)
		return err == nil
	}, func() any { return err })
	p.tab.WaitFor(g.t, `document.readyState === "complete" && document.documentElement.dataset.scope !== undefined`)
	fingerEval[bool](g, p, `rig.queue().then((queue) => queue.ready).then(() => true)`)
	if reachable && !p.cached {
		g.until(p.name+" has a copy of its page", func() bool {
			return fingerEval[bool](g, p, `caches.match(location.href).then((copy) => copy !== undefined)`)
		})
		p.cached = true
	}
	return true
}

// close closes the page.
func (p *fingerPhone) close(g *fingerSeed) {
	g.t.Helper()
	if p.tab == nil {
		return
	}
	p.waits = map[string]bool{}
	for _, e := range p.entries(g) {
		p.waits[e.Key] = true
	}
	p.tab.Close()
	p.tab = nil
}

// entries returns what the page lists, in order.
func (p *fingerPhone) entries(g *fingerSeed) []fingerEntry {
	g.t.Helper()
	return fingerEval[[]fingerEntry](g, p, `rig.entries()`)
}

// press makes an entry by a script, which returns why it cannot be made, or "". It returns the entry's key when the entry is stored.
func (p *fingerPhone) press(g *fingerSeed, script string) (key, why string) {
	g.t.Helper()
	for _, e := range p.entries(g) {
		p.known[e.Key] = true
	}
	if why = fingerEval[string](g, p, script); why != "" {
		return "", why
	}
	known, err := json.Marshal(slices.AppendSeq([]string{}, maps.Keys(p.known)))
	if err != nil {
		g.t.Fatal(err)
	}
	fresh := fmt.Sprintf(`((known) => [...rig.keys].find((key) => !known.includes(key)) ?? "")(%s)`, known)
	g.until(p.name+" stores the tap", func() bool {
		key = fingerEval[string](g, p, fresh)
		return key != ""
	}, func() any { return fingerEval[string](g, p, `document.getElementById("waiting").textContent`) })
	p.known[key] = true
	return key, ""
}

func (p *fingerPhone) clockScript() string {
	return fmt.Sprintf("rig.skew = %d;", p.skew.Milliseconds())
}

// setClock sets the phone's clock wrong.
func (p *fingerPhone) setClock(g *fingerSeed, skew time.Duration) {
	g.t.Helper()
	p.skew = skew
	p.epoch++
	if p.tab == nil {
		return
	}
	p.tab.Before(g.t, p.clockScript())
	fingerEval[int](g, p, p.clockScript())
}

// setLine changes the phone's line.
func (p *fingerPhone) setLine(s lineState) {
	p.state = s
	p.line.set(s)
}

// lead has the phone's node taken over by another.
func (p *fingerPhone) lead(to *cloudNode) {
	p.node = to
	p.line.lead(to.web)
}

// age makes everything that the phone has stored older, as if it had been put away for so long, and closes its page.
func (p *fingerPhone) age(g *fingerSeed, by time.Duration) {
	g.t.Helper()
	fingerEval[bool](g, p, fmt.Sprintf("rig.age(%d)", by.Milliseconds()))
	p.close(g)
	p.epoch++
	p.aged = true
}

// clear clears the phone's storage. An open page puts back what waits; what lay there while no page was open is lost, and its keys are returned.
func (p *fingerPhone) clear(g *fingerSeed) (lost map[string]bool) {
	g.t.Helper()
	p.cached = false
	if p.tab == nil {
		p.hall.browser.Clear(g.t, p.line.url)
		lost, p.waits = p.waits, nil
		return lost
	}
	fingerEval[bool](g, p, `rig.keys.clear() ?? true`)
	p.tab.Clear(g.t, p.line.url)
	fingerEval[bool](g, p, `dispatchEvent(new Event("online"))`)
	g.until(p.name+" puts back what waits", func() bool {
		return fingerEval[bool](g, p, `rig.entries().then((all) => all.every((entry) => rig.keys.has(entry.key)))`)
	}, func() any { return p.said(g) })
	return nil
}

// settle has the phone send everything. Its person confirms the times of entries if that is asked.
func (p *fingerPhone) settle(g *fingerSeed) {
	g.t.Helper()
	fingerEval[bool](g, p, `dispatchEvent(new Event("online"))`)
	g.until(p.name+" has sent everything", func() bool {
		if fingerEval[bool](g, p, `((sure) => (sure ? (sure.click(), true) : false))(document.querySelector(".waiting__sure:not([hidden])"))`) {
			g.say("%s confirms: %s", p.name, p.said(g))
			g.strike("an age confirmed")
		}
		return !slices.ContainsFunc(p.entries(g), func(e fingerEntry) bool { return e.State != "refused" })
	}, func() any { return p.said(g) }, func() any { return p.entries(g) })
}

// said returns the page's line about what waits.
func (p *fingerPhone) said(g *fingerSeed) string {
	g.t.Helper()
	return strings.Join(strings.Fields(fingerEval[string](g, p, `document.getElementById("waiting").innerText`)), " ")
}
