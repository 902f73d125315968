//go:build long && linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// fingerHall is a hall with two nodes, a cloud, and phones: two scorers and a spectator. Its seeds play one after another.
type fingerHall struct {
	*cloudRig
	browser *browser.Tab
	client  *http.Client
	nodes   []*cloudNode
	phones  []*fingerPhone // two scorers and the spectator
	fleet   *fleet         // with its nodes, for cricket; nil: no seed has cricket
	started time.Time      // of the nodes
	struck  map[string]int // faults of all seeds
}

const (
	fingerLife   = 12 * time.Hour  // of tokens and sessions
	fingerRecent = 4 * time.Minute // after which nodes are started again: a process of a test may run for ten minutes
	fingerTable  = "3fc"

	fingerPatience = 90 * time.Second // for what takes a page some seconds, on an idle machine
)

func newFingerHall(t *testing.T, seeds []int) *fingerHall {
	t.Helper()
	tab := browser.Open(t)
	if tab == nil {
		t.Skip("NOT PLAYED: the phones need Chromium; install it, or name it in CHROMIUM")
	}
	h := &fingerHall{cloudRig: newCloudRig(t), browser: tab, client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{}}, struck: map[string]int{}}
	t.Cleanup(h.client.CloseIdleConnections)
	sections := []string{
		"TOUCHLINE_THREEFC__TABLE=" + fingerTable, "TOUCHLINE_THREEFC__MOUNT=/3fc",
		"TOUCHLINE_HACKTRACKER__TABLE=hacktracker", "TOUCHLINE_HACKTRACKER__MOUNT=/hacktracker",
	}
	for _, section := range sections {
		name, value, _ := strings.Cut(section, "=")
		t.Setenv(name, value)
	}
	if _, code := h.migrate(); code != 0 {
		t.Fatalf("migrate: exit %d", code)
	}
	env := []string{"TOUCHLINE_AUTH__DEV_ISSUER=true", "TOUCHLINE_HTTP__RATE__PER_MINUTE=0"}
	if slices.ContainsFunc(seeds, hasCricket) {
		rig := *h.cloudRig // each seed is a test of its own
		h.fleet = newFleetOver(&rig)
		env = append(env, h.fleet.env()...)
	}
	for i, name := range []string{"a", "b"} {
		n := h.node(name, uint64(i+1))
		n.env = env
		h.nodes = append(h.nodes, n)
	}
	h.nodes[0].start()
	h.shareIssuer()
	h.nodes[1].start()
	h.started = time.Now()
	if h.fleet != nil {
		for _, n := range h.nodes {
			h.fleet.join(n)
		}
	}
	for i, user := range []string{"keeper", "boss", "fan"} {
		p := &fingerPhone{hall: h, name: fmt.Sprint("phone ", i+1), user: user, node: h.nodes[i%2]}
		p.line = newFingerLine(t, fmt.Sprintf("127.0.0.%d", i+2), p.node.web)
		h.phones = append(h.phones, p)
		h.signIn(user)
	}
	t.Cleanup(func() {
		for _, n := range h.nodes {
			n.kill()
		}
	})
	return h
}

