package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

type bench struct {
	*measure.Run

	server *ddblocal.Instance
	cloud  *dynamo.Client

	latency time.Duration // of each request, in addition to the server's own time
}

// result is the measurement of a mix.
type result struct {
	drain, bare float64 // writes per second
	units, own  float64 // write units of what was sent, and of the application's own calls
	items       int     // as written, here and there, after the drain
}

func newBench(ctx context.Context, run *measure.Run, server *ddblocal.Instance) (*bench, error) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	c, err := dynamo.New(ctx, dynamo.Config{Endpoint: "http://" + server.Addr, Region: "local"})
	return &bench{Run: run, server: server, cloud: c}, err
}

func table(name string) store.TableSpec {
	str := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	return store.TableSpec{Name: name, Key: store.KeySpec{Partition: str("pk"), Sort: str("sk")}, Policy: store.PolicyIntent}
}

// measure drains a mix, and lets the bare client do the same.
func (b *bench) measure(ctx context.Context, m mix, writes int, bareFirst bool) (r result, err error) {
	ours, bare, own := table("ours-"+m.name), table("bare-"+m.name), table("sync-"+m.name)
	own.Key = store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}}
	for _, spec := range []store.TableSpec{ours, bare, own} {
		if err := b.cloud.Create(ctx, spec, false); err != nil {
			return r, err
		}
	}
	asked := plan(m, writes)
	steps := []func() error{
		func() error { return b.drain(ctx, ours, own.Name, asked, &r) },
		func() (err error) {
			r.bare, err = b.bare(ctx, bare.Name, asked)
			return err
		},
	}
	if bareFirst {
		steps[0], steps[1] = steps[1], steps[0]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return r, err
		}
	}
	r.own = float64(writes)
	if m.together {
		r.own *= 2 // a transaction costs double, whoever sends it
	}
	return r, nil
}

// drain queues the writes, sends them, and verifies the result.
func (b *bench) drain(ctx context.Context, spec store.TableSpec, syncTable string, asked []write, r *result) error {
	path := filepath.Join(b.Folder, spec.Name+".db")
	s, err := store.Open(path, store.Options{Node: "bench"})
	if err != nil {
		return err
	}
	defer measure.Remove(path)
	defer measure.Shut(s)
	if err := s.Define(ctx, spec); err != nil {
		return err
	}
	meter := &meter{Client: b.cloud, latency: b.latency}
	yes := true
	rep, err := replica.New(replica.Config{Store: s, Cloud: meter, SyncTable: syncTable, Workers: lanes, Transactions: &yes})
	if err != nil {
		return err
	}
	if err := rep.Open(ctx); err != nil {
		return err
	}
	b.Say("%s: making the items", spec.Name)
	if err := queue(ctx, s, spec.Name, asked, true); err != nil {
		return err
	}
	if _, err := emptied(ctx, rep); err != nil {
		return err
	}
	if err := queue(ctx, s, spec.Name, asked, false); err != nil {
		return err
	}
	b.Say("%s: draining", spec.Name)
	meter.units.Store(0)
	took, err := emptied(ctx, rep)
	if err != nil {
		return err
	}
	st, err := rep.Status(ctx)
	if err != nil {
		return err
	}
	if st.Conflicts.Kept > 0 {
		return fmt.Errorf("%d conflicts, where nobody else writes", st.Conflicts.Kept)
	}
	r.drain = float64(len(asked)) / took.Seconds()
	r.units = float64(meter.units.Load())
	b.Say("%s: comparing", spec.Name)
	r.items, err = check(ctx, s, spec.Name, asked, b.cloud.Read)
	return err
}

// emptied runs the replicator until its outbox is empty, and returns how long that took.
func emptied(ctx context.Context, rep *replica.Replica) (took time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	started := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- rep.Run(ctx) }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := rep.Status(ctx)
		if err != nil {
			return 0, err
		}
		if st.Waiting == 0 {
			took = time.Since(started)
			cancel()
			return took, ignoreCanceled(<-ended)
		}
		select {
		case err := <-ended:
			return 0, err
		case <-tick.C:
		}
	}
}

// ignoreCanceled drops the error of a run that was told to end.
func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// meter counts the write units of what is sent to the cloud.
type meter struct {
	*dynamo.Client
	latency time.Duration
	units   atomic.Int64
}

// Write implements remote.Cloud.
func (m *meter) Write(ctx context.Context, c intent.Call) (attr.Item, error) {
	if err := clock.Sleep(ctx, clock.Real(), m.latency); err != nil {
		return nil, err
	}
	image, err := m.Client.Write(ctx, c)
	m.units.Add(unitsOf(max(attr.Size(c.Item), attr.Size(image))))
	return image, err
}

// Transact implements remote.Cloud.
func (m *meter) Transact(ctx context.Context, calls []intent.Call, token string) error {
	if err := clock.Sleep(ctx, clock.Real(), m.latency); err != nil {
		return err
	}
	for i := range calls {
		m.units.Add(2 * unitsOf(attr.Size(calls[i].Item)))
	}
	return m.Client.Transact(ctx, calls, token)
}

func unitsOf(size int) int64 { return max(1, int64(size+1023)/1024) }

// queue writes to the store: the items that must exist first if prepare is set, otherwise the writes themselves.
func queue(ctx context.Context, s *store.Store, table string, asked []write, prepare bool) error {
	const together = 200
	for from := 0; from < len(asked); from += together {
		part := asked[from:min(from+together, len(asked))]
		err := s.Update(ctx, func(tx *store.Tx) error {
			for _, w := range part {
				if err := w.perform(tx, table, prepare); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
