package threefc

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

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/storetest"
)

// killVariable tells a child process in which store to make a goal, and where it is to die.
const killVariable = "TOUCHLINE_TEST_GOAL"

type dies struct {
	Path  string
	Point failpoint.Point
	Nth   int64 // 0: it lives, and tells how often it came by each point
}

var kickOff = time.Date(2026, 7, 4, 10, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	if text := os.Getenv(killVariable); text != "" {
		if err := goalAndDie([]byte(text)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// goalAndDie makes a goal with a key, and exports what it comes to, as a node does.
func goalAndDie(how []byte) error {
	var d dies
	if err := json.Unmarshal(how, &d); err != nil {
		return err
	}
	s, err := store.Open(d.Path, store.Options{Now: func() time.Time { return kickOff }})
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
	before := s.Seq()
	ctx := context.Background()
	r := &rig{store: s, now: kickOff, Service: &Service{Table: tableName}}
	if _, err := r.keyed(ctx, "k"); err != nil {
		return err
	}
	records, err := s.Journal(ctx, before, 100)
	if err != nil {
		return err
	}
	if err := s.Update(ctx, func(tx *store.Tx) error { return r.Take(tx, records) }); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(hits)
}

// keyed makes a goal with an Idempotency-Key, as a request does.
func (r *rig) keyed(ctx context.Context, once string) (out idempotency.Outcome, err error) {
	scope := "a:POST:/goals"
	err = r.store.Update(ctx, func(tx *store.Tx) (err error) {
		row := &idempotency.Row{Table: tableName, Key: OnceKey(scope, once), Hash: "h", Node: r.store.Node()}
		var seen bool
		if out, seen, err = row.Read(tx); seen || err != nil {
			return err
		}
		c, err := r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: r.now, Actor: boss}, &IDs{Seed: scope + "\n" + once})
		if err != nil {
			return err
		}
		out = idempotency.Outcome{Status: 201, IDs: c.IDs}
		return row.Write(tx, out, c.Writes...)
	})
	return out, err
}

// A node that makes a goal is killed (kill -9) at each failpoint that it comes by, the first, the middle and the last time. Sent again
// with its key it is one goal; the tallies are right after the next start.
func TestGoalSurvivesAKillAtEachFailpoint(t *testing.T) {
	seed := newRig(t)
	seed.league()
	seed.start("g", 1)
	copied := filepath.Join(t.TempDir(), "seed.db")
	if _, err := seed.store.Backup(t.Context(), copied, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	child := func(d dies) (path string, out []byte, killed bool) {
		d.Path = filepath.Join(t.TempDir(), "s.db")
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
	if err := json.Unmarshal(out, &hits); err != nil || hits[failpoint.TransactDone] == 0 {
		t.Fatalf("%s: %v", out, err)
	}
	kept := map[bool]int{}
	for point, n := range hits {
		for _, nth := range []int64{1, (n + 1) / 2, n} {
			path, _, killed := child(dies{Point: point, Nth: nth})
			if !killed {
				t.Errorf("%s, time %d: it lived", point, nth)
				continue
			}
			r := &rig{t: t, now: kickOff.Add(time.Minute), Service: &Service{Table: tableName}}
			r.store = storetest.OpenWith(t, path, store.Options{NoSync: true, Now: func() time.Time { return r.now }}, Table(tableName))
			again, err := r.keyed(t.Context(), "k")
			if err != nil {
				t.Fatal(err)
			}
			kept[again.Repeated]++
			if err := r.store.Update(t.Context(), r.Anew); err != nil {
				t.Fatal(err)
			}
			r.exported(t, "g", 1, 1)
		}
	}
	if kept[true] == 0 || kept[false] == 0 {
		t.Errorf("killed before and after it was kept: %v", kept)
	}
}
