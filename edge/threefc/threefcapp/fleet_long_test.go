//go:build long

package threefcapp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/quotedprintable"
	"net"
	"net/http"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

const table = "3fc-prod-app"

// fleet is two nodes with the application over one cloud, and somebody who has signed in at the first.
type fleet struct {
	t      *testing.T
	issuer *auth.DevIssuer
	cloud  *simcloud.Cloud
	links  map[string]*simcloud.Link
	base   map[string]string
	mails  string
	cookie string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	issuer, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{
		t: t, issuer: issuer, cloud: simcloud.New(simcloud.Options{Now: time.Now}), links: map[string]*simcloud.Link{}, base: map[string]string{}, mails: t.TempDir(),
	}
	f.cloud.Create(node.Schema([]*app.App{New()}).Tables...)
	f.cloud.Create(store.TableSpec{Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}}})
	network := simcloud.NewNetwork(f.cloud, simcloud.NewTimer(), 7)
	for _, name := range []string{"a", "b"} {
		f.links[name] = network.Link(name, time.Now, nil)
		f.start(name)
	}
	f.signIn()
	return f
}

func (f *fleet) start(name string) {
	f.t.Helper()
	c := node.DefaultCloud()
	c.Region, c.Poll.Live, c.Poll.Tables = "sim", time.Second, time.Second
	m := mail.Defaults()
	m.Mode, m.Dir, m.From = "files", f.mails, "3fc@example.org"
	n, err := node.Open(f.t.Context(), f.t.TempDir(), node.Parts{
		Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{New()}, Mail: m,
		HTTP:  node.HTTPConfig{PublicURL: "http://3fc.example"},
		Cloud: &node.Cloud{Config: c, Name: "sim", Items: f.links[name], Locks: f.links[name].Locks},
		Auth: func(*store.Store) (*auth.Verifier, error) {
			return auth.New(auth.Config{Issuers: []auth.Issuer{f.issuer.Issuer()}})
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(f.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, ln) }()
	f.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Error(err)
		}
	})
	f.base[name] = "http://" + ln.Addr().String()
}

// signIn goes the whole way: link, mail, token, cookie.
func (f *fleet) signIn() {
	f.t.Helper()
	f.want("a", "POST", "/v1/auth/magic/start", `{"email":"boss@example.org"}`)
	var token string
	f.until("the mail", func() bool {
		all, err := filepath.Glob(filepath.Join(f.mails, "*.eml"))
		if err != nil || len(all) == 0 {
			return false
		}
		file, err := os.Open(all[0])
		if err != nil {
			f.t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		msg, err := netmail.ReadMessage(file)
		if err != nil {
			return false
		}
		text, err := io.ReadAll(quotedprintable.NewReader(msg.Body))
		if err != nil {
			f.t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), "token=")
		token, _, _ = strings.Cut(strings.ReplaceAll(after, "\r", ""), "\n")
		return token != ""
	})
	_, h, _ := f.send("a", "POST", "/3fc/v1/auth/magic/complete", fmt.Sprintf(`{"token":%q}`, token), "Prefer", "wait=20")
	f.cookie, _, _ = strings.Cut(h.Get("Set-Cookie"), ";")
	f.until("the session at the other node", func() bool {
		status, _ := f.ask("b", "GET", "/v1/auth/session", "")
		return status == http.StatusOK
	})
}

func (f *fleet) send(at, method, path, body string, headers ...string) (status int, h http.Header, answer string) {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.base[at]+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Cookie", f.cookie)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := web.Client(f.t).Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(raw)
}

func (f *fleet) ask(at, method, path, body string, headers ...string) (status int, answer string) {
	f.t.Helper()
	status, _, answer = f.send(at, method, "/3fc"+path, body, headers...)
	return status, answer
}

func (f *fleet) want(at, method, path, body string, headers ...string) string {
	f.t.Helper()
	status, answer := f.ask(at, method, path, body, headers...)
	if status >= http.StatusBadRequest {
		f.t.Fatalf("at %s: %s %s: %d %s", at, method, path, status, answer)
	}
	return answer
}

func (f *fleet) until(what string, is func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(hang.Limit(2 * time.Minute)); !is(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("not in time: %s; open at a: %s, at b: %s", what, f.open("a"), f.open("b"))
		}
	}
}

