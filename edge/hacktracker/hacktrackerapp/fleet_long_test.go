//go:build long

package hacktrackerapp

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
	links  map[string]*simcloud.Link
	base   map[string]string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	issuer, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, issuer: issuer, cloud: simcloud.New(simcloud.Options{Now: time.Now}), links: map[string]*simcloud.Link{}, base: map[string]string{}}
	f.cloud.Create(node.Schema([]*app.App{New()}).Tables...)
	f.cloud.Create(store.TableSpec{Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}}})
	network := simcloud.NewNetwork(f.cloud, simcloud.NewTimer(), 7)
	for _, name := range []string{"a", "b"} {
		f.links[name] = network.Link(name, time.Now, nil)
		f.start(name)
	}
	return f
}

func (f *fleet) start(name string) {
	f.t.Helper()
	c := node.DefaultCloud()
	c.Region, c.Poll.Live, c.Poll.Tables = "sim", time.Second, time.Second
	f.serve(name, &node.Cloud{Config: c, Name: "sim", Items: f.links[name], Locks: f.links[name].Locks})
}

// serve runs a node over a cloud.
func (f *fleet) serve(name string, cloud *node.Cloud) {
	f.t.Helper()
	n, err := node.Open(f.t.Context(), f.t.TempDir(), node.Parts{
		Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{New()}, Cloud: cloud,
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
	f.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Error(err)
		}
	})
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

func (f *fleet) want(node, user, method, path, body string) string {
	f.t.Helper()
	status, answer := f.ask(node, user, method, path, body)
	if status >= http.StatusBadRequest {
		f.t.Fatalf("%s at %s: %s %s: %d %s", user, node, method, path, status, answer)
	}
	return answer
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

// cut parts both nodes from the cloud; heal joins them again.
func (f *fleet) cut() {
	f.links["a"].SetMode(simcloud.NoDNS)
	f.links["b"].SetMode(simcloud.NoDNS)
}

func (f *fleet) heal() {
	f.links["a"].Heal()
	f.links["b"].Heal()
}

// sees waits for an answer of a node with something in it.
func (f *fleet) sees(node, path, part string) {
	f.t.Helper()
	f.until(node+" "+path+" has "+part, func() bool {
		_, answer := f.ask(node, "ana", "GET", mount+path, "")
		return strings.Contains(answer, part)
	})
}

// inCloud waits until the cloud has an item with a value.
func (f *fleet) inCloud(pk, sk, name, value string) {
	f.t.Helper()
	f.until(pk+" "+sk+" in the cloud", func() bool {
		return f.cloud.Item("hacktracker-prod", attr.Item{"PK": attr.S(pk), "SK": attr.S(sk)})[name].Text() == value
	})
}

const mount = "/hacktracker"

// made is a member of the answer to a request that makes something.
func (f *fleet) made(node, path, body, name string) string {
	f.t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(f.want(node, "ana", "POST", mount+path, body)), &m); err != nil {
		f.t.Fatal(err)
	}
	return fmt.Sprint(m[name])
}

// newTeam is a fleet whose nodes both have a team of ana's with players, and a game in progress with them in the lineup.
func newTeam(t *testing.T) (f *fleet, team, game string, players []string) {
	t.Helper()
	t.Parallel() // a node reads most of what it was asked for again after 30 seconds
	f = newFleet(t)
	team = f.made("a", "/teams", `{"name":"Bad News","teamType":"MANAGED"}`, "teamId")
	var slots []string
	for i, name := range []string{"Abe", "Bob", "Cy"} {
		p := f.made("a", "/teams/"+team+"/players", fmt.Sprintf(`{"firstName":%q}`, name), "playerId")
		players = append(players, p)
		slots = append(slots, fmt.Sprintf(`{"playerId":%q,"battingOrder":%d}`, p, i+1))
	}
	game = f.made("a", "/games", fmt.Sprintf(`{"teamId":%q,"status":"IN_PROGRESS","lineup":[%s]}`, team, strings.Join(slots, ",")), "gameId")
	f.inCloud("GAME#"+game, "METADATA", "status", "IN_PROGRESS")
	f.sees("b", "/games/"+game, `"IN_PROGRESS"`)
	f.sees("b", "/teams/"+team+"/players", `"count":4`)
	f.sees("b", "/users/context", `"has_managed_context":true`)
	return f, team, game, players
}

func (f *fleet) score(node, game, player, result string, order int, headers ...string) {
	f.t.Helper()
	body := fmt.Sprintf(`{"playerId":%q,"result":%q,"inning":1,"outs":0,"battingOrder":%d}`, player, result, order)
	if status, answer := f.ask(node, "ana", "POST", mount+"/games/"+game+"/atbats", body, headers...); status >= http.StatusBadRequest {
		f.t.Fatalf("%s: %d %s", node, status, answer)
	}
}

