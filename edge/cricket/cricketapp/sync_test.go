package cricketapp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// simItems is a connection to a simulated cloud that can be cut.
type simItems struct {
	*simcloud.Cloud
	down atomic.Bool
}

func (s *simItems) reach() error {
	if s.down.Load() {
		return &intent.Error{Class: intent.Offline, Err: errors.New("connection refused")}
	}
	return nil
}

// Write implements remote.Cloud.
func (s *simItems) Write(_ context.Context, c intent.Call) (attr.Item, error) {
	if err := s.reach(); err != nil {
		return nil, err
	}
	return s.Cloud.Write("node", c)
}

// Transact implements remote.Cloud.
func (s *simItems) Transact(_ context.Context, calls []intent.Call, token string) error {
	if err := s.reach(); err != nil {
		return err
	}
	return s.Cloud.Transact("node", calls, token)
}

// Get implements remote.Cloud.
func (s *simItems) Get(_ context.Context, table string, key attr.Item) (attr.Item, error) {
	if err := s.reach(); err != nil {
		return nil, err
	}
	return s.Cloud.Get(table, key)
}

// Read implements remote.Cloud.
func (s *simItems) Read(_ context.Context, r remote.Reading) (remote.Page, error) {
	if err := s.reach(); err != nil {
		return remote.Page{}, err
	}
	return s.Cloud.Read(r)
}

// Skew implements remote.Cloud.
func (s *simItems) Skew() time.Duration { return 0 }

// Table implements remote.Cloud.
func (s *simItems) Table(_ context.Context, name string) (remote.TableState, error) {
	return s.Cloud.Table(name)
}

// Transactions implements remote.Cloud.
func (s *simItems) Transactions(context.Context) (bool, error) { return true, nil }

// Synced implements remote.Cloud.
func (s *simItems) KnowsServerTime() bool { return true }

// Usage implements remote.Cloud.
func (s *simItems) Usage() remote.Usage { return remote.Usage{Requests: 1, WriteUnits: s.Units()} }

// simulated returns a cloud with cricket's tables, and a node's connection to it.
func simulated(t *testing.T) (*simItems, *node.Cloud) {
	t.Helper()
	cloud := simcloud.New(simcloud.Options{})
	cloud.Create(schema().Tables...)
	cloud.Create(store.TableSpec{Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}}})
	locks, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Close() })
	if err := locks.Define(t.Context(), schema().Tables...); err != nil {
		t.Fatal(err)
	}
	c := node.DefaultCloud()
	c.Region = "sim"
	items := &simItems{Cloud: cloud}
	return items, &node.Cloud{Config: c, Name: "sim", Items: items, Locks: func(table string) lease.Table { return lease.Local(locks, table) }}
}

// user sends requests to a node as a user, or as an admin on the routes for admins.
type user struct {
	t            *testing.T
	to           *web.Pipes
	token, admin string
}

func (u user) ask(method, path, send, prefer string, want int) (body string, head http.Header) {
	u.t.Helper()
	req, err := http.NewRequestWithContext(u.t.Context(), method, "http://localhost"+path, strings.NewReader(send))
	if err != nil {
		u.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+u.token)
	if strings.HasPrefix(path, "/cricket/sync") || strings.HasPrefix(path, "/cricket/conflicts") || path == "/_/hub" {
		req.Header.Set("Authorization", "Bearer "+u.admin)
	}
	if prefer != "" {
		req.Header.Set("Prefer", prefer)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: u.to.Dial}, Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		u.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		u.t.Fatalf("%s %s: %d %s (%v), want %d", method, path, resp.StatusCode, raw, err, want)
	}
	return string(raw), resp.Header
}

func (u user) sync() (st operator.SyncStatus) {
	u.t.Helper()
	body, _ := u.ask("GET", "/cricket/sync", "", "", 200)
	if err := json.Unmarshal([]byte(body), &st); err != nil {
		u.t.Fatal(err)
	}
	return st
}

// until waits for a state of the synchronization.
func (u user) until(state string) (st operator.SyncStatus) {
	u.t.Helper()
	wait.Until(u.t, "the synchronization is "+state, func() bool { st = u.sync(); return st.State == state }, func() any { return st })
	return st
}

