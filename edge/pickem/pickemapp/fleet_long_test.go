//go:build long

package pickemapp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// fleet is two nodes with the application over one cloud.
type fleet struct {
	t      *testing.T
	issuer *auth.DevIssuer
	cloud  *simcloud.Cloud
	clock  *clock.Scaled
	event  string
	wrong  map[string]time.Duration // how far a node's clock is ahead
	links  map[string]*simcloud.Link
	base   map[string]string
	data   map[string]string // its directory
	stop   map[string]func()
}

// newFleetAt is a fleet whose time goes so many times faster, with clocks that are wrong by node.
func newFleetAt(t *testing.T, speed float64, wrong map[string]time.Duration) *fleet {
	t.Helper()
	issuer, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, issuer: issuer, clock: clock.NewScaled(time.Now(), speed), wrong: wrong, links: map[string]*simcloud.Link{}, base: map[string]string{}}
	t.Cleanup(f.clock.Join())
	f.cloud = simcloud.New(simcloud.Options{Now: f.clock.Now})
	f.cloud.Create(node.Schema([]*app.App{New()}).Tables...)
	f.cloud.Create(store.TableSpec{Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}}})
	network := simcloud.NewNetwork(f.cloud, simcloud.NewTimer(), 7)
	for _, name := range []string{"a", "b"} {
		f.links[name] = network.Link(name, f.clockOf(name).Now, nil)
		f.start(name)
	}
	return f
}

// wrongClock is ahead of another.
type wrongClock struct {
	clock.Clock
	by time.Duration
}

func (w wrongClock) Now() time.Time { return w.Clock.Now().Add(w.by) }

func (w wrongClock) Wait(ctx context.Context, until time.Time, sig *clock.Signal) error {
	if !until.IsZero() {
		until = until.Add(-w.by)
	}
	return w.Clock.Wait(ctx, until, sig)
}

func (f *fleet) clockOf(node string) clock.Clock { return wrongClock{f.clock, f.wrong[node]} }

func (f *fleet) start(name string) {
	f.t.Helper()
	c := node.DefaultCloud()
	c.Region, c.Poll.Live, c.Poll.Tables = "sim", time.Second, time.Second
	f.serve(name, &node.Cloud{Config: c, Name: "sim", Items: f.links[name], Locks: f.links[name].Locks})
}

func (f *fleet) serve(name string, cloud *node.Cloud) {
	f.t.Helper()
	if f.data == nil {
		f.data, f.stop = map[string]string{}, map[string]func(){}
	}
	if f.data[name] == "" {
		f.data[name] = f.t.TempDir()
		f.t.Cleanup(func() { f.stop[name]() })
	}
	n, err := node.Open(f.t.Context(), f.data[name], node.Parts{
		Clock: f.clockOf(name), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{New()},
		Cloud: cloud,
		Auth: func(*store.Store) (*auth.Verifier, error) {
			return auth.New(auth.Config{Issuers: []auth.Issuer{f.issuer.Issuer()}})
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, ln) }()
	f.stop[name] = func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Error(err)
		}
	}
	f.base[name] = "http://" + ln.Addr().String()
}

// ask sends a request of a user to a node.
func (f *fleet) ask(at, user, method, path, body string, headers ...string) (status int, answer string) {
	f.t.Helper()
	grant := auth.Grant{Subject: user, Life: time.Hour}
	if user == "boss" {
		grant.Groups = []string{"admin"}
	}
	token, _, err := f.issuer.Sign(grant, time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.base[at]+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}).Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func (f *fleet) until(what string, is func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(hang.Limit(time.Minute)); !is(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("not in time: %s", what)
		}
	}
}

// newLeague is a fleet whose nodes both have the user sam and an event of two matches.
func newLeague(t *testing.T) (f *fleet, matches []string) {
	t.Helper()
	f = newFleetAt(t, 20, nil) // what a node holds of the cloud is read again after 30 seconds
	return f, f.league(10 * 24 * time.Hour)
}

