package pickemapp

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
)

// step is an action of a person at a node, or an event of the network. Which and Like select among the things that exist by then.
type step struct {
	What, At    string
	Which, Like int
}

func drawSteps(rt *rapid.T) []step {
	what := rapid.SampledFrom([]string{
		"nothing", "cut", "cut both", "cut both", "mute", "heal", "heal both", "pass", "pass", "pass long", "pass long",
		"pick", "pick", "pick", "pick", "pick", "pick", "pick", "pick", "pick more", "pick more", "take back", "take back", "take back",
		"points", "teams", "teams", "name", "add", "remove", "remove", "order", "move", "move", "lock", "open", "result", "result", "results", "results", "score", "score",
		"scored elsewhere", "again", "again", "user", "shut out", "let in", "invite", "uninvite", "make", "unmake",
	})
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
		return step{
			what.Draw(rt, "what"), rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "at"),
			rapid.IntRange(0, 20).Draw(rt, "which"), rapid.IntRange(0, 20).Draw(rt, "like"),
		}
	}), 40, 120).Draw(rt, "steps")
}

// Users pick, and admins change cards, lock, enter results and score, at two nodes that are cut off from their cloud and connected again at
// random. Nobody sees another user's picks before the cloud has the lock. In the end both nodes and the cloud have the same rows, and standings
// match a recount. No pick made after the lock counts, a user is told of each pick that was lost until they have picked again, and no conflict
// about picks or points is left for a person.
// -rapid.checks and -rapid.seed select other scripts.
func TestNodesApart(t *testing.T) {
	nodes.Check(t, 3, func(rt *rapid.T) {
		clock, steps := rapid.SampledFrom([]time.Duration{0, 0, time.Hour, -time.Hour}).Draw(rt, "clock of b"), drawSteps(rt)
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = play(t, clock, steps) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// A node that is cut off locks by the start that it knows. If the start was moved meanwhile, that lock is dropped, and no person has to decide. A
// user whose pick at that node could not be sent by its lock is told until they have picked again.
func TestMovedStartIsNotLockedByTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newApart(t, 0)
		w.SetFault("cut", "b")
		event, starts := w.events[0], w.starts[0].Add(5*time.Hour)
		w.Want("b", "sam", "PUT", "/pickem/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, w.matches[event][0]))
		w.Want("a", nodes.Boss, "PATCH", admin+event, fmt.Sprintf(`{"startsAt":%q}`, starts.Format(time.RFC3339)))
		w.Pass(2 * time.Hour)
		w.SetFault("heal", "b")
		w.Pass(10 * time.Minute)
		for at := range w.Base {
			if it := w.Rows(at, prod)["EVENT EVENT#"+event]; it["state"].Str() != "upcoming" {
				t.Errorf("%s: %s", at, attr.AppendJSON(nil, it))
			}
			if answer := w.Want(at, "sam", "GET", "/pickem/app/events/"+event, ""); !strings.Contains(answer, `"notCounted":true`) {
				t.Errorf("%s: a pick was lost, and the user was not told: %s", at, answer)
			}
		}
		w.Want("a", "sam", "PUT", "/pickem/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, w.matches[event][0]))
		w.Pass(10 * time.Minute)
		for at := range w.Base {
			if answer := w.Want(at, "sam", "GET", "/pickem/app/events/"+event, ""); strings.Contains(answer, "notCounted") {
				t.Errorf("%s: the user is told that a pick does not count which does: %s", at, answer)
			}
		}
		if asked := w.Asked(); asked != nil {
			t.Errorf("a person was asked: %v", asked)
		}
	})
}

// A node that starts without its cloud locks by its own clock: the lock must come even if the cloud is away for a day. If that clock was fast,
// the node takes picks again once it hears the cloud, and no other node has seen a lock.
func TestNodeThatHasNotHeardTheCloudLocksByItsOwnClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newApart(t, time.Hour)
		path, pick := "/pickem/app/events/"+w.events[0], fmt.Sprintf(`{"predictions":{%q:1}}`, w.matches[w.events[0]][0])
		w.SetFault("cut", "b")
		w.Restart("b")
		w.Pass(time.Until(w.starts[0].Add(-2*time.Hour - time.Second)))
		w.Want("b", "sam", "PUT", path+"/predictions", pick)
		w.Pass(2 * time.Minute)
		if status, answer := w.Ask("b", "sam", "PUT", path+"/predictions", pick); status != http.StatusConflict {
			t.Errorf("after the lock by its own clock: %d %s", status, answer)
		}
		w.SetFault("heal", "b")
		w.Pass(2 * time.Minute)
		for at := range w.Base {
			if answer := w.Want(at, "sam", "PUT", path+"/predictions", pick); !strings.Contains(answer, `"upcoming"`) {
				t.Errorf("%s, once it hears the cloud: %s", at, answer)
			}
		}
		if asked := w.Asked(); asked != nil {
			t.Errorf("a person was asked: %v", asked)
		}
	})
}

