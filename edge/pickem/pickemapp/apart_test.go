package pickemapp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
)

// step is something that somebody does at a node, or that happens to one. Which is which of what there is by then.
type step struct {
	What, At    string
	Which, Like int
}

func drawSteps(rt *rapid.T) []step {
	what := rapid.SampledFrom([]string{
		"nothing", "cut", "cut both", "cut both", "mute", "heal", "heal both", "pass", "pass", "pass long", "pass long",
		"pick", "pick", "pick", "pick", "pick", "pick", "pick", "pick", "pick more", "pick more", "take back", "take back", "take back",
		"points", "teams", "name", "add", "remove", "order", "move", "lock", "open", "result", "result", "results", "results", "score", "score", "user",
	})
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
		return step{
			what.Draw(rt, "what"), rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "at"),
			rapid.IntRange(0, 20).Draw(rt, "which"), rapid.IntRange(0, 20).Draw(rt, "like"),
		}
	}), 40, 120).Draw(rt, "steps")
}

// People pick, and admins change cards, lock, enter results and score, at two nodes that are cut off from their cloud and joined again, at
// random. Before the cloud has a lock nobody sees another's picks. In the end both nodes and the cloud have the same rows; standings are a
// recount; no pick counts that has come behind the lock, and none is lost of which its owner is not told; and of picks and points no person
// is asked.
// -rapid.checks and -rapid.seed say which other scripts are played.
func TestNodesApart(t *testing.T) {
	nodes.Check(t, 3, func(rt *rapid.T) {
		steps := drawSteps(rt)
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = play(t, steps) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

const (
	prod  = "pickem-prod"
	admin = "/pickem/admin/events/"
)

type apart struct {
	*nodes.Apart
	events  []string
	matches map[string][]string // by event, also those that are gone
	log     uint64              // effects of the cloud that were looked at
	locked  map[string]bool     // events that the cloud has locked
	ever    map[string]bool     // or had
	n       int
}

var people = []string{"sam", "max", "kim"}

func play(t *testing.T, steps []step) string {
	w := &apart{Apart: nodes.NewApart(t, nodes.Options{App: New}, prod), matches: map[string][]string{}, locked: map[string]bool{}, ever: map[string]bool{}}
	for _, user := range people {
		w.Want("a", nodes.Boss, "POST", "/pickem/admin/users", fmt.Sprintf(`{"userId":%q,"name":%q}`, user, user))
	}
	for i, in := range []time.Duration{150 * time.Minute, 10 * 24 * time.Hour} {
		at := w.Clock.Now().Add(in).UTC()
		event := w.Makes("a", nodes.Boss, "/pickem/admin/events", fmt.Sprintf(`{"date":%q,"startsAt":%q,"name":"E%d"}`, at.Format(time.DateOnly), at.Format(time.RFC3339), i), "", "id")
		w.events = append(w.events, event)
		for range 3 {
			w.add("a", event)
		}
	}
	w.Settle()
	for _, s := range steps {
		w.n++
		w.do(s)
		w.effects()
		w.hidden()
	}
	w.judge()
	var names []string
	for i, event := range w.events {
		for j, match := range w.matches[event] {
			names = append(names, match, fmt.Sprintf("m%d.%d", i, j))
		}
	}
	return w.Told(names...)
}

func (w *apart) add(at, event string) {
	body := fmt.Sprintf(`{"name":"M%d","points":5,"teams":[{"members":["A"]},{"members":["B"]},{"members":["C"]}]}`, w.n)
	if match := w.Makes(at, nodes.Boss, admin+event+"/matches", body, "", "id"); match != "" {
		w.matches[event] = append(w.matches[event], match)
	}
}

func some[T any](all []T, which int) (one T) {
	if len(all) > 0 {
		one = all[which%len(all)]
	}
	return one
}

func (w *apart) do(s step) {
	at, user, event := s.At, some(people, s.Which), some(w.events, min(s.Like%4, 1)) // mostly the second
	if s.Which%2 == 0 {
		event = w.events[0]
	}
	match := some(w.matches[event], s.Like)
	path, matchRow, eventRow := admin+event, "EVENT#"+event+" MATCH#"+match, "EVENT EVENT#"+event
	boss := func(method, path, body, row string, names ...string) {
		w.Does(at, nodes.Boss, method, path, body, "", row, names...)
	}
	switch s.What {
	case "nothing":
	case "cut", "cut both", "mute", "heal", "heal both":
		w.Weather(s.What, at)
	case "pass":
		w.Pass(time.Duration(s.Which) * time.Second)
	case "pass long":
		w.Pass(time.Duration(s.Which) * time.Minute)
	case "pick", "take back", "pick more":
		pick := fmt.Sprint(s.Which % 3)
		if s.What == "take back" {
			pick = "null"
		}
		picks, names := fmt.Sprintf(`%q:%s`, match, pick), []string{"predictions." + match}
		if other := some(w.matches[event], s.Like+1); s.What == "pick more" && other != match {
			picks, names = picks+fmt.Sprintf(`,%q:%d`, other, s.Like%3), append(names, "predictions."+other)
		}
		w.Does(at, user, "PUT", "/pickem/app/events/"+event+"/predictions", `{"predictions":{`+picks+`}}`, "", "USER#"+user+" EVENT#"+event, names...)
	case "points":
		boss("PATCH", path+"/matches/"+match, fmt.Sprintf(`{"points":%d}`, w.n%90+1), matchRow, "points")
	case "teams":
		if answer, ok := w.Asks(at, nodes.Boss, "PATCH", path+"/matches/"+match, fmt.Sprintf(`{"teams":[{"members":["A%d"]},{"members":["B"]}]}`, w.n), ""); ok {
			var m struct{ ID string }
			w.Read(answer, &m)
			w.matches[event] = append(w.matches[event], m.ID)
		}
	case "name":
		boss("PATCH", path+"/matches/"+match, fmt.Sprintf(`{"name":"N%d"}`, w.n), matchRow, "name")
	case "add":
		w.add(at, event)
	case "remove":
		boss("DELETE", path+"/matches/"+match, "", matchRow, "name")
	case "order":
		var card struct{ Matches []struct{ ID string } }
		w.Read(w.Want(at, "sam", "GET", "/pickem/app/events/"+event, ""), &card)
		var ids []string
		for i := range card.Matches {
			ids = append(ids, fmt.Sprintf("%q", card.Matches[(i+s.Like)%len(card.Matches)].ID))
		}
		w.Asks(at, nodes.Boss, "PUT", path+"/order", `{"matchIds":[`+strings.Join(ids, ",")+`]}`, "")
	case "move":
		starts := w.Clock.Now().Add(time.Duration(s.Like*s.Like) * time.Minute).UTC()
		boss("PATCH", path, fmt.Sprintf(`{"startsAt":%q}`, starts.Format(time.RFC3339)), eventRow, "startsAt")
	case "lock":
		boss("PUT", path+"/state", `{"state":"broadcast"}`, eventRow)
	case "open":
		boss("PUT", path+"/state", `{"state":"upcoming"}`, eventRow)
	case "result":
		boss("PUT", path+"/results", fmt.Sprintf(`{"results":{%q:%d}}`, match, s.Which%3), matchRow, "result")
	case "results":
		var card struct{ Matches []struct{ ID string } }
		w.Read(w.Want(at, "sam", "GET", "/pickem/app/events/"+event, ""), &card)
		var all []string
		for i, m := range card.Matches {
			all = append(all, fmt.Sprintf("%q:%s", m.ID, some([]string{"0", "1", "null"}, s.Like+i)))
		}
		before := w.Rows(at, prod)
		if _, ok := w.Asks(at, nodes.Boss, "PUT", path+"/results", `{"results":{`+strings.Join(all, ",")+`}}`, ""); ok {
			for _, m := range card.Matches {
				w.Says(at, "EVENT#"+event+" MATCH#"+m.ID, before, "result")
			}
		}
	case "score":
		w.Asks(at, nodes.Boss, "POST", path+"/score", "", "")
	case "user":
		boss("PATCH", "/pickem/admin/users/"+user, fmt.Sprintf(`{"name":"U%d"}`, w.n), "USER#"+user+" USER", "name")
	default:
		w.T.Fatal(s.What)
	}
}

// effects looks at what the cloud has done: no pick changes while its event is locked there.
func (w *apart) effects() {
	for _, e := range w.Cloud.Log(w.log) {
		w.log = e.N
		event, ok := strings.CutPrefix(e.Key["SK"].Str(), "EVENT#")
		switch locked := e.New != nil && e.New["state"].Str() != "upcoming"; {
		case !ok:
		case e.Key["PK"].Str() == "EVENT":
			w.locked[event], w.ever[event] = locked, w.ever[event] || locked
		default:
			was, is := nodes.Shown(e.Old, "predictions"), nodes.Shown(e.New, "predictions")
			w.Trace = append(w.Trace, fmt.Sprintf("in the cloud, %s by %s: %s of %s: %s", e.At.Format("15:04:05.000"), e.By, event, e.Key["PK"].Str(), is))
			if w.locked[event] && was != is {
				w.Bad("picks of %s behind the lock: %s, were %s", e.Key["PK"].Str(), is, was)
			}
		}
	}
}

// hidden looks at an event that the cloud has never had locked: nobody sees another's picks.
func (w *apart) hidden() {
	event := w.events[w.n%2]
	if w.ever[event] {
		return
	}
	at, reader := []string{"a", "b"}[w.n/2%2], people[w.n%3]
	for _, path := range []string{"/pickem/app/events/" + event, "/pickem/app/events/" + event + "/predictions.csv", "/pickem/-/events/" + event} {
		_, answer := w.Ask(at, reader, "GET", path, "")
		for _, other := range people {
			if other != reader && (strings.Contains(answer, `"userId":"`+other) || strings.Contains(answer, "\n"+other+",")) {
				w.Bad("%s sees %s at %s, %s: %s", reader, other, at, path, answer)
			}
		}
	}
	for _, other := range people {
		if _, answer := w.Ask(at, reader, "GET", "/pickem/app/users/"+other, ""); other != reader && strings.Contains(answer, event) {
			w.Bad("%s sees picks of %s at %s: %s", reader, other, at, answer)
		}
	}
}

func (w *apart) judge() {
	cloud := w.Joined()
	w.effects()
	asked := ""
	for _, c := range w.Asked() {
		asked += c.String() + "\n"
		for _, one := range c.Decided {
			if pk, sk := one.Key.PK.S, one.Key.SK.S; strings.HasPrefix(pk, "USER#") && sk != "USER" || strings.HasPrefix(one.Update, "SET scoring") || strings.HasPrefix(one.Update, "REMOVE scoring") {
				w.Bad("asked: %s", &c)
			}
		}
	}
	asked = strings.ReplaceAll(asked, ", ", "\n")
	w.Lost(cloud, asked, func(row, name, _ string, _ []string) bool {
		pk, sk, _ := strings.Cut(row, " ")
		match, pick := strings.CutPrefix(name, "predictions.")
		return pick && (cloud[sk+" MATCH#"+match] == nil || cloud[pk+" NOTCOUNTED#"+strings.TrimPrefix(sk, "EVENT#")] != nil) ||
			strings.HasPrefix(sk, "MATCH#") && cloud[row] == nil // it has other teams, or is off the card
	})
	w.recount(cloud)
}

// recount counts points of scored events, and standings, from picks and results.
func (w *apart) recount(cloud map[string]attr.Item) {
	standings := map[string][3]int{}
	years := map[string]bool{}
	for k, it := range cloud {
		pk, sk, _ := strings.Cut(k, " ")
		event, ok := strings.CutPrefix(sk, "EVENT#")
		user, picks := strings.CutPrefix(pk, "USER#")
		if !ok || !picks {
			continue
		}
		e := cloud["EVENT EVENT#"+event]
		points, right := 0, 0
		for match, pick := range it["predictions"].Map() {
			m := cloud["EVENT#"+event+" MATCH#"+match]
			if result, known := m["result"]; known && result.Equal(pick) {
				n, _ := m["points"].Int()
				points, right = points+int(n), right+1
			}
		}
		if e["state"].Str() == "scored" {
			year := event[:4] + " " + user
			st := standings[year]
			standings[year] = [3]int{st[0] + points, st[1] + right, st[2] + 1}
			years[year] = true
		} else if !e["scoring"].IsZero() {
			w.Bad("%s is still scored", event)
		} else {
			points, right = 0, 0
		}
		w.figures(k, it, fmt.Sprintf("SCORE#%03d#%s", min(points, 999), user), points, right)
	}
	for _, year := range slices.Sorted(maps.Keys(years)) {
		y, user, _ := strings.Cut(year, " ")
		st, k := standings[year], "USER#"+user+" STANDINGS#"+y
		w.figures(k, cloud[k], fmt.Sprintf("SCORE#%05d#%s", st[0], user), st[0], st[1])
		if n, _ := cloud[k]["eplayed"].Int(); int(n) != st[2] {
			w.Bad("%s: %d events, want %d", k, n, st[2])
		}
	}
	for k := range cloud {
		if user, y, ok := strings.Cut(k, " STANDINGS#"); ok && !years[y+" "+strings.TrimPrefix(user, "USER#")] {
			w.Bad("%s is of nothing", k)
		}
	}
}

func (w *apart) figures(k string, it attr.Item, key string, points, right int) {
	p, _ := it["points"].Int()
	r, _ := it["mcorrect"].Int()
	if it["GSI_SK"].Str() != key || int(p) != points || int(r) != right {
		w.Bad("%s: %s %d %d, want %s %d %d", k, it["GSI_SK"].Str(), p, r, key, points, right)
	}
}
