package check_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func TestCheckFile(t *testing.T) {
	path := storetest.Written(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var looked []string
	problems, err := store.CheckFile(t.Context(), path, func(where string) { looked = append(looked, where) })
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	for _, want := range []string{"pages", "table balls", "table balls, index wicket-index", "table matches", "journal"} {
		if !slices.Contains(looked, want) {
			t.Errorf("did not look at %s: %q", want, looked)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("a check has changed the file, %v", err)
	}
	_, err = store.CheckFile(t.Context(), path+".none", nil)
	storetest.WantFault(t, err, fault.NotFound, "cannot_read")
	s := storetest.OpenWith(t, path, storetest.Quick())
	_, err = store.CheckFile(t.Context(), path, nil)
	storetest.WantFault(t, err, fault.Locked, "store_locked")
	looked = nil
	problems, err = s.CheckCopy(t.Context(), func(where string) { looked = append(looked, where) })
	if err != nil || len(problems) > 0 || len(looked) < 6 {
		t.Errorf("%v, %v, looked at %q", problems, err, looked)
	}
	storetest.WantFiles(t, filepath.Dir(path), filepath.Base(path))
}

func TestCheckFileFindsWhatIsWrong(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, path string)
		want   string
	}{
		{"a page", breakRowsOf, "file: page "},
		{"an index entry is gone", func(t *testing.T, path string) {
			inBolt(t, path, func(tx *bolt.Tx) error {
				b := filled(tx, 'i')
				k, _ := b.Cursor().First()
				return b.Delete(k)
			})
		}, "has no entry"},
		{"a bucket is gone", func(t *testing.T, path string) {
			inBolt(t, path, func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("journal")) })
		}, "file: bucket journal is missing"},
		{"another program's", func(t *testing.T, path string) {
			inBolt(t, path, func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("meta")) })
		}, "file: it is not a touchline store"},
		{"empty", func(t *testing.T, path string) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}, "file: it is empty"},
		{"a row", func(t *testing.T, path string) {
			inBolt(t, path, func(tx *bolt.Tx) error {
				b := filled(tx, 't')
				k, _ := b.Cursor().First()
				return b.Put(k, []byte("nonsense"))
			})
		}, "table balls: row"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := storetest.Written(t)
			test.damage(t, path)
			problems, err := store.CheckFile(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(fmt.Sprint(problems), test.want) {
				t.Errorf("got %v, want %s", problems, test.want)
			}
		})
	}
}

// filled returns the first non-empty bucket of a kind.
func filled(tx *bolt.Tx, kind byte) (found *bolt.Bucket) {
	_ = tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		if k, _ := b.Cursor().First(); found == nil && len(name) == 5 && name[0] == kind && k != nil {
			found = b
		}
		return nil
	})
	return found
}

func breakRowsOf(t *testing.T, path string) { storetest.BreakRows(t, path) }

func inBolt(t *testing.T, path string, fn func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
}

// Whatever noise overwrites a file, a check returns a result. In one of three cases the noise hits data in use, and the check finds it:
// 68 of 200 times, give or take 7.
func TestCheckFileStandsNoise(t *testing.T) {
	path := storetest.Written(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	found := 0
	rounds := 200
	if testing.Short() {
		rounds = 50
	}
	name := filepath.Join(t.TempDir(), "noise.db")
	for range rounds {
		raw := slices.Clone(good)
		for range 1 + random.IntN(8) {
			raw[random.IntN(len(raw))] ^= byte(1 + random.IntN(255))
		}
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		problems, err := store.CheckFile(t.Context(), name, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(problems) > 0 {
			found++
		}
	}
	if found < rounds/8 {
		t.Errorf("seed %d: %d of %d noisy files were found", seed, found, rounds)
	}
}
