package ask_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// things is a table whose rows are here or in a cloud.
type things struct {
	t     *testing.T
	store *store.Store
	desk  *ask.Desk
	cloud map[string]bool // rows, as "p/s"
	away  error           // why the cloud does not answer; nil: it does

	mu    sync.Mutex // a request asks for several rows at once
	asked []string
}

func keyOf(row string) attr.Item {
	pk, sk, whole := strings.Cut(row, "/")
	if !whole {
		return attr.Item{"pk": attr.S(pk)}
	}
	return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)}
}

func nameOf(key attr.Item) string {
	if _, item := key["sk"]; item {
		return key["pk"].Str() + "/" + key["sk"].Str()
	}
	return key["pk"].Str()
}

func newThings(t *testing.T) *things {
	t.Helper()
	str := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	spec := store.TableSpec{Name: "things", Key: store.KeySpec{Partition: str("pk"), Sort: str("sk")}, Policy: store.PolicyIntent}
	f := &things{t: t, store: storetest.Open(t, spec), cloud: map[string]bool{}}
	var err error
	if f.desk, err = ask.New(ask.Config{Store: f.store, Clock: clock.Real(), Read: f.read}); err != nil {
		t.Fatal(err)
	}
	f.put("here/1")
	return f
}

// read brings the rows of a partition, or one row, from the cloud.
func (f *things) read(_ context.Context, _ string, key attr.Item) error {
	name := nameOf(key)
	f.mu.Lock()
	f.asked = append(f.asked, name)
	f.mu.Unlock()
	if f.away != nil {
		return f.away
	}
	for row := range f.cloud {
		if row == name || strings.HasPrefix(row, name+"/") {
			f.put(row)
		}
	}
	return nil
}

func (f *things) put(row string) {
	f.t.Helper()
	storetest.Update(f.t, f.store, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "things", Item: keyOf(row)})
		return err
	})
}

