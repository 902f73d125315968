package node_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica/intent"
)

// beside runs a node with cricket and a counter.
func beside(t *testing.T, c *counter, cloud *node.Cloud) (base, dir string) {
	t.Helper()
	dir = t.TempDir()
	n, err := node.Open(t.Context(), dir, node.Parts{
		Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{cricketapp.New(), c.app()}, Cloud: cloud, Auth: keyed,
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String(), dir
}

func ask(t *testing.T, url string) (status int, body string) {
	t.Helper()
	return askBy(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}, url)
}

// askBy is ask by a client of its own, as for nodes in bubbles.
func askBy(t *testing.T, client *http.Client, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", operatorKey)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw) + errorText(err)
}

func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// Two applications in one node have their own tables, loops and consumers, and failures in one do not affect the other.
func TestTwoApplications(t *testing.T) {
	c := &counter{}
	base, dir := beside(t, c, nil)
	wait.Until(t, "the first sum", func() bool { return c.host.Store.Seq() > 0 && c.ticks.Load() > 0 })
	add := func(n int64) {
		t.Helper()
		if err := c.count(t.Context(), "main", n); err != nil {
			t.Fatal(err)
		}
	}
	add(2)
	add(3)
	wait.Until(t, "the total is 5", func() bool { return c.sumOf(t.Context()) == 5 })
	for path, want := range map[string]string{
		"/counter/total": `200 {"total":5}`, "/counter/nothing": `404 {"wrong":"not_found"}`, "/counter/broken": `500 {"wrong":"internal"}`,
		"/cricket/health": `200 {"status":"ok"}`, "/cricket/nothing": `404 {"error":{"code":"not_found","message":"There is nothing at this address."}}`,
	} {
		if status, body := ask(t, base+path); fmt.Sprint(status, " ", body) != want {
			t.Errorf("%s: %d %s, want %s", path, status, body, want)
		}
	}
	client, err := node.Ask(dir)
	if err != nil {
		t.Fatal(err)
	}
	var told struct{ Asked int64 }
	if err := client.Command(t.Context(), "/counter/asked", struct{}{}, nil, &told); err != nil || told.Asked != 1 {
		t.Errorf("the operator's command: %+v, %v", told, err)
	}
	want := "This node does not run threefc. It runs: cricket, counter. To switch threefc on, add a section threefc to its configuration file, " +
		"which needs one for each application, and restart it."
	err = client.Command(t.Context(), "/threefc/export", struct{}{}, nil, &told)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.NotFound || f.Message != want {
		t.Errorf("a command of an application that does not run: %v, want %s", err, want)
	}
	if err := client.Command(t.Context(), "/counter/other", struct{}{}, nil, &told); !fault.Is(err, fault.NotFound) || strings.Contains(err.Error(), "does not run") {
		t.Errorf("a command that an application does not have: %v", err)
	}
	lag := func() (line string) {
		_, body := ask(t, base+"/metrics")
		for line = range strings.Lines(body) {
			if strings.HasPrefix(line, `touchline_consumer_lag_records{application="counter",consumer="total"}`) {
				return strings.TrimSpace(line)
			}
		}
		return ""
	}
	takenAll := func() (cursor uint64) {
		t.Helper()
		wait.Until(t, "the consumer has taken all", func() bool { return strings.HasSuffix(lag(), " 0") })
		if err := c.host.Store.View(t.Context(), func(tx *store.Tx) (err error) {
			cursor, _, err = tx.Cursor("counter/total")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return cursor
	}
	kept, seq := takenAll(), c.host.Store.Seq()
	add(0)
	if again := takenAll(); again != kept || c.host.Store.Seq() == seq {
		t.Errorf("a commit where nothing is written: the consumer's cursor at %d, was %d", again, kept)
	}
	c.broken.Store(true)
	add(4)
	wait.Until(t, "the consumer lags", func() bool { return lag() != "" && !strings.HasSuffix(lag(), " 0") })
	if status, body := ask(t, base+"/cricket/matches"); status != http.StatusOK {
		t.Errorf("cricket, beside a consumer that fails: %d %s", status, body)
	}
	if status, body := ask(t, base+"/readyz?verbose"); status != http.StatusOK {
		t.Errorf("readiness: %d %s", status, body)
	}
	wait.Until(t, "the operator is told", func() bool {
		_, page := ask(t, base+"/_/hub")
		return strings.Contains(page, "This node&#39;s consumer counter/total: it failed ") && strings.Contains(page, ">1 problem, see above<")
	})
	if n := c.sumOf(t.Context()); n != 5 {
		t.Errorf("a total of %d while the consumer fails", n)
	}
	c.broken.Store(false)
	wait.Until(t, "it goes on where it was", func() bool { return c.sumOf(t.Context()) == 9 })
}

// sharedCloud is a simulated cloud with the tables of both applications.
func sharedCloud(t *testing.T, apps ...*app.App) (*simcloud.Cloud, *simcloud.Network) {
	t.Helper()
	cloud := simcloud.New(simcloud.Options{Now: time.Now})
	cloud.Create(node.Schema(apps).Tables...)
	cloud.Create(store.TableSpec{Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}}})
	return cloud, simcloud.NewNetwork(cloud, simcloud.NewTimer(), 7)
}

func linked(net *simcloud.Network, name string) (*simcloud.Link, *node.Cloud) {
	c := node.DefaultCloud()
	c.Region, c.Poll.Live, c.Poll.Tables = "sim", time.Second, time.Second
	link := net.Link(name, time.Now, nil)
	return link, &node.Cloud{Config: c, Name: "sim", Items: link, Locks: link.Locks}
}

// besideInBubble is beside in virtual time. It returns a client that reaches the node as localhost. The node has no admin socket, which would
// stop that time: its path is too long.
func besideInBubble(t *testing.T, c *counter, cloud *node.Cloud) *http.Client {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := storetest.OpenWith(t, filepath.Join(dir, node.StoreFile), store.Options{NoSync: true})
	n, err := node.Open(t.Context(), dir, node.Parts{
		Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{cricketapp.New(), c.app()}, Cloud: cloud, Auth: keyed, Store: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	pipes := web.NewPipes()
	web.RunOn(t, n, pipes)
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: pipes.Dial}, Timeout: time.Minute}
}

// Two nodes run both applications over one cloud: counts at one node appear in the other's total, one of them does the job, of two that
// open a gate the first wins without a conflict for a person, and cricket's locks are separate from the counter's.
func TestTwoApplicationsOfAFleet(t *testing.T) { synctest.Test(t, playFleet) }

func playFleet(t *testing.T) {
	a, b := &counter{}, &counter{}
	cloud, network := sharedCloud(t, cricketapp.New(), a.app())
	linkA, cloudA := linked(network, "a")
	linkB, cloudB := linked(network, "b")
	besideInBubble(t, a, cloudA)
	besideInBubble(t, b, cloudB)
	if err := errors.Join(a.count(t.Context(), "north", 2), b.count(t.Context(), "south", 3)); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "both have the same total", func() bool { return a.sumOf(t.Context()) == 5 && b.sumOf(t.Context()) == 5 })
	wait.Until(t, "one of them works", func() bool { return a.ticks.Load()+b.ticks.Load() > 0 })
	if a.ticks.Load() > 0 && b.ticks.Load() > 0 {
		t.Errorf("the job ran %d times here and %d times there", a.ticks.Load(), b.ticks.Load())
	}
	lock := attr.Item{"lockKey": attr.S("counter:tick")}
	if cloud.Item(app.LocksTable, lock) == nil || cloud.Item("cricket-locks", lock) != nil {
		t.Errorf("the lock of the job is in another table: %v, %v", cloud.Item(app.LocksTable, lock), cloud.Item("cricket-locks", lock))
	}

	linkA.SetMode(simcloud.NoDNS)
	linkB.SetMode(simcloud.NoDNS)
	if err := errors.Join(a.openGate(t.Context(), "east", "a"), b.openGate(t.Context(), "east", "b")); err != nil {
		t.Fatal(err)
	}
	linkA.Heal()
	wait.Until(t, "the first has opened it", func() bool { return cloud.Item(counts, gate("east"))["by"].Str() == "a" })
	linkB.Heal()
	wait.Until(t, "the second knows", func() bool {
		var by string
		_ = b.host.Store.View(t.Context(), func(tx *store.Tx) error {
			it, err := tx.Get(counts, gate("east"))
			by = it["by"].Str()
			return err
		})
		return by == "a"
	})
}

// What an application shares is computed while the node opens. Later its lease goroutines use that value, beside requests and loops.
func TestCloudOfAnApplicationIsComputedBeforeTheNodeRuns(t *testing.T) {
	c := &counter{}
	var running atomic.Bool
	var late atomic.Int64
	a := c.app()
	compute := a.Cloud
	a.Cloud = func() app.Cloud {
		if running.Load() {
			late.Add(1)
		}
		return compute()
	}
	_, network := sharedCloud(t, a)
	_, cloud := linked(network, "a")
	n, err := node.Open(t.Context(), t.TempDir(), node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{a}, Cloud: cloud})
	if err != nil {
		t.Fatal(err)
	}
	running.Store(true)
	web.Run(t, n)
	wait.Until(t, "the counter holds its lease", func() bool { return c.ticks.Load() > 0 })
	if late.Load() > 0 {
		t.Errorf("Cloud was called %d times while the node ran", late.Load())
	}
}
