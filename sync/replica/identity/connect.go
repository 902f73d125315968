package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// connectTries bounds how often a connect retries because the row has changed.
const connectTries = 4

// maxReplaced is how often another run may replace this one. Once: a snapshot left behind, or a copy that has just started. Twice:
// both are running.
const maxReplaced = 2

// Connect writes the node's row in the cloud, and detects whether another copy of the node has written it. It runs before the first entry
// of a connection is sent, and is the probe while the cloud cannot be reached: its errors are the cloud's. Only one call runs at
// a time.
func (id *Identity) Connect(ctx context.Context) error {
	if id.Status().Stopped != "" {
		return &intent.Error{Class: intent.Denied, Err: remote.ErrStopped}
	}
	if err := id.beginResumed(ctx); err != nil {
		return err
	}
	row, err := id.getRow(ctx, id.Store.Node())
	if err != nil {
		return err
	}
	for range connectTries {
		again, err := id.present(ctx, row)
		if err != nil {
			return err
		}
		if again == nil {
			return id.ready(ctx)
		}
		row = again.row
	}
	return &intent.Error{Class: intent.Unknown, Err: errors.New("the row of this node is changed concurrently")}
}

// changedRow is the row as shown by a refused write.
type changedRow struct{ row *nodeRow }

// present puts a new nonce into the row, but into the file first: a nonce in the cloud that no file knows was written by another
// copy.
func (id *Identity) present(ctx context.Context, row *nodeRow) (*changedRow, error) {
	id.mu.Lock()
	file, connected, suspect := id.file, id.connected, id.suspect
	id.mu.Unlock()
	v := compareRow(&file, row, id.Store.Incarnation(), id.Store.Seq())
	if v == rowOurs && !connected { // a restored state begins with a new process
		behind, err := id.waitsBehind(ctx, row.settled)
		if err != nil {
			return nil, err
		}
		if behind {
			v = rowOthers
		}
	}
	switch {
	case v == rowOthers:
		if err := id.takeover(ctx, row, connected); err != nil {
			return nil, err
		}
	case suspect:
		if err := id.leaveHistory(ctx, row); err != nil {
			return nil, err
		}
	}
	if err := id.learnLost(ctx, row); err != nil {
		return nil, err
	}
	nonce, err := id.drawNonce(ctx)
	if err != nil {
		return nil, err
	}
	return id.writeRow(ctx, row, nonce, false)
}

// waitsBehind reports whether something waits here that the row reports as settled. Then a later state of this node wrote the row; the
// file knows its nonce only because no connect came between. Two kinds of entries do not count: those sent again to a restored
// cloud, which were settled before, and those from a loss noticed earlier, which are, or will be, looked for.
func (id *Identity) waitsBehind(ctx context.Context, settled uint64) (behind bool, err error) {
	known := uint64(0)
	if lost := id.stateNow().Lost; lost != nil && (!lost.FromRow || !lost.Flagged) {
		known = lost.Below
	}
	err = id.Store.View(ctx, func(tx *store.Tx) error {
		first, err := outbox.FirstWaiting(tx)
		if err != nil || first > settled {
			return err
		}
		return outbox.Each(tx, func(u *outbox.Batch) (bool, error) {
			lead := u.Entries[0]
			behind = lead.KnownBy() <= settled && u.ID.Seq >= known && !lead.Verifying() && !lead.MaybeSentByOtherRun()
			return !behind, nil
		})
	})
	return behind, err
}

// takeover handles a nonce written by another copy of this node.
func (id *Identity) takeover(ctx context.Context, row *nodeRow, connected bool) error {
	if connected {
		id.mu.Lock()
		id.replaced++
		stop := id.replaced >= maxReplaced || row.copies
		id.mu.Unlock()
		if stop {
			return id.stopCopies(ctx, row)
		}
	}
	id.Log.Warn("identity: another copy of this node, or a later state of it, has been running; waiting writes are verified before they are sent",
		"node", id.Store.Node())
	return id.leaveHistory(ctx, row)
}

// leaveHistory begins a new incarnation, as a new run.
func (id *Identity) leaveHistory(ctx context.Context, row *nodeRow) error {
	defer id.lockHistory()()
	above := id.copyFile().Incarnation
	if row != nil {
		above = max(above, row.incarnation)
	}
	if err := id.newIncarnation(ctx, above, row); err != nil {
		return err
	}
	id.Failpoint("identity-new")
	return id.beginBoot(ctx)
}