// request runs a request of a client that needs rows in their order, and fails with why if one is missing.
func (f *things) request(client string, why error, rows ...string) error {
	f.asked = nil
	return ask.View(f.desk.Begin(f.t.Context(), client), f.store.View, func(tx *store.Tx) error {
		for _, row := range rows {
			it, err := tx.Get("things", keyOf(row))
			if err == nil && it == nil {
				err = why
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func none() error { return fault.New(fault.NotFound, "no_thing", "There is no such thing.") }

// Before a request says that something is missing, the cloud is asked for the rows that it looked for, whatever kind of refusal that is.
// If the cloud cannot be asked, the error says that it cannot be known now.
func TestMissingRows(t *testing.T) {
	for kind, why := range map[string]error{
		"not found": none(), "forbidden": fault.New(fault.Forbidden, "no_role", "You have no role."),
		"unauthorized": fault.New(fault.Unauthorized, "no_session", "Sign in."), "lacking": fault.New(fault.Invalid, "not_in_team", "Not in a team.").ForLack(),
		"a conflict": fault.New(fault.Conflict, "over", "The game is over."), "invalid": fault.New(fault.Invalid, "bad", "Wrong."),
	} {
		t.Run(kind, func(t *testing.T) {
			f := newThings(t)
			asks := fault.LacksSomething(why)
			f.away = errors.New("no answer")
			err := f.request("c", why, "here/1", "there/1", "there/2")
			if u, ok := errors.AsType[*ask.UnknownError](err); ok != asks || !errors.Is(err, why) || ok && (u.Fault().Kind != fault.Unavailable || u.RetryAfter() != 5*time.Second) {
				t.Errorf("the cloud is away: %v", err)
			}
			f.away = nil
			if err := f.request("c", why, "here/1", "there/1", "there/2"); ask.IsUnknown(err) || !errors.Is(err, why) || asks != slices.Equal(f.asked, []string{"there/1"}) {
				t.Errorf("nowhere: %v, asked %s", err, f.asked)
			}
			f.cloud["there/1"], f.cloud["there/2"] = true, true
			if err := f.request("c", why, "here/1", "there/1", "there/2"); (err == nil) != asks || asks != slices.Equal(f.asked, []string{"there/1", "there/2"}) {
				t.Errorf("in the cloud: %v, asked %s", err, f.asked)
			}
			if _ = f.request("c", why, "here/1", "there/1", "there/2"); len(f.asked) > 0 {
				t.Errorf("asked for what is here: %s", f.asked)
			}
		})
	}
}

// The row of an Idempotency-Key is asked for after a conflict too, but nothing is unknown because it is.
func TestMissingKey(t *testing.T) {
	f := newThings(t)
	conflict := fault.New(fault.Conflict, "taken", "There is such a thing.")
	write := func(why error) error {
		f.asked = nil
		return ask.ConsultOnce(f.desk.Begin(t.Context(), "c"), []ask.Row{{Table: "things", Key: keyOf("once/k")}}, func(look ask.Look) error {
			return f.store.View(t.Context(), func(tx *store.Tx) error {
				tx.OnAbsent(look)
				it, err := tx.Get("things", keyOf("once/k"))
				if it != nil || err != nil {
					return err
				}
				return why
			})
		})
	}
	f.away = errors.New("no answer")
	for _, why := range []error{conflict, none()} {
		if err := write(why); !errors.Is(err, why) || ask.IsUnknown(err) || !slices.Equal(f.asked, []string{"once/k"}) {
			t.Errorf("the cloud is away: %v, asked %s", err, f.asked)
		}
	}
	f.away, f.cloud["once/k"] = nil, true
	if err := write(conflict); err != nil {
		t.Errorf("answered elsewhere: %v", err)
	}
}

// The cloud is asked for a partition that was queried as a whole. It is unknown only if nothing of it is here.
func TestMissingInAPartition(t *testing.T) {
	f := newThings(t)
	among := func(pk, sk string) error {
		return ask.View(f.desk.Begin(t.Context(), "c"), f.store.View, func(tx *store.Tx) error {
			q := store.Query{Table: "things", KeyCondition: "pk = :p"}
			q.Values = attr.Item{":p": attr.S(pk)}
			page, err := tx.Query(q)
			if err == nil && !slices.ContainsFunc(page.Items, func(it attr.Item) bool { return it["sk"].Str() == sk }) {
				err = none()
			}
			return err
		})
	}
	f.cloud["here/2"], f.cloud["there/2"], f.away = true, true, errors.New("no answer")
	if err := among("here", "2"); !fault.Is(err, fault.NotFound) || ask.IsUnknown(err) {
		t.Errorf("not among the rows that are here: %v", err)
	}
	if err := among("there", "2"); !ask.IsUnknown(err) {
		t.Errorf("nothing of the partition is here: %v", err)
	}
	f.away = nil
	if err := errors.Join(among("here", "2"), among("there", "2")); err != nil {
		t.Error(err)
	}
}

// A client that asks for one invented row after another gets as many answers as its budget has, and then no 404. Others are not held
// back until the budget of all is spent, and both come back.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newThings(t)
		n := 0
		invented := func(client string) error {
			n++
			return f.request(client, none(), fmt.Sprint("invented/", n))
		}
		spend := func(client string) (answers int) {
			for !ask.IsUnknown(invented(client)) {
				answers++
			}
			return answers
		}
		if got := spend("c"); got != 400 {
			t.Errorf("%d answers", got)
		}
		if u, ok := errors.AsType[*ask.UnknownError](invented("c")); !ok || !u.Busy || u.RetryAfter() != time.Second || len(f.asked) > 0 {
			t.Errorf("beyond the budget: %v, asked %s", u, f.asked)
		}
		if err := f.request("c", none(), "here/1"); err != nil {
			t.Errorf("what is here needs no budget: %v", err)
		}
		<-time.After(time.Second)
		if got := spend("c"); got != 20 {
			t.Errorf("a second later %d answers", got)
		}
		all := 420 - 100 // a second brought some back
		for i := range 4 {
			all += spend(fmt.Sprint(i))
		}
		if got := spend("another"); got != 2000-all {
			t.Errorf("%d answers after %d", got, all)
		}
	})
}

// What a request needs is fetched before it is read; what is not here is asked for each time, unless half of the budget is spent.
func TestEnsure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newThings(t)
		var held []string
		fetch := func() {
			t.Helper()
			held, f.asked = nil, nil
			ctx := f.desk.Begin(t.Context(), "c")
			for range 2 { // a request asks once
				if err := ask.Ensure(ctx, func(_ context.Context, _ string, keys ...attr.Item) error {
					held = nil
					for _, key := range keys {
						held = append(held, nameOf(key))
					}
					return nil
				}, "things", keyOf("here/1"), keyOf("there/1"), keyOf("whole"), keyOf("here")); err != nil {
					t.Fatal(err)
				}
			}
			slices.Sort(f.asked)
		}
		for range 2 {
			if fetch(); fmt.Sprint(f.asked) != "[there/1 whole]" || fmt.Sprint(held) != "[here/1 here]" {
				t.Errorf("asked %s, held %s", f.asked, held)
			}
		}
		f.cloud["whole/1"] = true
		if fetch(); fmt.Sprint(held) != "[here/1 whole here]" {
			t.Errorf("held %s", held)
		}
		for range 200 {
			fetch()
		}
		if fetch(); len(f.asked) > 0 {
			t.Errorf("with half of the budget asked %s", f.asked)
		}
	})
}

// All questions of a request together delay it by at most two seconds. An unexpected error is returned.
func TestBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newThings(t)
		slow := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		f.desk.Read = func(ctx context.Context, _ string, _ attr.Item) error { return slow(ctx) }
		ensure := func(ctx context.Context, _ string, _ ...attr.Item) error { return slow(ctx) }
		begin := time.Now()
		ctx := f.desk.Begin(t.Context(), "c")
		for range 3 {
			if err := ask.Ensure(ctx, ensure, "things", keyOf("here/1"), keyOf("there/1")); err != nil {
				t.Fatal(err)
			}
		}
		err := ask.Consult(ctx, func(look ask.Look) error {
			look("things", keyOf("there/2"))
			return none()
		})
		if !ask.IsUnknown(err) || time.Since(begin) != ask.Within {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		bug := errors.New("a bug")
		failing := func(context.Context, string, ...attr.Item) error { return bug }
		if err := ask.Ensure(f.desk.Begin(t.Context(), "c"), failing, "things", keyOf("here/1")); !errors.Is(err, bug) {
			t.Error(err)
		}
		begin = time.Now()
		if err := ask.Ensure(t.Context(), ensure, "things", keyOf("here/1")); err != nil || time.Since(begin) != ask.Within {
			t.Errorf("outside of a request: %v after %s", err, time.Since(begin))
		}
	})
}