// open is what a person would be asked of at a node.
func (f *fleet) open(at string) string {
	f.t.Helper()
	token, _, err := f.issuer.Sign(auth.Grant{Subject: "operator", Groups: []string{"admin"}, Life: time.Hour}, time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	_, _, answer := f.send(at, "GET", "/_/api/conflicts?state=open", "", "Authorization", "Bearer "+token)
	return answer
}

func (f *fleet) quiet() {
	f.t.Helper()
	for at := range f.base {
		if answer := f.open(at); !strings.Contains(answer, `"items":[]`) {
			f.t.Errorf("open at %s: %s", at, answer)
		}
	}
}

func (f *fleet) cut(nodes ...string) {
	for _, n := range nodes {
		f.links[n].SetMode(simcloud.NoDNS)
	}
}

func (f *fleet) heal() {
	for _, l := range f.links {
		l.Heal()
	}
}

// game makes a game that both nodes have, whose first third runs.
func (f *fleet) game(start bool) {
	f.t.Helper()
	f.want("a", "POST", "/v1/leagues", `{"leagueId":"l","name":"League"}`)
	f.want("a", "POST", "/v1/leagues/l/seasons", `{"seasonId":"s","name":"Season"}`)
	f.want("a", "POST", "/v1/seasons/s/sessions", `{"sessionId":"d","sessionDate":"2026-07-04"}`)
	f.want("a", "POST", "/v1/sessions/d/games", `{"gameId":"g","gameStartTs":"2026-07-04T10:00:00Z"}`)
	for _, team := range []string{"red", "blue", "yellow"} {
		f.want("a", "POST", "/v1/games/g/players", fmt.Sprintf(`{"playerId":"%s1","nickname":"P"}`, team[:1]))
		f.want("a", "PUT", "/v1/games/g/roster/"+team[:1]+"1", fmt.Sprintf(`{"teamId":%q}`, team), "Prefer", "wait=20")
	}
	has := `"playerId":"y1"`
	if start {
		f.want("a", "POST", "/v1/games/g/thirds/1/start", "", "Prefer", "wait=20")
	}
	f.until("the other node has the game", func() bool {
		_, roster := f.ask("b", "GET", "/v1/games/g/roster", "")
		_, game := f.ask("b", "GET", "/v1/games/g", "")
		return strings.Contains(roster, has) && (!start || strings.Contains(game, `"status":"running"`))
	})
}

func goal(by, against string) string {
	return fmt.Sprintf(`{"scoringTeamId":%q,"concedingTeamId":%q,"scorerPlayerId":"%s1","ownGoal":false}`, by, against, by[:1])
}

// goals is how many a node knows, and its scoreboard.
func (f *fleet) goals(at string) (n int, board string) {
	f.t.Helper()
	var v struct {
		Scoreboard struct {
			Teams []struct {
				TeamID           string
				Scored, Conceded int
			}
		}
		Timeline []struct{ EventID string }
	}
	if err := json.Unmarshal([]byte(f.want(at, "GET", "/v1/games/g/goals", "")), &v); err != nil {
		f.t.Fatal(err)
	}
	return len(v.Timeline), fmt.Sprint(v.Scoreboard.Teams)
}

func (f *fleet) row(pk, sk string) attr.Item {
	return f.cloud.Item(table, attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)})
}

// Twenty goals at each of two nodes that are cut off are forty when they have met, with equal tallies at both and in the cloud, and no
// person is asked.
func TestDerivedRowsOfTwoNodes(t *testing.T) {
	f := newFleet(t)
	f.game(true)
	f.cut("a", "b")
	for range 20 {
		f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"))
		f.want("b", "POST", "/v1/games/g/goals", goal("yellow", "red"))
	}
	f.heal()
	f.until("forty goals at both", func() bool {
		a, _ := f.goals("a")
		b, _ := f.goals("b")
		return a == 40 && b == 40
	})
	want := "[{red 20 20} {blue 0 20} {yellow 20 0}]"
	for _, at := range []string{"a", "b"} {
		if _, board := f.goals(at); board != want {
			t.Errorf("%s: %s", at, board)
		}
	}
	f.until("the tallies in the cloud", func() bool {
		return strings.Contains(f.row("GAME#g", "GOAL_STATE")["data"].Str(), `"revision":40`) &&
			strings.Contains(f.row("GAME#g", "TEAM#red")["data"].Str(), `"scored":20,"conceded":20`) &&
			strings.Contains(f.row("GAME#g", "TEAM#blue")["data"].Str(), `"scored":0,"conceded":20`) &&
			strings.Contains(f.row("GAME#g", "TEAM#yellow")["data"].Str(), `"scored":20,"conceded":0`)
	})
	f.quiet()
}

