package push

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
)

// verdicts holds the cloud's decisions on claims, which the test sets; until then a claim is pending.
type verdicts struct {
	mu  sync.Mutex
	by  map[uint64]replica.Proof
	all *replica.Proof // of every claim
}

func newVerdicts() *verdicts { return &verdicts{by: map[uint64]replica.Proof{}} }

// Proved implements Proofs.
func (v *verdicts) ProofOf(_ context.Context, seq uint64) (replica.Proof, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all != nil {
		return *v.all, nil
	}
	return v.by[seq], nil
}

func (v *verdicts) say(seq uint64, p replica.Proof) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.by[seq] = p
}

// last returns the sequence number of the newest journal record of an event.
func (r *rig) last() (seq uint64) {
	r.t.Helper()
	for after := uint64(0); ; {
		records, err := r.s.Journal(r.ctx, after, 256)
		if err != nil {
			r.t.Fatal(err)
		}
		if len(records) == 0 {
			return seq
		}
		for i := range records {
			if after = records[i].Seq; records[i].Table == tables.Events {
				seq = after
			}
		}
	}
}

func (r *rig) event(id, key string) (e cricket.Event) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		item, err := tx.Get(tables.Events, attr.Item{"matchId": attr.S(id), "eventKey": attr.S(key)})
		if err != nil || item == nil {
			return err
		}
		return attr.Unmarshal(item, &e)
	})
	return e
}

// An alert waits for the proof of its claim; displays and other matches do not, and alerts proved out of order are all sent.
func TestAlertWaitsForItsProof(t *testing.T) {
	r := newRig(t)
	v := newVerdicts()
	r.proofs = v
	r.ready(r.out)
	r.out.take()
	r.score("7", 5, "first")
	first := r.last()
	r.settle()
	if p := r.one(); p.Alert != "" || p.Runs != 5 {
		t.Fatalf("the display %+v", p)
	}
	r.pass(2 * time.Second)
	r.score("7", 6, "second")
	second := r.last()
	r.pass(2 * time.Second)
	r.one()
	v.say(second, replica.ProofApplied)
	r.pass(time.Second)
	if p := r.one(); p.Alert != "second" || p.Runs != 6 {
		t.Fatalf("%+v", p)
	}
	v.say(first, replica.ProofApplied)
	r.pass(2 * time.Second)
	if p := r.one(); p.Alert != "first" || p.Runs != 6 {
		t.Fatalf("%+v", p)
	}
	r.pass(10 * time.Minute)
	r.none("after both")
}

// An alert that another node claimed is not sent here: neither after this node's claim was refused, nor for an event
// adopted from the cloud.
func TestAlertOfAnotherNode(t *testing.T) {
	r := newRig(t)
	v := newVerdicts()
	r.proofs = v
	r.ready(r.out)
	r.out.take()
	r.score("7", 5, "ours, we thought")
	v.say(r.last(), replica.ProofRefused)
	r.pass(3 * time.Second)
	if p := r.one(); p.Alert != "" {
		t.Errorf("%+v", p)
	}
	r.do(func(tx *store.Tx) error {
		item, err := attr.Marshal(cricket.Event{Key: "w:1:9", Type: cricket.EventWicket, Text: "theirs", At: tx.Now(), Alert: true})
		if err != nil {
			return err
		}
		item["matchId"] = attr.S("7")
		key := attr.Item{"matchId": attr.S("7"), "eventKey": attr.S("w:1:9")}
		_, err = tx.Adopt(tables.Events, key, item)
		return err
	})
	r.pass(3 * time.Second)
	r.none("after an event of the cloud")
	if n := r.waitingRows("7"); n != 0 {
		t.Errorf("%d claims wait", n)
	}
}

// A proof that comes too late: nothing is sent, and the event is marked.
func TestProofTooLate(t *testing.T) {
	r := newRig(t)
	v := newVerdicts()
	r.proofs = v
	r.ready(r.out)
	r.score("7", 5, "old")
	key := fmt.Sprintf("w:1:%d", r.n)
	seq := r.last()
	r.pass(alertLife + time.Minute)
	r.out.take()
	if e := r.event("7", key); !e.Alert || e.Dropped != "" {
		t.Errorf("before the proof %+v", e)
	}
	v.say(seq, replica.ProofApplied)
	r.pass(3 * time.Second)
	r.none("after a late proof")
	if e := r.event("7", key); e.Alert || e.Dropped != cricket.StaleRule {
		t.Errorf("after it %+v", e)
	}
	r.pass(3 * time.Second)
	r.none("after its own change of the event")
}

// waitingRows counts the waiting claims in the match's row.
func (r *rig) waitingRows(id string) int {
	r.t.Helper()
	m := newMatch(id)
	r.do(m.readRow)
	return len(m.waiting)
}

