package txn_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

func str(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
func num(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyNumber} }

// balls has a number to sort by, an index without a sort key, and a sparse one that shows keys only.
func balls() store.TableSpec {
	return store.TableSpec{
		Name: "balls",
		Key:  store.KeySpec{Partition: str("match"), Sort: num("ball")},
		Indexes: []store.IndexSpec{
			{Name: "bowler-index", Key: store.KeySpec{Partition: str("bowler")}},
			{
				Name: "wicket-index", Key: store.KeySpec{Partition: str("wicket"), Sort: num("runs")},
				Projection: store.ProjectKeysOnly,
			},
		},
		TTL: "ttl", Policy: store.PolicyIntent, Why: "a test",
	}
}

// matches has a partition key alone.
func matches() store.TableSpec {
	return store.TableSpec{Name: "matches", Key: store.KeySpec{Partition: str("match")}}
}

// item makes an item of names and values: strings, ints, or values.
func item(pairs ...any) attr.Item {
	it := attr.Item{}
	for i := 0; i < len(pairs); i += 2 {
		it[pairs[i].(string)] = value(pairs[i+1])
	}
	return it
}

func value(v any) attr.Value {
	switch v := v.(type) {
	case string:
		return attr.S(v)
	case int:
		return attr.Int(int64(v))
	default:
		return v.(attr.Value)
	}
}

func ball(match string, n int, more ...any) attr.Item {
	return item(append([]any{"match", match, "ball", n}, more...)...)
}

func values(pairs ...any) expr.Params { return expr.Params{Values: item(pairs...)} }

// update runs one transaction and fails the test if it fails.
func update(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func view(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, s *store.Store, table string, items ...attr.Item) {
	t.Helper()
	update(t, s, func(tx *store.Tx) error {
		for _, it := range items {
			if _, err := tx.Put(store.PutItem{Table: table, Item: it}); err != nil {
				return err
			}
		}
		return nil
	})
}

func get(t testing.TB, s *store.Store, table string, key attr.Item) (it attr.Item) {
	t.Helper()
	view(t, s, func(tx *store.Tx) (err error) {
		it, err = tx.Get(table, key)
		return err
	})
	return it
}

func journal(t testing.TB, s *store.Store, after uint64) []store.Record {
	t.Helper()
	records, err := s.Journal(t.Context(), after, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func wantItem(t testing.TB, what string, got, want attr.Item) {
	t.Helper()
	if !sameItem(got, want) {
		t.Errorf("%s: got %s, want %s", what, show(got), show(want))
	}
}

func sameItem(a, b attr.Item) bool {
	return (a == nil) == (b == nil) && attr.Equal(attr.M(a), attr.M(b))
}

func show(it attr.Item) string {
	if it == nil {
		return "none"
	}
	return string(attr.AppendJSON(nil, it))
}

func wantFault(t testing.TB, err error, kind fault.Kind, code string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != kind || f.Code != code {
		t.Errorf("got error %v (%#v), want code %s", err, f, code)
	}
}

// together runs the functions as members of one commit, in this order, and gives their errors.
func together(t testing.TB, s *store.Store, fns ...func(*store.Tx) error) []error {
	t.Helper()
	errs := make([]error, len(fns))
	var wg sync.WaitGroup
	running, release := make(chan struct{}), make(chan struct{})
	wg.Go(func() {
		_ = s.Update(t.Context(), func(*store.Tx) error {
			close(running)
			<-release
			return nil
		})
	})
	<-running
	for i, fn := range fns {
		wg.Go(func() { errs[i] = s.Update(t.Context(), fn) })
		for s.Stats().Waiting <= i {
			runtime.Gosched()
		}
	}
	close(release)
	wg.Wait()
	return errs
}

// mirror is a replicator that keeps beside the tables what it is told: of each row of a table that sends the sequence of
// its record and its image.
type mirror struct{}

func mirrorKey(table string, raw []byte) []byte { return append([]byte(table+"\x00"), raw...) }

func (mirror) Compile(tx *store.Tx, writes []store.Write) error {
	side := tx.Side("mirror")
	for _, w := range writes {
		key := mirrorKey(w.Spec.Name, w.RawKey)
		switch {
		case w.Seq == 0 || !w.Sends:
			continue
		case w.New == nil:
			if err := side.Delete(key); err != nil {
				return err
			}
		default:
			if err := side.Set(key, append(binary.BigEndian.AppendUint64(nil, w.Seq), w.New...)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (mirror) Expire(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error) {
	raw, err := tx.RawKey(spec.Name, key)
	if err != nil {
		return false, err
	}
	return true, tx.Side("mirror").Delete(mirrorKey(spec.Name, raw))
}

// checkMirror compares the rows of a table with what a mirror has kept of them, both ways.
func checkMirror(t testing.TB, s *store.Store, table string) {
	t.Helper()
	view(t, s, func(tx *store.Tx) error {
		tx.ShowExpired()
		var rows, kept []string
		for start, more := attr.Item(nil), true; more; more = start != nil {
			p, err := tx.Scan(store.Scan{Table: table, StartKey: start})
			if err != nil {
				return err
			}
			for _, it := range p.Items {
				rows = append(rows, show(it))
			}
			start = p.LastKey
		}
		err := tx.Side("mirror").Each(mirrorKey(table, nil), nil, func(_, v []byte) (bool, error) {
			it, err := attr.Encoded(v[8:]).Decode()
			kept = append(kept, show(it))
			return true, err
		})
		if !slices.Equal(rows, kept) {
			t.Errorf("table %s: %d rows, %d beside it, or other ones:\n%.2000s\n%.2000s", table, len(rows), len(kept), rows, kept)
		}
		return err
	})
}

// told is a replicator that keeps in memory what it was told, and does what the test wants.
type told struct {
	calls  [][]store.Write
	do     func(tx *store.Tx, writes []store.Write) error
	expire func(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error)
}

func (r *told) Compile(tx *store.Tx, writes []store.Write) error {
	kept := slices.Clone(writes)
	for i := range kept {
		kept[i].RawKey = slices.Clone(kept[i].RawKey)
		kept[i].Old, kept[i].New = slices.Clone(kept[i].Old), slices.Clone(kept[i].New)
	}
	r.calls = append(r.calls, kept)
	if r.do != nil {
		return r.do(tx, writes)
	}
	return nil
}

func (r *told) Expire(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error) {
	if r.expire == nil {
		return true, nil
	}
	return r.expire(tx, spec, key)
}

func ofPolicy(name string, p store.Policy) store.TableSpec {
	spec := matches()
	spec.Name, spec.Policy = name, p
	return spec
}

// openTold has a table that sends, balls, and one of each kind that does not.
func openTold(t *testing.T) (*store.Store, *told) {
	t.Helper()
	internal := ofPolicy("internal", store.PolicyIntent)
	internal.Internal = true
	s := storetest.Open(t, balls(), matches(), internal,
		ofPolicy("newest", store.PolicyNewest), ofPolicy("state", store.PolicyState),
		ofPolicy("local", store.PolicyLocal), ofPolicy("lock", store.PolicyLock))
	r := &told{}
	s.Replicate(r)
	return s, r
}

var errNotNow = errors.New("not now")