// stopCopies ends sending, for this copy and, through the row, for the other. A person decides which of them lives.
func (id *Identity) stopCopies(ctx context.Context, row *nodeRow) error {
	id.mu.Lock()
	id.stopped = remote.ErrStopped.Error() + ": " + RemedyCopies
	id.mu.Unlock()
	id.Log.Error("identity: "+remote.ErrStopped.Error()+": "+RemedyCopies,
		"node", id.Store.Node())
	if nonce, err := id.drawNonce(ctx); err == nil {
		_, _ = id.writeRow(ctx, row, nonce, true) // the other finds out by itself too
	}
	return &intent.Error{Class: intent.Denied, Err: remote.ErrStopped}
}

// drawNonce draws a nonce and stores it, first in the store, then in the file. A store whose nonce is one of the file's older ones is
// an older store.
func (id *Identity) drawNonce(ctx context.Context) (string, error) {
	defer id.lockFile()()
	nonce, file := RandomID(id.Rand), id.copyFile()
	err := id.changeState(ctx, func(_ *store.Tx, s *identityState) error {
		s.Nonce, s.Before = nonce, file.newest()
		s.Drawn = append([]string{nonce}, s.Drawn[:min(len(s.Drawn), maxNonces-1)]...)
		return nil
	})
	if err != nil {
		return "", err
	}
	id.Failpoint("identity-nonce")
	file.draw(nonce)
	if err := id.setFile(ctx, file); err != nil {
		return "", err
	}
	id.Failpoint("identity-file")
	return nonce, nil
}

// writeRow replaces this node's row, if it is still the given one (nil: none). If the row has changed, it returns what to look at
// again.
func (id *Identity) writeRow(ctx context.Context, row *nodeRow, nonce string, copies bool) (*changedRow, error) {
	settled, err := outbox.SettledHere(ctx, id.Store)
	if err != nil {
		return nil, err
	}
	if row != nil {
		settled = max(settled, row.settled)
	}
	state := id.stateNow()
	c := intent.Call{
		Op: store.OpUpdate, Table: id.Table, Key: nodeKey(id.Store.Node()),
		Update:    "SET incarnation = :inc, settled = :settled, nonce = :nonce, boots = :boots, parted = :left, twice = :twice, gaps = :gaps, copies = :copies, seen = :now",
		Condition: "attribute_not_exists(nonce)",
		Params: expr.Params{Values: attr.Item{
			":inc": numberValue(id.Store.Incarnation()), ":settled": numberValue(settled), ":nonce": attr.S(nonce),
			":boots": bootList(state.Boots), ":left": leftList(state.Left), ":twice": spanList(state.Lost.numbersTwice(settled)),
			":gaps":   spanList(state.Gaps),
			":copies": attr.Bool(copies), ":now": attr.Int(id.serverNow().UnixMilli()),
		}},
	}
	if row != nil && row.nonce != "" {
		c.Condition = "nonce = :was"
		c.Values[":was"] = attr.S(row.nonce)
	}
	err = id.write(ctx, c)
	var e *intent.Error
	if errors.As(err, &e) && e.Class == intent.ConditionFailed {
		return &changedRow{row: readRow(e.Old)}, nil
	}
	if err != nil {
		return nil, err
	}
	id.mu.Lock()
	id.reported, id.shown = settled, nonce
	id.mu.Unlock()
	return nil, nil
}

// ready completes a connect once the row is written.
func (id *Identity) ready(ctx context.Context) error {
	if err := id.flagLost(ctx); err != nil {
		return err
	}
	if err := id.Ready(ctx); err != nil {
		return err
	}
	id.mu.Lock()
	defer id.mu.Unlock()
	id.connected, id.suspect, id.connectedAt = true, false, id.Clock.Now()
	return nil
}

func nodeKey(node string) attr.Item { return attr.Item{intent.SyncKey: attr.S(intent.NodeID(node))} }

// ProbeRow asks the cloud for the node's row, to find out whether it answers.
func (id *Identity) ProbeRow(ctx context.Context) error {
	_, err := id.getRow(ctx, id.Store.Node())
	return err
}

// getRow reads the row of a node; nil: none.
func (id *Identity) getRow(ctx context.Context, node string) (*nodeRow, error) {
	ctx, cancel := id.withTimeout(ctx)
	defer cancel()
	it, err := id.Cloud.Get(ctx, id.Table, nodeKey(node))
	if err != nil {
		return nil, fmt.Errorf("reading the row of a node: %w", err)
	}
	return readRow(it), nil
}

func (id *Identity) write(ctx context.Context, c intent.Call) error {
	ctx, cancel := id.withTimeout(ctx)
	defer cancel()
	_, err := id.Cloud.Write(ctx, c)
	return err
}

// withTimeout gives a request its deadline.
func (id *Identity) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(id.Deadline, id.Link.ProbeLimit()))
}