// A claim stays pending across restarts, and its alert is sent once.
func TestProofOverRestarts(t *testing.T) {
	r := newRig(t)
	v := newVerdicts()
	r.proofs = v
	r.ready(r.out)
	r.out.take()
	r.score("7", 5, "kept")
	seq := r.last()
	r.score("8", 1, "") // another match's push saves the cursor
	r.pass(2 * time.Second)
	for range 3 {
		r.halt()
		if n := r.waitingRows("7"); n != 1 {
			t.Fatalf("%d claims wait", n)
		}
		r.run(r.out)
		r.pass(2 * time.Second)
	}
	for _, p := range r.out.take() {
		if p.Alert != "" {
			t.Errorf("before the proof %+v", p)
		}
	}
	v.say(seq, replica.ProofApplied)
	r.pass(2 * time.Second)
	times := 0
	count := func() {
		for _, p := range r.out.take() {
			if p.Alert == "kept" {
				times++
			}
		}
	}
	count()
	for range 2 {
		r.halt()
		r.run(r.out)
		r.pass(2 * time.Second)
		count()
	}
	if times != 1 || r.waitingRows("7") != 0 {
		t.Errorf("sent %d times, %d claims wait", times, r.waitingRows("7"))
	}
}

// rights holds the matches of this node, as the test sets them.
type rights struct {
	mu    sync.Mutex
	has   map[string]bool
	free  map[string]bool // may be taken
	asked []string
}

// Has implements Rights.
func (g *rights) Has(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.has[id]
}

// Take implements Rights.
func (g *rights) Take(_ context.Context, id string) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, id)
	g.has[id] = g.free[id]
	return g.free[id], nil
}

// Leave implements Rights.
func (g *rights) Leave(_ context.Context, id string) { g.set(id, false) }

func (g *rights) set(id string, has bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.has[id] = has
}

// Only the holder of a match pushes for it: starts, states and ends. An alert is sent by the node whose claim is proved.
func TestRights(t *testing.T) {
	r := newRig(t)
	g := &rights{has: map[string]bool{}, free: map[string]bool{}}
	v := newVerdicts()
	r.rights, r.proofs = g, v
	r.ready(r.out)
	r.follow("7", "bob") // has no activity yet
	r.score("7", 2, "")
	r.pass(10 * time.Second)
	r.none("without the right")
	r.score("7", 3, "claimed here")
	v.say(r.last(), replica.ProofApplied)
	r.pass(2 * time.Second)
	if p := r.one(); p.Alert != "claimed here" || p.Runs != 3 {
		t.Errorf("%+v", p)
	}
	g.set("7", true)
	r.score("7", 4, "")
	r.pass(2 * time.Second)
	kinds := map[string]int{}
	for _, p := range r.out.take() {
		kinds[p.Event]++
	}
	if kinds["start"] != 1 || kinds["update"] != 1 {
		t.Errorf("with it: %v", kinds)
	}
	g.set("7", false)
	r.score("7", 5, "")
	r.pass(20 * time.Minute)
	if p := r.one(); p.Alert != "claimed here" || p.Token != token("dev bob") { // whose card has not come
		t.Errorf("after the right has passed to another node: %+v", p)
	}
}

// A node that takes over a match sends every phone the current state once, even without news.
func TestRightsTakenOver(t *testing.T) {
	r := newRig(t)
	g := &rights{has: map[string]bool{}, free: map[string]bool{}}
	r.rights = g
	r.ready(r.out)
	r.none("before")
	g.set("7", true)
	r.do(func(tx *store.Tx) error { // any write wakes the coordinator
		_, err := tx.Put(store.PutItem{Table: tables.Display, Item: attr.Item{"cacheKey": attr.S("x")}})
		return err
	})
	r.pass(3 * time.Second)
	if p := r.one(); p.Runs != 1 || p.Event != "update" {
		t.Errorf("%+v", p)
	}
	r.pass(10 * time.Minute)
	r.none("after that")
}

// If a match is no longer polled, its owed ends are sent by the node that takes its lease for that, and then releases it.
func TestRightsToWhatIsLeft(t *testing.T) {
	r := newRig(t)
	g := &rights{has: map[string]bool{"7": true}, free: map[string]bool{}}
	r.rights = g
	r.ready(r.out)
	r.out.take()
	g.set("7", false)
	r.active("7", cricket.ActiveEnded, cricket.PhaseCompleted, r.clk.Now().Add(-16*time.Minute))
	r.pass(2 * time.Minute)
	r.none("while another node has the right")
	g.mu.Lock() // the coordinator may call Take right now
	if n := len(g.asked); n < 3 || n > 6 {
		t.Errorf("called %d times in two minutes", n)
	}
	g.free["7"] = true
	g.mu.Unlock()
	r.pass(2 * time.Minute)
	if p := r.one(); p.Event != "end" {
		t.Errorf("%+v", p)
	}
	if g.Has("7") {
		t.Error("the right was not released")
	}
}
