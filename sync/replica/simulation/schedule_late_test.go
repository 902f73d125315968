package simulation_test

import (
	"context"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// holderDiesWithEvent: an event cannot reach the cloud, but the state of the same fence that was computed from it could. The holder dies.
// The next holder must not find a state that implies the event.
func holderDiesWithEvent(sc *scene) {
	a, b := sc.node("A"), sc.node("B")
	write := func(p *player, fence int64) (event uint64) {
		p.must(func(tx *store.Tx) error {
			claim := attr.Item{"pk": attr.S("m"), "sk": attr.S("wicket"), "by": attr.S(p.name), "_f": attr.Int(fence)}
			if _, err := tx.Put(store.PutItem{Table: "events", Item: claim, Condition: ifAbsent}); err != nil {
				return err
			}
			event = tx.Seq()
			_, err := tx.Put(store.PutItem{Table: "matches", Item: row("m", "upto", 1, "_f", fence)})
			return err
		})
		return event
	}
	proved := func(p *player, seq uint64, want replica.Proof) {
		if got, err := p.ProofOf(context.Background(), seq); err != nil || got != want {
			sc.Errorf("%s: proof %d, want %d, %v", p.name, got, want, err)
		}
	}
	sc.lock("m", "A", 5)
	a.tap.with(func(t *tap) { t.shut = "events" })
	first := write(a, 5)
	a.tries()
	sc.cloudHas("matches", "m", nil)
	a.end()

	sc.lock("m", "B", 6)
	sc.round()
	if got := b.see("matches", pk("m")); got != nil {
		sc.Errorf("B continues from %s", tell(got))
	}
	second := write(b, 6)
	b.settle()
	proved(b, second, replica.ProofApplied)

	a.start() // with its connection restored
	a.settle()
	proved(a, first, replica.ProofRefused)
	sc.cloudHas("matches", "m", row("m", "upto", 1, "_f", 6))
	sc.oneWith("matches", "m")
}

// createdBehindPage: a page of the feed lacks an item that is created, and acknowledged, while the page is in flight.
func createdBehindPage(sc *scene) {
	a, b := both(sc, "items", row("x", "v", 1))
	a.tap.with(func(t *tap) { t.slow = true })
	for held := 0; held == 0; a.tap.with(func(t *tap) { held = len(t.reads) }) {
		sc.pass(time.Second)
	}
	a.put("items", row("mine", "v", 1), ifAbsent, values())
	a.settle()
	b.put("items", row("theirs", "v", 1), ifAbsent, values())
	b.settle()
	var reads []func()
	a.tap.with(func(t *tap) { reads = t.reads })
	reads[0]()
	for range 10 {
		sc.pass(500 * time.Millisecond)
		if got := a.see("items", pk("mine")); !same(got, row("mine", "v", 1)) {
			sc.Fatalf("A sees %s", tell(got))
		}
	}
	for _, key := range []string{"mine", "theirs"} {
		sc.cloudHas("items", key, row(key, "v", 1))
		sc.oneWith("items", key)
	}
}

// newestRecorded: the later of two updates stays, whichever arrives last, and the other one is in its node's log.
func newestRecorded(sc *scene) {
	a, b := both(sc, "settings", row("s", "v", "one"))
	a.tap.offline()
	older := a.update("settings", "s", "SET v = :v", "", values(":v", "older"))
	sc.pass(5 * time.Second)
	newer := b.update("settings", "s", "SET v = :v", "", values(":v", "newer"))
	b.settle()
	a.tap.online()
	a.settle()
	sc.cloudHas("settings", "s", row("s", "v", "newer"))
	if c := a.recorded(older); c.Kind != conflict.KindSuperseded {
		sc.Errorf("it is recorded as %s", c.Kind)
	}
	b.unrecorded(newer)
	sc.oneWith("settings", "s")
}

// newestDeleteRecorded: a delete beats an update that is later than it, and the update is in its node's log.
func newestDeleteRecorded(sc *scene) {
	a, b := both(sc, "settings", row("s", "v", "one"))
	b.tap.offline()
	a.remove("settings", "s", "", values())
	sc.pass(5 * time.Second)
	later := b.update("settings", "s", "SET v = :v", "", values(":v", "later"))
	a.settle()
	b.tap.online()
	b.settle()
	sc.cloudHas("settings", "s", nil)
	if c := b.recorded(later); c.Kind != conflict.KindSuperseded {
		sc.Errorf("it is recorded as %s", c.Kind)
	}
	sc.oneWith("settings", "s")
}

// lifeOfBeforeBehindCreate: a page shows an item of a life that had ended when a create makes the item again, and arrives between the
// create and its answer. Readers see the created item, and never the earlier life.
func lifeOfBeforeBehindCreate(sc *scene) {
	a, b := both(sc, "items", nil)
	sc.round()
	b.put("items", row("x", "v", "before"), ifAbsent, values())
	a.tap.with(func(t *tap) { t.slow = true })
	b.settle()
	for held := 0; held == 0; a.tap.with(func(t *tap) { held = len(t.reads) }) {
		sc.pass(100 * time.Millisecond)
	}
	b.remove("items", "x", "", values())
	b.settle()
	sc.cloudHas("items", "x", nil)
	a.tap.with(func(t *tap) {
		page := t.reads[0]
		t.behind = func() {
			a.tap.with(func(t *tap) { t.behind = nil })
			page()
			<-time.After(time.Second)
		}
	})
	a.put("items", row("x", "v", "created"), "", values())
	a.settle()
	sc.oneWith("items", "x")
	sc.cloudHas("items", "x", row("x", "v", "created"))
	records, err := a.store.Journal(context.Background(), 0, 1000)
	must(sc, err)
	for i := range records {
		if records[i].New["v"].Str() == "before" {
			sc.Errorf("readers saw the earlier life, in record %d", records[i].Seq)
		}
	}
}
