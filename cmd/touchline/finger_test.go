//go:build long && linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/faultproxy"
)

const (
	fingerMany  = 100 // a run of so many seeds has every fault
	fingerSteps = 30

	setAside = "the keys are set aside" // why a tap could not be made: another device scores
)

// A hall goes dark, in seeds: two scorers and a spectator in Chromium, two nodes, and a cloud. The judge writes down each tap. In the end each
// has taken effect once and in order, or is listed on its phone with a reason, or lay in storage that was cleared; and what every node and page
// shows is what the judge counts.
//
//	make finger SEEDS=1 SEED0=7   plays one seed
//
// Without Chromium or Java it is skipped, and fails in CI.
func TestFromFingerToFinger(t *testing.T) {
	seeds := fingerSeeds(t)
	h := newFingerHall(t, seeds)
	for _, n := range seeds {
		t.Run(fmt.Sprint("seed_", n), func(t *testing.T) { h.play(t, n) })
	}
	t.Logf("%d seeds: %v", len(seeds), h.struck)
	for _, fault := range fingerFaults() {
		if h.struck[fault] == 0 && len(seeds) >= fingerMany {
			t.Errorf("in %d seeds there was never: %s", len(seeds), fault)
		}
	}
}

// fingerSeeds returns the seeds that the environment names, or three: of both applications, with different faults.
func fingerSeeds(t *testing.T) (seeds []int) {
	t.Helper()
	number, first := fingerNumber(t, "TOUCHLINE_FINGER_SEEDS"), fingerNumber(t, "TOUCHLINE_FINGER_SEED0")
	if number == 0 {
		return []int{13, 15, 24}
	}
	for i := range number {
		seeds = append(seeds, max(first, 1)+i)
	}
	return seeds
}

// fingerFaults are what must have struck in a run of many seeds.
func fingerFaults() []string {
	return []string{
		"taps counted", "taps listed", "taps unknown", "a line half open", "a line cut", "a node killed", "a node cut off from the cloud",
		"a database closed", "a storage cleared under a page", "a storage cleared with entries", "a clock set", "a phone put away with entries", "a node taken over",
		"the scoring handed over", "the game finished in between", "a tap corrected after the end", "a game opened again", "an age confirmed", "a match of cricket beside",
	}
}

// fingerNumber reads a variable, 0 if it is not set, and removes it: a node would take it for a key of its configuration.
func fingerNumber(t *testing.T, variable string) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	t.Setenv(variable, text) // put back when the test ends
	_ = os.Unsetenv(variable)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a number above 0: %q", variable, text)
	}
	return n
}

// play plays a seed.
func (h *fingerHall) play(t *testing.T, n int) {
	g := &fingerSeed{t: t, hall: h, n: n, rng: rand.New(rand.NewPCG(uint64(n), 41)), began: time.Now(), sport: &fingerThreeFC{}}
	if n%2 == 0 {
		g.sport = &fingerHackTracker{}
	}
	t.Cleanup(func() {
		if t.Failed() || testing.Verbose() {
			t.Logf("seed %d, %T:\n%s", n, g.sport, strings.Join(g.story, "\n"))
		}
		if t.Failed() {
			keepLogs(t, h.nodes)
		}
	})
	g.prepare()
	g.sport.begin(g)
	for _, p := range h.phones {
		p.known = map[string]bool{}
		p.open(g, g.sport.page(p))
	}
	g.beginMatch()
	g.say("the game has begun")
	weighted := []func(*fingerSeed){}
	for _, one := range fingerDeeds() {
		for range one.times {
			weighted = append(weighted, one.do)
		}
	}
	for range fingerSteps {
		weighted[g.rng.IntN(len(weighted))](g)
		pause(t.Context(), time.Duration(g.rng.IntN(400))*time.Millisecond)
	}
	g.rest()
	g.recovered()
	g.judge()
	g.judgeMatch()
	for _, p := range h.phones {
		p.close(g)
	}
}

// prepare brings the hall back to order after the seed before, however that ended.
func (g *fingerSeed) prepare() {
	h := g.hall
	for _, n := range h.nodes {
		n.t = g.t
		n.door.Set(faultproxy.Conditions{})
	}
	for _, n := range h.nodes {
		if n.cmd.ProcessState == nil && time.Since(h.started) > fingerRecent {
			n.kill()
		}
		if n.cmd.ProcessState != nil {
			n.start()
		}
	}
	if time.Since(h.started) > fingerRecent {
		h.started = time.Now()
	}
	for i, p := range h.phones {
		if p.tab != nil {
			p.tab.Close()
		}
		*p = fingerPhone{hall: h, name: p.name, user: p.user, line: p.line}
		p.lead(h.nodes[i%2])
		p.setLine(lineOpen)
		h.browser.Clear(g.t, p.line.url)
	}
}

