package store_test

import (
	"errors"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// simStream is a stream in the simulation: of a table, after a sequence, and up to one if it has ended.
type simStream struct {
	table          string
	view           store.StreamView
	after, through uint64
}

// last returns the sequence of the last record.
func (sim *tableSimulation) last() uint64 { return 1<<40 + uint64(len(sim.records)) }

// stream gives a table another stream, or none.
func (sim *tableSimulation) stream(rt *rapid.T) {
	name := drawTable(rt)
	view := rapid.SampledFrom([]store.StreamView{"", store.ViewKeys, store.ViewBoth}).Draw(rt, "view")
	err := sim.s.UpdateTable(sim.t.Context(), store.TableChange{Table: name, Settings: func(set *store.TableSettings) error {
		set.Stream = view
		return nil
	}})
	if sim.want(rt, name, err) {
		sim.setStream(name, view)
	}
}

// setStream ends the stream of a table unless it has the given view, and begins another.
func (sim *tableSimulation) setStream(name string, view store.StreamView) {
	for i := range sim.streams {
		if st := &sim.streams[i]; st.table == name && st.through == 0 {
			if st.view == view {
				return
			}
			st.through = sim.last()
		}
	}
	if view != "" {
		sim.streams = append(sim.streams, simStream{table: name, view: view, after: sim.last()})
	}
}

// checkStreams reads every stream from start to end: nothing in it has been trimmed.
func (sim *tableSimulation) checkStreams(rt *rapid.T) {
	got := sim.s.Streams()
	if len(got) != len(sim.streams) {
		rt.Fatalf("%d streams, want %d", len(got), len(sim.streams))
	}
	for _, st := range got {
		known := simStream{table: st.Table, view: st.View, after: st.After, through: st.Through}
		if !slices.Contains(sim.streams, known) {
			rt.Fatalf("stream %+v is not one of %+v", known, sim.streams)
		}
		sim.readStream(rt, st)
	}
}

func (sim *tableSimulation) readStream(rt *rapid.T, st store.TableStream) {
	through := st.Through
	if st.Open() {
		through = sim.last()
	}
	q := store.JournalQuery{TableID: st.TableID, After: st.After, Through: through, Limit: 3, Look: 5}
	want := st.After + 1
	for q.After < through {
		page, err := sim.s.JournalOf(sim.t.Context(), q)
		if err != nil || page.First > st.After+1 || page.Came <= q.After {
			rt.Fatalf("%v: from %d, came to %d, first %d", err, q.After, page.Came, page.First)
		}
		for _, r := range page.Records {
			for ; want < r.Seq; want++ {
				sim.notOf(rt, st.Table, want)
			}
			rec := sim.records[want-1<<40-1]
			if rec.Table != st.Table || r.Op != rec.Op || !storetest.SameItem(r.Old, rec.Old) || !storetest.SameItem(r.New, rec.New) {
				rt.Fatalf("record %d of table %s: %+v, want %+v", r.Seq, st.Table, r, rec)
			}
			want++
		}
		q.After = page.Came
	}
	for ; want <= through; want++ {
		sim.notOf(rt, st.Table, want)
	}
}

// notOf checks that a record that was left out is about another table.
func (sim *tableSimulation) notOf(rt *rapid.T, table string, seq uint64) {
	if sim.records[seq-1<<40-1].Table == table {
		rt.Fatalf("record %d of table %s is missing", seq, table)
	}
}

var errMember = errors.New("this member fails")

func withName(p expr.Params, placeholder, name string) expr.Params {
	p.Names = maps.Clone(p.Names)
	if p.Names == nil {
		p.Names = map[string]string{}
	}
	p.Names[placeholder] = name
	return p
}
