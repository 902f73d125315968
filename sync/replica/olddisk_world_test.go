package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// machine is a node's disk and, while it runs, the process on it with a network line of its own.
type machine struct {
	*feedNode
	line  *line
	times *times
	stop  func()
}

// times are a machine's clocks. Its wall clock can be set, and so looks like that of a machine that was resumed with its memory.
type times struct {
	jumps *clock.Jumps
	set   atomic.Int64
}

// Now implements clock.Times.
func (c *times) Now() clock.Instant {
	now := time.Now()
	passed := now.Sub(time.Unix(0, 0))
	return clock.Instant{Wall: now.Add(time.Duration(c.set.Load())), Mono: passed, Boot: passed}
}

// jump sets the wall clock.
func (c *times) jump(by time.Duration) { c.set.Add(int64(by)) }

// line is a machine's line to the cloud.
type line struct {
	remote.Cloud
	cut atomic.Bool
}

func (l *line) broken() error {
	if l.cut.Load() {
		return &intent.Error{Class: intent.Offline, Err: errors.New("a test: the line is cut")}
	}
	return nil
}

func (l *line) Write(ctx context.Context, call intent.Call) (attr.Item, error) {
	if err := l.broken(); err != nil {
		return nil, err
	}
	return l.Cloud.Write(ctx, call)
}

func (l *line) Transact(ctx context.Context, calls []intent.Call, token string) error {
	if err := l.broken(); err != nil {
		return err
	}
	return l.Cloud.Transact(ctx, calls, token)
}

func (l *line) Get(ctx context.Context, table string, key attr.Item) (attr.Item, error) {
	if err := l.broken(); err != nil {
		return nil, err
	}
	return l.Cloud.Get(ctx, table, key)
}

func (l *line) Read(ctx context.Context, q remote.Reading) (remote.Page, error) {
	if err := l.broken(); err != nil {
		return remote.Page{}, err
	}
	return l.Cloud.Read(ctx, q)
}

func (l *line) Table(ctx context.Context, name string) (remote.TableState, error) {
	if err := l.broken(); err != nil {
		return remote.TableState{}, err
	}
	return l.Cloud.Table(ctx, name)
}

// match is a day on which a machine's disk is copied. Every write of it is acknowledged by some machine and can be told apart in the cloud.
type match struct {
	t        *testing.T
	cloud    *shelf
	machines []*machine
	wrote    []string
	merge    conflict.MergeFunc
	asked    map[string]bool // what a person is asked about
}

// start starts a machine on a disk. Its line is cut if cut is true.
func (m *match) start(dir string, cut bool) *machine {
	m.t.Helper()
	l := &line{Cloud: m.cloud}
	l.cut.Store(cut)
	c := &times{}
	c.jumps = clock.NewJumps(c, slog.New(slog.DiscardHandler))
	n := openNode(m.t, m.cloud, dir, func(cfg *Config) {
		cfg.Cloud, cfg.Jumps = l, c.jumps
		if m.merge != nil {
			cfg.Merge = map[string]conflict.MergeFunc{"teams": m.merge}
		}
	})
	started := &machine{feedNode: n, line: l, times: c}
	ctx, cancel := context.WithCancel(m.t.Context())
	go c.jumps.Run(ctx)
	stop := n.run(m.t)
	started.stop = func() {
		cancel()
		stop()
	}
	m.machines = append(m.machines, started)
	return started
}

// dies ends a machine as a power cut does, and returns what is on its disk.
func (m *match) dies(n *machine) (disk string) {
	m.t.Helper()
	disk = n.disk(m.t) // before the process ends in order
	m.ends(n)
	return disk
}

func (m *match) ends(n *machine) {
	m.t.Helper()
	n.line.cut.Store(true) // what an orderly end still reports is not for this machine's disk
	n.stop()
	n.close(m.t)
}

// settles waits until nothing waits at a machine.
func (m *match) settles(n *machine) {
	m.t.Helper()
	for range 1200 {
		letPass(time.Second)
		if n.waitingNow(m.t) == 0 {
			return
		}
	}
	m.t.Errorf("%d writes still wait", n.waitingNow(m.t))
}

// game is an item that several machines write to.
func game(i int) string { return fmt.Sprintf("game%d", i%3) }

// plays acknowledges writes at a machine: at-bats (created), goals (counted on a game), and a correction (conditional).
func (m *match) plays(n *machine, what string, writes int) {
	m.t.Helper()
	for i := range writes {
		id := fmt.Sprintf("%s_%d", what, i)
		one := attr.Item{":one": attr.Int(1)}
		switch i % 3 {
		case 0:
			n.put(m.t, "teams", attr.Item{"id": attr.S(id), id: attr.Int(1), "n": attr.Int(1)})
		case 1:
			n.update(m.t, "teams", teamKey(game(i)), "SET "+id+" = :one ADD n :one", one)
		case 2:
			n.updateIf(m.t, "teams", teamKey(game(i)), "SET "+id+" = :one ADD n :one", "n >= :one", one)
		}
		m.wrote = append(m.wrote, id)
		letPass(time.Millisecond)
	}
}