// fingerDeed is what may happen next, and how often.
type fingerDeed struct {
	times int
	do    func(g *fingerSeed)
}

func fingerDeeds() []fingerDeed {
	return []fingerDeed{
		{26, (*fingerSeed).tap},
		{4, (*fingerSeed).changeLine},
		{2, (*fingerSeed).killNode},
		{2, (*fingerSeed).startNode},
		{2, (*fingerSeed).cutCloud},
		{2, (*fingerSeed).closeDatabase},
		{2, (*fingerSeed).clearStorage},
		{2, (*fingerSeed).setClock},
		{2, (*fingerSeed).putAway},
		{2, (*fingerSeed).takeOverNode},
		{2, (*fingerSeed).handOver},
		{2, (*fingerSeed).reopenPage},
		{2, (*fingerSeed).closePage},
		{1, (*fingerSeed).finish},
		{2, (*fingerSeed).afterTheEnd},
	}
}

// scorer draws a scorer's phone.
func (g *fingerSeed) scorer() *fingerPhone { return g.hall.phones[g.rng.IntN(2)] }

// use draws a scorer's phone with its page open, or opens it; nil: it cannot be opened now.
func (g *fingerSeed) use() *fingerPhone {
	g.t.Helper()
	p := g.scorer()
	if p.tab == nil && !p.open(g, g.sport.page(p)) {
		return nil
	}
	return p
}

func (g *fingerSeed) tap() {
	g.t.Helper()
	p := g.use()
	if p == nil {
		return
	}
	one, script := g.sport.tap(g)
	if one == nil {
		return
	}
	one.phone, one.n, one.over = p, len(g.taps)+1, len(g.ends) > 0
	one.at, one.epoch = time.Now(), p.epoch
	key, why := p.press(g, script)
	if why == setAside && fingerEval[bool](g, p, `document.querySelector('form[data-scorers="take"] button')?.click() ?? true`) {
		g.say("%s takes over", p.name)
		one.at = time.Now()
		key, why = p.press(g, script)
	}
	if why != "" {
		g.say("%s cannot tap %s: %s", p.name, one.what, why)
		return
	}
	one.key = key
	if one.mark == "" {
		one.mark = key
	}
	if one.kind == "run" {
		one.mark = "run " + key[len(key)-8:]
	}
	g.taps = append(g.taps, one)
	g.say("%s: tap %d, %s (%s)", p.name, one.n, one.what, key)
}

func (g *fingerSeed) changeLine() {
	p := g.hall.phones[g.rng.IntN(3)]
	to := []lineState{lineOpen, lineHalfOpen, lineHalfOpen, lineCut}[g.rng.IntN(4)]
	g.say("the line of %s is %s", p.name, to)
	if to != lineOpen {
		g.strike("a line " + to.String())
	}
	p.setLine(to)
}

// killNode kills a node, if both run.
func (g *fingerSeed) killNode() {
	if g.down != nil {
		return
	}
	g.down = g.hall.nodes[g.rng.IntN(2)]
	g.say("node %s is killed", g.down.name)
	g.strike("a node killed")
	g.troubled(g.down)
	g.down.kill()
}

func (g *fingerSeed) startNode() {
	g.t.Helper()
	if g.down == nil {
		return
	}
	g.down.start()
	g.say("node %s is back", g.down.name)
	g.down = nil
}

func (g *fingerSeed) cutCloud() {
	n := g.hall.nodes[g.rng.IntN(2)]
	fault := []faultproxy.Fault{faultproxy.None, faultproxy.Partition, faultproxy.HalfOpen, faultproxy.LoseAnswers, faultproxy.Refuse}[g.rng.IntN(5)]
	g.say("the line of node %s to the cloud: %s", n.name, fault)
	if fault != faultproxy.None {
		g.strike("a node cut off from the cloud")
		g.troubled(n)
	}
	n.door.Set(faultproxy.Conditions{Fault: fault})
}

func (g *fingerSeed) closeDatabase() {
	g.t.Helper()
	p := g.scorer()
	if p.tab == nil {
		return
	}
	g.say("the browser of %s closes %d handles of its database", p.name, fingerEval[int](g, p, `rig.close()`))
	g.strike("a database closed")
}

func (g *fingerSeed) clearStorage() {
	g.t.Helper()
	p := g.scorer()
	closed := p.tab == nil
	lost := p.clear(g)
	g.say("the storage of %s is cleared while its page is closed: %v, lost: %d", p.name, closed, len(lost))
	if !closed {
		g.strike("a storage cleared under a page")
	}
	for _, one := range g.taps {
		if lost[one.key] {
			g.strike("a storage cleared with entries")
			one.cleared = true
			p.emptied = true
		}
	}
}

