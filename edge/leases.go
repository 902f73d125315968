package edge

import (
	"context"
	"errors"

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/sync/lease"
)

// newLeases makes the manager over the node's own locks table and frees what its earlier runs have left: the file's
// lock proves them dead.
func (n *Node) newLeases(ctx context.Context) (*lease.Manager, error) {
	m, err := lease.New(lease.Config{
		Table: lease.Local(n.store, cricket.TableLocks), Node: n.store.Node(), Boot: ulid.Make().String(),
		Local: true, Logger: n.parts.Log,
	})
	if err != nil {
		return nil, err
	}
	if _, err := m.Recover(ctx); err != nil { // a row that is none of ours: the locks run out by themselves
		n.parts.Log.Warn("the locks of earlier runs could not be freed", "err", err)
	}
	return m, nil
}

// held gives the poller its leases: each is taken once and kept until it is lost.
type held struct {
	manager *lease.Manager
	leases  map[string]*lease.Lease
}

func newHeld(m *lease.Manager) held { return held{m, map[string]*lease.Lease{}} }

// Hold implements poll.Leases.
func (h held) Hold(ctx context.Context, key string) (poll.Lease, error) {
	if l := h.leases[key]; l != nil && l.Check() == nil {
		return l, nil
	}
	delete(h.leases, key)
	l, err := h.manager.Acquire(ctx, key)
	if _, taken := errors.AsType[*lease.HeldError](err); taken {
		return nil, nil //nolint:nilnil // no lease and no error is the answer: another node has it
	}
	if err != nil {
		return nil, err
	}
	h.leases[key] = l
	return l, nil
}
