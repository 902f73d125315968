package pickem

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/kill"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(kill.Main(m, scoreAndDie)) }

func scoreAndDie(path, event string, arm func()) error {
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	arm()
	service := &Service{Store: s, Handle: Rows(tableName), Index: "GSI"}
	_, err = service.Score(context.Background(), event)
	return err
}

// A scoring process is killed (kill -9) at each failpoint that it passes: the first, the middle and the last time. The next Maintain completes
// the scoring. After another scoring, and one with a corrected result, the rows match a recount.
func TestScoreSurvivesAKillAtEachFailpoint(t *testing.T) {
	seed := newRig(t)
	var users []string
	for i := range 100 {
		users = append(users, fmt.Sprintf("u%03d", i))
	}
	id, matches := seed.card("2024-03-03", []int{5, 9}, users...)
	for i, u := range users {
		seed.picks(u, id, matches[i%2], 1)
	}
	seed.results(id, 1, 1)
	kill.AtEach(t, seed.Store, id, 6, func(path, when string) {
		r := &rig{t: t, now: start}
		r.Service = &Service{Store: storetest.OpenWith(t, path, store.Options{NoSync: true}, Table(tableName, "GSI")), Handle: Rows(tableName), Index: "GSI"}
		marked := r.item(eventKey(id))["scoring"].Bool()
		if _, err := r.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state := State(r.item(eventKey(id))["state"].Str()); marked && state != Scored {
			t.Errorf("%s: it is %s", when, state)
		}
		r.score(id)
		r.results(id, 0, 1)
		r.score(id)
	})
}

// An event marked for scoring at another node, as after a corrected result, is scored here when its row arrives.
func TestResultFromElsewhereIsScoredAtOnce(t *testing.T) {
	r := newRig(t)
	r.Wake = clock.NewSignal()
	id, matches := r.card("2024-03-03", []int{5}, "sam")
	r.picks("sam", id, matches[0], 1)
	r.results(id, 1)
	changed := clock.NewSignal()
	defer r.Store.Watch(changed)()
	done := make(chan error, 1)
	ctx, end := context.WithCancel(t.Context())
	first := waits{clock.Real(), make(chan struct{}, 1)}
	go func() { done <- r.Run(ctx, first, func(err error) { t.Error(err) }) }()
	<-first.begun // the first Maintain is done, and Run waits a minute
	if err := r.step(t.Context(), id, (*plan).mark); err != nil {
		t.Fatal(err)
	}
	records, err := r.Store.Journal(t.Context(), r.Store.Seq()-1, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.ConsumeRecords(nil, records); err != nil {
		t.Fatal(err)
	}
	late := first.Now().Add(time.Minute / 2)
	for r.item(eventKey(id))["state"].Str() != string(Scored) {
		if err := first.Wait(ctx, late, changed); err != nil || first.Now().After(late) {
			t.Fatal("not scored before the next regular round:", err)
		}
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
	r.recounted("2024")
}

// waits is a clock that signals when a wait begins.
type waits struct {
	clock.Clock
	begun chan struct{}
}

func (w waits) Wait(ctx context.Context, until time.Time, sig *clock.Signal) error {
	select {
	case w.begun <- struct{}{}:
	default:
	}
	return w.Clock.Wait(ctx, until, sig)
}
