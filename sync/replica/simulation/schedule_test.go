package simulation_test

import (
	"context"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// schedule is an order of events that broke an earlier version of the protocol.
type schedule struct {
	name  string
	play  func(*scene)
	plain bool // the cloud has no transactions
	moved bool // needs more time than the real clock allows: only under virtual time
	sim   bool // needs what only the simulated cloud can do
}

// schedules lists them by their numbers in the protocol.
func schedules() []schedule {
	return []schedule{
		{name: "01 follow, unfollow, late answer", play: followUnfollow},
		{name: "01 update of an item deleted meanwhile", play: updateOfDeleted},
		{name: "01 fenced-off holder re-creates", play: fencedOffRecreates},
		{name: "02 two puts offline, absent key", play: func(sc *scene) { twoPuts(sc, false) }},
		{name: "02 two puts offline, old key", play: func(sc *scene) { twoPuts(sc, true) }},
		{name: "03 tail of the rejected", play: tailOfRejected},
		{name: "04 state overtakes event", play: stateOvertakesEvent},
		{name: "04 state overtakes event, the holder dies", play: holderDiesWithEvent},
		{name: "04 state of a newer fence overtakes event", play: newerFenceOvertakesEvent},
		{name: "06 mark proves too much, retried", play: retriedByOperator},
		{name: "06 mark proves too much, restored file", play: restoredFile},
		{name: "07 foreign put in the window of an ADD", play: foreignPutAfterAdd},
		{name: "07 foreign re-creation after a delete", play: foreignPutAfterDelete},
		{name: "08 transaction, answer lost, one item deleted", play: transactionHalf},
		{name: "08 transaction, the same item twice", play: transactionTwice},
		{name: "08 transaction of deletes, answer lost", play: transactionDeletes},
		{name: "08 transaction, fresh tokens", play: transactionTokens},
		{name: "09 fence of a fenced-off holder", play: fencedOffHolder},
		{name: "09 lock row deleted by hand", play: lockRowDeleted},
		{name: "09 holder below its items", play: holderBelow},
		{name: "10 parent path removed elsewhere", play: func(sc *scene) {
			unfit(sc, row("x", "a", attr.M(attr.Item{"b": attr.Int(1)})), "SET a.b = :v", row("x"))
		}},
		{name: "10 number missing", play: func(sc *scene) { unfit(sc, row("x", "n", 1), "SET n = n + :v", row("x")) }},
		{name: "10 ADD on another type", play: func(sc *scene) { unfit(sc, row("x", "n", 1), "ADD n :v", row("x", "n", "text")) }},
		{name: "11 an older page arrives late", play: olderPage},
		{name: "11 created behind a page that is on its way", play: createdBehindPage},
		{name: "11 a page with the life of before, behind a create", play: lifeOfBeforeBehindCreate, sim: true},
		{name: "12 expired here, alive there: under a condition", play: expiredCreate},
		{name: "12 expired here, alive there: upsert", play: expiredUpsert},
		{name: "13 the dead holder's clock is an hour ahead", play: holderAhead},
		{name: "14 newest, delete against update", play: func(sc *scene) { newestDelete(sc, true) }},
		{name: "14 newest, update against delete", play: func(sc *scene) { newestDelete(sc, false) }},
		{name: "14 newest, the older update comes last", play: newestRecorded},
		{name: "14 newest, the update that a delete has overtaken", play: newestDeleteRecorded},
		{name: "15 coalescing", play: coalescing},
		{name: "15 restore leaves deleted what was deleted", play: restoreLeavesDeleted, sim: true},
		{name: "15 marks of many nodes", play: manyMarks, moved: true},
		{name: "16 life of the entry: update", play: func(sc *scene) { lifeOfEntry(sc, false) }},
		{name: "16 life of the entry: delete", play: func(sc *scene) { lifeOfEntry(sc, true) }},
		{name: "16 no skeleton behind an update", play: noSkeleton},
		{name: "17 lost before arrival: upsert", play: func(sc *scene) { lostBeforeArrival(sc, false) }},
		{name: "17 lost before arrival: put", play: func(sc *scene) { lostBeforeArrival(sc, true) }},
		{name: "17 lost before arrival: transaction", play: lostTransaction},
		{name: "18 label and another's update", play: labelAndUpdate},
		{name: "18 foreign put over an item with an update waiting", play: foreignPutOverWaiting},
		{name: "19 blip and takeover: one claim", play: oneClaim},
		{name: "20 snapshot with a queue", play: func(sc *scene) { snapshotWithQueue(sc, false) }},
		{name: "20 snapshot newer than the last settled record", play: func(sc *scene) { snapshotWithQueue(sc, true) }},
		{name: "20 snapshot with a create that was deleted since", play: func(sc *scene) { snapshotWithCreate(sc, false, false) }},
		{name: "20 snapshot with a create that was deleted later", play: func(sc *scene) { snapshotWithCreate(sc, true, false) }, moved: true},
		{name: "20 snapshot with a create, without transactions", play: func(sc *scene) { snapshotWithCreate(sc, false, true) }, plain: true},
		{name: "21 late copy of a rejected entry", play: lateCopyOfRejected},
		{name: "22 fenced-off first image", play: fencedOffFirstImage},
		{name: "23 delete between label and delete", play: betweenLabelAndDelete},
		{name: "24 query over our own delete", play: queryOverDelete},
		{name: "24 sidecar written back by a foreign read-modify-put", play: sidecarWrittenBack},
		{name: "25 60 creates in one transaction, answer lost", play: sixtyCreates},
		{name: "25 one create without transactions, answer lost", play: plainCreate, plain: true},
		{name: "26 hot item", play: hotItem},
		{name: "26 put that one update has overtaken", play: overtakenPut},
		{name: "26 put of an item that two others update", play: starvedPut},
		{name: "26 the same without transactions", play: starvedPut, plain: true},
		{name: "26 a node dies in its turn", play: deadInItsTurn},
		{name: "26 held delete", play: heldDelete, moved: true},
		{name: "27 create applied, answer lost, deleted from outside", play: func(sc *scene) { createCameBack(sc, 0) }},
		{name: "27 create applied, answer lost, two other lives", play: func(sc *scene) { createCameBack(sc, 2) }},
		{name: "27 upsert applied, answer lost, in another life", play: upsertCameBack},
		{name: "27 a copy of a create behind a delete from outside", play: copyOfCreate},
		{name: "27 create unanswered for 29 days", play: longUnanswered, moved: true},
		{name: "28 create removed and made again by another", play: func(sc *scene) { createMadeAgain(sc, false) }},
		{name: "28 the same without transactions", play: func(sc *scene) { createMadeAgain(sc, true) }, plain: true},
		{name: "29 delete right behind a repeated create", play: deleteBehindCreate, moved: true},
	}
}

const ifAbsent = "attribute_not_exists(pk)"

// both starts two nodes that hold the same item.
func both(sc *scene, table string, item attr.Item) (a, b *player) {
	sc.Helper()
	a, b = sc.node("A"), sc.node("B")
	if item != nil {
		a.put(table, item, "", values())
		a.settle()
		sc.oneWith(table, item["pk"].Str())
	}
	return a, b
}

func followUnfollow(sc *scene) {
	a, b := both(sc, "items", nil)
	a.tap.loseAnswers(1)
	a.put("items", row("f", "v", "follow"), ifAbsent, values())
	for sc.image("items", pk("f")) == nil {
		sc.pass(time.Second)
	}
	a.tap.offline()
	for b.see("items", pk("f")) == nil {
		sc.pass(time.Second)
	}
	b.remove("items", "f", "", values())
	b.settle()
	sc.cloudHas("items", "f", nil)
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "f", nil)
	sc.oneWith("items", "f")
}

