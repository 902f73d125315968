package push

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// killer is a Sender whose process dies at its n-th push, before the push leaves or after it has arrived. What remains of
// the process is a copy of the store's file at that moment.
type killer struct {
	r     *rig
	after bool

	mu    sync.Mutex
	left  int
	image string // path of the copy; "" while alive
}

// Send implements Sender.
func (k *killer) Send(ctx context.Context, p apns.Push) apns.Result {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.image != "" {
		return apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer, Maybe: true, Err: context.Canceled}
	}
	if k.left--; k.left > 0 {
		return k.r.out.Send(ctx, p)
	}
	if k.after {
		k.r.out.Send(ctx, p)
	}
	k.image = filepath.Join(k.r.t.TempDir(), "store.db")
	file, err := os.ReadFile(k.r.s.Path())
	if err == nil {
		err = os.WriteFile(k.image, file, 0o600)
	}
	if err != nil {
		k.r.t.Error(err)
	}
	k.r.kill()
	return apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer, Maybe: true, Err: context.Canceled}
}

// mortal runs a coordinator that dies with its n-th push.
func (r *rig) mortal(n int, after bool) *killer {
	r.t.Helper()
	k := &killer{r: r, left: n, after: after}
	r.run(k)
	return k
}

// rise opens the store that a dead process left; it returns false if the process is still alive.
func (r *rig) rise(k *killer) bool {
	r.t.Helper()
	k.mu.Lock()
	image := k.image
	k.mu.Unlock()
	if image == "" {
		return false
	}
	r.halt()
	r.open(image)
	return true
}

// TestCrashBetweenClaimAndSend never sends an alert twice: one whose push had not left is lost, and the next push carries
// the state.
func TestCrashBetweenClaimAndSend(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("arrived %v", after), func(t *testing.T) {
			r := newRig(t)
			r.ready(r.out)
			r.halt()
			k := r.mortal(2, after) // the first is the current display
			r.pass(2 * time.Second)
			r.out.take()
			r.score("7", 2, "WICKET!")
			r.settle()
			if !r.rise(k) {
				t.Fatal("the process did not die")
			}
			r.pass(10 * time.Second)
			r.run(r.out)
			r.pass(time.Hour)
			alerts, last := 0, 0
			for _, p := range r.out.take() {
				last = p.Runs
				if p.Alert != "" {
					alerts++
				}
			}
			if want := map[bool]int{false: 0, true: 1}[after]; alerts != want || last != 2 {
				t.Errorf("%d alerts, want %d; shows %d runs", alerts, want, last)
			}
		})
	}
}

// TestDownBetweenTickAndRead sends the alert of a tick during a stop after the start, once.
func TestDownBetweenTickAndRead(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.halt()
	r.score("7", 2, "WICKET!")
	r.pass(30 * time.Second)
	r.run(r.out)
	r.pass(2 * time.Second)
	if p := r.one(); p.Alert != "WICKET!" || p.Runs != 2 {
		t.Errorf("%+v", p)
	}
	r.halt()
	r.run(r.out)
	r.pass(2 * time.Second)
	if p := r.one(); p.Alert != "" {
		t.Errorf("again: %+v", p)
	}
}

// TestLateAlert sends the state, but no alert for an event older than alertLife, which is no longer news.
func TestLateAlert(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.halt()
	r.score("7", 2, "WICKET!")
	r.pass(alertLife)
	r.run(r.out)
	r.pass(2 * time.Second)
	if p := r.one(); p.Alert != "" || p.Runs != 2 {
		t.Errorf("%+v", p)
	}
}

// TestStartIsNotSentTwice records a start before it is sent, so that a crash at that push does not cause a second start.
func TestStartIsNotSentTwice(t *testing.T) {
	r := newRig(t)
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.follow("7", "ada")
	k := r.mortal(1, true)
	r.settle()
	if !r.rise(k) {
		t.Fatal("it lives")
	}
	r.run(r.out)
	r.pass(startGap - 2*time.Second)
	if p := r.one(); p.Event != "start" {
		t.Errorf("%+v", p)
	}
}

// TestFullDisk sends no alert that cannot be recorded as sent, and sends it when there is room again.
func TestFullDisk(t *testing.T) {
	r := newRig(t)
	r.s = storetest.OpenWith(t, filepath.Join(t.TempDir(), "small.db"),
		store.Options{NoSync: true, Now: r.clk.Now, MaxSize: 2 << 20}, tables.All()...)
	t.Cleanup(r.halt)
	r.ready(r.out)
	r.halt()
	r.out.take()
	r.score("7", 2, "WICKET!")
	junk := 0
	for size := 300_000; size > 100; size /= 2 {
		for {
			err := r.s.Update(r.ctx, func(tx *store.Tx) error {
				_, err := tx.Put(store.PutItem{Table: tables.PushState, Item: attr.Item{
					"stateKey": attr.S(fmt.Sprint("junk ", junk)), "state": attr.S(strings.Repeat("x", size)),
				}})
				return err
			})
			if fault.Is(err, fault.Full) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			junk++
		}
	}
	r.run(r.out)
	r.pass(10 * time.Second)
	r.none("with a full disk")
	r.do(func(tx *store.Tx) error {
		for i := range junk {
			if _, err := tx.Delete(store.DeleteItem{Table: tables.PushState, Key: stateKey(fmt.Sprint("junk ", i))}); err != nil {
				return err
			}
		}
		return nil
	})
	r.pass(3 * time.Second)
	if p := r.one(); p.Alert != "WICKET!" {
		t.Errorf("%+v", p)
	}
}

