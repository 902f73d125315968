package scorekeeper

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// rig is a service on a store whose clock stands still.
type rig struct {
	*Service
	t     *testing.T
	store *store.Store
	now   time.Time
}

const tableName = "scorekeeper-test"

func newRig(t *testing.T) *rig {
	t.Helper()
	words, err := NewDictionary("")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Service: &Service{Handle: Rows(tableName), Words: words}, t: t, now: time.Date(2026, 2, 2, 10, 30, 0, 0, time.UTC)}
	r.store = storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"),
		store.Options{NoSync: true, Now: func() time.Time { return r.now }}, Table(tableName))
	return r
}

// update changes the store, and passes the new journal records to the cache.
func (r *rig) update(do func(tx *store.Tx) error) error {
	r.t.Helper()
	var from uint64
	err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
		from = tx.Seq()
		return do(tx)
	})
	if err := r.store.View(r.t.Context(), func(tx *store.Tx) error {
		records, err := tx.Journal(from, 1000)
		r.DropChangedAnswers(records)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	return err
}

func (r *rig) games(tx *store.Tx, user string) ([]Game, error) {
	p := r.plan(tx)
	return p.games(user), p.Err()
}

func (r *rig) game(tx *store.Tx, user, date string) (Game, error) {
	p := r.plan(tx)
	return p.game(user, date), p.Err()
}

func (r *rig) must(do func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.update(do); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) answerIs(date, word string) {
	r.t.Helper()
	r.must(func(tx *store.Tx) error {
		_, err := r.SetAnswer(tx, NewAnswer{Date: date, Word: word})
		return err
	})
}

// guess plays a word, and moves the clock on by a minute.
func (r *rig) guess(user, date, word, key string) (v View, err error) {
	r.t.Helper()
	g := Guess{User: user, Date: date, Word: word, Key: key}
	if err := r.CheckGuess(&g); err != nil {
		return v, err
	}
	err = r.update(func(tx *store.Tx) (err error) {
		v, err = r.Guess(tx, g)
		return err
	})
	r.now = r.now.Add(time.Minute)
	return v, err
}

func (r *rig) plays(user, date string, words ...string) (v View) {
	r.t.Helper()
	for _, w := range words {
		var err error
		if v, err = r.guess(user, date, w, ""); err != nil {
			r.t.Fatalf("%s guesses %s: %v", user, w, err)
		}
	}
	return v
}

func read[T any](r *rig, do func(tx *store.Tx) (T, error)) T {
	r.t.Helper()
	v, err := tryRead(r, do)
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

func tryRead[T any](r *rig, do func(tx *store.Tx) (T, error)) (v T, err error) {
	err = r.store.View(r.t.Context(), func(tx *store.Tx) (err error) {
		v, err = do(tx)
		return err
	})
	return v, err
}
