package simulation_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/flow"
)

// simNode is a machine: its clocks, its disk, and the process running on it, if any.
type simNode struct {
	s    *sim
	name string
	no   int
	disk string // folder that the next process starts from; empty: a new machine
	runs int
	life *simLife

	mu     sync.Mutex
	fast   time.Duration // what the cloud does not correct of it
	offset time.Duration // how far the wall clock is ahead of true time
	rate   float64       // of all its clocks
	slept  time.Duration // how long the monotonic clock has stood still
	paused time.Time     // the machine is paused until then

	broken  diskFault   // guarded by mu
	damaged atomic.Bool // one of its records cannot be read

	killIn        atomic.Int32           // failpoints until the process dies; 0: it does not die
	killAt        atomic.Pointer[string] // failpoint at which the process dies
	pausesNext    atomic.Bool            // for 25 s when it is about to send
	pausesRenewed atomic.Bool            // for seconds when the cloud has accepted its renewal of a lock
	maxSize       int                    // of its file; 0: simDisk
	snaps         []*snap                // of its disk
	olds          []*snap                // disks that were replaced, with what they had acknowledged
	restored      bool                   // to one of them

	stopped atomic.Pointer[string] // table to which its process reports that it sends nothing

	reads  map[string]uint64   // item: the last effect that an application has seen
	passed map[string]passedAt // table

	begun   map[string]passFrom // table: the present pass; guarded by the book's lock, like resumed
	resumed map[string]passFrom // table: a pass continued by another process, to be judged
}

// simDisk is a machine's disk space: the real one differs from run to run.
const simDisk = 256 << 20

// simLife is one process.
type simLife struct {
	n       *simNode
	dir     string
	store   *store.Store
	rep     *replica.Replica
	link    *simcloud.Link
	leases  *lease.Manager
	jumps   *clock.Jumps
	ctx     context.Context
	cancel  context.CancelCauseFunc
	work    sync.WaitGroup
	ended   chan struct{}
	dead    atomic.Bool  // killed: nothing that it does counts any more
	doomed  atomic.Bool  // it died at a failpoint, and its disk is saved
	readers atomic.Int32 // readers that are meant to be open

	links map[string]string // chain: the last write that others may name

	turnsMu sync.Mutex
	turns   map[*clock.Signal]int   // of loops, in the order in which they first waited
	held    map[string]*lease.Lease // match; guarded by turnsMu
}

func newSimNode(s *sim, name string) *simNode {
	return &simNode{s: s, name: name, rate: 1, reads: map[string]uint64{}, passed: map[string]passedAt{}}
}

var errKilled = errors.New("the process was killed")

// start boots the machine from its disk.
func (n *simNode) start() {
	n.runs++
	n.stopped.Store(nil)
	l := &simLife{n: n, dir: filepath.Join(n.s.dir, fmt.Sprintf("%s.%d", n.name, n.runs)), ended: make(chan struct{})}
	l.turns, l.links, l.held = map[*clock.Signal]int{}, map[string]string{}, map[string]*lease.Lease{}
	err := l.open()
	if l.store != nil && l.store.Err() != nil && !l.dead.Load() {
		l.dies("its store has failed")
	}
	if l.dead.Load() { // at a failpoint during the start
		close(l.ended)
		return
	}
	if err != nil {
		n.s.violate("%s does not start: %v", n.name, err)
		return
	}
	n.life = l
	n.s.trace("%s starts, run %d, incarnation %d, seq %d", n.name, n.runs, l.store.Incarnation(), l.store.Seq())
	l.run()
	synctest.Wait() // until everything waits for something
}

func (l *simLife) open() (err error) {
	n := l.n
	if n.disk != "" {
		err = copyDir(n.disk, l.dir)
	} else {
		err = os.MkdirAll(l.dir, 0o700)
	}
	if err != nil {
		return err
	}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	l.link = n.s.net.Link(n.name, n.now, n.gate)
	l.link.SetBoot(func() time.Duration { return n.Now().Boot })
	l.store, err = store.Open(filepath.Join(l.dir, "store.db"), store.Options{
		Now: l.writes, Node: n.name, NoSync: true, MapSize: 64 << 20, MaxSize: cmp.Or(n.maxSize, simDisk), WriteStall: time.Hour,
		ReadDeadline: time.Hour, JournalBytes: 1 << 20,
	})
	if err != nil {
		return err
	}
	if err := l.store.Define(l.ctx, simSpecs()...); err != nil {
		return err
	}
	seed := rand.NewPCG(n.s.seed, uint64(n.runs)<<8|uint64(n.name[len(n.name)-1]))
	g := rand.New(seed)
	var mu sync.Mutex
	draw := func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return g.Uint64()
	}
	transactions := (*bool)(nil)
	l.jumps = clock.NewJumps(n, n.s.log(l))
	l.jumps.Subscribe(func(j clock.Jump) {
		if j.Set != 0 {
			n.s.net.Count("as if resumed with its memory")
		}
	})
	l.rep, err = replica.New(replica.Config{
		Store: l.store, Cloud: l.link, Dir: l.dir, Clock: simClock{l}, Jumps: l.jumps, Rand: draw, SyncTable: simSync, LockTable: simLocks,
		Poll: simPolls(), Transactions: transactions, Failpoint: l.failpoint, Log: n.s.log(l),
		Workers: 4, Budget: n.s.budget(), Limits: n.s.limits(),
	})
	if err != nil {
		return err
	}
	l.leases, err = lease.New(lease.Config{
		Table: l.link.Locks(simLocks), Node: n.name, Boot: fmt.Sprintf("b%d", n.runs), Times: n, Fit: l.rep.Usable,
		Fences: lease.FencesIn(l.store, simLocks),
		Skew:   func() time.Duration { return time.Now().Truncate(time.Second).Sub(n.now()) }, // as of the read before each change
		RVN:    func() string { return fmt.Sprintf("%016x", draw()) },
	})
	if err != nil {
		return err
	}
	return l.rep.Open(l.ctx)
}