// TestCrashes plays a match with processes that die again and again. Run one seed with -run 'TestCrashes/14'.
func TestCrashes(t *testing.T) {
	seeds := uint64(16)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			crashes(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

func crashes(t *testing.T, rng *rand.Rand) {
	r := newRig(t)
	r.fixture("7")
	r.live("7")
	r.score("7", 0, "")
	users := []string{"ada", "bob", "cyd"}
	for _, u := range users {
		r.follow("7", u)
		r.activate("7", u, u+" 0")
	}
	k := r.mortal(1+rng.IntN(36), rng.IntN(2) == 0)
	runs, lives, alerts := 0, 1, 0
	for i := range 60 {
		text := ""
		if rng.IntN(4) == 0 {
			text = fmt.Sprintf("alert %d", i)
			alerts++
		}
		runs++
		r.score("7", runs, text)
		r.pass(time.Duration(rng.IntN(8000)) * time.Millisecond)
		if rng.IntN(20) == 0 {
			u := users[rng.IntN(len(users))]
			r.activate("7", u, fmt.Sprintf("%s %d", u, i))
		}
		if r.rise(k) {
			lives++
			k = r.mortal(1+rng.IntN(36), rng.IntN(2) == 0)
		}
	}
	if r.rise(k) {
		lives++
	}
	r.halt()
	r.run(r.out)
	r.active("7", cricket.ActiveLive, cricket.PhaseCompleted, r.clk.Now())
	r.pass(time.Hour)
	all := r.out.take()
	judge(t, all)
	for _, u := range users {
		// A crash loses only the alert whose push it precedes.
		if n := alertsTo(all, token(u)); n < alerts-(lives-1) {
			t.Errorf("%s got %d of %d alerts, with %d crashes", u, n, alerts, lives-1)
		}
		if s := r.session("7", u); s.Status != phone.SessionEnded || s.UpdateToken != "" {
			t.Errorf("%s: %+v", u, s)
		}
		if last := lastOf(all, token(u)); last.Event != "end" || last.Runs != runs {
			t.Errorf("%s: the last push is %s with %d runs, want the end with %d", u, last.Event, last.Runs, runs)
		}
	}
	if lives < 3 {
		t.Errorf("only %d processes", lives)
	}
}

// judge checks what must hold for all pushes of a run.
func judge(t *testing.T, all []sent) {
	t.Helper()
	stamps, ended, times := map[string]int64{}, map[string]bool{}, map[string]time.Time{}
	seen := map[string]bool{}
	for _, p := range all {
		if p.Event == "start" {
			continue
		}
		if p.Stamp <= stamps[p.Token] {
			t.Errorf("timestamp %d after %d", p.Stamp, stamps[p.Token])
		}
		if !times[p.Token].IsZero() && p.At.Sub(times[p.Token]) < spacing {
			t.Errorf("only %v after the previous push", p.At.Sub(times[p.Token]))
		}
		if ended[p.Token] {
			t.Errorf("a push after the end: %s", describe([]sent{p}))
		}
		if key := p.Token + p.Alert; p.Alert != "" && seen[key] {
			t.Errorf("alert %q twice", p.Alert)
		}
		if len(p.Payload) > payload.MaxPush {
			t.Errorf("%d bytes", len(p.Payload))
		}
		stamps[p.Token], times[p.Token], seen[p.Token+p.Alert] = p.Stamp, p.At, true
		ended[p.Token] = ended[p.Token] || p.Event == "end"
	}
}

// alertsTo counts the alerts to the tokens that begin like tok.
func alertsTo(all []sent, tok string) (n int) {
	prefix := strings.TrimRight(tok, "0")
	for _, p := range all {
		if strings.HasPrefix(p.Token, prefix) && p.Alert != "" && p.Event != "start" {
			n++
		}
	}
	return n
}

// lastOf returns the last push to the tokens that begin like tok.
func lastOf(all []sent, tok string) (last sent) {
	prefix := strings.TrimRight(tok, "0")
	for _, p := range all {
		if strings.HasPrefix(p.Token, prefix) && p.Event != "start" {
			last = p
		}
	}
	return last
}
