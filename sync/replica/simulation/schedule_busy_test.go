package simulation_test

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

func sidecarWrittenBack(sc *scene) {
	a, _ := both(sc, "items", row("x", "v", 1))
	read := sc.image("items", pk("x"))
	a.update("items", "x", "SET v = :v", "", values(":v", 2))
	a.settle()
	back := without(read)
	back["v"] = attr.S("foreign")
	sc.foreignPut("items", back)
	sc.round()
	a.update("items", "x", "SET w = :w", "", values(":w", 3))
	a.settle()
	sc.cloudHas("items", "x", row("x", "v", "foreign", "w", 3))
	sc.oneWith("items", "x")

	a.remove("items", "x", "", values())
	a.settle()
	sc.foreignPut("items", back)
	sc.oneWith("items", "x")
}

func sixtyCreates(sc *scene) {
	a := sc.node("A")
	a.tap.loseAnswers(2)
	var keys []string
	for i := range 60 {
		keys = append(keys, fmt.Sprintf("k%02d", i))
	}
	a.transact(keys, 1)
	a.settle()
	for _, key := range keys {
		sc.cloudHas("pairs", key, row(key, "v", 1))
	}
	if len(a.records()) > 0 {
		sc.Errorf("recorded: %v", a.records())
	}
}

func plainCreate(sc *scene) {
	a := sc.node("A")
	a.tap.loseAnswers(2)
	a.put("items", row("x", "v", 1), ifAbsent, values())
	a.settle()
	sc.cloudHas("items", "x", row("x", "v", 1))
	if len(a.records()) > 0 {
		sc.Errorf("recorded: %v", a.records())
	}
}

// othersGoOn makes a write that is held up, and requires that other writes, some of them in its queue, still arrive.
func (p *player) othersGoOn(write func(tx *store.Tx) error) {
	p.sc.Helper()
	var keys []string
	for i := range 12 {
		keys = append(keys, fmt.Sprintf("cool%d", i))
	}
	p.must(func(tx *store.Tx) error {
		if err := write(tx); err != nil {
			return err
		}
		for _, key := range keys {
			if _, err := tx.Put(store.PutItem{Table: "items", Item: row(key, "v", 1)}); err != nil {
				return err
			}
		}
		return nil
	})
	p.sc.pass(time.Minute)
	for _, key := range keys {
		p.sc.cloudHas("items", key, row(key, "v", 1))
	}
}

func hotItem(sc *scene) {
	a := sc.node("A")
	a.put("items", row("hot", "v", 1), "", values())
	a.settle()
	a.tap.with(func(t *tap) {
		t.between = func(c *intent.Call) {
			if c.Op == store.OpPut && c.Item["pk"].Str() == "hot" {
				sc.foreignUpdate("items", "hot", "ADD #n :one", values("#n", intent.AttrCount, ":one", 1))
			}
		}
	})
	a.othersGoOn(func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "items", Item: row("hot", "v", 2)})
		return err
	})
	a.tap.with(func(t *tap) { t.between = nil })
	a.settle()
	sc.cloudHas("items", "hot", row("hot", "v", 2))
}

func heldDelete(sc *scene) {
	a := sc.node("A")
	a.tap.loseAnswers(1)
	a.put("items", row("held", "v", 1), ifAbsent, values())
	a.settle()
	if sc.image("items", pk("held"))[intent.AttrHold].IsZero() {
		sc.foreignUpdate("items", "held", "SET #u = :u", values("#u", intent.AttrHold, ":u", sc.clock().Now().Add(10*time.Minute).UnixMilli()))
	}
	sc.round()
	a.othersGoOn(func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: "items", Key: pk("held")})
		return err
	})
	if sc.image("items", pk("held")) == nil {
		sc.Error("it was deleted while a copy of its create could arrive")
	}
	a.put("items", row("held", "v", 2), "", values())
	a.showsHold("held", 1)
	a.settle()
	sc.cloudHas("items", "held", row("held", "v", 2))
}

// showsHold requires the status to show which delete is held, until when, why, and how many writes wait behind it.
func (p *player) showsHold(key string, behind int) {
	p.sc.Helper()
	p.sc.pass(time.Second)
	st, err := p.Status(context.Background())
	must(p.sc, err)
	for _, l := range st.Workers {
		for _, parked := range l.Parked {
			if parked.Why != intent.WhyHold {
				continue
			}
			if wait := parked.Until.Sub(st.At); wait <= 0 || wait > 15*time.Minute {
				p.sc.Errorf("the delete is held for %s", wait)
			}
			of, err := attr.ParseJSON(parked.Key)
			must(p.sc, err)
			if !same(of, pk(key)) || parked.Behind != behind {
				p.sc.Errorf("%s is held with %d writes behind it", parked.Key, parked.Behind)
			}
			return
		}
	}
	p.sc.Errorf("the status shows no hold: %+v", st.Workers)
}
