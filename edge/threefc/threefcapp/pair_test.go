package threefcapp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// pair is two nodes with the rules of 3FC. Tests call the rules directly, as the routes do.
type pair struct {
	*nodes.Pair
	nodes []*peer
	err   error // first failure
}

// peer is one of the nodes.
type peer struct {
	*threefc.Service
	*nodes.Half
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{}
	p.Pair = nodes.NewPair(t, New(), 1, p.must)
	for _, n := range p.Nodes {
		service := &threefc.Service{Handle: threefc.Rows(p.Table), Skew: n.Sync.Skew}
		n.Consumer = func(tx *store.Tx, records []store.Record) error {
			if err := service.ConsumeRecords(tx, records); err != nil {
				return err
			}
			games, err := service.DerivedRule().Units(tx, records)
			for _, game := range games {
				err = errors.Join(err, service.Export(tx, game))
			}
			return err
		}
		p.nodes = append(p.nodes, &peer{service, n})
	}
	return p
}

func (p *pair) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *pair) must(err error) {
	if err != nil {
		p.fail("%w", err)
	}
}

// view runs a read transaction at a node.
func (p *pair) view(n *peer, do func(tx *store.Tx) error) {
	p.must(n.Store.View(context.Background(), do))
}

// ask handles a request at a node, with or without a key. Its journal records are those after first, up to last.
func (p *pair) ask(n *peer, q request) (out idempotency.Outcome, first, last uint64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	p.fetch(ctx, n, q.of...)
	row, ids := p.once(n, q)
	do := func(tx *store.Tx) (err error) {
		if row != nil {
			var seen bool
			if out, seen, err = row.Read(tx); seen || err != nil {
				return err
			}
		}
		seed := ids
		c, err := q.plan(n, tx, &seed)
		if err != nil {
			return err
		}
		out, first = idempotency.Outcome{Status: 200, IDs: c.IDs}, tx.Seq()
		if row != nil {
			err = row.Write(tx, out, c.Writes...)
		} else if len(c.Writes) > 0 {
			err = tx.TransactWrite(store.TransactWrite{Items: c.Writes})
		}
		last = tx.Seq()
		return err
	}
	err = n.Store.Update(context.Background(), do)
	if row != nil && fault.Is(err, fault.Conflict) {
		_ = n.Sync.Ensure(ctx, p.Table, row.Key)
		err = n.Store.Update(context.Background(), do)
	}
	return out, first, last, err
}

// request is a user's request.
type request struct {
	key  string // Idempotency-Key; empty: none
	path string // with the method and the user
	body string
	of   []threefc.Scope
	plan func(n *peer, tx *store.Tx, ids *threefc.IDs) (threefc.Change, error)
}

// fetch fetches the subjects of a route and their parents, as the route does.
func (p *pair) fetch(ctx context.Context, n *peer, of ...threefc.Scope) {
	for _, one := range of {
		_ = n.Sync.Ensure(ctx, p.Table, threefc.Partition(one))
		var above []attr.Item
		p.view(n, func(tx *store.Tx) (err error) {
			above, err = n.ParentsOf(tx, one)
			return err
		})
		_ = n.Sync.Ensure(ctx, p.Table, above...)
	}
}

func (p *pair) once(n *peer, q request) (*idempotency.Row, threefc.IDs) {
	if q.key == "" {
		return nil, threefc.IDs{}
	}
	hash, err := idempotency.Hash(q.path, q.body)
	p.must(err)
	more, err := threefc.OnceMore(q.path, q.key, hash)
	p.must(err)
	row := &idempotency.Row{Table: p.Table, Key: threefc.OnceKey(q.path, q.key), Hash: hash, Node: n.Store.Node(), More: more}
	return row, threefc.IDs{Seed: q.path + "\n" + q.key, Hash: hash}
}

// records returns a node's conflicts, oldest first.
func (p *pair) records(n *peer, state conflict.State) []*conflict.Record {
	all, _, err := n.Sync.Conflicts().List(context.Background(), conflict.Query{State: state, Limit: 10000})
	p.must(err)
	slices.Reverse(all)
	return all
}

// dataOf decodes the data of a row; zero if there is no row.
func dataOf[T any](it attr.Item) (v T) {
	if it != nil {
		_ = json.Unmarshal([]byte(it["data"].Str()), &v)
	}
	return v
}
