//go:build long

package scorekeeperapp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/scorekeeper"
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
	n, err := node.Open(f.t.Context(), f.t.TempDir(), node.Parts{
		Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{New()},
		Cloud: &node.Cloud{Config: c, Name: "sim", Items: f.links[name], Locks: f.links[name].Locks},
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

// ask sends a request of a user to a node: of the application, or under /_/ of the node itself.
func (f *fleet) ask(at, user, method, path, body string, headers ...string) (status int, answer string) {
	f.t.Helper()
	grant := auth.Grant{Subject: user, Life: time.Hour}
	if user == "boss" {
		grant.Groups = []string{"admin"}
	}
	if !strings.HasPrefix(path, "/_/") {
		path = "/scorekeeper" + path
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
	for deadline := time.Now().Add(hang.Limit(3 * time.Minute)); !is(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("not in time: %s", what)
		}
	}
}

func (f *fleet) guess(at, word string, ago int) {
	f.t.Helper()
	today := time.Now().UTC().Format(scorekeeper.Day)
	body := fmt.Sprintf(`{"puzzle_date_iso_day":%q,"word_guessed":%q}`, today, word)
	if status, answer := f.ask(at, "u1", "POST", "/guess", body, "Touchline-Occurred-Ago", fmt.Sprint(ago), "Idempotency-Key", word); status != http.StatusOK {
		f.t.Fatalf("%s at %s: %d %s", word, at, status, answer)
	}
}

// A player who guesses at two nodes that are cut off from each other has, when they are back, the first six guesses by the time of
// the tap: at both nodes and in the cloud. What did not count is told.
func TestGuessesAtTwoNodes(t *testing.T) {
	f := newFleet(t)
	today := time.Now().UTC().Format(scorekeeper.Day)
	if status, answer := f.ask("a", "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":"manna"}`, today)); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	f.guess("a", "crane", 90)
	var game struct {
		Moves   int                         `json:"moves_qty"`
		Graded  [][]struct{ Letter string } `json:"moves"`
		Dropped []string
	}
	read := func(at string) (words []string) {
		game.Moves, game.Graded, game.Dropped = 0, nil, nil
		status, answer := f.ask(at, "u1", "GET", "/game/"+today, "")
		if status == http.StatusOK && json.Unmarshal([]byte(answer), &game) != nil {
			t.Fatalf("%s", answer)
		}
		for _, m := range game.Graded {
			w := ""
			for _, l := range m {
				w += l.Letter
			}
			words = append(words, w)
		}
		return words
	}
	f.until("the other node has the puzzle and the game", func() bool { return len(read("b")) == 1 })

	f.links["a"].SetMode(simcloud.NoDNS)
	f.links["b"].SetMode(simcloud.NoDNS)
	for i, words := range [][2]string{{"slate", "fjord"}, {"moist", "vexed"}, {"proud", "waltz"}, {"brick", "joust"}} {
		f.guess("a", words[0], 80-20*i)
		f.guess("b", words[1], 70-20*i)
	}
	f.links["a"].Heal()
	f.links["b"].Heal()

	want := strings.Fields("crane slate fjord moist vexed proud")
	var told []string
	for _, at := range []string{"a", "b"} {
		f.until("six guesses at "+at, func() bool {
			words := read(at)
			told = append(told, game.Dropped...)
			return slices.Equal(words, want)
		})
	}
	f.until("the cloud has them", func() bool {
		var g scorekeeper.Game
		return attr.Unmarshal(f.cloud.Item("scorekeeper-prod", scorekeeper.GameKey("u1", today)), &g) == nil && slices.Equal(g.Guesses, want)
	})
	f.quiet()
	slices.Sort(told)
	if told = slices.Compact(told); !slices.Equal(told, strings.Fields("brick joust waltz")) {
		t.Errorf("told of %v", told)
	}
}

// An answer that another node changes, or somebody else in the cloud, grades anew what was guessed here: nothing keeps the old one.
func TestAnswerChangedElsewhere(t *testing.T) {
	f := newFleet(t)
	today := time.Now().UTC().Format(scorekeeper.Day)
	set := func(word string) {
		t.Helper()
		if status, answer := f.ask("a", "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":%q}`, today, word)); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	right := func(at string) int {
		_, answer := f.ask(at, "u1", "GET", "/game/"+today, "")
		return strings.Count(answer, `"correct"`)
	}
	set("manna")
	f.until("the other node has the puzzle", func() bool {
		status, _ := f.ask("b", "u1", "GET", "/game/"+today, "")
		return status == http.StatusOK
	})
	f.guess("b", "crane", 0)
	if n := right("b"); n != 1 {
		t.Errorf("%d letters of crane are right for manna, want the n", n)
	}
	set("crane")
	f.until("the other node grades anew", func() bool { return right("b") == 5 })
	item := scorekeeper.AnswerKey(today)
	item["puzzle_date"], item["word"] = attr.S(today), attr.S("slate")
	if err := (simcloud.Foreign{Cloud: f.cloud, Name: "aws"}).Put("scorekeeper-prod", item); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"a", "b"} {
		f.until("what somebody put into the cloud counts at "+at, func() bool { return right(at) == 2 })
	}
}

// written is the write units of all that was written but of what nodes say of themselves: rows are smaller than a kilobyte, and cost
// twice in a transaction.
func (f *fleet) written() (units int) {
	for _, e := range f.cloud.Log(0) {
		if strings.HasPrefix(e.Key["id"].Str(), "node:") {
			continue
		}
		units++
		if e.Txn != 0 {
			units++
		}
	}
	return units
}

// What each action of a player costs in the cloud, in write units. A guess is one; a row that is made goes with a record that it was
// made, in a transaction.
func TestWriteUnits(t *testing.T) {
	f := newFleet(t)
	today := time.Now().UTC().Format(scorekeeper.Day)
	const guest = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
	costs := func(what string, want int, who, method, path, body string, headers ...string) {
		t.Helper()
		before := f.written()
		if status, answer := f.ask("a", who, method, path, body, append(headers, "Prefer", "wait=20")...); status > 299 {
			t.Fatalf("%s: %d %s", what, status, answer)
		}
		if got := f.written() - before; got != want {
			t.Errorf("%s: %d write units, want %d", what, got, want)
		}
	}
	guess := func(word string) string {
		return fmt.Sprintf(`{"puzzle_date_iso_day":%q,"word_guessed":%q}`, today, word)
	}
	costs("the answer of a day", 4, "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":"manna"}`, today))
	costs("the first guess", 4, "u1", "POST", "/guess", guess("crane"))
	for word := range strings.FieldsSeq("slate moist proud brick vexed") {
		costs("guess "+word, 1, "u1", "POST", "/guess", guess(word), "Idempotency-Key", word)
	}
	costs("a profile", 4, "u1", "PUT", "/profile", `{"displayName":"Ann"}`)
	costs("another name", 1, "u1", "PUT", "/profile", `{"displayName":"Bea"}`)
	costs("a look at a game", 0, "u1", "GET", "/game/"+today, "")
	costs("a session without games", 0, "u1", "POST", "/convert-session", `{"session_id":"`+guest+`"}`)
	costs("a team: three rows in a transaction", 8, "u1", "POST", "/team", `{"team_name":"Wizards"}`)
}