func (g *fingerSeed) setClock() {
	g.t.Helper()
	p := g.scorer()
	to := []time.Duration{0, -time.Hour, -time.Hour, time.Hour}[g.rng.IntN(4)]
	g.say("the clock of %s is set to be wrong by %s", p.name, to)
	p.setClock(g, to)
	g.strike("a clock set")
}

// putAway puts a phone away for thirteen hours, with what waits on it. It is done once: a goal of the day before belongs to no third.
func (g *fingerSeed) putAway() {
	g.t.Helper()
	const gap = 13 * time.Hour
	p := g.scorer()
	if p.tab == nil || p.state == lineOpen || p.aged {
		return
	}
	p.age(g, gap)
	n := 0
	for _, one := range g.taps {
		if one.phone != p || !p.waits[one.key] {
			continue
		}
		n++
		g.strike("a phone put away with entries")
		if !g.sport.keyed() {
			one.at = one.at.Add(-gap)
		}
	}
	g.say("%s is put away for 13 hours with %d taps", p.name, n)
}

// takeOverNode leads a phone's line to the other node, or back.
func (g *fingerSeed) takeOverNode() {
	p := g.hall.phones[g.rng.IntN(3)]
	to := g.hall.nodes[0]
	if p.node == to {
		to = g.hall.nodes[1]
	}
	g.say("node %s takes over for %s", to.name, p.name)
	g.strike("a node taken over")
	p.lead(to)
}

// handOver presses a key by which the scoring is handed over, taken, or shared, if a scorer's page has one.
func (g *fingerSeed) handOver() {
	g.t.Helper()
	p := g.use()
	if p == nil {
		return
	}
	done := fingerEval[string](g, p, fmt.Sprintf(`(() => {
		const all = [...document.querySelectorAll("form[data-scorers] button")];
		const key = all[%d %% all.length];
		if (!key) return "";
		key.click();
		return key.textContent;
	})()`, g.rng.IntN(100)))
	if done != "" {
		g.say("%s: %s", p.name, done)
		g.strike("the scoring handed over")
	}
}

func (g *fingerSeed) reopenPage() {
	g.t.Helper()
	p := g.hall.phones[g.rng.IntN(3)]
	g.say("%s opens its page anew: %v", p.name, p.open(g, g.sport.page(p)))
}

func (g *fingerSeed) closePage() {
	g.t.Helper()
	p := g.scorer()
	p.close(g)
	g.say("%s closes its page", p.name)
}

// finish presses what finishes the game.
func (g *fingerSeed) finish() {
	g.t.Helper()
	if p := g.use(); p != nil && len(g.taps) > 5 && g.finishAt(p) {
		g.strike("the game finished in between")
	}
}

// finishAt reports whether a phone's page could finish the game.
func (g *fingerSeed) finishAt(p *fingerPhone) bool {
	g.t.Helper()
	for _, script := range g.sport.finish() {
		_, why := p.press(g, script)
		g.say("%s presses final: %s", p.name, why)
		if why != "" {
			return false
		}
	}
	g.ends = append(g.ends, time.Now())
	return true
}

// afterTheEnd corrects a tap from another phone, or opens the game again.
func (g *fingerSeed) afterTheEnd() {
	g.t.Helper()
	p := g.use()
	if p == nil || len(g.ends) == 0 || p.state != lineOpen || g.down == p.node {
		return
	}
	if g.rng.IntN(2) == 0 && g.sport.resume(g, p) {
		g.say("the game goes on, by %s", p.name)
		g.strike("a game opened again")
		return
	}
	g.sport.correct(g, p)
}

// rest ends all faults, and has everything sent.
func (g *fingerSeed) rest() {
	g.t.Helper()
	g.startNode()
	for _, n := range g.hall.nodes {
		n.door.Set(faultproxy.Conditions{})
	}
	for _, p := range g.hall.phones {
		p.setLine(lineOpen)
	}
	g.say("everything works again")
	for _, p := range g.hall.phones {
		if p.tab == nil {
			p.open(g, g.sport.page(p))
		}
	}
	g.settle()
	g.end()
	g.settle()
}

// end finishes the game if it is not over.
func (g *fingerSeed) end() {
	g.t.Helper()
	p := g.hall.phones[1]
	p.open(g, g.sport.page(p))
	fingerEval[bool](g, p, `document.querySelector('form[data-scorers="take"] button')?.click() ?? true`)
	if len(g.ends) == 0 {
		g.until("the game can be finished", func() bool { return g.finishAt(p) }, func() any { return g.story[len(g.story)-1] })
		return
	}
	g.finishAt(p)
}

