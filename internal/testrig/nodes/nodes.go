// Package nodes runs whole nodes with one application in tests: two with one simulated cloud in a bubble of testing/synctest, where time is
// virtual, or one or two with DynamoDB Local, which takes real time. The links of two can be cut.
package nodes

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/faultproxy"
	"github.com/touchline/touchline/internal/testrig/machine"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

const conflicts = "/_/api/conflicts?state=open"

// patience is for how much virtual time Until waits. Nodes look at everything several times an hour.
const patience = time.Hour

// Boss is the user whose tokens have the admin role.
const Boss = "boss"

// Options configures a fleet.
type Options struct {
	App   func() *app.App          // creates the application, once for each node
	Wrong map[string]time.Duration // how far a node's clock is ahead, by node
	Parts func(p *node.Parts)      // changes what a node is opened with; may be nil
	// Fill puts rows of other programs into the cloud before the nodes start; may be nil.
	Fill func(cloud *simcloud.Cloud)
}

// Fleet is the nodes "a" and "b" with one cloud, or "a" alone.
type Fleet struct {
	T      *testing.T
	Issuer *auth.DevIssuer
	Clock  clock.Clock
	Cloud  *simcloud.Cloud           // nil: DynamoDB Local
	Links  map[string]*simcloud.Link // by node
	Base   map[string]string         // base URLs by node, "http://127.0.0.1:40000"

	options  Options
	network  *simcloud.Network // nil: DynamoDB Local
	mu       sync.Mutex
	machines map[string]*machine.Clock
	pipes    map[string]*web.Pipes
	stores   map[string]*store.Store
	doors    map[string]*faultproxy.Proxy // to DynamoDB Local, by node
	dirs     map[string]string
	stops    map[string]func() error
}

// Two starts two nodes in a bubble, which run until the end of the test. They are reached through pipes.
func Two(t *testing.T, o Options) *Fleet {
	t.Helper()
	f := begin(t, o)
	f.Cloud = simcloud.New(simcloud.Options{Now: f.Clock.Wall})
	f.Cloud.Create(append(node.Schema([]*app.App{o.App()}).Tables, syncTable())...)
	if o.Fill != nil {
		o.Fill(f.Cloud)
	}
	f.network = simcloud.NewNetwork(f.Cloud, simcloud.NewTimer(), 7)
	for _, name := range []string{"a", "b"} {
		f.Links[name] = f.network.Link(name, f.clockOf(name).Wall, nil)
		f.start(name)
	}
	return f
}

func (f *Fleet) start(name string) {
	f.T.Helper()
	c := node.DefaultCloud()
	c.Region = "sim"
	f.serve(name, &node.Cloud{Config: c, Name: "sim", Items: f.Links[name], Locks: f.Links[name].Locks})
}

// inBubble reports whether the fleet is one of Two, whose time is virtual.
func (f *Fleet) inBubble() bool { return f.Cloud != nil }

// Restart ends a node of Two and starts it again, with its data at another address. It opens a copy of its file, since the store itself
// stays open until the end of the test.
func (f *Fleet) Restart(name string) {
	f.T.Helper()
	if err := f.stops[name](); err != nil {
		f.T.Fatal(err)
	}
	f.dirs[name] = f.copyOf(f.diskOf(name))
	f.stores[name] = f.openStoreIn(name, f.dirs[name])
	f.Links[name].Forget()
	f.start(name)
}

func syncTable() store.TableSpec {
	return store.TableSpec{Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}}}
}

func begin(t *testing.T, o Options) *Fleet {
	t.Helper()
	issuer, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	f := &Fleet{
		T: t, Issuer: issuer, Clock: clock.Real(), Links: map[string]*simcloud.Link{}, Base: map[string]string{},
		options: o, machines: map[string]*machine.Clock{}, pipes: map[string]*web.Pipes{}, stores: map[string]*store.Store{}, doors: map[string]*faultproxy.Proxy{}, dirs: map[string]string{}, stops: map[string]func() error{},
	}
	return f
}

// clockOf returns the clock of a node's machine. Restarts of the node do not set it right.
func (f *Fleet) clockOf(name string) *machine.Clock {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.machines[name] == nil {
		f.machines[name] = machine.New(f.Clock)
		f.machines[name].Set(f.options.Wrong[name])
	}
	return f.machines[name]
}

// SetClock sets how far the wall clock of a node's machine is ahead of true time.
func (f *Fleet) SetClock(name string, ahead time.Duration) { f.clockOf(name).Set(ahead) }

func (f *Fleet) serve(name string, cloud *node.Cloud) {
	f.T.Helper()
	p := node.Parts{
		Clock: f.clockOf(name), Jumps: clock.NewJumps(f.clockOf(name).Times(), slog.New(slog.DiscardHandler)), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{f.options.App()}, Cloud: cloud,
		Auth: func(*store.Store) (*auth.Verifier, error) {
			return auth.New(auth.Config{Issuers: []auth.Issuer{f.Issuer.Issuer()}})
		},
	}
	if f.options.Parts != nil {
		f.options.Parts(&p)
	}
	if f.dirs[name] == "" {
		f.dirs[name] = f.T.TempDir()
		if f.inBubble() {
			f.stores[name] = f.openStoreIn(name, longFolder(f.dirs[name]))
		}
	}
	if f.inBubble() {
		p.Store = f.stores[name]
	}
	n, err := node.Open(f.T.Context(), f.dirs[name], p)
	if err != nil {
		f.T.Fatal(err)
	}
	f.stores[name] = n.Store()
	if f.inBubble() {
		f.pipes[name] = web.NewPipes()
		f.Base[name], f.stops[name] = "http://localhost", web.RunOn(f.T, n, f.pipes[name])
		return
	}
	f.Base[name], f.stops[name] = web.Run(f.T, n)
}

