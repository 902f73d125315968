//go:build long && linux

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/internal/testrig/faultproxy"
	"github.com/touchline/touchline/internal/testrig/wait"
)

const (
	fleetTTL = 8 * time.Second // of a lease
	// fleetWait is the time for a takeover besides the TTL: a match must be silent for half a minute before another node takes it; the
	// rest is discovering the nodes and polling the feed.
	fleetWait = 40 * time.Second
	// fleetSlack is for busy machines. The time it took is logged.
	fleetSlack = 90 * time.Second

	fleetSpeed = 12 // of the matches: a ball in a bit more than three seconds, so that each has a poll of its own
)

// Three nodes, each with its own connection to one cloud, share the matches of one feed and send to the phones of one push service. One
// is paused for longer than its leases last, one is cut off from the cloud, one is killed and restarted, and one has half-open
// connections. Each match is taken over in time, the fence refuses what the paused node writes late, no phone receives anything twice,
// no key event is missing, and in the end all nodes have what the cloud has.
func TestFleetOfProcesses(t *testing.T) {
	f := newFleet(t)
	// Two matches last long enough for everything that happens, the other two finish.
	for _, rec := range []struct {
		id   string
		left int // balls
	}{{"1192877", 70}, {"1208093", 18}, {"1195619", 70}, {"1226827", 16}} {
		f.play(rec.id, rec.left)
	}
	f.start("a")
	f.until("the first node has found all matches", fleetSlack, func() bool { return f.shares()[nil] == 0 })
	f.start("b")
	f.start("c")
	t.Cleanup(func() { keepLogs(t, f.nodes) })
	f.shared()
	f.audience()
	f.control("play")
	f.say("the matches are played")
	pause(t.Context(), 6*time.Second) // some balls in which nothing goes wrong

	f.pauseOneAndCutOneOff()
	f.killOneAndHalfOpenAnother()

	f.until("two matches have their results", 2*fleetSlack, func() bool { return f.over() >= 2 })
	f.control("pause")
	f.say("the matches are held")
	f.settle()
	f.judge()
	for _, n := range f.nodes {
		n.stop()
	}
}

// pauseOneAndCutOneOff drops one node's answers, so that it continues while its leases last, and then pauses it. Another is cut off
// from the cloud but not from the push service. The third takes over all matches.
func (f *fleet) pauseOneAndCutOneOff() {
	f.t.Helper()
	paused := f.busiest(nil)
	for {
		paused.door.Set(faultproxy.Conditions{Fault: faultproxy.HalfOpen})
		if f.startsToWait(paused) {
			break
		}
		paused.door.Set(faultproxy.Conditions{}) // nothing happened in its matches while it held them: try again
		f.drained(paused)
		f.until("it holds something again", fleetSlack, func() bool { return f.shares()[paused] > 0 })
	}
	f.troubled(paused)
	paused.signal(syscall.SIGSTOP)
	paused.door.Set(faultproxy.Conditions{})
	cut := f.busiest(paused)
	f.troubled(cut)
	cut.door.Set(faultproxy.Conditions{Fault: faultproxy.Partition})
	began := time.Now()

	f.until("the leases of the one that is cut off have run out", fleetTTL+fleetSlack, func() bool { return !f.works(cut) })
	f.say("%s, cut off, worked for %v more", cut.name, time.Since(began).Round(100*time.Millisecond))
	left := f.nodes[slices.IndexFunc(f.nodes, func(n *cloudNode) bool { return n != paused && n != cut })]
	for _, m := range f.matches {
		f.until("match "+m.id+" is told by the node that is left", fleetTTL+fleetWait+fleetSlack, func() bool {
			r := f.row(m.id)
			return (r.over || f.byID(r.node) == left) && r.at.After(began)
		})
		f.say("match %s (fence %d) was taken over by %s after %v", m.id, f.row(m.id).fence, left.name, time.Since(began).Round(100*time.Millisecond))
	}

	cut.door.Set(faultproxy.Conditions{})
	paused.signal(syscall.SIGCONT)
	for _, n := range []*cloudNode{paused, cut} {
		f.recovered(n)
	}
	if n := paused.deposed(); n == 0 {
		f.t.Errorf("%s had written nothing under a fence that was over", paused.name)
	} else {
		f.say("%d writes that %s had made under fences that were over were not taken", n, paused.name)
	}
}

// killOneAndHalfOpenAnother kills and restarts the node with the most matches, while another has half-open connections.
func (f *fleet) killOneAndHalfOpenAnother() {
	f.t.Helper()
	victim := f.busiest(nil)
	other := f.busiest(victim)
	f.troubled(victim)
	f.troubled(other)
	began := time.Now()
	victim.kill()
	other.door.Set(faultproxy.Conditions{Fault: faultproxy.HalfOpen})
	pause(f.t.Context(), 2*time.Second)
	victim.start()
	pause(f.t.Context(), fleetTTL)
	other.door.Set(faultproxy.Conditions{})
	for _, m := range f.matches {
		f.until("match "+m.id+" is told after the kill", fleetTTL+fleetWait+fleetSlack, func() bool {
			r := f.row(m.id)
			return r.at.After(began.Add(time.Second)) || r.over
		})
	}
	f.say("all matches were told again %v after %s was killed", time.Since(began).Round(100*time.Millisecond), victim.name)
	f.recovered(victim)
	f.recovered(other)
}

// startsToWait waits until writes of a node wait for the cloud, or none of its leases is left, and reports whether it was the first.
func (f *fleet) startsToWait(n *cloudNode) (waits bool) {
	f.t.Helper()
	f.until("writes of "+n.name+" wait, or it holds nothing any more", fleetTTL+fleetSlack, func() bool {
		s, ok := f.status(n)
		waits = ok && s.Waiting > 0 && s.works()
		return waits || ok && !s.works()
	})
	return waits
}