// budget of some seeds is small, so that its limits are reached. Not if the cloud is restored: a full budget drops the replay log first,
// and with it what could be sent again.
func (s *sim) budget() (b flow.Budget) {
	if s.seed%8 != 4 && picked(s.seed, "little room", 5) {
		b.Entries = 80
	}
	return b
}

func simPolls() []feed.Rule {
	var out []feed.Rule
	for i, spec := range simSpecs() {
		if spec.Policy != store.PolicyLocal {
			out = append(out, feed.Rule{Table: spec.Name, Every: time.Duration(9+2*i) * time.Second})
		}
	}
	return out
}

func (l *simLife) run() {
	l.work.Go(func() {
		if err := l.rep.Run(l.ctx); !errors.Is(err, errKilled) && !l.dead.Load() && l.ctx.Err() == nil && l.store.Err() == nil {
			l.n.s.violate("%s: Run ended with %v", l.n.name, err)
		}
	})
	loops := []func(){func() { l.jumps.Run(l.ctx) }, func() { _ = l.leases.Run(l.ctx) }, l.housekeep, l.guard}
	for match := range simMatches {
		loops = append(loops, func() { l.follow(fmt.Sprintf("m%d", match)) })
	}
	for _, loop := range loops {
		synctest.Wait() // until the previous one waits for something
		l.work.Go(loop)
	}
	go func() {
		l.work.Wait()
		close(l.ended)
	}()
}

// housekeep is the background work that every node runs on its store.
func (l *simLife) housekeep() {
	for l.sleep(20*time.Second) == nil {
		for {
			more, err := l.store.Housekeep(l.ctx)
			if err != nil || !more {
				break
			}
		}
	}
}

func (l *simLife) sleep(d time.Duration) error {
	if l.ctx.Err() != nil { // it draws nothing any more
		return context.Cause(l.ctx)
	}
	return clock.Sleep(l.ctx, simClock{l}, d+time.Duration(l.n.s.n(int(d/4)+1)))
}

// failpoint is called between steps that a crash may separate.
func (l *simLife) failpoint(point string) {
	n := l.n
	if l.dead.Load() {
		return
	}
	at := n.killAt.Load()
	chosen := at != nil && *at == point && n.killAt.CompareAndSwap(at, nil)
	if !chosen && (n.killIn.Load() == 0 || n.killIn.Add(-1) > 0) {
		return
	}
	n.s.net.Count("kill at " + point)
	l.dies(point)
}

// dies ends the process at once, with the disk as it is.
func (l *simLife) dies(of string) {
	l.n.s.trace("%s dies at %s", l.n.name, of)
	l.keepDisk()
	l.doomed.Store(true)
	l.end()
}

// keepDisk saves the disk as it is, for the next process.
func (l *simLife) keepDisk() {
	n := l.n
	dir := filepath.Join(n.s.dir, fmt.Sprintf("%s.%d.disk", n.name, n.runs))
	if err := copyDir(l.dir, dir); err != nil {
		n.s.violate("%v", err)
	}
	n.disk = dir
}

// end ends the process from outside: its context is over and its link dead, and its file is not used again.
func (l *simLife) end() {
	l.dead.Store(true)
	l.link.Kill()
	l.cancel(errKilled)
	l.n.s.zoo.Go(func() {
		<-l.ended
		_ = l.store.Close()
		_ = os.RemoveAll(l.dir)
	})
}

// kill ends the machine's process as SIGKILL would.
func (n *simNode) kill() {
	l := n.life
	if l == nil {
		return
	}
	n.life = nil
	if l.doomed.Load() {
		return
	}
	n.s.trace("%s is killed", n.name)
	l.keepDisk()
	l.end()
	synctest.Wait()
}

// up returns the running process; nil: none.
func (n *simNode) up() *simLife {
	if n.life != nil && n.life.dead.Load() {
		n.life = nil
	}
	return n.life
}

// view reads one item as applications see it.
func (l *simLife) view(table string, key attr.Item) (it attr.Item) {
	err := l.store.View(context.Background(), func(tx *store.Tx) (err error) {
		it, err = tx.Get(table, key)
		return err
	})
	if err != nil && !l.dead.Load() {
		l.n.s.violate("%s cannot read %s %s: %v", l.n.name, table, keyText(key), err)
	}
	return it
}
