package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/faultproxy"
	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/intent"
)

// result is the measurement of a line.
type result struct {
	writes   int
	offline  float64       // share of the time
	drops    uint64        // how often the cloud went away
	waiting  int64         // writes, at most
	lag      time.Duration // at most
	arrived  time.Duration // the last write, after it was made
	requests int64
	met      int // faults
}

// tables is how many tables the node sends.
const tables = 10

func tableName(i int) string { return fmt.Sprintf("table-%d", i) }

func specs() (out []store.TableSpec) {
	str := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	for i := range tables {
		out = append(out, store.TableSpec{
			Name: tableName(i), Key: store.KeySpec{Partition: str("pk"), Sort: str("sk")}, Policy: store.PolicyIntent,
		})
	}
	return out
}

// rig is a cloud, the line to it, and a node.
type rig struct {
	cloud *dynamo.Client // not over the line
	proxy *faultproxy.Proxy
	store *store.Store
	node  *replica.Replica
}

// measureLine measures one line.
func measureLine(ctx context.Context, folder string, l line, o options) (r result, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	address, ended, err := startCloud(ctx)
	if err != nil {
		return r, err
	}
	defer func() {
		cancel(nil)
		err = errors.Join(err, <-ended)
	}()
	g := &rig{}
	if g.proxy, err = faultproxy.Open(ctx, address, o.seed, func(err error) { cancel(err) }); err != nil {
		return r, err
	}
	defer g.proxy.Close()
	if err := g.open(ctx, "http://"+address, filepath.Join(folder, l.name+".db"), l.name); err != nil {
		return r, err
	}
	defer measure.Shut(g.store)
	err = g.measure(ctx, l, o, &r)
	if err != nil {
		err = fmt.Errorf("%s: %w", l.name, err)
	}
	return r, err
}

// startCloud starts an endpoint in memory until ctx ends.
func startCloud(ctx context.Context) (address string, ended <-chan error, err error) {
	items, err := store.OpenMemory(store.Options{})
	if err != nil {
		return "", nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(err, items.Close())
	}
	end := make(chan error, 1)
	api := dynamoapi.New(dynamoapi.Config{Store: items, Policy: store.PolicyLocal})
	go func() { end <- errors.Join(ignoreCanceled(api.Run(ctx, listener)), items.Close()) }()
	return listener.Addr().String(), end, nil
}

// ignoreCanceled drops the error of what was told to end.
func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// open creates the tables in the cloud, and the node.
func (g *rig) open(ctx context.Context, endpoint, path, name string) (err error) {
	if g.cloud, err = dynamo.New(ctx, dynamo.Config{Endpoint: endpoint, Region: "local"}); err != nil {
		return err
	}
	own := store.TableSpec{
		Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}},
	}
	for _, spec := range append(specs(), own) {
		if err := g.cloud.Create(ctx, spec, false); err != nil {
			return err
		}
	}
	over, err := dynamo.New(ctx, dynamo.Config{Endpoint: g.proxy.URL(), Region: "local"})
	if err != nil {
		return err
	}
	if g.store, err = store.Open(path, store.Options{Node: name}); err != nil {
		return err
	}
	if err := g.store.Define(ctx, specs()...); err != nil {
		return err
	}
	c := replica.Config{Store: g.store, Cloud: over}
	for i := range tables {
		rule := feed.Rule{Table: tableName(i)}
		if i == 0 {
			rule.Every = 5 * time.Second
		}
		c.Poll = append(c.Poll, rule)
	}
	if g.node, err = replica.New(c); err != nil {
		return err
	}
	return g.node.Open(ctx)
}

// measure connects the node, makes the writes over the line, and checks that they have arrived.
func (g *rig) measure(ctx context.Context, l line, o options, r *result) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- g.node.Run(running) }()
	if err := g.connected(ctx); err != nil {
		return err
	}
	over, heal := context.WithCancel(ctx)
	played := make(chan struct{})
	go func() {
		defer close(played)
		l.play(over, g.proxy)
	}()
	sampled := make(chan error, 1)
	watching, unwatch := context.WithCancel(ctx)
	go func() { sampled <- g.watch(watching, r) }()
	err := g.write(ctx, o, r)
	if err == nil {
		err = g.arrive(ctx, r)
	}
	unwatch()
	err = errors.Join(err, <-sampled)
	heal()
	<-played
	r.met = g.proxy.Met(l.Fault) + g.proxy.Met(faultproxy.Partition)
	if l.Fault == faultproxy.None {
		r.met = g.proxy.Met(faultproxy.Partition)
	}
	stop()
	err = errors.Join(err, ignoreCanceled(<-ended))
	if err != nil {
		return err
	}
	return g.check(ctx, r.writes)
}

// connected waits until the node has reached the cloud.
func (g *rig) connected(ctx context.Context) error {
	return g.until(ctx, time.Minute, func(st *replica.Status) bool { return st.Up })
}

// arrive waits until nothing waits.
func (g *rig) arrive(ctx context.Context, r *result) error {
	began := time.Now()
	err := g.until(ctx, 5*time.Minute, func(st *replica.Status) bool { return st.Waiting == 0 })
	r.arrived = time.Since(began)
	return err
}

// until waits for a condition of the status.
func (g *rig) until(ctx context.Context, most time.Duration, so func(*replica.Status) bool) error {
	for end := time.Now().Add(most); ; {
		st, err := g.node.Status(ctx)
		switch {
		case err != nil:
			return err
		case so(&st):
			return nil
		case time.Now().After(end):
			return fmt.Errorf("after %v: state %s, %d writes wait, %s", most, st.State, st.Waiting, st.LastError)
		}
		if err := clock.Sleep(ctx, clock.Real(), 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// watch reads the status until ctx ends.
func (g *rig) watch(ctx context.Context, r *result) error {
	away, all := 0, 0
	for clock.Sleep(ctx, clock.Real(), 50*time.Millisecond) == nil {
		st, err := g.node.Status(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		all++
		if st.State == "offline" {
			away++
		}
		r.waiting = max(r.waiting, st.Waiting)
		r.lag = max(r.lag, time.Duration(st.LagSeconds*float64(time.Second)))
		r.drops, r.requests = st.Drops, st.Usage.Requests
		r.offline = float64(away) / float64(all)
	}
	return nil
}