// begins is the time before the copy: three games, which the cloud has.
func begins(t *testing.T) (*match, *machine) {
	t.Helper()
	m := &match{t: t, cloud: newShelf(t), asked: map[string]bool{}}
	n := m.start(t.TempDir(), false)
	for i := range 3 {
		n.put(t, "teams", team(game(i), 1))
	}
	letPass(2 * time.Minute)
	return m, n
}

// check requires that the cloud has every write once, or that a person is asked about it.
func (m *match) check() {
	m.t.Helper()
	arrived := map[string]int{}
	effects := map[string]int64{}
	for _, it := range m.cloud.backUp(m.t).teams {
		id := it["id"].Str()
		count, _ := it["n"].Int()
		effects[id] = count
		if strings.HasPrefix(id, "game") {
			effects[id]--
		}
		for name := range it {
			if slices.Contains(m.wrote, name) {
				arrived[name]++
				effects[id]--
			}
		}
	}
	for _, n := range m.machines {
		if !n.closed {
			m.remember(n)
			m.ends(n)
		}
	}
	var missing []string
	for _, id := range m.wrote {
		if arrived[id] == 0 && !m.asked[id] {
			missing = append(missing, id)
		}
	}
	m.t.Logf("%d writes, %d are asked about", len(m.wrote), len(m.asked))
	if len(missing) > 0 {
		m.t.Errorf("%d of %d acknowledged writes neither arrived nor is a person asked: %v", len(missing), len(m.wrote), missing)
	}
	for _, id := range slices.Sorted(maps.Keys(effects)) {
		if effects[id] != 0 {
			m.t.Errorf("%s has counted %d times more than it has writes", id, effects[id])
		}
	}
}

// remember remembers what a person is asked about at a machine.
func (m *match) remember(n *machine) {
	m.t.Helper()
	for _, c := range n.conflicts(m.t) {
		if c.State != conflict.StateOpen {
			m.t.Logf("%v is %s, and nobody is asked", c, c.State)
			continue
		}
		for _, e := range c.Entries() {
			for _, id := range m.wrote {
				if mentions(e, id) {
					m.asked[id] = true
				}
			}
		}
	}
}

// mentions reports whether an entry sets an attribute. One that others were folded into names its attributes anew.
func mentions(e *intent.Entry, attribute string) bool {
	named := slices.Contains(slices.Collect(maps.Values(e.Names)), attribute)
	return named || strings.Contains(e.Update, " "+attribute+" ") || !e.Item[attribute].IsZero()
}

// visits starts a machine on a disk, writes there, and lets it die when everything is sent, or after minutes without the cloud.
func (m *match) visits(dir, what string, cut bool) (disk string) {
	m.t.Helper()
	n := m.start(dir, cut)
	m.plays(n, what, 6)
	letPass(2 * time.Minute)
	if !cut {
		m.settles(n)
		m.remember(n)
	}
	return m.dies(n)
}

// writtenByAnEarlierVersion changes the node's row into what earlier versions wrote: a run is after the beginning of its incarnation, so
// that everything before it seems to be shared.
func (m *match) writtenByAnEarlierVersion() {
	m.t.Helper()
	row := m.cloud.nodeRow(m.t)
	boots := row["boots"].List()
	for i := 1; i < len(boots); i++ {
		id, _, _ := strings.Cut(boots[i].Str(), ":")
		boots[i] = attr.S(fmt.Sprintf("%s:%d", id, uint64(i)<<incarnationShift))
	}
	row["boots"] = attr.L(boots...)
	m.cloud.foreign(m.t, "touchline-sync", nil, row)
}

// copies returns a copy of a disk.
func (m *match) copies(dir string) string {
	m.t.Helper()
	to := m.t.TempDir()
	copyDir(m.t, dir, to)
	return to
}

// restored restores the store on a disk into a directory, as touchline restore does.
func (m *match) restored(from, to string) string {
	m.t.Helper()
	ctx, backup := m.t.Context(), filepath.Join(m.t.TempDir(), "backup.db")
	st, err := store.Open(filepath.Join(from, "node.db"), store.Options{})
	if err == nil {
		_, err = st.Backup(ctx, backup, nil)
		err = errors.Join(err, st.Close())
	}
	path := filepath.Join(to, "node.db")
	if err == nil {
		err = os.RemoveAll(path)
	}
	if err == nil {
		_, err = store.Restore(ctx, backup, path, store.RestoreOptions{})
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return to
}