// settle waits until the phones have sent everything, and the nodes too.
func (g *fingerSeed) settle() {
	g.t.Helper()
	for range 2 { // what the cloud refuses is listed on a phone later
		for _, p := range g.hall.phones {
			p.settle(g)
		}
		for _, n := range g.hall.nodes {
			n.drained(nodePatience)
		}
	}
	g.say("everything is sent")
}

// judge compares the book with the nodes and the pages.
func (g *fingerSeed) judge() {
	g.t.Helper()
	listed := map[string]fingerEntry{}
	for _, p := range g.hall.phones {
		for _, e := range p.entries(g) {
			listed[e.Key] = e
			if e.Words == "" {
				g.t.Errorf("%s lists %s as %s without a reason", p.name, e.Key, e.State)
			}
		}
	}
	var marks []string
	g.until("both nodes have the same taps", func() bool {
		marks = g.sport.effects(g, g.hall.nodes[0])
		return slices.Equal(g.sport.effects(g, g.hall.nodes[1]), marks)
	}, func() any { return g.sport.effects(g, g.hall.nodes[1]) }, func() any { return marks })
	effects := map[string]int{}
	for _, mark := range marks {
		effects[mark]++
	}
	var counted []*fingerTap
	unknown := 0
	for _, one := range g.taps {
		entry, isListed := listed[one.key]
		switch n := effects[one.mark]; {
		case n > 1:
			g.t.Errorf("tap %d took effect %d times", one.n, n)
		case n == 1 && isListed:
			g.t.Errorf("tap %d took effect and is still listed: %+v", one.n, entry)
		case n == 1:
			counted = append(counted, one)
		case isListed && one.over:
			g.say("tap %d is listed: %s", one.n, entry.Words)
		case isListed:
			g.t.Errorf("tap %d was made before the end and is refused: %s", one.n, entry.Words)
		case one.cleared:
			unknown++
		default:
			g.t.Errorf("tap %d is lost", one.n)
		}
		delete(effects, one.mark)
	}
	for mark := range effects {
		g.t.Errorf("nobody tapped %s", mark)
	}
	g.say("%d taps, %d counted, %d listed, %d unknown", len(g.taps), len(counted), len(g.taps)-len(counted)-unknown, unknown)
	g.hall.struck["taps counted"] += len(counted)
	g.hall.struck["taps listed"] += len(g.taps) - len(counted) - unknown
	g.hall.struck["taps unknown"] += unknown
	g.order(marks)
	for _, n := range g.hall.nodes {
		var err error
		so := func() bool {
			err = g.sport.recount(g, n, counted)
			return err == nil && slices.Equal(g.sport.effects(g, n), marks)
		}
		g.until(n.name+" has what the judge counts", so, func() any { return err })
	}
	g.emptied()
	spectator := g.hall.phones[2]
	g.sport.shown(g, spectator, counted)
}

// order checks that the taps of each phone took effect in their order. Around a change of its clock that holds for seconds only.
func (g *fingerSeed) order(marks []string) {
	g.t.Helper()
	at := map[string]int{}
	for i, mark := range marks {
		at[mark] = i + 1
	}
	for i, one := range g.taps {
		for _, next := range g.taps[i+1:] {
			if one.phone != next.phone || one.kind == "run" || next.kind == "run" || at[one.mark] == 0 || at[next.mark] == 0 || !g.inOrder(one, next) {
				continue
			}
			first, second := one, next
			if next.at.Before(one.at) {
				first, second = next, one
			}
			if at[first.mark] > at[second.mark] {
				g.t.Errorf("tap %d took effect after tap %d, which was made after it", first.n, second.n)
			}
		}
	}
}

// inOrder reports whether the order of two taps is certain.
func (g *fingerSeed) inOrder(one, next *fingerTap) bool {
	return one.epoch == next.epoch || next.at.Sub(one.at).Abs() > 5*time.Second
}

// emptied checks that no page says that all was sent after its storage was cleared with entries.
func (g *fingerSeed) emptied() {
	g.t.Helper()
	for _, p := range g.hall.phones {
		if !p.emptied {
			continue
		}
		knows := fingerEval[bool](g, p, `fetch(document.documentElement.dataset.scope + "heard", { cache: "no-store" }).then((a) => a.json()).then(async (heard) => {
			const { storage } = await rig.queue();
			return Boolean(heard && (heard.store === storage ? heard.lost : heard.at));
		})`)
		if !knows {
			g.say("nobody knows what %s had", p.name)
			continue
		}
		g.until(p.name+" says that its storage was emptied", func() bool {
			return strings.Contains(p.said(g), "what came later cannot be known")
		}, func() any { return p.said(g) })
	}
}