// league makes sam and an event of two matches that starts in so long.
func (f *fleet) league(in time.Duration) (matches []string) {
	f.t.Helper()
	at := f.clock.Now().Add(in).UTC()
	f.event = at.Format(time.DateOnly) + "-gala"
	f.want("a", "boss", "POST", "/pickem/admin/users", `{"userId":"sam","name":"Sam"}`)
	f.want("a", "boss", "POST", "/pickem/admin/events", fmt.Sprintf(`{"date":%q,"startsAt":%q,"name":"Gala"}`, f.event[:10], at.Format(time.RFC3339)))
	for _, name := range []string{"First", "Main"} {
		var m struct{ ID string }
		body := fmt.Sprintf(`{"name":%q,"points":5,"teams":[{"members":["A"]},{"members":["B"]}]}`, name)
		if err := json.Unmarshal([]byte(f.want("a", "boss", "POST", "/pickem/admin/events/"+f.event+"/matches", body)), &m); err != nil {
			f.t.Fatal(err)
		}
		matches = append(matches, m.ID)
	}
	f.until("each node has the card", func() bool {
		if f.base["b"] == "" {
			return true
		}
		_, answer := f.ask("b", "sam", "GET", f.at(), "")
		return strings.Contains(answer, matches[1])
	})
	return matches
}

func (f *fleet) at() string { return "/pickem/app/events/" + f.event }

func (f *fleet) want(node, user, method, path, body string) string {
	f.t.Helper()
	status, answer := f.ask(node, user, method, path, body)
	if status >= http.StatusBadRequest {
		f.t.Fatalf("%s at %s: %s %s: %d %s", user, node, method, path, status, answer)
	}
	return answer
}

func (f *fleet) picks(node, match string, team int) {
	f.t.Helper()
	f.want(node, "sam", "PUT", f.at()+"/predictions", fmt.Sprintf(`{"predictions":{%q:%d}}`, match, team))
}

func (f *fleet) sees(node, what, part string) {
	f.t.Helper()
	f.until(what+" at "+node, func() bool {
		_, answer := f.ask(node, "sam", "GET", f.at(), "")
		return strings.Contains(answer, part)
	})
}

// quiet fails if a person would be asked of anything.
func (f *fleet) quiet() {
	f.t.Helper()
	for node := range f.base {
		if answer := f.want(node, "boss", "GET", "/_/api/conflicts?state=open", ""); !strings.Contains(answer, `"items":[]`) {
			f.t.Errorf("open at %s: %s", node, answer)
		}
	}
}

// A pick before the cut-off counts. One after it comes too late, is gone from the view, and its owner is told; no person is asked.
func TestLatePickIsNotCounted(t *testing.T) {
	f, m := newLeague(t)
	f.picks("b", m[0], 1)
	f.sees("a", "the pick in time", fmt.Sprintf(`"predictions":{%q:1}`, m[0]))
	f.links["b"].SetMode(simcloud.NoDNS)
	f.picks("b", m[1], 0)
	f.want("a", "boss", "PUT", "/pickem/admin/events/"+f.event+"/state", `{"state":"broadcast"}`)
	f.until("the lock is in the cloud", func() bool {
		_, answer := f.ask("a", "sam", "GET", f.at(), "")
		return strings.Contains(answer, `"rank":1`)
	})
	f.links["b"].Heal()
	for _, node := range []string{"b", "a"} {
		f.sees(node, "not counted", `"notCounted":true`)
		f.sees(node, "the pick in time alone", fmt.Sprintf(`"predictions":{%q:1}}]`, m[0]))
	}
	f.quiet()
}

// A node that is cut off and has locked an event by itself shows nobody's picks, also when it was started again: the others may be
// picking still.
func TestLockThatTheCloudHasNotConfirmedShowsNothing(t *testing.T) {
	f, m := newLeague(t)
	f.want("a", "boss", "POST", "/pickem/admin/users", `{"userId":"max","name":"Max"}`)
	f.picks("a", m[0], 1)
	f.sees("b", "the pick", fmt.Sprintf(`%q:1`, m[0]))
	f.until("b knows max", func() bool { status, _ := f.ask("b", "max", "GET", f.at(), ""); return status == http.StatusOK })
	f.links["b"].SetMode(simcloud.NoDNS)
	f.want("b", "boss", "PUT", "/pickem/admin/events/"+f.event+"/state", `{"state":"broadcast"}`)
	hidden := func(when string) {
		t.Helper()
		for _, path := range []string{f.at(), f.at() + "/predictions.csv", "/pickem/app/users/sam", "/pickem/-/events/" + f.event} {
			if answer := f.want("b", "max", "GET", path, ""); strings.Contains(answer, m[0]+`":1`) || strings.Contains(answer, "Sam,") || strings.Contains(answer, "Sam</") {
				t.Errorf("%s: %s: %s", when, path, answer)
			}
		}
	}
	hidden("cut off")
	f.stop["b"]()
	f.start("b")
	hidden("started again")
	f.picks("a", m[1], 0)
	f.links["b"].Heal()
	f.until("the lock is in the cloud", func() bool { return strings.Contains(f.want("b", "max", "GET", f.at(), ""), `"rank":1`) })
	f.quiet()
}