func updateOfDeleted(sc *scene) {
	a, b := both(sc, "items", row("x", "v", "one"))
	a.tap.offline()
	seq := a.update("items", "x", "SET w = :w", "", values(":w", "late"))
	b.remove("items", "x", "", values())
	b.settle()
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "x", nil)
	a.recorded(seq)
	sc.oneWith("items", "x")
}

// lock sets the lock's record to a holder.
func (sc *scene) lock(match, holder string, fence int64) {
	sc.Helper()
	sc.foreign(intent.Call{Op: store.OpPut, Table: simLocks, Item: attr.Item{
		"lockKey": attr.S("match:" + match), "holder": attr.S(holder), "expiresAt": attr.Int(sc.clock().Now().UnixMilli() + 60_000),
		"fence": attr.Int(fence), "rvn": attr.S(holder), "ttlMs": attr.Int(10_000),
	}})
}

const underFence = "attribute_not_exists(#f) OR #f <= :f"

// state writes the state of a match under a fence, as its holder does.
func (p *player) state(match string, upto int, fence int64) uint64 {
	p.sc.Helper()
	return p.put("matches", row(match, "upto", upto, "_f", fence), underFence, values("#f", "_f", ":f", fence))
}

func fencedOffRecreates(sc *scene) {
	a, b := sc.node("A"), sc.node("B")
	sc.lock("m", "A", 5)
	a.state("m", 1, 5)
	a.settle()
	sc.oneWith("matches", "m")
	a.tap.offline()
	a.state("m", 2, 5)
	sc.lock("m", "B", 6)
	b.state("m", 3, 6)
	b.settle()
	sc.foreignDelete("matches", "m") // as its TTL would
	sc.round()
	a.tap.online()
	a.settle()
	sc.cloudHas("matches", "m", nil)
}

