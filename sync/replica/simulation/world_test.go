package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// sim is one seed: nodes, a cloud, foreign writers and the network between them, under virtual time. It decides everything random by one
// generator, and every wake-up has an instant of its own, so that a seed is one history.
type sim struct {
	testing.TB
	seed  uint64
	plain bool // the cloud has no transactions, or had none at first
	dir   string
	cloud *simcloud.Cloud
	net   *simcloud.Network
	timer *simcloud.Timer
	nodes []*simNode
	book  *book
	zoo   sync.WaitGroup // goroutines left by killed processes

	*dice       // of everything random
	luck  *dice // of the rare faults: those that a seed does not have draw nothing from it

	mu     sync.Mutex
	began  time.Time
	hash   uint64
	events int
	lines  []line
	failed []string
	ids    int
	healed bool
	hot    int  // the item that everybody writes at the moment, from 1; 0: none
	gained bool // the cloud has gained transactions

	writer   atomic.Pointer[simLife] // the last process whose store began a transaction
	lastBall int64                   // of the source, which ends with the trouble
	idle     atomic.Bool             // applications stop writing
}

func newSim(t testing.TB, seed uint64) *sim {
	s := &sim{TB: t, seed: seed, plain: seed%10 == 9, timer: simcloud.NewTimer(), began: time.Now()}
	s.dice, s.luck = newDice(seed, 0x73696d), newDice(seed, 0x72617265)
	s.dir = filepath.Join(simRoot(t), fmt.Sprintf("seed%d", seed))
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.book = newBook(s)
	s.cloud = simcloud.New(simcloud.Options{OnEffect: s.book.effect, NoTransactions: s.plain, MaxItem: simMaxItem})
	s.cloud.Create(cloudSpecs()...)
	s.net = simcloud.NewNetwork(s.cloud, s.timer, seed)
	if !usual(seed) {
		s.net.Signed = s.limits().Signed * 14 / 15
	}
	s.net.Trace = s.trace
	s.net.OnHang = func(node string) { s.violate("%s waits for an answer without a deadline", node) }
	s.net.OnSent, s.net.OnUnsent = s.sends, s.book.comesBack
	s.net.OnCondition, s.net.OnRead = s.book.refusedLock, s.reads
	s.net.OnRefusal = func(node string, err error) {
		if e, ok := errors.AsType[*intent.Error](err); ok && e.Class == intent.ConditionFailed {
			s.detail("%s gets: %v %s", node, err, image(e.Old))
			return
		}
		s.detail("%s gets: %.400s", node, err.Error())
	}
	return s
}

// simRoot is a directory in memory, if there is one.
func simRoot(t testing.TB) string {
	if dir, err := os.MkdirTemp("/dev/shm", "touchline-sim"); err == nil { //nolint:usetesting // t.TempDir is on a disk
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

func (s *sim) sleep(d time.Duration) { _ = s.timer.Sleep(context.Background(), d) }

// id returns a value that nobody else ever writes.
func (s *sim) id(who string) string {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	s.ids++
	id := fmt.Sprintf("%s.%d", who, s.ids)
	s.book.issued[id] = true
	return id
}

// trace notes an event. The hash over all of them is the history of the seed.
func (s *sim) trace(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := line{at: time.Since(s.began), format: "%s", args: []any{fmt.Sprintf(format, args...)}}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %d %s", s.hash, l.at, l.args[0])
	s.hash = h.Sum64()
	s.events++
	s.lines = append(s.lines, l)
}

// detail adds to the trace what is not an event.
func (s *sim) detail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line{at: time.Since(s.began), format: "    " + format, args: args})
}

// line is a line of the trace. It is formatted only when it is read, since most seeds succeed.
type line struct {
	at     time.Duration
	format string
	args   []any
}

func (l line) String() string {
	return fmt.Sprintf("%12.6f ", l.at.Seconds()) + fmt.Sprintf(l.format, l.args...)
}

// image defers the formatting of an item until it is read.
type image attr.Item

func (i image) String() string { return tell(attr.Item(i)) }

// violate reports a broken invariant. The first one ends the run.
func (s *sim) violate(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.trace("VIOLATED: %s", text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) < 8 {
		s.failed = append(s.failed, text)
	}
}

func (s *sim) broken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.failed) > 0
}

func (s *sim) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events
}

func keySpec(partition, sort string) store.KeySpec {
	k := store.KeySpec{Partition: store.KeyAttr{Name: partition, Type: store.KeyString}}
	if sort != "" {
		k.Sort = store.KeyAttr{Name: sort, Type: store.KeyString}
	}
	return k
}

// simSpecs are the tables of the applications.
func simSpecs() []store.TableSpec {
	return []store.TableSpec{
		{Name: "items", Key: keySpec("pk", ""), Policy: store.PolicyIntent, Why: "shared by everybody"},
		{Name: "counters", Key: keySpec("pk", ""), Policy: store.PolicyIntent, Why: "sums"},
		{Name: "firsts", Key: keySpec("pk", "sk"), Policy: store.PolicyIntent, Why: "one winner"},
		{Name: "pairs", Key: keySpec("pk", ""), Policy: store.PolicyIntent, Why: "transactions"},
		{Name: "rows", Key: keySpec("pk", ""), TTL: "ttl", Policy: store.PolicyIntent, Why: "they expire"},
		{Name: "settings", Key: keySpec("pk", ""), Policy: store.PolicyNewest, Why: "the newest wins"},
		{Name: "matches", Key: keySpec("pk", ""), Policy: store.PolicyState, Lock: "match:{pk}", Why: "state"},
		{Name: "events", Key: keySpec("pk", "sk"), Policy: store.PolicyIntent, Lock: "match:{pk}", Why: "events"},
		{Name: "links", Key: keySpec("pk", "sk"), Policy: store.PolicyIntent, Why: "writes that name another"},
		{Name: "notes", Key: keySpec("pk", ""), Policy: store.PolicyLocal, Why: "never leaves"},
	}
}

const (
	simLocks = "locks"
	simSync  = "touchline-sync"

	simMaxItem = 4 << 10 // of this cloud, so that an item too large for it need not be large
)

// cloudSpecs are the tables as in the cloud: with one index that the nodes do not know, whose key can be poison.
func cloudSpecs() []store.TableSpec {
	specs := simSpecs()
	specs[0].Indexes = []store.IndexSpec{{Name: "by-g", Key: keySpec("g", "")}}
	specs = specs[:len(specs)-1]
	return append(specs,
		store.TableSpec{Name: simLocks, Key: keySpec("lockKey", ""), Policy: store.PolicyLock, Why: "leases"},
		store.TableSpec{Name: simSync, Key: keySpec(intent.SyncKey, ""), TTL: intent.SyncTTL, Policy: store.PolicyLocal, Why: "ours"})
}

func pk(key string) attr.Item { return attr.Item{"pk": attr.S(key)} }

// keyText formats a key for people.
func keyText(key attr.Item) string {
	var parts []string
	for _, name := range []string{"pk", "sk", "lockKey", intent.SyncKey} {
		if v := key[name].Str(); v != "" {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, "/")
}

// copyDir copies the files of a machine.
func copyDir(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := copyFile(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