// A result is corrected at a node that is cut off, and another one elsewhere: each node scores what it knows. When they meet again the
// standings are those of both.
func TestStandingsAreARecountBehindAPartition(t *testing.T) {
	f := newFleetAt(t, 60, nil) // predictions are read every 15 minutes
	m := f.league(10 * 24 * time.Hour)
	f.picks("a", m[0], 1)
	f.picks("a", m[1], 1)
	f.sees("b", "the picks", fmt.Sprintf(`%q:1`, m[1]))
	event := "/pickem/admin/events/" + f.event
	f.want("a", "boss", "PUT", event+"/state", `{"state":"broadcast"}`)
	f.want("a", "boss", "PUT", event+"/results", fmt.Sprintf(`{"results":{%q:0,%q:0}}`, m[0], m[1]))
	f.want("a", "boss", "POST", event+"/score", "")
	f.sees("b", "the scoring", `"state":"scored"`)
	standing := func(node string, points, right int) {
		t.Helper()
		want := fmt.Sprintf(`"name":"Sam","points":%d,"mcorrect":%d,"eplayed":1`, points, right)
		f.until(fmt.Sprint(points, " points at ", node), func() bool {
			return strings.Contains(f.want(node, "sam", "GET", "/pickem/app/standings?year="+f.event[:4], ""), want)
		})
	}
	standing("b", 0, 0)
	f.links["b"].SetMode(simcloud.NoDNS)
	f.want("a", "boss", "PUT", event+"/results", fmt.Sprintf(`{"results":{%q:1}}`, m[1]))
	f.want("b", "boss", "PUT", event+"/results", fmt.Sprintf(`{"results":{%q:1}}`, m[0]))
	standing("a", 5, 1)
	f.links["b"].Heal()
	row := func(sk string) attr.Item {
		return f.cloud.Item("pickem-prod", attr.Item{"PK": attr.S("USER#sam"), "SK": attr.S(sk)})
	}
	for _, node := range []string{"a", "b"} {
		standing(node, 10, 2)
		f.sees(node, "the points", `"points":10,"mcorrect":2`)
	}
	f.until("the cloud has the points of both results", func() bool {
		return row("EVENT#" + f.event)["GSI_SK"].Str() == "SCORE#010#sam" && row("STANDINGS#" + f.event[:4])["GSI_SK"].Str() == "SCORE#00010#sam"
	})
	f.quiet()
}

// Of a first pick that comes too late there is no row in the cloud: its owner is told all the same.
func TestLateFirstPickIsNotCounted(t *testing.T) {
	f, m := newLeague(t)
	f.links["b"].SetMode(simcloud.NoDNS)
	f.picks("b", m[0], 1)
	f.picks("b", m[1], 1)
	f.want("a", "boss", "PUT", "/pickem/admin/events/"+f.event+"/state", `{"state":"broadcast"}`)
	f.until("the lock is in the cloud", func() bool {
		return f.cloud.Item("pickem-prod", attr.Item{"PK": attr.S("EVENT"), "SK": attr.S("EVENT#" + f.event)})["state"].Str() == "broadcast"
	})
	f.links["b"].Heal()
	for _, node := range []string{"b", "a"} {
		f.sees(node, "not counted", `"prediction":null,"notCounted":true`)
	}
	f.quiet()
}

// Two devices at two nodes that are cut off do not erase each other's first picks; both nodes lock, and
// that is one lock. An admin sees the picks in the conflict from the lock on.
func TestPicksAtTwoNodesAreJoinedAndHiddenFromAdmins(t *testing.T) {
	f, m := newLeague(t)
	f.links["a"].SetMode(simcloud.NoDNS)
	f.links["b"].SetMode(simcloud.NoDNS)
	f.picks("a", m[0], 1)
	f.picks("b", m[1], 0)
	f.links["a"].Heal()
	f.links["b"].Heal()
	for _, node := range []string{"a", "b"} {
		f.sees(node, "both picks", fmt.Sprintf(`%q:1`, m[0]))
		f.sees(node, "both picks", fmt.Sprintf(`%q:0`, m[1]))
	}
	f.hidden(true)
	f.links["a"].SetMode(simcloud.NoDNS)
	f.links["b"].SetMode(simcloud.NoDNS)
	for _, node := range []string{"a", "b"} {
		f.want(node, "boss", "PUT", "/pickem/admin/events/"+f.event+"/state", `{"state":"broadcast"}`)
	}
	f.links["a"].Heal()
	f.links["b"].Heal()
	for _, node := range []string{"a", "b"} {
		f.sees(node, "the lock", `"rank":1`)
	}
	f.quiet()
	f.hidden(false)
}

