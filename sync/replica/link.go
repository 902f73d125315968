package replica

import (
	"errors"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/sync/replica/intent"
)

// linkFault is why there is no way to the cloud, for people.
type linkFault struct {
	class intent.Class
	why   string // a part of a sentence
	do    string // the same: what a person does about it; empty: nothing, it is tried again
}

// stands reports whether a person has to act before the way is there again.
func (f *linkFault) stands() bool { return f.do != "" }

// faultOf sorts the error of a connect.
func (r *Replica) faultOf(err error) linkFault {
	f := linkFault{class: classOf(err), why: "the cloud cannot be reached"}
	if errors.Is(err, ErrStopped) {
		return linkFault{class: intent.Denied, why: ErrStopped.Error(), do: remedyCopies}
	}
	if fault.Is(err, fault.Full) {
		f.why, f.do = "the disk is full, and this node cannot record what it is about to send", "make room"
		return f
	}
	switch f.class {
	case intent.NoTable:
		f.why, f.do = "the cloud has no table "+r.cfg.SyncTable, remedyTable
	case intent.Credentials:
		f.why, f.do = "the cloud does not accept this node's credentials", "check its keys, profile or role"
	case intent.Denied:
		f.why, f.do = "this node lacks permissions in the cloud", remedyPolicy
	}
	return f
}

// What a person does where the cloud has no table, or does not let the node use it.
const (
	remedyTable  = "touchline migrate --cloud creates it"
	remedyPolicy = "docs/cloud.md has the policy"
)

// errorText is an error of the cloud without what is said of it anyway: its class once, and what was asked. Errors that
// others have wrapped, of which each tells its class, are said by the innermost.
func errorText(err error) string {
	if errors.Is(err, ErrStopped) {
		return ErrStopped.Error()
	}
	var last *intent.Error
	for at := err; at != nil; {
		e, ok := errors.AsType[*intent.Error](at)
		if !ok || e == nil {
			break
		}
		last, at = e, e.Err
	}
	if last == nil {
		return err.Error()
	}
	return shortened(last.Error())
}

// shortened keeps a line of a text, and of that what a person reads.
func shortened(text string) string {
	const most = 400 // room for an ARN: which table it is stands at its end
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// linkFailed notes that a connect did not succeed, and says so once for each reason until the cloud is there.
func (r *Replica) linkFailed(err error) {
	f, text := r.faultOf(err), errorText(err)
	if !r.net.refused(f, text, r.clock.Now()) || errors.Is(err, ErrStopped) { // who stops has said more
		return
	}
	if f.stands() {
		r.log.Error("no cloud: "+f.why, "do", f.do, "class", f.class.String(), "error", text)
		return
	}
	r.log.Warn("no cloud: "+f.why+"; the node keeps trying, and serves what it has", "class", f.class.String(), "error", text)
}

// linkLost notes that the cloud has gone away while it was in use.
func (r *Replica) linkLost(err error) {
	text := errorText(err)
	if r.net.lost(text, r.clock.Now()) {
		r.log.Warn("the cloud cannot be reached", "error", text)
	}
	r.errands.get().Set()
}
