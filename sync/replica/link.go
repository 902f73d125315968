package replica

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// faultOf classifies the error of a connect.
func (r *Replica) faultOf(err error) flow.Fault {
	f := flow.Fault{Class: remote.ClassOf(err), Why: "the cloud cannot be reached"}
	if errors.Is(err, remote.ErrStopped) {
		return flow.Fault{Class: intent.Denied, Why: remote.ErrStopped.Error(), Do: identity.RemedyCopies}
	}
	if fault.Is(err, fault.Full) {
		f.Why, f.Do = "the disk is full, and this node cannot record what it is about to send", "make room"
		return f
	}
	switch f.Class {
	case intent.NoTable:
		f.Why, f.Do = "the cloud has no table "+r.cfg.SyncTable, remedyTable
	case intent.Credentials:
		f.Why, f.Do = "the cloud does not accept this node's credentials", "check its keys, profile or role"
	case intent.Denied:
		f.Why, f.Do = "this node lacks permissions in the cloud", remedyPolicy
	}
	return f
}

// Remedies for a missing table and for missing permissions.
const (
	remedyTable  = "touchline migrate --cloud creates it"
	remedyPolicy = "docs/cloud.md has the policy"
)

// linkFailed records a failed connect and logs each reason once until the cloud is reachable.
func (r *Replica) linkFailed(err error) {
	f, text := r.faultOf(err), remote.ErrorText(err)
	if !r.net.RecordRefusal(f, text, r.clock.Now()) || errors.Is(err, remote.ErrStopped) { // the stopping itself was logged
		return
	}
	if f.Stands() {
		r.log.Error("no cloud: "+f.Why, "do", f.Do, "class", f.Class.String(), "error", text)
		return
	}
	r.log.Warn("no cloud: "+f.Why+"; the node keeps trying, and serves what it has", "class", f.Class.String(), "error", text)
}

// lookForCloud finds out with one small request whether the cloud is still there.
func (r *Replica) lookForCloud(ctx context.Context) {
	err := r.identity.ProbeRow(ctx)
	if _, gone := remote.AsUnreached(err); !gone {
		return
	}
	text := remote.ErrorText(err)
	if r.net.RecordLoss(text, r.clock.Now()) {
		r.tellAway(text)
	}
}

// tellAway logs that the cloud went away while in use, and has it looked for.
func (r *Replica) tellAway(text string) {
	r.log.Warn("the cloud cannot be reached", "error", text)
	r.wakeTasks()
}

// lineCloud is the cloud at the end of the line: it records which requests are answered, and how long that takes. One lost answer is a matter
// of whoever sent the request; several in a row mean that the cloud is away.
type lineCloud struct {
	remote.Cloud
	r *Replica
}

// Write implements remote.Cloud.
func (c *lineCloud) Write(ctx context.Context, call intent.Call) (attr.Item, error) {
	began := c.r.clock.Now()
	image, err := c.Cloud.Write(ctx, call)
	c.record(ctx, began, err, true)
	return image, err
}

// Transact implements remote.Cloud.
func (c *lineCloud) Transact(ctx context.Context, calls []intent.Call, token string) error {
	began := c.r.clock.Now()
	err := c.Cloud.Transact(ctx, calls, token)
	c.record(ctx, began, err, true)
	return err
}

// Get implements remote.Cloud.
func (c *lineCloud) Get(ctx context.Context, table string, key attr.Item) (attr.Item, error) {
	began := c.r.clock.Now()
	item, err := c.Cloud.Get(ctx, table, key)
	c.record(ctx, began, err, true)
	return item, err
}

// Read implements remote.Cloud. How long a page takes depends on its size.
func (c *lineCloud) Read(ctx context.Context, r remote.Reading) (remote.Page, error) {
	began := c.r.clock.Now()
	page, err := c.Cloud.Read(ctx, r)
	c.record(ctx, began, err, false)
	return page, err
}

// Table implements remote.Server.
func (c *lineCloud) Table(ctx context.Context, name string) (remote.TableState, error) {
	began := c.r.clock.Now()
	state, err := c.Cloud.Table(ctx, name)
	c.record(ctx, began, err, true)
	return state, err
}

// Transactions implements remote.Server.
func (c *lineCloud) Transactions(ctx context.Context) (bool, error) {
	began := c.r.clock.Now()
	has, err := c.Cloud.Transactions(ctx)
	c.record(ctx, began, err, true)
	return has, err
}

// record tells the link what became of a request. A caller that has given up, and credentials that cannot be had, say nothing about the
// line.
func (c *lineCloud) record(ctx context.Context, began time.Time, err error, measure bool) {
	now := c.r.clock.Now()
	_, gone := remote.AsUnreached(err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
	case gone:
		text := remote.ErrorText(err)
		if c.r.net.RecordNoAnswer(text, began, now) {
			c.r.tellAway(text)
			return
		}
		c.r.wakeTasks() // it may be in doubt
	case remote.ClassOf(err) == intent.Credentials && err != nil:
	case measure:
		c.r.net.RecordAnswer(now.Sub(began), now)
	default:
		c.r.net.RecordAnswer(0, now)
	}
}