// works reports whether a node holds a lease that has not expired.
func (f *fleet) works(n *cloudNode) bool {
	s, ok := f.status(n)
	return !ok || s.works()
}

// drained waits until the cloud has everything that a node has.
func (f *fleet) drained(n *cloudNode) {
	f.t.Helper()
	f.until(n.name+" has nothing that waits", fleetSlack, func() bool {
		s, ok := f.status(n)
		return ok && s.State == "in_step"
	})
}

// deposed counts the writes of a node that were given up because another node took its lock: those that the cloud refused, and those
// that the node itself dropped when it learned of it.
func (n *cloudNode) deposed() (count int) {
	var page struct {
		Items []struct {
			Code   string `json:"code"`
			Writes int    `json:"writes"`
		} `json:"items"`
	}
	if !n.ask(&page, "conflicts", "list", "--state", "all", "--limit", "100") {
		n.t.Fatalf("%s does not tell its conflicts", n.name)
	}
	for _, c := range page.Items {
		if c.Code == "deposed" {
			count += c.Writes
		}
	}
	return count
}

// shared waits until every node has a match and none has too many.
func (f *fleet) shared() {
	f.t.Helper()
	began := time.Now()
	f.until("the matches are shared", 2*fleetWait+fleetSlack, func() bool {
		shares := f.shares()
		if len(shares) != len(f.nodes) {
			return false
		}
		for n, count := range shares {
			if n == nil || count > (len(f.matches)+len(f.nodes)-1)/len(f.nodes) {
				return false
			}
		}
		return true
	})
	f.say("the matches are shared after %v", time.Since(began).Round(100*time.Millisecond))
}

// shares counts the matches of each node by their rows in the cloud; nil: no node's.
func (f *fleet) shares() map[*cloudNode]int {
	out := map[*cloudNode]int{}
	for _, m := range f.matches {
		out[f.byID(f.row(m.id).node)]++
	}
	return out
}

// busiest returns the node with the most unfinished matches, except not.
func (f *fleet) busiest(not *cloudNode) *cloudNode {
	count := map[*cloudNode]int{}
	for _, m := range f.matches {
		if r := f.row(m.id); !r.over {
			count[f.byID(r.node)]++
		}
	}
	best := slices.MaxFunc(f.nodes, func(a, b *cloudNode) int {
		rank := func(n *cloudNode) int {
			if n == not {
				return -1
			}
			return count[n]
		}
		return rank(a) - rank(b)
	})
	return best
}

func (f *fleet) byID(id string) *cloudNode {
	for n, of := range f.ids {
		if of == id {
			return n
		}
	}
	return nil
}

// settle waits until everything is sent, and every node has what the cloud has.
func (f *fleet) settle() {
	f.t.Helper()
	f.until("nothing is held until it is sure", fleetSlack, func() bool {
		return !slices.ContainsFunc(f.matches, func(m fleetMatch) bool { return f.row(m.id).pending })
	})
	for _, n := range f.nodes {
		f.drained(n)
	}
	for _, n := range f.nodes {
		var differs string
		began := time.Now()
		equal := func() bool { differs = f.differs(n); return differs == "" }
		wait.Within(f.t, fleetSlack, n.name+" is equal to the cloud", equal, func() any { return differs })
		f.say("%s is equal to the cloud after %v", n.name, time.Since(began).Round(100*time.Millisecond))
	}
}

// until waits for a condition of all nodes.
func (f *fleet) until(what string, limit time.Duration, so func() bool) {
	f.t.Helper()
	met := func() bool {
		f.lookAtLocks()
		return so()
	}
	wait.Within(f.t, limit, what, met, func() any {
		var rows []string
		for _, m := range f.matches {
			rows = append(rows, fmt.Sprintf("%s: %+v", m.id, f.row(m.id)))
		}
		return "the rows in the cloud: " + strings.Join(rows, "; ")
	})
}

// play puts a recorded match on the feed with a number of balls left, and holds it there.
func (f *fleet) play(recording string, left int) {
	f.t.Helper()
	p, err := f.replays.Start(replay.StartReplay{RecordingID: recording, Speed: fleetSpeed})
	if err == nil {
		_, err = f.replays.Control(p.ID, replay.Control{Action: "seek", Position: p.Balls - left})
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.matches = append(f.matches, fleetMatch{id: p.MatchID, recording: recording})
	f.one(p.ID, "pause")
}

// control plays or holds all matches.
func (f *fleet) control(action string) {
	f.t.Helper()
	for _, m := range f.matches {
		f.one(m.id, action)
	}
}

func (f *fleet) one(id, action string) {
	f.t.Helper()
	if _, err := f.replays.Control(id, replay.Control{Action: action}); err != nil {
		f.t.Fatal(err)
	}
}

// over counts the matches with a result.
func (f *fleet) over() (count int) {
	for _, m := range f.matches {
		if f.row(m.id).over {
			count++
		}
	}
	return count
}

// lookAtLocks checks that the fences of all locks only grow, and that each belongs to one holder.
func (f *fleet) lookAtLocks() {
	f.t.Helper()
	for _, it := range f.items("cricket-locks") {
		key := text(it["lockKey"])
		fence, err := strconv.ParseInt(text(it["fence"]), 10, 64)
		if err != nil {
			f.t.Errorf("lock %s has the fence %q", key, text(it["fence"]))
		}
		now, was := fleetLock{fence, text(it["holder"])}, f.locks[key]
		if now.fence < was.fence || now.fence == was.fence && now.holder != was.holder {
			f.t.Errorf("lock %s: %+v after %+v", key, now, was)
		}
		f.locks[key] = now
	}
}
