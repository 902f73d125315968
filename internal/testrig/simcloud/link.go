package simcloud

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// SignedFor is how long a signed request can still arrive, a little less than the protocol assumes.
const SignedFor = 14 * time.Minute

// Network is the state shared by the links of a simulation.
type Network struct {
	Cloud *Cloud
	Timer *Timer
	Trace func(format string, args ...any) // called for every request; may be nil

	// Events; each may be nil.
	OnRefusal   func(node string, err error)                           // a request failed, as its node sees it
	OnSent      func(mark string, c *intent.Call)                      // a write leaves a node
	OnUnsent    func(mark string, c *intent.Call)                      // such a write never reached the cloud, and its node knows that
	OnHang      func(node string)                                      // a request without a deadline gets no answer
	OnCondition func(c *intent.Call, there attr.Item)                  // the condition of a single write failed, and its node knows that
	OnRead      func(node string, r remote.Reading, page *remote.Page) // a node requests a page (nil), and gets its answer

	Signed time.Duration // how long a signed request can arrive

	mu    sync.Mutex
	rand  *rand.Rand
	fired map[string]int
}

// NewNetwork returns a network whose faults are decided by the seed.
func NewNetwork(c *Cloud, t *Timer, seed uint64) *Network {
	return &Network{Cloud: c, Timer: t, rand: rand.New(rand.NewPCG(seed, 0x6e6574)), fired: map[string]int{}, Signed: SignedFor}
}

// Fired returns how often each fault has occurred.
func (n *Network) Fired() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.fired)
}

// Count counts a fault caused by somebody else.
func (n *Network) Count(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fired[what]++
}

// IntN draws a number below k.
func (n *Network) IntN(k int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.rand.IntN(k)
}

func (n *Network) span(from, to time.Duration) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return from + time.Duration(n.rand.Int64N(int64(to-from)))
}

// logSpan draws a span of any order of magnitude between the two.
func (n *Network) logSpan(from, to time.Duration) time.Duration {
	for to > 4*from && n.IntN(3) > 0 {
		to /= 4
	}
	return n.span(from, to)
}

// Link is one node's connection to the cloud. It implements remote.Cloud; Locks returns a lease.Table.
type Link struct {
	net  *Network
	node string
	now  func() time.Time     // the node's wall clock
	boot func() time.Duration // a clock of its machine that nobody sets
	gate func()               // waits while the node is paused

	mu    sync.Mutex
	rate  int // requests per 1000 that meet a fault
	moods []Fault
	mode  Fault
	next  []Fault // for the next writes, as set by a test
	dead  bool
	ahead time.Duration // the server's time, from 1970, less the boot clock, by the last answer
	shown bool          // an answer has shown the server's time

	denied map[string]bool // tables that the node has no access to
	unread map[string]bool // tables whose items the node may not read
}

// Link returns a node's link. now is its wall clock, and the cloud's clock passes for the clock of its machine; gate may be nil.
func (n *Network) Link(node string, now func() time.Time, gate func()) *Link {
	if gate == nil {
		gate = func() {}
	}
	boot := func() time.Duration { return time.Duration(n.Cloud.options.Now().UnixNano()) }
	return &Link{net: n, node: node, now: now, boot: boot, gate: gate, moods: Moments()}
}

// SetBoot sets the clock of the node's machine that nobody sets.
func (l *Link) SetBoot(boot func() time.Duration) { l.boot = boot }

// SetRate sets how many of 1000 requests meet a fault of their own.
func (l *Link) SetRate(perMille int) { l.locked(func() { l.rate = perMille }) }

// SetMode starts a lasting fault, or ends it with None.
func (l *Link) SetMode(f Fault) { l.locked(func() { l.mode = f }) }

// Next makes the next writing requests meet the given faults, in order; None means no fault.
func (l *Link) Next(faults ...Fault) { l.locked(func() { l.next = append(l.next, faults...) }) }