// An event and a user with picks at another node, which this one has not read yet, cannot be deleted.
func TestPicksElsewhereAreNotDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newApart(t, 0)
		w.Want("a", nodes.Boss, "DELETE", admin+w.events[0], "") // near its lock, all picks would be read every minute
		w.Pass(20 * time.Minute)
		event := w.events[1]
		w.Want("a", "sam", "PUT", "/pickem/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, w.matches[event][0]))
		w.Pass(100 * time.Second) // by then, the last read of the whole table is too old or includes the pick
		for _, path := range []string{admin + event, "/pickem/admin/users/sam"} {
			if status, answer := w.Ask("b", nodes.Boss, "DELETE", path, ""); status != http.StatusConflict {
				t.Errorf("%s: %d %s", path, status, answer)
			}
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
	starts  []time.Time         // of the events
	matches map[string][]string // by event, including deleted ones
	log     uint64              // last entry of the cloud's log that was checked
	locked  map[string]bool     // events that are locked in the cloud
	ever    map[string]bool     // events that were ever locked in the cloud
	byHand  map[string]bool     // events that an admin has locked
	again   map[string]bool     // picks in notes that were made again at a node that knew the note
	n       int
}

// people are the users; zoe is invited during the script.
var people = []string{"sam", "max", "kim", "zoe"}

// newApart opens two nodes with three users and two events. The clock of node b is wrong by a duration.
func newApart(t *testing.T, clock time.Duration) *apart {
	t.Helper()
	w := &apart{Apart: nodes.NewApart(t, nodes.Options{App: New, Wrong: map[string]time.Duration{"b": clock}}, prod), matches: map[string][]string{}, locked: map[string]bool{}, ever: map[string]bool{}, byHand: map[string]bool{}, again: map[string]bool{}}
	for _, user := range people[:3] {
		w.Want("a", nodes.Boss, "POST", "/pickem/admin/users", fmt.Sprintf(`{"userId":%q,"name":%q}`, user, user))
	}
	for i, in := range []time.Duration{150 * time.Minute, 10 * 24 * time.Hour} {
		w.starts = append(w.starts, w.Clock.Now().Add(in).UTC())
		event := w.Makes("a", nodes.Boss, "/pickem/admin/events", w.event(i), "", "id")
		w.events = append(w.events, event)
		for range 3 {
			w.add("a", event)
		}
	}
	w.Settle()
	return w
}

func play(t *testing.T, clock time.Duration, steps []step) string {
	w := newApart(t, clock)
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
	return w.Report(names...)
}

// event returns the body of the request that creates event n.
func (w *apart) event(n int) string {
	at := w.starts[n]
	return fmt.Sprintf(`{"date":%q,"startsAt":%q,"name":"E%d"}`, at.Format(time.DateOnly), at.Format(time.RFC3339), n)
}

func (w *apart) add(at, event string) {
	body := fmt.Sprintf(`{"name":"M%d","points":5,"teams":[{"members":["A"]},{"members":["B"]},{"members":["C"]}]}`, w.n)
	if match := w.Makes(at, nodes.Boss, admin+event+"/matches", body, "", "id"); match != "" {
		w.matches[event] = append(w.matches[event], match)
	}
}

// card returns the IDs of an event's matches at a node: none if the node does not have the event.
func (w *apart) card(at, event string) (ids []string) {
	var card struct{ Matches []struct{ ID string } }
	_, answer := w.Ask(at, "sam", "GET", "/pickem/app/events/"+event, "")
	w.Read(answer, &card)
	for _, m := range card.Matches {
		ids = append(ids, m.ID)
	}
	return ids
}

func some[T any](all []T, which int) (one T) {
	if len(all) > 0 {
		one = all[which%len(all)]
	}
	return one
}

func (w *apart) do(s step) {
	at, user, n := s.At, some(people, s.Which), min(s.Like%4, 1) // mostly the second event
	if s.Which%2 == 0 {
		n = 0
	}
	event, elsewhere := w.events[n], map[string]string{"a": "b", "b": "a"}[at]
	match := some(w.matches[event], s.Like)
	path, matchRow, eventRow := admin+event, "EVENT#"+event+" MATCH#"+match, "EVENT EVENT#"+event
	boss := func(method, path, body, row string, names ...string) {
		answer, _ := w.Does(at, nodes.Boss, method, path, body, "", row, names...)
		w.byHand[event] = w.byHand[event] || row == eventRow && strings.Contains(answer, `"state":"broadcast"`)
	}
	switch s.What {
	case "nothing":
	case "cut", "cut both", "mute", "heal", "heal both":
		w.SetFault(s.What, at)
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
		note := notes(w.Rows(at, prod), user, event)
		if _, ok := w.Does(at, user, "PUT", "/pickem/app/events/"+event+"/predictions", `{"predictions":{`+picks+`}}`, "", "USER#"+user+" EVENT#"+event, names...); ok {
			for _, one := range note {
				if of, _, _ := strings.Cut(one, " "); slices.Contains(names, "predictions."+of) {
					w.again[user+" "+event+" "+one] = true
				}
			}
		}
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
		card, ids := w.card(at, event), []string{}
		for i := range card {
			ids = append(ids, fmt.Sprintf("%q", card[(i+s.Like)%len(card)]))
		}
		w.Asks(at, nodes.Boss, "PUT", path+"/order", `{"matchIds":[`+strings.Join(ids, ",")+`]}`, "")
	case "move":
		starts := w.Clock.Now().Add(time.Duration(s.Like*s.Like) * time.Minute).UTC()
		if n > 0 {
			starts = w.starts[n].Add(time.Duration(s.Like-10) * 20 * time.Minute)
		}
		boss("PATCH", path, fmt.Sprintf(`{"startsAt":%q}`, starts.Format(time.RFC3339)), eventRow, "startsAt")
	case "lock":
		boss("PUT", path+"/state", `{"state":"broadcast"}`, eventRow)
	case "open":
		boss("PUT", path+"/state", `{"state":"upcoming"}`, eventRow)
	case "result":
		boss("PUT", path+"/results", fmt.Sprintf(`{"results":{%q:%d}}`, match, s.Which%3), matchRow, "result")
	case "results":
		card, all := w.card(at, event), []string{}
		for i, m := range card {
			all = append(all, fmt.Sprintf("%q:%s", m, some([]string{"0", "1", "null"}, s.Like+i)))
		}
		before := w.Rows(at, prod)
		if _, ok := w.Asks(at, nodes.Boss, "PUT", path+"/results", `{"results":{`+strings.Join(all, ",")+`}}`, ""); ok {
			for _, m := range card {
				w.Says(at, "EVENT#"+event+" MATCH#"+m, before, "result")
			}
		}
	case "score":
		w.Asks(at, nodes.Boss, "POST", path+"/score", "", "")
	case "scored elsewhere":
		boss("PUT", path+"/results", fmt.Sprintf(`{"results":{%q:%d}}`, match, s.Which%3), matchRow, "result")
		w.Asks(elsewhere, nodes.Boss, "POST", path+"/score", "", "")
	case "again": // a pick comes after the lock, the event is opened again, and the pick is made again
		again := some([]string{at, elsewhere}, s.Like)
		for _, one := range []step{
			{"cut", at, 0, 0}, {"pick", at, s.Which, s.Like}, {"lock", elsewhere, s.Which, s.Like}, {"pass", at, 10, 0}, {"heal", at, 0, 0},
			{"pass long", at, 2, 0}, {"open", elsewhere, s.Which, s.Like}, {"pass long", at, 2, 0}, {"pick", again, s.Which, s.Like},
		} {
			w.do(one)
		}
	case "shut out", "let in":
		boss("PATCH", "/pickem/admin/users/kim", fmt.Sprintf(`{"active":%t}`, s.What == "let in"), "USER#kim USER", "active")
	case "invite":
		boss("POST", "/pickem/admin/users", `{"userId":"zoe","name":"zoe"}`, "USER#zoe USER", "name")
	case "uninvite":
		boss("DELETE", "/pickem/admin/users/zoe", "", "USER#zoe USER", "name")
	case "make":
		boss("POST", "/pickem/admin/events", w.event(n), eventRow, "name", "startsAt")
	case "unmake":
		boss("DELETE", path, "", eventRow, "name", "startsAt")
	case "user":
		boss("PATCH", "/pickem/admin/users/"+user, fmt.Sprintf(`{"name":"U%d"}`, w.n), "USER#"+user+" USER", "name")
	default:
		w.T.Fatal(s.What)
	}
}

// effects checks the cloud's log: no pick changes while its event is locked there, and no event is locked early.
func (w *apart) effects() {
	for _, e := range w.Cloud.Log(w.log) {
		w.log = e.N
		event, ok := strings.CutPrefix(e.Key["SK"].Str(), "EVENT#")
		switch locked := e.New != nil && e.New["state"].Str() != "upcoming"; {
		case !ok:
		case e.Key["PK"].Str() == "EVENT":
			w.locked[event], w.ever[event] = locked, w.ever[event] || locked
			starts, _ := time.Parse(time.RFC3339, e.New["startsAt"].Str())
			if due := starts.Add(time.Minute - time.Hour); locked && !w.byHand[event] && e.At.Before(due) {
				w.Bad("%s was locked %v early", event, due.Sub(e.At))
			}
		default:
			was, is := nodes.Shown(e.Old, "predictions"), nodes.Shown(e.New, "predictions")
			w.Trace = append(w.Trace, fmt.Sprintf("in the cloud, %s by %s: %s of %s: %s", e.At.Format("15:04:05.000"), e.By, event, e.Key["PK"].Str(), is))
			if w.locked[event] && was != is {
				w.Bad("the picks of %s changed after the lock: %s, were %s", e.Key["PK"].Str(), is, was)
			}
		}
	}
}

// hidden checks that nobody sees another user's picks for an event that was never locked in the cloud.
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
				w.Bad("a person was asked: %s", &c)
			}
		}
	}
	asked = strings.ReplaceAll(asked, ", ", "\n")
	w.Lost(cloud, asked, func(row, name, _ string, _ []string) bool {
		pk, sk, _ := strings.Cut(row, " ")
		match, pick := strings.CutPrefix(name, "predictions.")
		told := slices.ContainsFunc(notes(cloud, strings.TrimPrefix(pk, "USER#"), strings.TrimPrefix(sk, "EVENT#")), func(one string) bool {
			return strings.HasPrefix(one, match+" ")
		})
		return pick && (cloud[sk+" MATCH#"+match] == nil || told) ||
			strings.HasPrefix(sk, "MATCH#") && cloud[row] == nil // the match has other teams, or was deleted
	})
	for _, event := range w.events {
		for _, user := range people {
			for _, one := range notes(cloud, user, event) {
				if w.again[user+" "+event+" "+one] {
					w.Bad("%s is told that a pick of %s was not counted, but has picked again: %s", user, event, one)
				}
			}
		}
	}
	w.recount(cloud)
}

// notes returns a user's picks that were not counted, by their note in rows: match and time of each.
func notes(rows map[string]attr.Item, user, event string) []string {
	return rows["USER#"+user+" NOTCOUNTED#"+event]["picks"].Strs()
}

// recount checks the points of scored events, and the standings, against picks and results.
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
			w.Bad("%s is still being scored", event)
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
			w.Bad("%s has no scored event", k)
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
