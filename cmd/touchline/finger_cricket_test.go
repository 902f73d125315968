//go:build long && linux

package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/internal/testrig/wait"
)

const (
	fingerCricket = 9  // beside every ninth seed a match of cricket is played
	fingerBalls   = 16 // that are left of it: it outlives the darkness
)

// hasCricket reports whether a match of cricket is played beside a seed.
func hasCricket(seed int) bool { return seed%fingerCricket == 0 }

// beginMatch has the end of a recorded match told by both nodes to phones of a push service.
func (g *fingerSeed) beginMatch() {
	g.t.Helper()
	if !hasCricket(g.n) {
		return
	}
	f := g.hall.fleet
	f.t, f.began = g.t, g.began
	f.matches, f.phones, f.spells = nil, nil, nil
	g.t.Cleanup(f.apps.Wait)
	recordings := []string{"1208093", "1226827"}
	f.play(recordings[g.n/fingerCricket%2], fingerBalls)
	f.until("a node tells the match", fleetSlack, func() bool { return f.shares()[nil] == 0 })
	f.audience()
	f.control("play")
	g.say("match %s is played beside", f.matches[0].id)
	g.strike("a match of cricket beside")
}

// troubled notes that a node may not send the alerts that it claims from now on.
func (g *fingerSeed) troubled(n *cloudNode) {
	if hasCricket(g.n) {
		g.hall.fleet.troubled(n)
	}
}

// recovered notes that both nodes send every alert from now on.
func (g *fingerSeed) recovered() {
	g.t.Helper()
	if !hasCricket(g.n) {
		return
	}
	for _, n := range g.hall.nodes {
		g.hall.fleet.recovered(n)
	}
}

// judgeMatch waits for the result, and compares what the phones were told, and what their lock screens show, with the match as a single node
// plays it. What a node had claimed before it was killed or cut off, nobody tells: see judgePhone.
func (g *fingerSeed) judgeMatch() {
	g.t.Helper()
	if !hasCricket(g.n) {
		return
	}
	f := g.hall.fleet
	f.until("the match is over", fleetTTL+fleetWait+2*fleetSlack, func() bool { return f.over() == 1 })
	f.settle()
	alone := f.judge()[0]
	for _, p := range f.phones {
		f.judgeLockScreen(&p, alone)
	}
	g.say("the lock screens of %d phones show: %s", len(f.phones), alone.Display.Result)
}

// judgeLockScreen waits until a phone shows the end of its match as a single node shows it.
func (f *fleet) judgeLockScreen(p *fleetPhone, alone *cricketapp.ReplayReport) {
	f.t.Helper()
	display := payload.NewContentState(&alone.Display)
	want, shown := screenOf(&display), ""
	wait.Within(f.t, fleetSlack, p.Name+" shows the result", func() bool {
		shown = f.lockScreen(p)
		return shown == want
	}, func() any { return shown }, func() any { return want })
}

// lockScreen returns the cards of a phone's match.
func (f *fleet) lockScreen(p *fleetPhone) (cards string) {
	all := f.box.Phones()
	i := slices.IndexFunc(all, func(one sandbox.PhoneView) bool { return one.DeviceID == p.DeviceID })
	for _, a := range all[i].Activities {
		var state payload.ContentState
		if err := json.Unmarshal(a.State, &state); err != nil {
			return err.Error()
		}
		if a.MatchID == p.match {
			cards += screenOf(&state)
		}
	}
	return cards
}

// screenOf returns what somebody reads on a card who wants to know how a match ended.
func screenOf(state *payload.ContentState) string {
	text := fmt.Sprint(state.Phase, ": ", state.Result)
	for _, team := range state.Teams {
		text += fmt.Sprintf(", %s %d/%d (%s)", team.Code, team.Runs, team.Wickets, team.Overs)
	}
	return text
}
