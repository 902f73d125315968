package crash_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// The work of the crash tests. Each of several writers has its own items and does one transaction after the other. The nth transaction of
// a writer is computed from a seed, so the number of its transactions determines what must be in the store.

// sessions are items that are expired when they are put, so they may be swept at any moment.
func sessions() store.TableSpec {
	return store.TableSpec{Name: "sessions", Key: store.KeySpec{Partition: storetest.Str("session")}, TTL: "ttl"}
}

func crashTables() []store.TableSpec {
	return []store.TableSpec{storetest.Balls(), storetest.Matches(), sessions()}
}

// job is one transaction of a writer.
type job struct {
	writer string
	n      int
	steps  []jobStep
	token  string // use a TransactWrite
	refuse bool   // first try it with an error at its end and other items
}

type jobStep struct {
	op     string // put, update, delete, or new (a put of a new item)
	ball   int
	text   string
	bowler string
	wicket bool
}

const (
	crashBalls = 40
	tokenAfter = 3 // one in this many jobs has a token
)

func newJob(seed uint64, writer string, n int) job {
	r := rand.New(rand.NewPCG(seed, uint64(n)<<8|uint64(writer[0])))
	j := job{writer: writer, n: n, refuse: r.IntN(6) == 0}
	if r.IntN(tokenAfter) == 0 {
		j.token = fmt.Sprintf("%s-%d-%d", writer, seed, n)
	}
	taken := map[int]bool{}
	for range 1 + r.IntN(5) {
		s := jobStep{
			op: [...]string{"put", "put", "update", "delete", "delete", "new"}[r.IntN(6)], ball: r.IntN(crashBalls),
			bowler: strconv.Itoa(r.IntN(5)), wicket: r.IntN(3) == 0,
		}
		size := r.IntN(3000)
		if r.IntN(20) == 0 {
			size = 20_000 + r.IntN(60_000)
		}
		s.text = strings.Repeat(string(rune('a'+r.IntN(26))), size)
		if !taken[s.ball] {
			j.steps = append(j.steps, s)
		}
		taken[s.ball] = true
	}
	return j
}

func (j job) item(s jobStep) attr.Item {
	it := storetest.Ball(j.writer, s.ball, "bowler", s.bowler, "text", s.text, "by", j.n, "ttl", attr.Int(1<<33))
	if s.wicket {
		it["wicket"], it["runs"] = attr.S("yes"), attr.Int(int64(len(s.text)))
	}
	return it
}

func (j job) write(s jobStep) store.WriteItem {
	key := storetest.Ball(j.writer, s.ball)
	switch s.op {
	case "update":
		return store.WriteItem{Update: &store.UpdateItem{
			Table: "balls", Key: key, Update: "SET #t = :t, bowler = :b, #by = :n REMOVE wicket",
			Params: withName(withName(storetest.Values(":t", s.text, ":b", s.bowler, ":n", j.n), "#t", "text"), "#by", "by"),
		}}
	case "delete":
		return store.WriteItem{Delete: &store.DeleteItem{Table: "balls", Key: key}}
	case "new":
		return store.WriteItem{Put: &store.PutItem{Table: "balls", Item: j.item(s), Condition: "attribute_not_exists(ball)"}}
	}
	return store.WriteItem{Put: &store.PutItem{Table: "balls", Item: j.item(s)}}
}

// count returns the write to the writer's counter, which every job increments.
func (j job) count() store.WriteItem {
	return store.WriteItem{Update: &store.UpdateItem{
		Table: "matches", Key: storetest.Item("match", j.writer), Update: "ADD n :one", Params: storetest.Values(":one", 1),
	}}
}

// session returns a put of an expired item.
func (j job) session() store.WriteItem {
	return store.WriteItem{Put: &store.PutItem{
		Table: "sessions",
		Item:  storetest.Item("session", j.writer+"/"+strconv.Itoa(j.n), "n", j.n, "ttl", 1_700_000_000, "text", strings.Repeat("s", 500)),
	}}
}

// canceled reports whether a TransactWrite of the job has a failing condition.
func (j job) canceled(before world) bool {
	for _, s := range j.steps {
		if _, there := before[s.ball]; s.op == "new" && there {
			return true
		}
	}
	return false
}

