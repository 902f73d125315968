package conflict

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica/intent"
)

var logStart = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func logEntry(seq uint64, table string) *intent.Entry {
	e := &intent.Entry{
		Write: intent.Write{
			Seq: seq, Table: table, Policy: store.PolicyIntent, Key: attr.Item{"pk": attr.S(fmt.Sprint(seq % 7))}, Op: store.OpUpdate, Update: "SET a = :a",
			At: logStart,
		},
	}
	e.Values = attr.Item{":a": attr.Int(1)}
	return e
}

func logConflict(seq uint64) *Record {
	return &Record{
		Head:    Head{At: logStart, Kind: KindRefused, State: StateOpen, Code: "condition_failed", Text: "It does not hold."},
		Decided: []Decided{{Entry: logEntry(seq, "t"), Met: attr.Item{"pk": attr.S("x"), "_n": attr.Int(3)}, Base: attr.Item{"pk": attr.S("x")}}},
	}
}

// inLog runs fn on the log of a store, and saves it.
func inLog(t testing.TB, s *store.Store, fn func(l *LogTx) error) {
	t.Helper()
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		l, err := Open(tx)
		if err != nil {
			return err
		}
		if err := fn(l); err != nil {
			return err
		}
		return l.Save()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestConflictRecord(t *testing.T) {
	c := logConflict(5)
	c.ID, c.Kind, c.State, c.Note, c.ClosedAt, c.NewSeqs = 9, KindQuarantine, StateRetried, "a note", logStart.Add(time.Hour), []uint64{7, 8}
	c.Tail = []*intent.Entry{logEntry(6, "u")}
	raw, err := Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	back, err := decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(c, back, cmpopts.IgnoreUnexported(intent.Entry{}), gocmp.AllowUnexported(intent.Recovery{}), cmpopts.EquateEmpty(), gocmp.Comparer(func(a, b attr.Value) bool { return a.String() == b.String() })); diff != "" {
		t.Error(diff)
	}
	if recordState(raw) != StateRetried {
		t.Errorf("state %q", recordState(raw))
	}
	for name, bad := range map[string][]byte{
		"empty": {}, "version": append([]byte{9}, raw[1:]...), "cut": raw[:len(raw)-3], "no write": []byte("\x01o{}"),
	} {
		if _, err := decode(bad); !fault.Is(err, fault.Damaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A record never exceeds its size limit: its images are dropped, the writes stay.
func TestConflictRecordIsBounded(t *testing.T) {
	big := attr.Item{"pk": attr.S("x"), "v": attr.S(strings.Repeat("x", 390_000))}
	for _, n := range []int{1, 2, 4} {
		c := logConflict(1)
		c.Decided = nil
		for i := range n {
			c.Decided = append(c.Decided, Decided{Entry: logEntry(uint64(i+1), "t"), Met: big, Base: big})
		}
		raw, err := Encode(c)
		if err != nil || len(raw) > conflictMost {
			t.Fatalf("%d writes: %d bytes %v", n, len(raw), err)
		}
		back, err := decode(raw)
		if err != nil || len(back.Decided) != n || back.Decided[0].Entry.Update != "SET a = :a" {
			t.Fatalf("%d writes: %v %v", n, back, err)
		}
		base, met := back.Decided[0].Base != nil, back.Decided[0].Met != nil
		if base != (n < 2) || met != (n < 4) || (back.Note == "") != base {
			t.Errorf("%d writes: base %v, met %v, note %q", n, base, met, back.Note)
		}
	}
}

func TestConflictList(t *testing.T) {
	s := storetest.Open(t)
	inLog(t, s, func(l *LogTx) error {
		for i := range 10 {
			c := logConflict(uint64(100 + i))
			if i%3 == 0 {
				c.State = StateDecided
			}
			if i == 7 {
				c.Tail = []*intent.Entry{logEntry(200, "other")}
			}
			if err := l.Add(c); err != nil {
				return err
			}
		}
		return nil
	})
	for _, q := range []struct {
		Query
		ids  []uint64
		next uint64
	}{
		{Query{}, []uint64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0},
		{Query{State: StateDecided}, []uint64{10, 7, 4, 1}, 0},
		{Query{State: StateOpen, Limit: 2}, []uint64{9, 8}, 8},
		{Query{State: StateOpen, Limit: 2, Before: 8}, []uint64{6, 5}, 5},
		{Query{State: StateOpen, Limit: 2, Before: 3}, []uint64{2}, 0},
		{Query{Table: "other"}, []uint64{8}, 0},
		{Query{State: StateRetried}, nil, 0},
	} {
		inLog(t, s, func(l *LogTx) error {
			found, next, err := l.List(q.Query)
			var ids []uint64
			for _, c := range found {
				ids = append(ids, c.ID)
			}
			if !slices.Equal(ids, q.ids) || next != q.next {
				t.Errorf("%+v: %v, next %d", q.Query, ids, next)
			}
			return err
		})
	}
	inLog(t, s, func(l *LogTx) error {
		for seq, want := range map[uint64]uint64{100: 1, 109: 10, 200: 8, 99: 0, 110: 0} {
			if id, err := l.OfSeq(seq); err != nil || id != want {
				t.Errorf("entry %d is in record %d, want %d (%v)", seq, id, want, err)
			}
		}
		return nil
	})
}

// The log is bounded: the oldest decided records go; undecided ones stay, whatever their age and the room.
func TestConflictTrim(t *testing.T) {
	s := storetest.Open(t)
	var size int64
	inLog(t, s, func(l *LogTx) error {
		for i := range 6 {
			c := logConflict(uint64(i + 1))
			switch i {
			case 0:
				c.Kind = KindQuarantine
			case 3:
				c.State = StateDecided
			}
			if err := l.Add(c); err != nil {
				return err
			}
		}
		size = l.Sums.Bytes / 6
		return nil
	})
	ids := func(l *LogTx) (out []uint64) {
		found, _, err := l.List(Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			out = append(out, c.ID)
		}
		return out
	}
	inLog(t, s, func(l *LogTx) error {
		l.Max = 6*size - size/2
		_, err := l.Trim(logStart)
		if got := ids(l); !slices.Equal(got, []uint64{6, 5, 3, 2, 1}) {
			t.Errorf("after one too many: %v are left", got)
		}
		return err
	})
	inLog(t, s, func(l *LogTx) error {
		l.Max = 4*size - size/2
		_, err := l.Trim(logStart.Add(2 * conflictAge))
		if got := ids(l); !slices.Equal(got, []uint64{6, 5, 3, 2, 1}) || l.Sums.Open != 4 || l.Sums.Quarantined != 1 || l.OpenShare() <= 1 {
			t.Errorf("undecided, too old and too many: %v are left, %.1f of the limit, %+v", got, l.OpenShare(), l.Sums)
		}
		return err
	})
	inLog(t, s, func(l *LogTx) error {
		for _, id := range []uint64{2, 6} {
			c, err := l.Get(id)
			if err != nil {
				return err
			}
			c.State = StateDiscarded
			if err := l.Change(c); err != nil {
				return err
			}
		}
		if _, err := l.Trim(logStart.Add(conflictAge)); err != nil || len(ids(l)) != 5 {
			t.Errorf("exactly 30 days count as too old: %v %v", ids(l), err)
		}
		_, err := l.Trim(logStart.Add(conflictAge + time.Second))
		if got := ids(l); !slices.Equal(got, []uint64{5, 3, 1}) {
			t.Errorf("decided and too old: %v are left", got)
		}
		if id, err := l.OfSeq(2); err != nil || id == 0 || l.Sums.Traces != 2 {
			t.Errorf("the refusal of an entry is forgotten: %d %v, %+v", id, err, l.Sums)
		}
		return err
	})
	later := logStart.Add(2*conflictAge + 2*time.Second)
	inLog(t, s, func(l *LogTx) error {
		if due, err := l.Due(later); !due || err != nil {
			t.Errorf("nothing is due: %v", err)
		}
		if _, err := l.Trim(later); err != nil || l.Sums.Traces != 0 {
			t.Errorf("traces are left: %+v %v", l.Sums, err)
		}
		for seq, want := range map[uint64]uint64{1: 1, 2: 0, 5: 5, 6: 0} {
			if id, err := l.OfSeq(seq); err != nil || id != want {
				t.Errorf("entry %d is found in record %d, want %d", seq, id, want)
			}
		}
		due, err := l.Due(later)
		if due {
			t.Error("something is still due")
		}
		return err
	})
}

// Decided records that are too old go by themselves, even if no other conflict comes.
func TestConflictsGrowOld(t *testing.T) {
	s := storetest.Open(t)
	inLog(t, s, func(l *LogTx) error {
		for i := range conflictTrim + 1 {
			c := logConflict(uint64(i + 1))
			c.State = StateDecided
			if err := l.Add(c); err != nil {
				return err
			}
		}
		return nil
	})
	r := &Log{store: s, clock: clock.NewStepped(logStart.Add(conflictAge))}
	kept := func() (n int) {
		inLog(t, s, func(l *LogTx) error { n = l.Sums.Kept; return nil })
		return n
	}
	if more, err := r.Trim(t.Context()); err != nil || more || kept() != conflictTrim+1 {
		t.Fatalf("%v %v, %d are left on their last day", more, err, kept())
	}
	r.clock = clock.NewStepped(logStart.Add(conflictAge + time.Minute))
	if more, err := r.Trim(t.Context()); err != nil || !more || kept() != 1 {
		t.Fatalf("%v %v, %d are left after a slice", more, err, kept())
	}
	if more, err := r.Trim(t.Context()); err != nil || more || kept() != 0 {
		t.Fatalf("%v %v, %d are left", more, err, kept())
	}
}

// Whatever is done to the log, its sums equal those of the records, and no number is used twice.
func TestConflictLogKeepsItsSums(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, err := store.OpenMemory(store.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		last, now := uint64(0), logStart
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 100).Draw(rt, "hours")) * time.Hour)
			inLog(t, s, func(l *LogTx) error {
				switch rapid.SampledFrom([]string{"add", "add", "decide", "trim"}).Draw(rt, "step") {
				case "add":
					c := logConflict(rapid.Uint64Range(1, 40).Draw(rt, "seq"))
					c.At, c.Kind = now, rapid.SampledFrom([]Kind{KindRefused, KindQuarantine, KindSuperseded}).Draw(rt, "kind")
					c.State = c.Kind.Begins()
					if err := l.Add(c); err != nil {
						return err
					}
					if c.ID <= last {
						rt.Fatalf("number %d after %d", c.ID, last)
					}
					last = c.ID
				case "decide":
					c, err := l.Get(rapid.Uint64Range(1, last+1).Draw(rt, "id"))
					if err != nil || c == nil {
						return err
					}
					c.State = rapid.SampledFrom([]State{StateRetried, StateDiscarded}).Draw(rt, "state")
					return l.Change(c)
				case "trim":
					l.Max = int64(rapid.IntRange(0, 5000).Draw(rt, "room"))
					if _, err := l.Trim(now); err != nil {
						return err
					}
					if l.Sums.Bytes > l.Max && l.Sums.Bytes > l.Sums.OpenBytes {
						rt.Fatalf("%d bytes in a log of %d, %+v", l.Sums.Bytes, l.Max, l.Sums)
					}
				}
				return nil
			})
			checkSums(t, rt, s)
		}
	})
}

func checkSums(t testing.TB, rt *rapid.T, s *store.Store) {
	inLog(t, s, func(l *LogTx) error {
		found, _, err := l.List(Query{Limit: 1000})
		want := logSums{Next: l.Sums.Next, Traces: l.Sums.Traces}
		for _, c := range found {
			raw, err := Encode(c)
			if err != nil {
				return err
			}
			n := int64(len(raw))
			want.Kept++
			want.Bytes += n
			switch {
			case c.State != StateOpen:
			case c.Kind == KindQuarantine:
				want.Quarantined++
				want.OpenBytes += n
			default:
				want.Open++
				want.OpenBytes += n
			}
		}
		if want != l.Sums {
			rt.Fatalf("the sums are %+v, the records %+v", l.Sums, want)
		}
		return err
	})
}

// FuzzConflictRecord: invalid records are refused, and valid ones are encoded again as they were.
func FuzzConflictRecord(f *testing.F) {
	raw, err := Encode(logConflict(3))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte("\x01o{}"))
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := decode(raw)
		if err != nil {
			return
		}
		once, err := Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(once)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := Encode(back); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%v:\n%q\n%q", err, once, twice)
		}
	})
}