func twoPuts(sc *scene, old bool) {
	var item attr.Item
	if old {
		item = row("k", "x", 0, "y", 0)
	}
	a, b := both(sc, "items", item)
	a.tap.offline()
	b.tap.offline()
	one, two := row("k", "x", 1, "y", 2), row("k", "x", 3, "z", 4)
	a.put("items", one, "", values())
	b.put("items", two, "", values())
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "k", one)
	b.tap.online()
	b.settle()
	sc.cloudHas("items", "k", two)
	sc.oneWith("items", "k")
}

func tailOfRejected(sc *scene) {
	a, b := both(sc, "items", row("s", "version", 1, "score", 0))
	a.tap.offline()
	e5 := a.update("items", "s", "SET score = :ten", "version = :one", values(":ten", 10, ":one", 1))
	e6 := a.must(func(tx *store.Tx) error {
		it, err := tx.Get("items", pk("s"))
		if err != nil {
			return err
		}
		it["note"] = attr.S("computed")
		_, err = tx.Put(store.PutItem{Table: "items", Item: it})
		return err
	})
	b.update("items", "s", "SET version = :two", "", values(":two", 2))
	b.settle()
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "s", row("s", "version", 2, "score", 0))
	if one, two := a.recorded(e5), a.recorded(e6); one.ID != two.ID {
		sc.Errorf("the rejected write and its tail are in two records: %v and %v", one, two)
	}
	sc.oneWith("items", "s")
}

func stateOvertakesEvent(sc *scene) {
	a := sc.node("A")
	sc.lock("m", "A", 5)
	a.tap.with(func(t *tap) { t.between = func(c *intent.Call) {} })
	a.tap.offline()
	a.must(func(tx *store.Tx) error {
		event := attr.Item{"pk": attr.S("m"), "sk": attr.S("wicket"), "_f": attr.Int(5)}
		if _, err := tx.Put(store.PutItem{Table: "events", Item: event, Condition: ifAbsent}); err != nil {
			return err
		}
		_, err := tx.Put(store.PutItem{Table: "matches", Item: row("m", "upto", 1, "_f", 5)})
		return err
	})
	early := false
	a.tap.with(func(t *tap) {
		t.between = func(c *intent.Call) {
			wicket := attr.Item{"pk": attr.S("m"), "sk": attr.S("wicket")}
			if c.Table == "matches" && sc.image("events", wicket) == nil {
				early = true
			}
		}
	})
	a.tap.loseAnswers(3)
	a.tap.online()
	a.settle()
	if early {
		sc.Error("the state was sent before its event was settled")
	}
	sc.cloudHas("matches", "m", row("m", "upto", 1, "_f", 5))
}

// The holder queues an event, takes its lock again, and continues from a view with the event.
func newerFenceOvertakesEvent(sc *scene) {
	a := sc.node("A")
	sc.lock("m", "A", 5)
	a.state("m", 1, 5)
	a.settle()
	a.tap.with(func(t *tap) { t.shut = "events" })
	a.put("events", attr.Item{"pk": attr.S("m"), "sk": attr.S("wicket"), "_f": attr.Int(5)}, ifAbsent, values())
	sc.lock("m", "A", 6)
	a.state("m", 2, 6)
	a.tries()
	sc.cloudHas("matches", "m", row("m", "upto", 1, "_f", 5))
	a.tap.with(func(t *tap) { t.shut = "" })
	a.settle()
	sc.cloudHas("matches", "m", row("m", "upto", 2, "_f", 6))
}

func retriedByOperator(sc *scene) {
	a, _ := both(sc, "items", row("x", "s", 0))
	a.tap.offline()
	e5 := a.update("items", "x", "SET a = :one", "s = :zero", values(":one", 1, ":zero", 0))
	a.update("items", "x", "SET b = :two", "", values(":two", 2))
	sc.foreignUpdate("items", "x", "SET s = :one", values(":one", 1))
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "x", row("x", "s", 1, "b", 2))
	c := a.recorded(e5)
	sc.oneWith("items", "x")
	if _, err := a.Conflicts().Retry(context.Background(), c.ID); err == nil {
		sc.Error("a retry with a failing condition was accepted")
	}
	sc.foreignUpdate("items", "x", "SET s = :zero", values(":zero", 0))
	sc.oneWith("items", "x")
	if _, err := a.Conflicts().Retry(context.Background(), c.ID); err != nil {
		sc.Fatal(err)
	}
	a.settle()
	sc.cloudHas("items", "x", row("x", "s", 0, "a", 1, "b", 2))
	sc.oneWith("items", "x")
}