// Token returns a user's token for an hour; that of Boss is an admin's.
func (f *Fleet) Token(user string) string {
	f.T.Helper()
	grant := auth.Grant{Subject: user, Life: time.Hour}
	if user == Boss {
		grant.Groups = []string{"admin"}
	}
	token, _, err := f.Issuer.Sign(grant, time.Now())
	if err != nil {
		f.T.Fatal(err)
	}
	return token
}

// Send sends a request to a node, with headers given as name and value. user may be empty: then the request has no token.
func (f *Fleet) Send(at, user, method, path, body string, headers ...string) (status int, h http.Header, answer string) {
	f.T.Helper()
	req, err := http.NewRequestWithContext(f.T.Context(), method, f.Base[at]+path, strings.NewReader(body))
	if err != nil {
		f.T.Fatal(err)
	}
	if user != "" {
		req.Header.Set("Authorization", "Bearer "+f.Token(user))
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true}
	if p := f.pipes[at]; p != nil {
		transport.DialContext = p.Dial
	}
	resp, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Do(req)
	if err != nil {
		f.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		f.T.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(raw)
}

// Ask is Send without the headers of the answer.
func (f *Fleet) Ask(at, user, method, path, body string, headers ...string) (status int, answer string) {
	f.T.Helper()
	status, _, answer = f.Send(at, user, method, path, body, headers...)
	return status, answer
}

// Want is Ask for a request that must succeed.
func (f *Fleet) Want(at, user, method, path, body string, headers ...string) (answer string) {
	f.T.Helper()
	status, answer := f.Ask(at, user, method, path, body, headers...)
	if status >= http.StatusBadRequest {
		f.T.Fatalf("%s at %s: %s %s %s: %d %s", user, at, method, path, body, status, answer)
	}
	return answer
}

// Until waits until a condition holds. In a bubble it lets time pass for that.
func (f *Fleet) Until(what string, is func() bool) {
	f.T.Helper()
	asked := func() any {
		var open []string
		for at := range f.Base {
			_, answer := f.Ask(at, Boss, http.MethodGet, conflicts, "")
			open = append(open, at+" "+answer)
		}
		return fmt.Sprint("open conflicts: ", open)
	}
	if f.inBubble() {
		wait.Passing(f.T, patience, func() { f.Pass(time.Second) }, what, is, asked)
		return
	}
	wait.Until(f.T, what, is, asked)
}

// Knows waits until a node's partitions of the application's first table equal the cloud's: rows written together may arrive one by one.
func (f *Fleet) Knows(at string, partitions ...string) {
	f.T.Helper()
	spec := node.Schema([]*app.App{f.options.App()}).Tables[0]
	rows := func(s *store.Store) map[string]attr.Item {
		all, err := rowsOf(s, f.Cloud, spec.Name, spec.Key.Partition.Name, spec.Key.Sort.Name)
		if err != nil {
			f.T.Fatal(err)
		}
		maps.DeleteFunc(all, func(_ string, it attr.Item) bool {
			return !slices.Contains(partitions, it[spec.Key.Partition.Name].Str())
		})
		return all
	}
	f.Until(fmt.Sprint(at, " knows ", partitions), func() bool { return maps.EqualFunc(rows(f.stores[at]), rows(nil), attr.EqualItems) })
}

// Cut disconnects nodes from the cloud, one after the other; without names, all of them.
func (f *Fleet) Cut(names ...string) { f.setFaults(names, simcloud.NoDNS, faultproxy.Refuse) }

// Heal reconnects them.
func (f *Fleet) Heal(names ...string) { f.setFaults(names, simcloud.None, faultproxy.None) }

func (f *Fleet) setFaults(names []string, simulated simcloud.Fault, proxied faultproxy.Fault) {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(f.Base))
	}
	for _, name := range names { // in this order: the node that is reconnected first may reach the cloud first
		if l := f.Links[name]; l != nil {
			l.SetMode(simulated)
		}
		if d := f.doors[name]; d != nil {
			d.Set(faultproxy.Conditions{Fault: proxied})
		}
	}
}

// Open returns a node's open conflicts, as JSON.
func (f *Fleet) Open(at string) string {
	f.T.Helper()
	return f.Want(at, Boss, http.MethodGet, conflicts, "")
}

// Quiet fails the test if any conflict is open, or if a node cannot report its metrics.
func (f *Fleet) Quiet() {
	f.T.Helper()
	for at := range f.Base {
		f.Want(at, Boss, http.MethodGet, "/metrics", "")
		if open := f.Open(at); !strings.Contains(open, `"items":[]`) {
			f.T.Errorf("open at %s: %s", at, open)
		}
	}
}
