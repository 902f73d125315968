package pickem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// killVariable tells a child process which store to score an event in, and where it is to die: {"path", "event", "point", "nth"}.
const killVariable = "TOUCHLINE_TEST_SCORE"

type dies struct {
	Path, Event string
	Point       failpoint.Point
	Nth         int64 // 0: it lives, and tells how often it came by each point
}

func TestMain(m *testing.M) {
	if text := os.Getenv(killVariable); text != "" {
		if err := scoreAndDie([]byte(text)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func scoreAndDie(how []byte) error {
	var d dies
	if err := json.Unmarshal(how, &d); err != nil {
		return err
	}
	s, err := store.Open(d.Path, store.Options{})
	if err != nil {
		return err
	}
	hits := map[failpoint.Point]int64{}
	failpoint.Arm(func(p failpoint.Point) error { // one goroutine writes
		if hits[p]++; p == d.Point && hits[p] == d.Nth {
			failpoint.Kill()
		}
		return nil
	})
	service := &Service{Store: s, Table: tableName, Index: "GSI"}
	if _, err := service.Score(context.Background(), d.Event); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(hits)
}

// A process that scores is killed (kill -9) at each failpoint that it comes by, the first, the middle and the last time. The next look
// ends what it began; scored again, and with a corrected result, the rows are those of a recount.
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
	copied := filepath.Join(t.TempDir(), "seed.db")
	if _, err := seed.Store.Backup(t.Context(), copied, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	child := func(d dies) (path string, out []byte, killed bool) {
		d.Path, d.Event = filepath.Join(t.TempDir(), "s.db"), id
		if err := os.WriteFile(d.Path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		how, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), killVariable+"="+string(how))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil && stderr.Len() > 0 {
			t.Fatalf("%s: %v", stderr.Bytes(), err)
		}
		return d.Path, stdout.Bytes(), !cmd.ProcessState.Exited()
	}
	_, out, _ := child(dies{})
	hits := map[failpoint.Point]int64{}
	if err := json.Unmarshal(out, &hits); err != nil || hits[failpoint.TransactDone] < 6 {
		t.Fatalf("%s: %v", out, err)
	}
	for point, n := range hits {
		for _, nth := range []int64{1, (n + 1) / 2, n} {
			path, _, killed := child(dies{Point: point, Nth: nth})
			if !killed {
				t.Errorf("%s, time %d: it lived", point, nth)
				continue
			}
			r := &rig{t: t, now: start}
			r.Service = &Service{Store: storetest.OpenWith(t, path, store.Options{NoSync: true}, Table(tableName, "GSI")), Table: tableName, Index: "GSI"}
			marked := r.item(eventKey(id))["scoring"].Bool()
			if _, err := r.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if state := State(r.item(eventKey(id))["state"].Str()); marked && state != Scored {
				t.Errorf("%s, time %d: it is %s", point, nth, state)
			}
			r.score(id)
			r.results(id, 0, 1)
			r.score(id)
		}
	}
}

// An event that another node has marked to be scored, as after a corrected result, is scored here when its row arrives.
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
	<-first.begun // it has looked, and waits for a minute
	r.must(func(tx *store.Tx) error {
		c, err := r.load(tx, id, everybody)
		if err == nil {
			err = r.mark(tx, &c)
		}
		return err
	})
	records, err := r.Store.Journal(t.Context(), r.Store.Seq()-1, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Take(nil, records); err != nil {
		t.Fatal(err)
	}
	late := first.Now().Add(lockLooks / 2)
	for r.item(eventKey(id))["state"].Str() != string(Scored) {
		if err := first.Wait(ctx, late, changed); err != nil || first.Now().After(late) {
			t.Fatal("it waits for the next look", err)
		}
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
	r.recounted("2024")
}

// waits is a clock that tells when somebody begins to wait.
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