// hidden looks whether an admin sees picks in the conflicts that picks have made, which the merge has resolved.
func (f *fleet) hidden(want bool) {
	f.t.Helper()
	seen := 0
	for node := range f.base {
		var list struct {
			Items []struct {
				ID  uint64
				Key map[string]map[string]string
			}
		}
		if err := json.Unmarshal([]byte(f.want(node, "boss", "GET", "/_/api/conflicts?state=resolved", "")), &list); err != nil {
			f.t.Fatal(err)
		}
		for _, c := range list.Items {
			if c.Key["PK"]["S"] != "USER#sam" {
				continue
			}
			seen++
			if one := f.want(node, "boss", "GET", fmt.Sprint("/_/api/conflicts/", c.ID), ""); strings.Contains(one, "predictions") == want {
				f.t.Errorf("picks are hidden is not %t at %s: %s", want, node, one)
			}
		}
	}
	if seen == 0 {
		f.t.Error("there was no conflict of picks")
	}
}

// A node is cut off over the lock. A pick that it took and sent before counts; one that it took in time and could not send is not sent
// any more a minute behind the lock: its owner is told, and no person is asked.
func TestNodeCutOffOverTheLock(t *testing.T) {
	f := newFleetAt(t, 60, nil)
	m := f.league(66 * time.Minute)
	f.picks("b", m[0], 1)
	f.sees("a", "the pick before the cut", fmt.Sprintf(`"predictions":{%q:1}`, m[0]))
	f.links["b"].SetMode(simcloud.NoDNS)
	f.picks("b", m[1], 0)
	f.sees("a", "the lock", `"rank":1`)
	f.sees("b", "its own lock", `"state":"broadcast"`)
	if status, answer := f.ask("b", "sam", "PUT", f.at()+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, m[1])); status != http.StatusConflict {
		t.Errorf("cut off, behind the lock: %d %s", status, answer)
	}
	behind := f.clock.Now().Add(2 * time.Minute)
	f.until("well behind the minute that picks have", func() bool { return f.clock.Now().After(behind) })
	f.links["b"].Heal()
	for _, node := range []string{"b", "a"} {
		f.sees(node, "not counted", `"notCounted":true`)
		f.sees(node, "the pick in time alone", fmt.Sprintf(`"predictions":{%q:1}}]`, m[0]))
	}
	if all := f.want("b", "boss", "GET", "/_/api/conflicts?state=resolved", ""); !strings.Contains(all, `"late"`) {
		t.Errorf("it was sent: %s", all)
	}
	f.quiet()
}

// A node whose clock is an hour wrong takes picks up to the lock and none behind it, by the cloud's clock.
func TestClockAnHourWrong(t *testing.T) {
	for name, by := range map[string]time.Duration{"early": -time.Hour, "late": time.Hour} {
		t.Run(name, func(t *testing.T) {
			f := newFleetAt(t, 60, map[string]time.Duration{"b": by})
			lock := f.clock.Now().Add(6*time.Minute - time.Second) // at least
			m := f.league(66 * time.Minute)
			f.picks("b", m[0], 1)
			f.sees("a", "the pick in time", fmt.Sprintf(`"predictions":{%q:1}`, m[0]))
			f.until("the lock at b", func() bool {
				status, _ := f.ask("b", "sam", "PUT", f.at()+"/predictions", fmt.Sprintf(`{"predictions":{%q:0}}`, m[1]))
				return status == http.StatusConflict
			})
			if early := lock.Sub(f.clock.Now()); early > 0 {
				t.Errorf("locked %v early", early)
			}
			for _, node := range []string{"a", "b"} {
				f.sees(node, "the lock", `"rank":1`)
			}
			f.quiet()
		})
	}
}