var errJobRefused = errors.New("refused")

// do does the job in the store. If a TransactWrite is canceled, it is repeated without the steps with conditions.
func (j job) do(ctx context.Context, s *store.Store, before world) error {
	if j.refuse {
		err := s.Update(ctx, func(tx *store.Tx) error {
			other := job{writer: j.writer, n: -j.n, steps: j.steps}
			if err := other.perform(tx); err != nil {
				return err
			}
			return errJobRefused
		})
		if !errors.Is(err, errJobRefused) {
			return fmt.Errorf("refused transaction: %w", err)
		}
	}
	if j.token != "" && j.canceled(before) {
		err := s.Update(ctx, func(tx *store.Tx) error {
			err := tx.TransactWrite(j.transact(true))
			if _, ok := errors.AsType[*store.TransactionCanceledError](err); !ok {
				return fmt.Errorf("canceled transaction: %w", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return s.Update(ctx, j.perform)
}

func (j job) perform(tx *store.Tx) error {
	if j.token != "" {
		return tx.TransactWrite(j.transact(false))
	}
	writes := []store.WriteItem{j.count()}
	for _, s := range j.steps {
		writes = append(writes, j.write(s))
	}
	for _, w := range append(writes, j.session()) {
		var err error
		switch {
		case w.Put != nil:
			_, err = tx.Put(*w.Put)
		case w.Update != nil:
			_, err = tx.Update(*w.Update)
		default:
			_, err = tx.Delete(*w.Delete)
		}
		if _, ok := errors.AsType[*store.ConditionFailedError](err); err != nil && !ok {
			return err
		}
	}
	return nil
}

func (j job) transact(conditions bool) store.TransactWrite {
	t := store.TransactWrite{Items: []store.WriteItem{j.count()}, Token: j.token}
	for _, s := range j.steps {
		if s.op != "new" || conditions {
			t.Items = append(t.Items, j.write(s))
		}
	}
	return t
}

// world is the expected items of one writer.
type world map[int]attr.Item

func (j job) apply(w world) {
	for _, s := range j.steps {
		old, there := w[s.ball]
		switch {
		case s.op == "delete":
			delete(w, s.ball)
		case s.op == "new" && (there || j.token != ""):
		case s.op == "update":
			it := maps.Clone(old)
			if it == nil {
				it = storetest.Ball(j.writer, s.ball)
			}
			it["text"], it["bowler"], it["by"] = attr.S(s.text), attr.S(s.bowler), attr.Int(int64(j.n))
			delete(it, "wicket")
			w[s.ball] = it
		default:
			w[s.ball] = j.item(s)
		}
	}
}

// ledger is what is known of the writers of one store.
type ledger struct {
	seed  uint64
	done  map[string]int // jobs acknowledged or seen
	world map[string]world
}

func newLedger(seed uint64, writers ...string) *ledger {
	l := &ledger{seed: seed, done: map[string]int{}, world: map[string]world{}}
	for _, w := range writers {
		l.done[w], l.world[w] = 0, world{}
	}
	return l
}

// advance computes the state after n jobs of a writer.
func (l *ledger) advance(writer string, n int) {
	for l.done[writer] < n {
		l.done[writer]++
		newJob(l.seed, writer, l.done[writer]).apply(l.world[writer])
	}
}

// counted reads how many jobs of a writer are in the store.
func counted(ctx context.Context, s *store.Store, writer string) (n int, err error) {
	err = s.View(ctx, func(tx *store.Tx) error {
		it, err := tx.Get("matches", storetest.Item("match", writer))
		if v, ok := it["n"].Int(); ok {
			n = int(v)
		}
		return err
	})
	return n, err
}

// verify checks a store after a crash: everything acknowledged is there, and up to unknown further jobs, each completely or not at all.
// It updates the number of jobs of each writer.
func (l *ledger) verify(t *testing.T, s *store.Store, acknowledged map[string]int, unknown func(writer string) int) {
	t.Helper()
	storetest.Check(t, s)
	for writer := range l.done {
		n, err := counted(t.Context(), s, writer)
		if err != nil {
			t.Fatal(err)
		}
		if least := acknowledged[writer]; n < least || n > least+unknown(writer) {
			t.Errorf("writer %s: %d jobs are there, %d were acknowledged, %d more may be there", writer, n, least, unknown(writer))
			continue
		}
		if n < l.done[writer] {
			t.Errorf("writer %s: %d jobs are there, %d were before", writer, n, l.done[writer])
			continue
		}
		l.advance(writer, n)
		l.compare(t, s, writer)
		l.again(t, s, writer)
	}
	storetest.CheckMirror(t, s, "balls")
	verifyCursor(t, s)
}

func (l *ledger) compare(t *testing.T, s *store.Store, writer string) {
	t.Helper()
	found := world{}
	storetest.View(t, s, func(tx *store.Tx) error {
		for it, err := range tx.QueryAll(store.Query{
			Table: "balls", KeyCondition: "#m = :m", Params: withName(storetest.Values(":m", writer), "#m", "match"),
		}) {
			if err != nil {
				return err
			}
			n, _ := it["ball"].Int()
			found[int(n)] = it
		}
		return nil
	})
	for n := range crashBalls {
		if !storetest.SameItem(found[n], l.world[writer][n]) {
			t.Errorf("writer %s after %d jobs: ball %d is %.200s, want %.200s", writer, l.done[writer], n,
				storetest.Show(found[n]), storetest.Show(l.world[writer][n]))
		}
	}
}

// again repeats the last job of a writer if it had a token: nothing may happen.
func (l *ledger) again(t *testing.T, s *store.Store, writer string) {
	t.Helper()
	j := newJob(l.seed, writer, l.done[writer])
	if l.done[writer] == 0 || j.token == "" || s.Err() != nil {
		return
	}
	seq := s.Seq()
	if err := s.Update(t.Context(), j.perform); err != nil || s.Seq() != seq {
		t.Errorf("writer %s: job %d with its token again: %v, %d records", writer, j.n, err, s.Seq()-seq)
	}
}

const crashReader = "reader"

// moveCursor reads on in the journal and stores its position in the same transaction.
func moveCursor(ctx context.Context, s *store.Store) (seq uint64, err error) {
	err = s.Update(ctx, func(tx *store.Tx) error {
		at, _, err := tx.Cursor(crashReader)
		if err != nil {
			return err
		}
		records, err := tx.Journal(at, 50)
		if err != nil || len(records) == 0 {
			return err
		}
		seq = records[len(records)-1].Seq
		if _, err := tx.Put(store.PutItem{
			Table: "matches", Item: storetest.Item("match", crashReader, "seq", attr.Int(int64(seq))),
		}); err != nil {
			return err
		}
		return tx.SetCursor(crashReader, seq)
	})
	return seq, err
}

// verifyCursor compares the cursor with the position stored in its transaction, and reads the journal after it: nothing is missing.
func verifyCursor(t *testing.T, s *store.Store) {
	t.Helper()
	storetest.View(t, s, func(tx *store.Tx) error {
		at, ok, err := tx.Cursor(crashReader)
		if err != nil || !ok {
			return err
		}
		it, err := tx.Get("matches", storetest.Item("match", crashReader))
		if seq, _ := it["seq"].Int(); uint64(seq) != at {
			t.Errorf("the cursor is at %d, its item at %d: %v", at, seq, err)
		}
		for at < s.Seq() {
			records, err := tx.Journal(at, 100)
			if err == nil && len(records) == 0 && s.Seq()<<24 == 0 {
				return nil // an incarnation has begun without any write
			}
			if err != nil || len(records) == 0 {
				t.Errorf("behind %d there is nothing in the journal up to %d: %v", at, s.Seq(), err)
				return err
			}
			for _, r := range records {
				if r.Seq != at+1 && (r.Seq>>40 <= at>>40 || r.Seq<<24 != 1<<24) { // or it starts an incarnation
					t.Errorf("in the journal %d is followed by %d", at, r.Seq)
				}
				at = r.Seq
			}
		}
		return nil
	})
}

func withName(p expr.Params, placeholder, name string) expr.Params {
	p.Names = maps.Clone(p.Names)
	if p.Names == nil {
		p.Names = map[string]string{}
	}
	p.Names[placeholder] = name
	return p
}
