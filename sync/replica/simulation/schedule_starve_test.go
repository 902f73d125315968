package simulation_test

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

const (
	busyEvery = time.Second / 7        // each of two nodes updates the item
	slowWay   = 300 * time.Millisecond // of a Put to the cloud: its base has changed when it arrives
	putWithin = 10 * time.Second
)

// busyItem is an item that B and C update seven times a second each, and that A puts over a slow connection.
type busyItem struct {
	sc      *scene
	a, b, c *player
	n       int
}

func newBusyItem(sc *scene) *busyItem {
	a, b := both(sc, "items", row("hot", "old", 1))
	busy := &busyItem{sc: sc, a: a, b: b, c: sc.node("C")}
	sc.oneWith("items", "hot")
	a.tap.with(func(t *tap) {
		t.between = func(c *intent.Call) {
			if c.Op == store.OpPut {
				_ = sc.clock().Wait(context.Background(), sc.clock().Now().Add(slowWay), clock.NewSignal())
			}
		}
	})
	return busy
}

// goOn makes B and C update the item for a while, or until done.
func (s *busyItem) goOn(d time.Duration, done func() bool) (took time.Duration) {
	s.sc.Helper()
	for took < d && !done() {
		s.n++
		s.b.update("items", "hot", "SET b = :n", "", values(":n", s.n))
		s.c.update("items", "hot", "SET c = :n", "", values(":n", s.n))
		s.sc.pass(busyEvery)
		took += busyEvery
	}
	return took
}

// never makes goOn run for its full time.
func never() bool { return false }

// settled makes all nodes send what they have, and requires that nothing is recorded.
func (s *busyItem) settled() {
	s.sc.Helper()
	for _, p := range s.sc.nodes {
		if p.stop == nil {
			continue
		}
		p.settle()
		if len(p.records()) > 0 {
			s.sc.Errorf("%s recorded: %v", p.name, p.records())
		}
	}
}

// A Put of an item that others update all the time is sent and remains a Put: what was there before is gone.
func starvedPut(sc *scene) {
	s := newBusyItem(sc)
	s.goOn(2*time.Second, never)
	s.a.put("items", row("hot", "v", 2), "", values())
	if took := s.goOn(time.Minute, func() bool { return s.a.queued() == 0 }); took > putWithin {
		sc.Errorf("the Put was sent after %s", took)
	}
	s.goOn(time.Second, never)
	s.settled()
	sc.cloudHas("items", "hot", row("hot", "v", 2, "b", s.n, "c", s.n))
	sc.oneWith("items", "hot")
}

// A node asks for its turn and dies: the others continue when the turn is over, and the Put is sent when its node is back.
func deadInItsTurn(sc *scene) {
	s := newBusyItem(sc)
	s.goOn(2*time.Second, never)
	s.a.put("items", row("hot", "v", 2), "", values())
	asked := func() bool { return !sc.image("items", pk("hot"))[intent.AttrTurn].IsZero() }
	if s.goOn(putWithin, asked); !asked() {
		sc.Fatal("it does not ask for its turn")
	}
	s.a.tap.offline()
	s.a.end()
	s.n++
	s.b.update("items", "hot", "SET late = :n", "", values(":n", s.n))
	arrived := func() bool { return !sc.image("items", pk("hot"))["late"].IsZero() }
	if took := s.goOn(time.Minute, arrived); took > putWithin {
		sc.Errorf("the others waited for %s", took)
	}
	s.a.start()
	s.a.settle()
	s.goOn(time.Second, never)
	s.settled()
	sc.cloudHas("items", "hot", row("hot", "v", 2, "b", s.n, "c", s.n))
	sc.oneWith("items", "hot")
}

// A Put overtaken by one write is sent a second time, based on that write, and does not rest.
func overtakenPut(sc *scene) {
	a := sc.node("A")
	a.put("items", row("hot", "old", 1), "", values())
	a.settle()
	puts := 0
	a.tap.with(func(t *tap) {
		t.between = func(c *intent.Call) {
			if c.Op != store.OpPut {
				return
			}
			if puts++; puts == 1 {
				sc.foreignUpdate("items", "hot", "ADD #n :one", values("#n", intent.AttrCount, ":one", 1))
			}
		}
	})
	a.put("items", row("hot", "v", 2), "", values())
	sc.pass(time.Second)
	if n := a.queued(); n > 0 || puts != 2 {
		sc.Errorf("%d waits, sent %d times", n, puts)
	}
	sc.cloudHas("items", "hot", row("hot", "v", 2))
}
