package node

import (
	"context"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
)

// locks are the leases of this node in one table. Applications without a table of their own share one.
type locks struct {
	table   string
	shared  []app.Cloud // of the applications with locks in it
	manager *lease.Manager
	pool    *lease.Pool
}

// computeShared returns what each application shares.
func computeShared(apps []*app.App) (shared []app.Cloud) {
	for _, a := range apps {
		c := a.Cloud()
		if c.Locks == "" {
			c.Locks = app.LocksTable
		}
		shared = append(shared, c)
	}
	return shared
}

// locksOf returns the locks of an application.
func (n *Node) locksOf(c app.Cloud) *locks {
	i := slices.IndexFunc(n.locks, func(l *locks) bool { return l.table == c.Locks })
	return n.locks[i]
}

// openLocks creates the managers of the locks that a cloud's nodes share. Without a cloud the locks are in the node's own store, and
// those left by earlier runs are freed: the lock on the database file proves that those runs have ended.
func (n *Node) openLocks(ctx context.Context) error {
	boot := ulid.Make().String()
	for _, c := range n.shared {
		if i := slices.IndexFunc(n.locks, func(l *locks) bool { return l.table == c.Locks }); i >= 0 {
			n.locks[i].shared = append(n.locks[i].shared, c)
			continue
		}
		l := &locks{table: c.Locks, shared: []app.Cloud{c}}
		if err := n.openManager(ctx, l, boot); err != nil {
			return err
		}
		l.pool = lease.NewPool(l.manager)
		n.locks = append(n.locks, l)
	}
	return nil
}

func (n *Node) openManager(ctx context.Context, l *locks, boot string) (err error) {
	c := lease.Config{Node: n.store.Node(), Boot: boot, Logger: n.parts.Log, Fences: lease.FencesIn(n.store, l.table)}
	if cloud := n.parts.Cloud; cloud != nil {
		c.Table, c.TTL, c.Skew = cloud.Locks(l.table), cloud.Config.LeaseTTL, cloud.Items.Skew
		c.Took = func(ctx context.Context, lock string, fence int64) error {
			return n.prepareUnderLock(ctx, l, lock, fence)
		}
		c.Fit = n.sync.Usable
		l.manager, err = lease.New(c)
		return err
	}
	c.Table, c.Local = lease.Local(n.store, l.table), true
	if l.manager, err = lease.New(c); err != nil {
		return err
	}
	if _, err := l.manager.Recover(ctx); err != nil { // a foreign row; the locks expire by themselves
		n.parts.Log.Warn("cannot free the locks of earlier runs", "err", err)
	}
	return nil
}

// heldLeases returns the leases that this node holds.
func (n *Node) heldLeases() (all []lease.Status) {
	for _, l := range n.locks {
		all = append(all, l.manager.HeldLeases()...)
	}
	return all
}

// fallenLocks returns the locks tables that went back to an earlier state.
func (n *Node) fallenLocks() (all []operator.FallenLocks) {
	for _, l := range n.locks {
		if fallen := l.manager.FallenLocks(); len(fallen) > 0 {
			all = append(all, operator.FallenLocks{Table: l.table, Locks: fallen})
		}
	}
	return all
}

// falls returns how often a record of any locks table has gone back since the start.
func (n *Node) falls() (all int64) {
	for _, l := range n.locks {
		all += l.manager.Falls()
	}
	return all
}

// prepareUnderLock prepares the node for work under a lock: it reads the rows that the applications need (app.Cloud.Before).
func (n *Node) prepareUnderLock(ctx context.Context, l *locks, lock string, fence int64) error {
	var before []replica.Rows
	for _, c := range l.shared {
		if c.Before != nil {
			before = append(before, c.Before(lock)...)
		}
	}
	if len(before) == 0 {
		return nil // the lock guards no rows
	}
	if err := n.sync.AwaitCloud(ctx); err != nil {
		return err
	}
	return n.sync.TookLease(ctx, lock, fence, before)
}

// locksTable returns the table of the locks whose fences are stored in rows; empty: none.
func (n *Node) locksTable() string {
	for _, c := range n.shared {
		if c.Locks != app.LocksTable {
			return c.Locks
		}
	}
	return ""
}

// fencedOff raises the fence of a lock that this node holds above the one with which the cloud refused a write. The application writes
// the rows again at its next turn.
func (n *Node) fencedOff(ctx context.Context, lock string, fence int64) (raised int64, err error) {
	for _, l := range n.locks {
		if l.table == n.locksTable() {
			return l.manager.Raise(ctx, lock, fence)
		}
	}
	return 0, nil
}
