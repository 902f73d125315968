package simulation_test

import (
	"context"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// made makes a node create an item without learning that it did, and then cuts it off.
func (p *player) made(table string, item attr.Item) (seq uint64) {
	p.sc.Helper()
	p.tap.cutOff()
	seq = p.put(table, item, ifAbsent, values())
	for p.sc.image(table, pk(item["pk"].Str())) == nil {
		p.sc.pass(100 * time.Millisecond)
	}
	return seq
}

// wasApplied requires a write to be proved, and in no record.
func (p *player) wasApplied(seq uint64) {
	p.sc.Helper()
	p.unrecorded(seq)
	if proof, err := p.ProofOf(context.Background(), seq); err != nil || proof != replica.ProofApplied {
		p.sc.Errorf("%s: proof %d, %v", p.name, proof, err)
	}
}

// createCameBack: a create is applied and not answered, and a writer who ignores tombstones deletes its item; other lives of the key may
// come and go. The repeat creates nothing.
func createCameBack(sc *scene, lives int) {
	a := sc.node("A")
	sc.round()
	seq := a.made("items", row("f", "v", "follow"))
	sc.foreignDelete("items", "f")
	for range lives {
		sc.foreignPut("items", row("f", "v", "another"))
		sc.foreignDelete("items", "f")
	}
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "f", nil)
	a.wasApplied(seq)
	sc.oneWith("items", "f")
}

// upsertCameBack: what was counted in a life that is over is not counted again in the next one.
func upsertCameBack(sc *scene) {
	a, b := both(sc, "counters", nil)
	sc.round()
	a.tap.cutOff()
	seq := a.update("counters", "c", "ADD n :one", "", values(":one", 1))
	for sc.image("counters", pk("c")) == nil {
		sc.pass(100 * time.Millisecond)
	}
	sc.foreignDelete("counters", "c")
	sc.round()
	b.update("counters", "c", "ADD n :ten", "", values(":ten", 10))
	b.settle()
	a.tap.online()
	a.settle()
	sc.cloudHas("counters", "c", row("c", "n", 10))
	a.wasApplied(seq)
	sc.oneWith("counters", "c")
}

// copyOfCreate: a copy of a create arrives after its repeat was answered and its item was deleted.
func copyOfCreate(sc *scene) {
	a := sc.node("A")
	sc.round()
	a.tap.holdWrites(1)
	a.put("items", row("f", "v", "follow"), ifAbsent, values())
	a.settle()
	sc.cloudHas("items", "f", row("f", "v", "follow"))
	sc.foreignDelete("items", "f")
	a.tap.arrive()
	sc.cloudHas("items", "f", nil)
	sc.oneWith("items", "f")
}

// createMadeAgain: an item that a node has created without learning that it did is removed and created again by another node. The create
// is not refused: it was applied or, if nothing can tell, its outcome is unknown.
func createMadeAgain(sc *scene, plain bool) {
	a, b := both(sc, "items", nil)
	sc.round()
	seq := a.made("items", row("f", "v", "first"))
	for i := range 4 {
		a.update("items", "f", "SET w = :w", "v = :first", values(":w", i, ":first", "first"))
	}
	sc.foreignDelete("items", "f")
	sc.round()
	b.put("items", row("f", "v", "second"), ifAbsent, values())
	b.settle()
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "f", row("f", "v", "second"))
	if !plain {
		a.wasApplied(seq)
	} else if c := a.recorded(seq); c.Kind != conflict.KindUnknown {
		sc.Errorf("it is recorded as %s, %s", c.Kind, c.Code)
	}
	sc.oneWith("items", "f")
}

// deleteBehindCreate: a create whose answer was lost keeps nobody from deleting its item.
func deleteBehindCreate(sc *scene) {
	a, b := both(sc, "items", nil)
	sc.round()
	a.tap.holdWrites(1)
	a.put("items", row("f", "v", "follow"), ifAbsent, values())
	a.settle()
	a.tap.loseAnswers(2)
	a.put("items", row("g", "v", "follow"), ifAbsent, values())
	a.settle()
	sc.oneWith("items", "f")
	sc.oneWith("items", "g")
	a.remove("items", "f", "", values())
	b.remove("items", "g", "", values())
	sc.pass(30 * time.Second)
	a.tap.arrive()
	sc.cloudHas("items", "f", nil)
	sc.cloudHas("items", "g", nil)
	sc.oneWith("items", "f")
	sc.oneWith("items", "g")
}

// longUnanswered: what may prove a create is kept for 30 days. After 29 days it is not sent again.
func longUnanswered(sc *scene) {
	a := sc.node("A")
	sc.round()
	proved := a.made("items", row("f", "v", "proved"))
	a.tap.with(func(t *tap) { t.away, t.deaf = false, true })
	seq := a.put("items", row("g", "v", "nobody knows"), ifAbsent, values())
	a.tries()
	a.tap.offline()
	sc.foreignDelete("items", "f")
	a.end()
	sc.pass(29*24*time.Hour + time.Hour)
	a.start()
	a.settle()
	sc.cloudHas("items", "f", nil)
	sc.cloudHas("items", "g", nil)
	a.wasApplied(proved)
	if c := a.recorded(seq); c.Kind != conflict.KindUnknown {
		sc.Errorf("it is recorded as %s, %s", c.Kind, c.Code)
	}
	sc.oneWith("items", "g")
}