// Kill ends the link: requests in progress may still arrive, but no others.
func (l *Link) Kill() { l.locked(func() { l.dead = true }) }

// Heal ends all faults.
func (l *Link) Heal() {
	l.locked(func() { l.rate, l.mode, l.next, l.denied, l.unread = 0, None, nil, nil, nil })
}

func (l *Link) locked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Write implements remote.Cloud.
func (l *Link) Write(ctx context.Context, call intent.Call) (attr.Item, error) {
	l.sends(&call)
	k := kindWrite
	if makes(&call) {
		k = kindCreate
	}
	got, err := exchange(ctx, l, k, allowed(l.may, call.Table, func() (attr.Item, error) { return l.net.Cloud.Write(l.node, call) }))
	l.refused(err, &call)
	l.comeBack(err, &call)
	return got, err
}

// Transact implements remote.Cloud.
func (l *Link) Transact(ctx context.Context, calls []intent.Call, token string) error {
	for i := range calls {
		l.sends(&calls[i])
	}
	_, err := exchange(ctx, l, kindTransact, func() (struct{}, error) {
		for i := range calls {
			if err := l.may(calls[i].Table); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, l.net.Cloud.Transact(l.node, calls, token)
	})
	for i := range calls {
		l.comeBack(err, &calls[i])
	}
	if e, ok := errors.AsType[*intent.Error](err); ok && e.Err == errBusy { //nolint:errorlint // it is that very error
		return &intent.Error{Class: e.Class, Err: e.Err, Reasons: l.busyOne(len(calls))}
	}
	return err
}

func (l *Link) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

func (l *Link) sends(call *intent.Call) {
	if l.net.OnSent != nil && !l.isDead() {
		l.net.OnSent(markOf(call), call)
	}
}

// refused reports a write whose condition did not hold.
func (l *Link) refused(err error, call *intent.Call) {
	e, ok := errors.AsType[*intent.Error](err)
	if ok && e.Class == intent.ConditionFailed && l.net.OnCondition != nil && !l.isDead() {
		l.net.OnCondition(call, e.Old)
	}
}

// comeBack reports a write that never reached the cloud, if the answer says so.
func (l *Link) comeBack(err error, call *intent.Call) {
	e, ok := errors.AsType[*intent.Error](err)
	if ok && (e.Class == intent.Offline || e.Class == intent.Credentials) && l.net.OnUnsent != nil && !l.isDead() {
		l.net.OnUnsent(markOf(call), call)
	}
}

// busyOne returns the reasons of a transaction in which one item was busy.
func (l *Link) busyOne(n int) []intent.Reason {
	reasons := make([]intent.Reason, n)
	for i := range reasons {
		reasons[i].Class = intent.Applied
	}
	reasons[l.net.IntN(n)] = intent.Reason{Class: intent.Throttled, Message: "TransactionConflict"}
	return reasons
}

// Get implements remote.Cloud.
func (l *Link) Get(ctx context.Context, table string, key attr.Item) (attr.Item, error) {
	return exchange(ctx, l, kindRead, allowed(l.mayRead, table, func() (attr.Item, error) { return l.net.Cloud.Get(table, key) }))
}

// Read implements remote.Cloud.
func (l *Link) Read(ctx context.Context, r remote.Reading) (remote.Page, error) {
	l.reads(r, nil)
	page, err := exchange(ctx, l, kindRead, allowed(l.mayRead, r.Table, func() (remote.Page, error) { return l.net.Cloud.Read(r) }))
	if err == nil {
		l.reads(r, &page)
	}
	return page, err
}

func (l *Link) reads(r remote.Reading, page *remote.Page) {
	if l.net.OnRead != nil && !l.isDead() {
		l.net.OnRead(l.node, r, page)
	}
}

type kind uint8

const (
	kindRead kind = iota
	kindWrite
	kindCreate // a write that can create an item
	kindTransact
)

// makes reports whether a write can create an item: then only the existence of the item prevents a copy from taking effect.
func makes(call *intent.Call) bool {
	return call.Op != store.OpDelete && strings.Contains(call.Condition, "attribute_not_exists(#p)")
}

// plan says what will happen to a request.
type plan struct {
	fault    Fault
	dead     bool            // the node has ended
	up, down time.Duration   // the latency in each direction
	rest     time.Duration   // until it arrives, if the node has given up before
	lost     bool            // the request never arrives
	deaf     bool            // the answer never arrives
	late     []time.Duration // delays after which copies arrive
	instead  *intent.Error   // the answer given without asking the cloud
	after    *intent.Error   // the answer given although the request was done
}

var errBusy = errors.New("TransactionCanceledException")

// lineError is an error of the network, and not of the cloud.
type lineError string

const (
	errTimeout lineError = "no answer within the deadline"
	errReset   lineError = "unexpected EOF"
)

// Error implements error.
func (e lineError) Error() string { return string(e) }

// Offline says that the way to the cloud may be gone, as a client of DynamoDB does.
func (lineError) Offline() bool { return true }

// exchange sends a request and waits for its answer, according to the plan for it.
func exchange[T any](ctx context.Context, l *Link, k kind, do func() (T, error)) (got T, err error) {
	var zero T
	l.gate()
	p := l.plan(k)
	if p.dead {
		return zero, p.instead
	}
	if l.net.OnRefusal != nil {
		defer func() {
			if err != nil && !l.isDead() {
				l.net.OnRefusal(l.node, err)
			}
		}()
	}
	if p.fault != None {
		l.net.Count(p.fault.String())
	}
	l.trace(k, &p)
	var refused atomic.Bool
	arrive := func() {
		if !refused.Load() {
			_, _ = do()
		}
	}
	for _, d := range p.late {
		l.net.Timer.After(d, arrive)
	}
	if p.instead != nil {
		if err := l.wait(ctx, p.up); err != nil {
			return zero, unanswered(err)
		}
		return zero, p.instead
	}
	if p.lost {
		return zero, l.silence(ctx)
	}
	if err := l.net.Timer.Sleep(ctx, p.up); err != nil {
		l.net.Timer.After(p.rest, arrive) // it had been sent
		return zero, unanswered(err)
	}
	got, err = do()
	// There is no copy of a request whose refusal was answered: over TLS the answer ends the request.
	refused.Store(err != nil)
	switch {
	case p.deaf:
		return zero, l.silence(ctx)
	case l.wait(ctx, p.down) != nil:
		return zero, unanswered(errTimeout)
	case p.after != nil:
		return zero, p.after
	}
	l.answered()
	return got, err
}

// unanswered returns the error of a request that was sent and not answered. A request whose caller has given up says nothing about the line.
func unanswered(err error) *intent.Error {
	if errors.Is(err, context.DeadlineExceeded) {
		err = errTimeout
	}
	return &intent.Error{Class: intent.Unknown, Err: err}
}

// wait lets time pass for the request, and for its node while that is paused.
func (l *Link) wait(ctx context.Context, d time.Duration) error {
	err := l.net.Timer.Sleep(ctx, d)
	began := time.Now()
	l.gate()
	if paused := time.Since(began) > 0; err == nil && !(paused && l.net.IntN(2) == 0) {
		err = ctx.Err() // a resumed node has both a passed deadline and an answer: it takes either
	}
	return err
}

// silence waits for an answer that never comes: without a deadline, as long as TCP would.
func (l *Link) silence(ctx context.Context) error {
	if _, ends := ctx.Deadline(); !ends && l.net.OnHang != nil && !l.isDead() {
		l.net.OnHang(l.node)
	}
	_ = l.wait(ctx, 15*time.Minute)
	return unanswered(errTimeout)
}

func (l *Link) trace(k kind, p *plan) {
	if l.net.Trace != nil {
		l.net.Trace("%s -> cloud %s %s", l.node, [...]string{"read", "write", "write", "transact"}[k], p.fault)
	}
}
