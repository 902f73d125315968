package replica

import (
	"errors"

	"github.com/touchline/touchline/internal/fault"
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
	if !r.net.Refused(f, text, r.clock.Now()) || errors.Is(err, remote.ErrStopped) { // the stopping itself was logged
		return
	}
	if f.Stands() {
		r.log.Error("no cloud: "+f.Why, "do", f.Do, "class", f.Class.String(), "error", text)
		return
	}
	r.log.Warn("no cloud: "+f.Why+"; the node keeps trying, and serves what it has", "class", f.Class.String(), "error", text)
}

// linkLost records that the cloud went away while in use.
func (r *Replica) linkLost(err error) {
	text := remote.ErrorText(err)
	if r.net.Lost(text, r.clock.Now()) {
		r.log.Warn("the cloud cannot be reached", "error", text)
	}
	r.wakeTasks()
}