// shareIssuer gives the second node the key by which the first accepts tokens.
func (h *fingerHall) shareIssuer() {
	h.t.Helper()
	const name = "dev-issuer.pem"
	key, err := os.ReadFile(filepath.Join(h.nodes[0].dir, name))
	if err == nil {
		err = os.MkdirAll(h.nodes[1].dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(h.nodes[1].dir, name), key, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func emailOf(user string) string { return user + "@example.org" }

// sessionOf returns the secret of a user's session of 3FC.
func sessionOf(user string) string { return "finger-" + user }

// signIn makes a user's session of 3FC in the cloud, as the original does: it counts at every node.
func (h *fingerHall) signIn(user string) {
	h.t.Helper()
	now := time.Now().UTC()
	until := num(int(now.Add(fingerLife).Unix()))
	_, err := h.foreign().PutItem(h.t.Context(), &dynamodb.PutItemInput{TableName: aws.String("p-" + fingerTable), Item: map[string]types.AttributeValue{
		"pk": s("AUTH_SESSION#" + sessionOf(user)), "sk": s("METADATA"), "entityType": s("session"), "email": s(emailOf(user)),
		"createdAt": s(now.Format("2006-01-02T15:04:05.000Z")), "updatedAt": s(now.Format("2006-01-02T15:04:05.000Z")),
		"expiresAtEpoch": until, "ttl": until,
	}})
	if err != nil {
		h.t.Fatal(err)
	}
}

// token returns a user's token for both nodes.
func (h *fingerHall) token(user string) string {
	c := edge.DefaultConfig()
	c.DataDir = h.nodes[0].dir
	token, err := edge.Token(c, edge.TokenConfig{User: user, Life: fingerLife})
	if err != nil {
		h.t.Fatal(err)
	}
	return token.Token
}

// ask sends a request of a program as a user; status 0: there was no answer.
func (h *fingerHall) ask(ctx context.Context, n *cloudNode, user, method, path, body string, headers ...string) (status int, answer string) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+n.web+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+h.token(user))
	req.Header.Set("Cookie", "threefc_session="+sessionOf(user))
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(raw)
}

// fingerSeed is one game: what happens in it is drawn from its number.
type fingerSeed struct {
	t     *testing.T
	hall  *fingerHall
	rng   *rand.Rand
	n     int
	sport fingerSport
	began time.Time
	story []string
	taps  []*fingerTap // the judge's book
	down  *cloudNode   // the node that was killed; nil: both run
	ends  []time.Time  // when the game was finished
}

// fingerTap is a tap of a scorer, as the judge knows it.
type fingerTap struct {
	phone   *fingerPhone
	n       int    // in the order of the taps of all phones
	kind    string // of the sport
	what    string // for the story
	mark    string // by which the sport knows it in the tables
	key     string
	at      time.Time // when it happened, as far as the phone's person knows
	epoch   int       // of the phone's clock
	over    bool      // the game was over somewhere
	cleared bool      // it lay in storage that was cleared
	fields  map[string]string
}

// fingerSport is one of the applications.
type fingerSport interface {
	fingerGame
	fingerEnd
	fingerCount
}

// fingerGame is a game and its keys.
type fingerGame interface {
	// scope returns the path of the application's pages.
	scope() string
	// begin creates a game in progress.
	begin(g *fingerSeed)
	// page returns the page of a phone: the scorer's, or the spectator's.
	page(p *fingerPhone) string
	// tap draws a tap. It returns it with the script that makes it, which returns why it could not be made; nil: there is none left.
	tap(g *fingerSeed) (*fingerTap, string)
	// keyed reports whether a tap's place is that of its key, not that of its age.
	keyed() bool
}

// fingerEnd is what happens at the end of a game and after it.
type fingerEnd interface {
	// finish returns the scripts that finish the game at a phone.
	finish() []string
	// correct corrects an earlier tap from a phone.
	correct(g *fingerSeed, p *fingerPhone)
	// resume opens the game again, and reports whether the rules and the node allow it.
	resume(g *fingerSeed, p *fingerPhone) bool
}

// fingerCount is what a node and pages say, and what the judge counts.
type fingerCount interface {
	// effects returns the marks of the taps that took effect at a node, in order.
	effects(g *fingerSeed, n *cloudNode) []string
	// recount compares what a node says with the taps that count.
	recount(g *fingerSeed, n *cloudNode, counted []*fingerTap) error
	// shown compares what the pages show with the taps that count. p is the spectator's.
	shown(g *fingerSeed, p *fingerPhone, counted []*fingerTap)
}

// say continues the seed's story.
func (g *fingerSeed) say(format string, args ...any) {
	g.story = append(g.story, fmt.Sprintf("%6.1f s  ", time.Since(g.began).Seconds())+fmt.Sprintf(format, args...))
}

// strike counts a fault.
func (g *fingerSeed) strike(fault string) { g.hall.struck[fault]++ }

// until waits for a condition.
func (g *fingerSeed) until(what string, so func() bool, last ...func() any) {
	g.t.Helper()
	wait.Within(g.t, fingerPatience, what, so, last...)
}

// want sends a request as a program, until a node has answered it, and returns the answer.
func (g *fingerSeed) want(n *cloudNode, user, method, path, body string, headers ...string) (answer string) {
	g.t.Helper()
	status := 0
	g.until(fmt.Sprintf("%s: %s %s", n.name, method, path), func() bool {
		status, answer = g.hall.ask(g.t.Context(), n, user, method, path, body, headers...)
		return status/100 == 2
	}, func() any { return fmt.Sprint(status, " ", answer) })
	return answer
}

// fingerRead reads JSON from a node.
func fingerRead[T any](g *fingerSeed, n *cloudNode, user, path string) (out T) {
	g.t.Helper()
	answer := g.want(n, user, http.MethodGet, path, "")
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		g.t.Fatalf("%s: %v in %s", path, err, answer)
	}
	return out
}