// The same key at two nodes, of which one is cut off, is one goal; what was done to it meanwhile at the other is of that goal.
func TestOneKeyTwoNodes(t *testing.T) {
	f := newFleet(t)
	f.game(true)
	f.cut("a")
	first := f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k1")
	other := f.want("b", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k1", "Prefer", "wait=20")
	id := func(answer string) string {
		_, after, _ := strings.Cut(answer, `"eventId":"`)
		id, _, _ := strings.Cut(after, `"`)
		return id
	}
	if id(first) == "" || id(first) != id(other) {
		t.Errorf("two ids for one goal: %s %s", id(first), id(other))
	}
	f.want("a", "POST", "/v1/games/g/goals", goal("yellow", "blue"), "Idempotency-Key", "k2")
	f.heal()
	f.until("two goals at both", func() bool {
		a, boardA := f.goals("a")
		b, boardB := f.goals("b")
		return a == 2 && b == 2 && boardA == boardB
	})
	f.until("two goals in the cloud", func() bool {
		return strings.Contains(f.row("GAME#g", "TEAM#blue")["data"].Str(), `"conceded":2`)
	})
	f.quiet()
}

// Two nodes that are cut off start the third, and one of them goes on: it has one start, that which was in the cloud first, and the end
// that only one node knows. As pages do, each request has its key, which stays answered.
func TestTimer(t *testing.T) {
	f := newFleet(t)
	f.game(false)
	f.cut("a", "b")
	for _, at := range []string{"a", "b"} {
		f.want(at, "POST", "/v1/games/g/thirds/1/start", "", "Idempotency-Key", "start-"+at)
		f.want(at, "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "goal-"+at)
	}
	f.want("a", "POST", "/v1/games/g/thirds/1/finish", "", "Idempotency-Key", "finish")
	f.want("a", "POST", "/v1/games/g/thirds/2/start", "", "Idempotency-Key", "next")
	f.links["b"].Heal()
	f.until("the start in the cloud", func() bool { return strings.Contains(f.row("GAME#g", "METADATA")["data"].Str(), `"startedAt":"`) })
	f.heal()
	f.until("one start and two goals at both", func() bool {
		a, _ := f.goals("a")
		b, _ := f.goals("b")
		_, gameA := f.ask("a", "GET", "/v1/games/g", "")
		_, gameB := f.ask("b", "GET", "/v1/games/g", "")
		return a == 2 && b == 2 && gameA == gameB && strings.Contains(gameA, `"activeThird":2`)
	})
	for _, r := range [][3]string{{"a", "1/start", "start-a"}, {"b", "1/start", "start-b"}, {"a", "1/finish", "finish"}, {"a", "2/start", "next"}} {
		f.want(r[0], "POST", "/v1/games/g/thirds/"+r[1], "", "Idempotency-Key", r[2])
	}
	f.quiet()
}

// A goal that two nodes have made of one request, and that was taken back at the one that was cut off, is taken back; a session whose
// last game is deleted while another node makes one in it keeps that.
func TestWhatStandsBehindIsDoneToTheOtherNodesRow(t *testing.T) {
	f := newFleet(t)
	f.game(true)
	f.cut("a")
	made := f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k")
	_, id, _ := strings.Cut(made, `"eventId":"`)
	id, _, _ = strings.Cut(id, `"`)
	f.want("a", "POST", "/v1/games/g/goals/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, id), "Idempotency-Key", "u")
	f.want("b", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k", "Prefer", "wait=20")
	f.heal()
	f.until("it is taken back at both and in the cloud", func() bool {
		a, _ := f.goals("a")
		b, _ := f.goals("b")
		return a == 0 && b == 0 && f.row("GAME#g", "GOAL_EVENT#"+id) == nil && strings.Contains(f.row("GAME#g", "GOAL_STATE")["data"].Str(), `"revision":2`)
	})
	f.cut("a")
	f.want("a", "DELETE", "/v1/games/g", "", "Idempotency-Key", "d")
	f.want("b", "POST", "/v1/sessions/d/games", `{"gameId":"h","gameStartTs":"2026-07-04T12:00:00Z"}`, "Idempotency-Key", "h", "Prefer", "wait=20")
	f.heal()
	f.until("one game at both", func() bool {
		a, b := f.want("a", "GET", "/v1/seasons/s/games", ""), f.want("b", "GET", "/v1/seasons/s/games", "")
		return a == b && strings.Contains(a, `"gameId":"h"`) && !strings.Contains(a, `"gameId":"g"`)
	})
	f.quiet()
}

// A goal of a node that had not heard of the finish is for a person, and the result stays that of the goals that count.
func TestGoalAfterTheFinish(t *testing.T) {
	f := newFleet(t)
	f.game(true)
	f.cut("a")
	f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"))
	for _, n := range []string{"1", "2", "3"} {
		if n != "1" {
			f.want("b", "POST", "/v1/games/g/thirds/"+n+"/start", "")
		}
		f.want("b", "POST", "/v1/games/g/thirds/"+n+"/finish", "")
	}
	f.until("the end", func() bool {
		status, _ := f.ask("b", "POST", "/v1/games/g/finish", "")
		return status < http.StatusBadRequest
	})
	f.until("the result in the cloud", func() bool {
		return strings.Contains(f.row("GAME#g", "METADATA")["data"].Str(), `"result":{`)
	})
	f.heal()
	f.until("a person is asked", func() bool { return strings.Contains(f.open("a"), "GOAL#") })
	f.until("the goal does not count", func() bool {
		n, _ := f.goals("a")
		return n == 0
	})
	if got := f.row("GAME#g", "METADATA")["data"].Str(); !strings.Contains(got, `"winnerTeamId":null`) {
		t.Errorf("%s", got)
	}
}

// A game that is deleted at one node is gone at the other and in the cloud, all of it.
func TestPartitionWiped(t *testing.T) {
	f := newFleet(t)
	f.game(true)
	f.want("b", "POST", "/v1/games/g/goals", goal("red", "blue"), "Prefer", "wait=20")
	f.want("a", "DELETE", "/v1/games/g", "", "Prefer", "wait=20")
	f.until("the cloud has nothing but the row that says so", func() bool {
		n := 0
		for _, it := range f.cloud.Items(table) {
			if it["pk"].Str() == "GAME#g" && it["sk"].Str() != "DELETED" {
				n++
			}
		}
		return n == 0 && f.row("GAME#g", "DELETED") != nil
	})
	f.until("the other node has heard of it", func() bool {
		status, _ := f.ask("b", "GET", "/v1/games/g", "")
		return status == http.StatusNotFound
	})
	f.quiet()
}

// What a goal costs in the cloud, in write units, with what is derived from it.
func TestUnitsOfAGoal(t *testing.T) {
	f := newFleet(t)
	f.game(true)
	f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k0")
	revision := func(n int) func() bool {
		return func() bool {
			return strings.Contains(f.row("GAME#g", "GOAL_STATE")["data"].Str(), fmt.Sprintf(`"revision":%d`, n))
		}
	}
	f.until("the first goal", revision(1))
	f.cut("b") // what it reads costs nothing here; what it derives would
	settled := f.cloud.Units()
	f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k1")
	f.until("the second goal", revision(2))
	f.until("its tallies", func() bool {
		return strings.Contains(f.row("GAME#g", "TEAM#blue")["data"].Str(), `"conceded":2`) && strings.Contains(f.row("GAME#g", "TEAM#red")["data"].Str(), `"scored":2`)
	})
	if units := f.cloud.Units() - settled; units > 18 {
		t.Errorf("a goal costs %v write units", units)
	} else {
		t.Logf("a goal costs %v write units", units)
	}
}
