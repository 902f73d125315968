package simcloud

import (
	"time"

	"github.com/touchline/touchline/sync/replica/intent"
)

// plan draws what happens to a request.
func (l *Link) plan(k kind) plan {
	n := l.net
	l.mu.Lock()
	mode, rate, dead := l.mode, l.rate, l.dead
	wanted, asked := None, false
	if k != kindRead && len(l.next) > 0 {
		wanted, asked = l.next[0], true
		l.next = l.next[1:]
	}
	l.mu.Unlock()
	if dead { // it draws nothing, because when a dead node asks is not deterministic
		return plan{dead: true, up: time.Nanosecond, instead: refuse(intent.Offline, "the process has ended")}
	}
	p := plan{
		up: n.span(time.Millisecond, 15*time.Millisecond), down: n.span(time.Millisecond, 15*time.Millisecond),
		rest: n.span(time.Microsecond, 15*time.Millisecond),
	}
	switch {
	case mode != None && l.lasting(&p, mode):
	case asked:
		l.moment(&p, wanted, k)
	case rate > 0 && n.IntN(1000) < rate:
		l.moment(&p, l.moods[n.IntN(len(l.moods))], k)
	}
	return p
}

// lasting plans the effect of a lasting fault on a request; false: this request passes.
func (l *Link) lasting(p *plan, mode Fault) bool {
	n := l.net
	p.fault = mode
	switch mode {
	case Partition, OneWayOut, HalfOpen:
		p.lost = true
	case OneWayIn:
		p.deaf = true
	case Flapping:
		if time.Now().UnixMilli()/700%2 == 0 {
			p.fault = None
			return false
		}
		p.lost = n.IntN(2) == 0
		p.deaf = !p.lost
	case NoDNS:
		p.instead = refuse(intent.Offline, "no such host")
	case Portal:
		p.instead = refuse(intent.Offline, "an answer that is not DynamoDB's")
		if n.IntN(4) == 0 {
			p.instead = unanswered(lineError("an answer that is not DynamoDB's"))
		}
	case Storm:
		switch n.IntN(8) {
		case 0:
			p.fault = None
			return false
		case 1:
			p.after = refuse(intent.Unknown, "503 Service Unavailable")
		default:
			p.instead = refuse(intent.Unknown, "503 Service Unavailable")
		}
	case NoCredentials:
		p.instead = refuse(intent.Credentials, "ExpiredTokenException")
	case Crawl:
		p.up, p.down = n.span(time.Millisecond, 4*time.Second), n.span(time.Millisecond, 4*time.Second)
	}
	return true
}

// moment plans the effect of a fault on one request. Faults that make no difference to a read are skipped.
func (l *Link) moment(p *plan, f Fault, k kind) {
	n := l.net
	if k == kindCreate && f == LateCopy {
		// A copy that arrives after the item was deleted would create it again, and no condition could prevent that. So a request that
		// creates something is done late only if its answer is missing.
		f = LateLost
	}
	p.fault = f
	if k == kindRead && (f == LateCopy || f == LateLost || f == Duplicate || f == TxnConflict || f == TxnInProgress) ||
		(k == kindWrite || k == kindCreate) && f == TxnInProgress {
		p.fault = None
		return
	}
	switch f {
	case DropRequest:
		p.lost = true
	case DropAnswer:
		p.deaf = true
	case Delay:
		p.up, p.down = n.logSpan(100*time.Millisecond, 40*time.Second), n.logSpan(100*time.Millisecond, 40*time.Second)
	case LateCopy:
		p.late = append(p.late, p.up+p.down+n.logSpan(10*time.Millisecond, n.Signed))
	case LateLost:
		p.lost = true
		p.late = append(p.late, n.logSpan(10*time.Millisecond, n.Signed))
	case Reorder:
		p.up = n.span(50*time.Millisecond, 2*time.Second)
	case Duplicate:
		apart := n.span(time.Microsecond, 20*time.Millisecond)
		p.late, p.down = append(p.late, p.up+apart), p.down+apart // both are done before the answer
	case SlowBody:
		p.down = n.span(5*time.Second, time.Minute)
	case ResetMidBody:
		p.after = &intent.Error{Class: intent.Unknown, Err: errReset}
	case Throttle:
		p.instead = refuse(intent.Throttled, "ProvisionedThroughputExceededException")
	case ErrorApplied:
		p.after = refuse(intent.Unknown, "500 InternalServerError")
	case ErrorDropped:
		p.instead = refuse(intent.Unknown, "500 InternalServerError")
	case TxnConflict:
		p.instead = conflictOf(k)
	case TxnInProgress:
		p.instead = refuse(intent.Unknown, "TransactionInProgressException")
	}
}

// conflictOf returns DynamoDB's error for a conflict with a transaction on the item. For a transaction it is one of the reasons.
func conflictOf(k kind) *intent.Error {
	if k == kindWrite || k == kindCreate {
		return refuse(intent.Throttled, "TransactionConflictException")
	}
	return &intent.Error{Class: intent.Canceled, Err: errBusy}
}
