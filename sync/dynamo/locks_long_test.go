//go:build long

package dynamo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
)

func lockSpec() store.TableSpec {
	return store.TableSpec{
		Name: "cricket-locks", Policy: store.PolicyLock, Why: "test",
		Key: store.KeySpec{Partition: store.KeyAttr{Name: "lockKey", Type: store.KeyString}},
	}
}

// mirror is a locks table in two places: every call goes to DynamoDB and to the store, which must give the same answer.
type mirror struct {
	t            testing.TB
	cloud, local lease.Table
	fault        string // for the next update: "request" or "answer"
}

var errLost = errors.New("no answer")

func (m *mirror) Get(ctx context.Context, key string) (lease.Record, bool, error) {
	r, ok, err := m.cloud.Get(ctx, key)
	r2, ok2, err2 := m.local.Get(ctx, key)
	if !reflect.DeepEqual(r, r2) || ok != ok2 || (err == nil) != (err2 == nil) {
		m.t.Errorf("get %s: %+v %v %v in the cloud, %+v %v %v here", key, r, ok, err, r2, ok2, err2)
	}
	return r, ok, err
}

func (m *mirror) Update(ctx context.Context, c lease.Change) (lease.Record, error) {
	fault := m.fault
	m.fault = ""
	if fault == "request" {
		return lease.Record{}, errLost
	}
	r, err := m.cloud.Update(ctx, c)
	r2, err2 := m.local.Update(ctx, c)
	one, _ := errors.AsType[*lease.ConditionFailedError](err)
	other, _ := errors.AsType[*lease.ConditionFailedError](err2)
	if !reflect.DeepEqual(r, r2) || !reflect.DeepEqual(one, other) || (err == nil) != (err2 == nil) {
		m.t.Errorf("%+v: %+v %v %+v in the cloud, %+v %v %+v here", c, r, err, one, r2, err2, other)
	}
	if fault == "answer" {
		return lease.Record{}, errLost
	}
	return r, err
}

func (m *mirror) List(ctx context.Context) ([]lease.Record, error) {
	a, err := m.cloud.List(ctx)
	b, err2 := m.local.List(ctx)
	if len(a) != len(b) || err != nil || err2 != nil {
		m.t.Errorf("list: %v %v in the cloud, %v %v here", a, err, b, err2)
	}
	return a, err
}

// Random lease scenarios: nodes take, release, raise and lose answers, others change the table, and time passes. DynamoDB answers every
// call of the managers like the store, for which package lease shows the consequences.
func TestLocksAreThoseOfTheStore(t *testing.T) {
	c := local(t)
	define(t, c, lockSpec())
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		s := storetest.Open(t, lockSpec())
		m := &mirror{t: t, cloud: &keyed{c.Locks("cricket-locks"), round}, local: &keyed{lease.Local(s, "cricket-locks"), round}}
		w := &lockWorld{T: rt, t: t, c: c, s: s, m: m, round: round}
		w.times = &clocks{now: lease.Instant{Wall: noon()}}
		for i, name := range []string{"a", "b", "c"} {
			n, err := lease.New(lease.Config{Table: m, Node: name, Boot: "b1", TTL: 10 * time.Second, Times: w.times,
				RVN: func() string { w.rvns++; return fmt.Sprint("rvn", w.rvns) }})
			if err != nil {
				rt.Fatal(err)
			}
			w.nodes[i] = n
		}
		for range rapid.IntRange(5, 30).Draw(rt, "steps") {
			w.step()
		}
	})
}

// keyed gives each round its own locks, because the cloud's table remains.
type keyed struct {
	lease.Table
	round int
}

func (k *keyed) key(key string) string { return fmt.Sprintf("%s#%d", key, k.round) }

func (k *keyed) Get(ctx context.Context, key string) (lease.Record, bool, error) {
	return k.Table.Get(ctx, k.key(key))
}

func (k *keyed) Update(ctx context.Context, c lease.Change) (lease.Record, error) {
	c.Key = k.key(c.Key)
	return k.Table.Update(ctx, c)
}

type lockWorld struct {
	*rapid.T
	t     testing.TB
	c     *Client
	s     *store.Store
	m     *mirror
	times *clocks
	nodes [3]*lease.Manager
	held  [3]*lease.Lease
	round int
	rvns  int
}

func (w *lockWorld) step() {
	i := rapid.IntRange(0, 2).Draw(w.T, "node")
	w.m.fault = rapid.SampledFrom([]string{"", "", "", "request", "answer"}).Draw(w.T, "fault")
	ctx := w.t.Context()
	switch rapid.SampledFrom([]string{"time", "time", "acquire", "acquire", "release", "raise", "put", "delete"}).Draw(w.T, "step") {
	case "time":
		w.times.pass(time.Duration(rapid.IntRange(1, 6000).Draw(w.T, "ms")) * time.Millisecond)
	case "acquire":
		if l, err := w.nodes[i].Acquire(ctx, "match:1"); err == nil {
			w.held[i] = l
		}
	case "release":
		if l := w.held[i]; l != nil {
			_ = l.Release(ctx)
		}
	case "raise":
		if l := w.held[i]; l != nil && l.Check() == nil {
			_ = l.RaiseFence(ctx, l.Fence()+3)
		}
	case "put": // the original application takes the lock
		it := attr.Item{"lockKey": attr.S(fmt.Sprintf("match:1#%d", w.round)), "holder": attr.S("instance"),
			"expiresAt": attr.Int(w.times.Now().Wall.Add(5 * time.Second).UnixMilli())}
		w.both(intent.Call{Op: store.OpPut, Table: "cricket-locks", Item: it}, func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "cricket-locks", Item: it})
			return err
		})
	case "delete":
		key := attr.Item{"lockKey": attr.S(fmt.Sprintf("match:1#%d", w.round))}
		w.both(intent.Call{Op: store.OpDelete, Table: "cricket-locks", Key: key}, func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "cricket-locks", Key: key})
			return err
		})
	}
}

func (w *lockWorld) both(call intent.Call, here func(*store.Tx) error) {
	if _, err := w.c.Write(w.t.Context(), call); err != nil {
		w.Fatal(err)
	}
	if err := w.s.Update(w.t.Context(), here); err != nil {
		w.Fatal(err)
	}
}

// Errors that prevent access to a lock say nothing about the lock, and whether to retry.
func TestLocksWithoutTable(t *testing.T) {
	c := local(t)
	locks := c.Locks("cricket-locks")
	if _, _, err := locks.Get(t.Context(), "x"); err == nil {
		t.Error("a lock without a table")
	}
	if _, err := locks.List(t.Context()); err == nil {
		t.Error("locks without a table")
	}
	_, err := locks.Update(t.Context(), lease.Change{Key: "x", Update: "SET a = :a", Condition: "attribute_not_exists(lockKey)",
		Values: attr.Item{":a": attr.S("x")}})
	if _, ok := errors.AsType[*lease.ConditionFailedError](err); ok || err == nil {
		t.Errorf("%v", err)
	}
}