func restoredFile(sc *scene) {
	a, _ := both(sc, "items", row("x", "v", 0))
	old := a.snapshot()
	for i := range 5 {
		a.update("items", "x", "SET v = :v", "", values(":v", i+1))
		a.update("counters", "c", "ADD n :one", "", values(":one", 1))
	}
	a.settle()
	a.restore(old)
	for range 3 {
		a.update("counters", "c", "ADD n :one", "", values(":one", 1))
	}
	a.update("items", "y", "SET v = :v", "", values(":v", 7))
	a.settle()
	sc.cloudHas("counters", "c", row("c", "n", 8))
	sc.cloudHas("items", "y", row("y", "v", 7))
	sc.cloudHas("items", "x", row("x", "v", 5))
	sc.oneWith("counters", "c")
	sc.oneWith("items", "x")
}

func foreignPutAfterAdd(sc *scene) {
	a, _ := both(sc, "counters", row("c", "n", 1))
	a.tap.cutOff()
	seq := a.update("counters", "c", "ADD n :one", "", values(":one", 1))
	for {
		if n, _ := sc.image("counters", pk("c"))["n"].Int(); n == 2 {
			break
		}
		sc.pass(100 * time.Millisecond)
	}
	sc.foreignPut("counters", row("c", "n", 100))
	a.tap.online()
	a.settle()
	sc.cloudHas("counters", "c", row("c", "n", 100))
	a.recorded(seq)
	sc.oneWith("counters", "c")
}

func foreignPutAfterDelete(sc *scene) {
	a, _ := both(sc, "items", row("x", "v", 1))
	a.tap.loseAnswers(1)
	a.remove("items", "x", "", values())
	for sc.image("items", pk("x")) != nil {
		sc.pass(100 * time.Millisecond)
	}
	sc.foreignPut("items", row("x", "v", "again"))
	a.settle()
	sc.cloudHas("items", "x", row("x", "v", "again"))
	sc.oneWith("items", "x")
}

func fencedOffHolder(sc *scene) {
	a, b := sc.node("A"), sc.node("B")
	sc.lock("m", "A", 5)
	a.state("m", 1, 5)
	a.settle()
	sc.oneWith("matches", "m")
	a.tap.offline()
	seq := a.state("m", 2, 5)
	sc.lock("m", "B", 6)
	b.state("m", 3, 6)
	b.settle()
	a.tap.online()
	a.settle()
	sc.cloudHas("matches", "m", row("m", "upto", 3, "_f", 6))
	a.recorded(seq)
	sc.oneWith("matches", "m")
}

func fencedOffFirstImage(sc *scene) {
	a, b := sc.node("A"), sc.node("B")
	sc.lock("m", "A", 5)
	a.tap.offline()
	seq := a.state("m", 1, 5)
	sc.lock("m", "B", 6)
	b.state("m", 9, 6)
	b.settle()
	sc.foreignDelete("matches", "m") // the match has ended
	a.tap.online()
	a.settle()
	sc.cloudHas("matches", "m", nil)
	a.recorded(seq)
	sc.oneWith("matches", "m")
}

func oneClaim(sc *scene) {
	a, b := sc.node("A"), sc.node("B")
	a.tap.offline()
	claim := func(p *player, fence int64) uint64 {
		event := attr.Item{"pk": attr.S("m"), "sk": attr.S("wicket"), "by": attr.S(p.name), "_f": attr.Int(fence)}
		return p.put("events", event, ifAbsent, values())
	}
	sc.lock("m", "A", 5)
	first := claim(a, 5)
	sc.lock("m", "B", 6)
	second := claim(b, 6)
	b.settle()
	a.tap.online()
	a.settle()
	applied := 0
	for p, seq := range map[*player]uint64{a: first, b: second} {
		proof, err := p.ProofOf(context.Background(), seq)
		must(sc, err)
		if proof == replica.ProofApplied {
			applied++
		} else if proof != replica.ProofRefused {
			sc.Errorf("%s: proof %d", p.name, proof)
		}
	}
	if applied != 1 {
		sc.Errorf("%d nodes may report the wicket", applied)
	}
}