// signedIn configures a node with a development issuer, and returns the tokens of a user and an admin.
func signedIn(t *testing.T, dir string, p *node.Parts) (token, admin string) {
	t.Helper()
	p.Auth = node.AuthConfig{AdminGroup: "admin", DevIssuer: true}.Maker(dir, p.Log)
	n, err := openPlayed(t.Context(), dir, node.Parts{Clock: clock.Real(), Log: p.Log, Auth: p.Auth}, DefaultSettings(), Outside{}) // makes the key
	if err != nil {
		t.Fatal(err)
	}
	fixture := matches.Fixture{MatchID: "7", StartTime: time.Now().Add(time.Hour), Phase: cricket.PhasePrematch, Type: "ODI", Status: "NS"}
	err = n.host.Store.Update(t.Context(), func(tx *store.Tx) error { return putFixture(tx, fixture) })
	if err = errors.Join(err, n.Close()); err != nil {
		t.Fatal(err)
	}
	issuer, err := auth.ReadDevIssuer(dir)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(g auth.Grant) string {
		g.Life = time.Hour
		made, _, err := issuer.Sign(g, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	return sign(auth.Grant{Subject: "u1"}), sign(auth.Grant{Subject: "boss", Groups: []string{"admin"}})
}

// longDir returns a folder whose name is too long for an admin socket, which would stop virtual time.
func longDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// served runs a node with cricket during do, in a bubble.
func served(t *testing.T, dir string, p node.Parts, do func(to *web.Pipes)) {
	t.Helper()
	p.Clock, p.Log = clock.Real(), slog.New(slog.DiscardHandler)
	n, err := openPlayed(t.Context(), dir, p, DefaultSettings(), Outside{})
	if err != nil {
		t.Fatal(err)
	}
	ln := web.NewPipes()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, ln) }()
	do(ln)
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A whole node and its cloud. A request can wait for the cloud. A write that the cloud refuses is reported and decided. A write
// that waits is reported, and sent when possible, even at the node's end.
func TestNodeAndCloud(t *testing.T) { synctest.Test(t, playNodeAndCloud) }

func playNodeAndCloud(t *testing.T) {
	items, cloud := simulated(t)
	dir, p := longDir(t), node.Parts{Cloud: cloud, Log: slog.New(slog.DiscardHandler)}
	token, admin := signedIn(t, dir, &p)
	key := attr.Item{"matchId": attr.S("7"), "userId": attr.S("u1")}
	held := func() attr.Item { return items.Item(tables.Follows, key) }
	served(t, dir, p, func(to *web.Pipes) {
		u := user{t, to, token, admin}
		u.until("in_step")
		body, head := u.ask("POST", "/cricket/user/follow/7", "{}", "wait=30", 201)
		if head.Get("Preference-Applied") != "wait=30" || head.Get("Touchline-Seq") == "" || !strings.Contains(body, `"userId":"u1"`) {
			t.Errorf("%v %s", head, body)
		}
		if held() == nil {
			t.Error("the answer came before the cloud had it")
		}
		if used := u.sync().Usage; used.Requests != 1 || used.WriteUnits != items.Units() || used.WriteUnits == 0 {
			t.Errorf("used: %+v", used)
		}

		items.down.Store(true)
		u.ask("DELETE", "/cricket/user/follow/7", "", "wait=1", 202)
		st := u.until("offline")
		if st.Waiting == 0 || st.Oldest.IsZero() || !strings.Contains(st.LastError, "refused") || st.Tables[0].Table != tables.Follows || held() == nil {
			t.Errorf("%+v", st)
		}
		items.down.Store(false)
		if st := u.until("in_step"); st.Waiting != 0 || held() != nil {
			t.Errorf("%+v, the cloud has %v", st, held())
		}

		u.ask("POST", "/cricket/user/follow/7", "{}", "wait=30", 201)
		if err := (simcloud.Foreign{Cloud: items.Cloud, Name: "console"}).Delete(tables.Follows, key); err != nil {
			t.Fatal(err)
		}
		body, _ = u.ask("PATCH", "/cricket/user/follow/7", `{"teamId":10}`, "wait=30", 409)
		if !strings.Contains(body, `"code":"refused_by_cloud"`) || !strings.Contains(body, `"details":{"conflict":1}`) {
			t.Errorf("a write that the cloud refused: %s", body)
		}
		u.ask("GET", "/cricket/user/follow/7", "", "", 404) // the write no longer holds here
		if body, _ := u.ask("GET", "/cricket/conflicts", "", "", 200); !strings.Contains(body, `"items":[{"id":1`) {
			t.Errorf("the conflicts: %s", body)
		}
		if body, _ := u.ask("GET", "/_/hub", "", "", 200); !strings.Contains(body, "did not accept 1 write") {
			t.Error("the operator page does not show the conflict")
		}
		if body, _ := u.ask("GET", "/cricket/conflicts/1", "", "", 200); !strings.Contains(body, `"op":"update"`) || !strings.Contains(body, `"base":{`) {
			t.Errorf("the conflict: %s", body)
		}
		u.ask("POST", "/cricket/conflicts/1/retry", "", "", 409) // there is no follow to patch
		u.ask("POST", "/cricket/conflicts/1/discard", "", "", 200)
		if st := u.sync(); st.Conflicts.Open != 0 || st.Conflicts.Kept != 1 {
			t.Errorf("%+v", st.Conflicts)
		}
		u.ask("POST", "/cricket/user/follow/7", "{}", "", 201) // and the node ends
	})
	if held() == nil {
		t.Error("the node ended without sending what waited")
	}
}

// A node that is cut off continues to work, ends in time, and sends its writes when it runs again.
func TestNodeWithoutItsCloud(t *testing.T) { synctest.Test(t, playNodeWithoutItsCloud) }

func playNodeWithoutItsCloud(t *testing.T) {
	items, cloud := simulated(t)
	items.down.Store(true)
	cloud.Config.Budget.Entries = 1
	dir, p := longDir(t), node.Parts{Cloud: cloud, Log: slog.New(slog.DiscardHandler)}
	token, admin := signedIn(t, dir, &p)
	served(t, dir, p, func(to *web.Pipes) {
		u := user{t, to, token, admin}
		if body, _ := u.ask("GET", "/readyz?verbose", "", "", 200); !strings.Contains(body, "[+] cloud backlog ok") {
			t.Errorf("with room: %s", body)
		}
		u.ask("POST", "/cricket/user/follow/7", "{}", "", 201)
		if body, _ := u.ask("GET", "/readyz?verbose", "", "", 200); !strings.Contains(body, "[!] cloud backlog: the queue for the cloud is 100 % full (entries)") {
			t.Errorf("without room: %s", body)
		}
		u.ask("DELETE", "/cricket/user/follow/7", "", "", 503)
		if st := u.sync(); st.State != "offline" || st.Since.IsZero() || st.Waiting != 1 {
			t.Errorf("%+v", st)
		}
	})
	items.down.Store(false)
	served(t, dir, p, func(to *web.Pipes) {
		user{t, to, token, admin}.until("in_step")
		if items.Item(tables.Follows, attr.Item{"matchId": attr.S("7"), "userId": attr.S("u1")}) == nil {
			t.Error("in step, but the cloud does not have what was written before")
		}
	})
}

// A node without a cloud has nothing to synchronize: a request that waits for the cloud is answered at once.
func TestNodeWithoutACloud(t *testing.T) { synctest.Test(t, playNodeWithoutACloud) }

func playNodeWithoutACloud(t *testing.T) {
	dir, p := longDir(t), node.Parts{Log: slog.New(slog.DiscardHandler)}
	token, admin := signedIn(t, dir, &p)
	served(t, dir, p, func(to *web.Pipes) {
		u := user{t, to, token, admin}
		if st := u.sync(); st.Configured || st.State != "none" {
			t.Errorf("%+v", st)
		}
		_, head := u.ask("POST", "/cricket/user/follow/7", "{}", "wait=30", 201)
		if head.Get("Preference-Applied") != "wait=30" {
			t.Errorf("%v", head)
		}
	})
	if _, err := os.Stat(filepath.Join(dir, "identity.json")); err == nil {
		t.Error("a node without a cloud has an identity file")
	}
}

// Every reason for parking a write has an explanation for people; another text stays as it is.
func TestParkedWords(t *testing.T) {
	for _, why := range []string{
		intent.WhyEvents, intent.WhyHold, intent.WhyCount, intent.WhyYield, intent.WhyReplay, intent.WhyTable, intent.WhyTransactions,
	} {
		if words := (&replica.ParkStatus{Why: why}).Words(); words == why || words == "" {
			t.Errorf("%q has no words", why)
		}
	}
	if words := (&replica.ParkStatus{Why: "no answer"}).Words(); words != "no answer" {
		t.Errorf("%q", words)
	}
}

// putFixture writes a fixture as it is.
func putFixture(tx *store.Tx, f matches.Fixture) error {
	item, err := attr.Marshal(&f)
	if err == nil {
		_, err = tx.Put(store.PutItem{Table: tables.Fixtures, Item: item})
	}
	return err
}
