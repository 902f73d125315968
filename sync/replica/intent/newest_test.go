package intent

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
)

func TestNewestPutWinsInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt)
		nodes := []*node{w.node("a"), w.node("bb"), w.node("ccc")}
		if rapid.Bool().Draw(rt, "there before") {
			nodes[0].write(put("newest", "i", "", "x", 0))
			nodes[0].drain()
		}
		var last *Entry
		n := rapid.IntRange(1, 8).Draw(rt, "writes")
		for i := range n {
			w.now = w.now.Add(time.Millisecond)
			last = rapid.SampledFrom(nodes).Draw(rt, "writer").write(put("newest", "i", "", "x", i+1))
			for range rapid.IntRange(0, 3).Draw(rt, "sends") {
				rapid.SampledFrom(nodes).Draw(rt, "sender").step(rapid.SampledFrom([]fate{arrive, loseAnswer, loseRequest, delay}).Draw(rt, "fate"))
			}
			if rapid.Bool().Draw(rt, "late ones arrive") {
				w.deliver()
			}
		}
		for _, i := range rapid.Permutation([]int{0, 1, 2}).Draw(rt, "order") {
			nodes[i].drain()
			w.deliver()
		}
		w.want("newest", "i", `{"x":`+attr.Int(int64(n)).String()+`}`)
		for _, nd := range nodes {
			for seq, o := range nd.done {
				effects := w.cloud.effects[WriteID(nd.name, seq)]
				if effects > 1 || o.Result == OutConflict || o.Result == OutSuperseded && (o.Code != CodeOlder || effects > 0) {
					rt.Errorf("entry %d of %s became %d %s with %d effects", seq-1<<40, nd.name, o.Result, o.Code, effects)
				}
			}
			if nd.done[last.Seq].Result != OutApplied && nd == w.nodes["a"] && nd.seq == last.Seq && len(nodes) == 1 {
				rt.Errorf("the last write lost")
			}
		}
	})
}

func TestLoserOfNewest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("bb")
	a.write(put("newest", "i", "", "x", 0))
	a.drain()
	b.learn("newest", "i")
	old := a.write(update("newest", "i", "SET x = :x", "", ":x", 1))
	w.now = w.now.Add(time.Second)
	b.write(update("newest", "i", "SET x = :x", "", ":x", 2))
	b.drain()
	a.learn("newest", "i")
	if got := show(a.view("newest", "i")); got != `{"x":{"N":"2"}}` {
		t.Errorf("an older pending write covers a later one: %s", got)
	}
	a.drain()
	a.result(old, OutSuperseded, CodeOlder)
	if o := a.done[old.Seq]; o.Met[0] == nil {
		t.Error("the record lacks the item that it met")
	}
	w.want("newest", "i", `{"x":{"N":"2"}}`)
}

func TestAWrongClockAtBoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("bb")
	a.write(put("newest", "i", "", "x", 0))
	a.drain()
	b.learn("newest", "i")
	w.now = w.now.Add(time.Minute)
	s, ok := a.prepare(update("newest", "i", "SET x = :x", "", ":x", 1), a.seq+1, false)
	if !ok {
		t.Fatal("refused")
	}
	wrong := a.env()
	wrong.Synced, wrong.Now = false, w.now.Add(time.Hour)
	e, err := Compile(s.Write, s.Known, s.Pending, wrong)
	if err != nil || !e.Provisional {
		t.Fatalf("%+v, %v", e, err)
	}
	a.seq++
	a.queue = append(a.queue, e)
	u := a.batch()
	right := a.env()
	right.Skew = -time.Hour
	w.now = w.now.Add(time.Second)
	act := u.Next(a.bases(u), right)
	if want := w.now.Add(-time.Second).UnixMicro(); e.Stamp != want || e.Provisional {
		t.Errorf("stamped %d, want %d", e.Stamp, want)
	}
	u.Attempt(&act)
	u.SettleAnswer(act, Answer{Err: &Error{Class: Throttled}}, a.bases(u), right)
	if again := u.Next(a.bases(u), right); !again.Calls[0].Values[":t"].Equal(act.Calls[0].Values[":t"]) {
		t.Error("it is stamped twice")
	}
	a.drain()
	w.now = w.now.Add(time.Second)
	later := b.write(update("newest", "i", "SET x = :x", "", ":x", 2))
	b.drain()
	b.result(later, OutApplied, "")
}

// A write is stamped after the write that it is based on, however far ahead the clock was that stamped that one: its own stamp is not
// corrected to before it.
func TestAfterWhatItWasMadeUpon(t *testing.T) {
	t.Parallel()
	set := func(n int) op { return update("newest", "i", "SET x = :x", "", ":x", n) }
	const wrong = 2 * time.Second // how far the clock is ahead
	for name, play := range map[string]func(w *world, a, b *node) (last *Entry){
		"another's": func(w *world, a, b *node) *Entry {
			w.now = w.now.Add(wrong)
			b.write(set(1))
			b.drain()
			w.now = w.now.Add(-wrong)
			a.learn("newest", "i")
			return a.write(set(2))
		},
		"its own": func(w *world, a, _ *node) *Entry {
			w.now = w.now.Add(wrong)
			a.write(set(1))
			a.drain()
			w.now = w.now.Add(-wrong)
			return a.write(set(2))
		},
		"its own, written together": func(w *world, a, _ *node) *Entry {
			w.now = w.now.Add(wrong)
			a.write(set(1))
			last := a.write(set(2))
			w.now = w.now.Add(-wrong / 2)
			a.step(loseAnswer) // the first, with a stamp that was corrected, but not far enough
			w.now = w.now.Add(-wrong / 2)
			return last
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a, b := w.node("a"), w.node("bb")
			a.write(put("newest", "i", "", "x", 0))
			a.drain()
			b.learn("newest", "i")
			w.now = w.now.Add(time.Minute)
			last := play(w, a, b)
			w.now = w.now.Add(time.Millisecond)
			a.drain()
			a.result(last, OutApplied, "")
			w.want("newest", "i", `{"x":{"N":"2"}}`)
		})
	}
}

// A write that arrived since is not the one that this one is based on: the later of the two stays.
func TestNotAfterWhatHasComeSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("bb")
	a.write(put("newest", "i", "", "x", 0))
	a.drain()
	b.learn("newest", "i")
	w.now = w.now.Add(time.Minute)
	older := a.write(update("newest", "i", "SET x = :x", "", ":x", 1))
	w.now = w.now.Add(time.Microsecond)
	b.write(update("newest", "i", "SET x = :x", "", ":x", 2))
	b.drain()
	a.learn("newest", "i")
	w.now = w.now.Add(time.Minute)
	a.drain()
	a.result(older, OutSuperseded, CodeOlder)
	w.want("newest", "i", `{"x":{"N":"2"}}`)
}

func TestATimeFarAheadIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	a.write(put("newest", "i", "", "x", 0))
	a.drain()
	w.cloud.items[at("newest", key("i"))][AttrTime] = attr.Int(w.now.Add(24 * time.Hour).UnixMicro())
	a.learn("newest", "i")
	for _, o := range []op{update("newest", "i", "SET x = :x", "", ":x", 1), put("newest", "i", "", "x", 2)} {
		w.cloud.items[at("newest", key("i"))][AttrTime] = attr.Int(w.now.Add(24 * time.Hour).UnixMicro())
		a.learn("newest", "i")
		e := a.write(o)
		if e.Stamp > w.now.Add(time.Minute).UnixMicro() {
			t.Errorf("the stamp %d follows one that is far ahead", e.Stamp)
		}
		a.drain()
		a.result(e, OutApplied, "")
	}
}