// Two scorers at two nodes that are cut off score one game: nothing is lost, both nodes and the cloud have the same, and the appearance
// that both have noted is shown, not removed. One that the same phone has told both nodes is one.
func TestOneGameAtTwoNodes(t *testing.T) {
	f, team, game, players := newTeam(t)
	f.cut()
	for i, result := range []string{"1B", "K", "HR", "BB", "FO"} {
		f.score("a", game, players[i%3], result, i%3+1)
		f.score("b", game, players[i%3], []string{"1B", "2B", "3B", "GO", "E"}[i], i%3+1)
	}
	const phone = "01JT6XQ0Z8M1C3V5N7B9D1F3H5"
	f.score("a", game, players[2], "DP", 3, "Idempotency-Key", phone)
	f.score("b", game, players[2], "DP", 3, "Idempotency-Key", phone)
	f.want("a", "ana", "PATCH", mount+"/games/"+game, `{"teamScore":4}`)
	f.want("b", "ana", "PATCH", mount+"/games/"+game, `{"opponentScore":2}`)
	f.heal()
	var answers [2]string
	f.until("both have all", func() bool {
		for i, node := range []string{"a", "b"} {
			_, answers[i] = f.ask(node, "ana", "GET", mount+"/games/"+game+"/boxscore", "")
		}
		return answers[0] == answers[1] && strings.Contains(answers[0], `"totals":{"PA":11`) && strings.Contains(answers[0], `"teamScore":4,"opponentScore":2`)
	})
	if strings.Contains(answers[0], `"possibleDoubles":[]`) {
		t.Error("nobody is told of what was scored twice")
	}
	f.sees("b", "/teams/"+team+"/stats", `"PA":11`)
	f.quiet()
}

// Both nodes give number 12 away: one player has it, the other stays without and is marked.
func TestNumberAtTwoNodes(t *testing.T) {
	f, team, _, players := newTeam(t)
	f.cut()
	f.want("a", "ana", "POST", mount+"/teams/"+team+"/players", `{"firstName":"Deb","playerNumber":12}`)
	if status, answer := f.ask("b", "ana", "POST", mount+"/teams/"+team+"/players", `{"firstName":"Eve","playerNumber":12}`, "Idempotency-Key", "k"); status != http.StatusCreated {
		t.Fatal(answer)
	}
	f.want("b", "ana", "PUT", mount+"/teams/"+team+"/players/"+players[0], `{"playerNumber":13,"lastName":"Lee"}`)
	f.want("a", "ana", "PUT", mount+"/teams/"+team+"/players/"+players[1], `{"playerNumber":13}`)
	f.links["a"].Heal()
	f.inCloud("TEAM#"+team, "PLAYER#"+players[1], "playerNumber", "13")
	f.links["b"].Heal()
	for _, node := range []string{"a", "b"} {
		f.sees(node, "/teams/"+team+"/players", `"numberRefused":12`)
		f.sees(node, "/teams/"+team+"/players", `"numberRefused":13`)
		f.sees(node, "/teams/"+team+"/players", `"count":6`)
		f.sees(node, "/teams/"+team+"/players/"+players[0], `"lastName":"Lee"`)
	}
	f.quiet()
}

// Both nodes start a game: the one that comes second is scheduled again, with the lineup that was set with the start.
func TestStartAtTwoNodes(t *testing.T) {
	f, team, game, players := newTeam(t)
	f.want("a", "ana", "PATCH", mount+"/games/"+game, `{"status":"FINAL"}`)
	var games [2]string
	for i := range games {
		games[i] = f.made("a", "/games", fmt.Sprintf(`{"teamId":%q}`, team), "gameId")
		f.inCloud("GAME#"+games[i], "METADATA", "status", "SCHEDULED")
		f.sees("b", "/games/"+games[i], `"SCHEDULED"`)
	}
	f.sees("b", "/games/"+game, `"FINAL"`)
	f.cut()
	start := fmt.Sprintf(`{"status":"IN_PROGRESS","lineup":[{"playerId":%q,"battingOrder":1}]}`, players[0])
	f.want("a", "ana", "PATCH", mount+"/games/"+games[0], start)
	f.want("b", "ana", "PATCH", mount+"/games/"+games[1], start)
	f.links["a"].Heal()
	f.inCloud("TEAM#"+team, "LIVE#GAME", "gameId", games[0])
	f.links["b"].Heal()
	for _, node := range []string{"a", "b"} {
		f.sees(node, "/games/"+games[0], `"IN_PROGRESS"`)
		f.sees(node, "/games/"+games[1], `"status":"SCHEDULED"`)
		f.sees(node, "/games/"+games[1], players[0])
	}
	f.quiet()
}

// What was scored before another node finished the game counts; what was scored after waits for a person.
func TestAtBatsOfAFinishedGame(t *testing.T) {
	f, _, game, players := newTeam(t)
	f.links["b"].SetMode(simcloud.NoDNS)
	f.score("b", game, players[0], "1B", 1)
	f.want("a", "ana", "PATCH", mount+"/games/"+game, `{"status":"FINAL"}`)
	f.inCloud("GAME#"+game, "METADATA", "status", "FINAL")
	f.score("b", game, players[1], "2B", 2)
	f.links["b"].Heal()
	for _, node := range []string{"a", "b"} {
		f.sees(node, "/games/"+game+"/boxscore", `"totals":{"PA":1`)
	}
	f.until("a person is asked", func() bool {
		return strings.Contains(f.want("b", "boss", "GET", "/_/api/conflicts?state=open", ""), "ATBAT#")
	})
}
