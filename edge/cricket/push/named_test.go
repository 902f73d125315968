package push

import (
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

// titles lists the titles of the alerts to cards, by token.
func titles(all []sent) map[string]string {
	out := map[string]string{}
	for _, p := range all {
		if alert, is := p.body["alert"].(map[string]any); is && p.Event == "update" {
			out[p.Token], _ = alert["title"].(string)
		}
	}
	return out
}

// An alert on a card names its match if the phone's user follows another one at the same time, and only then.
func TestMatchIsNamed(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.fixture("8")
	r.live("8")
	r.score("8", 1, "")
	for _, user := range []string{"bea", "cy"} {
		r.follow("7", user)
		r.activate("7", user, "upd "+user)
	}
	r.follow("8", "bea")
	r.activate("8", "bea", "upd8 bea")
	r.pass(5 * time.Second)
	r.out.take()
	r.score("7", 2, "WICKET! one")
	r.score("8", 2, "WICKET! two")
	r.pass(5 * time.Second)
	got := titles(r.out.take())
	const named = "Wicket · New Zealand v England"
	for name, want := range map[string]string{"upd ada": "Wicket", "upd cy": "Wicket", "upd bea": named, "upd8 bea": named} {
		if got[token(name)] != want {
			t.Errorf("%s: the title is %q, want %q", name, got[token(name)], want)
		}
	}
	r.active("8", cricket.ActiveEnded, cricket.PhaseCompleted, r.clk.Now())
	r.pass(5 * time.Second)
	r.out.take()
	r.score("7", 3, "WICKET! three")
	r.pass(5 * time.Second)
	if got := titles(r.out.take())[token("upd bea")]; got != "Wicket" {
		t.Errorf("with one match left the title is %q", got)
	}
}

// A broadcast names its match if one of its listeners follows another one.
func TestMatchIsNamedOnAChannel(t *testing.T) {
	r := newWithChannels(t, "18.1", "18.2")
	r.run(r.client)
	r.pass(3 * time.Second)
	r.fixture("8")
	r.live("8")
	r.score("7", 2, "WICKET! one")
	r.pass(3 * time.Second)
	r.follow("8", "u1")
	r.score("7", 3, "WICKET! two")
	r.pass(3 * time.Second)
	for _, v := range r.box.Phones() {
		var got []string
		for _, a := range v.Alerts {
			got = append(got, a.Title)
		}
		if n := len(got); n < 2 || got[n-2] != "Wicket" || got[n-1] != "Wicket · New Zealand v England" {
			t.Errorf("%s: titles %q", v.Name, got)
		}
	}
}
