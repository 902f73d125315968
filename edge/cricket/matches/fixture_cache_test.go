package matches_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func cached(t *testing.T, s *cricket.Snapshot, now time.Time) matches.CachedFixture {
	t.Helper()
	f, ok := matches.NewCachedFixture(s, now)
	if !ok {
		t.Fatal("nothing to keep")
	}
	return f
}

func TestFixtureCacheLife(t *testing.T) {
	now := time.Date(2026, 10, 9, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		status cricket.Status
		starts time.Duration
		want   time.Duration
	}{
		{"1st Innings", -time.Hour, 10 * time.Second},
		{"Lunch", -time.Hour, 10 * time.Second},
		{"Stump Day 2", -30 * time.Hour, 10 * time.Second},
		{"NS", time.Hour, 15 * time.Minute},
		{"NS", 24 * time.Hour, 15 * time.Minute},
		{"NS", 25 * time.Hour, 6 * time.Hour},
		{"Finished", -4 * time.Hour, 15 * time.Minute},
		{"Finished", -100 * time.Hour, 6 * time.Hour},
		{"an unknown status", 48 * time.Hour, 6 * time.Hour},
	} {
		s := snap("1", tt.status, now.Add(tt.starts))
		s.Raw = []byte(`{}`)
		if got := cached(t, s, now).TTL - now.Unix(); got != int64(tt.want/time.Second) {
			t.Errorf("%s, %s from its start: %d s, want %s", tt.status, tt.starts, got, tt.want)
		}
	}
	if _, ok := matches.NewCachedFixture(snap("1", "NS", now), now); ok {
		t.Error("a snapshot without its raw text was kept")
	}
}

// letters returns random letters, of which compression saves less than half.
func letters(random *rand.ChaCha8, n int) string {
	text := make([]byte, n)
	_, _ = random.Read(text)
	for i, b := range text {
		text[i] = 'a' + b%26
	}
	return string(text)
}

// A reply is read back unchanged, whether it is stored plain or compressed. One that is too big is not stored, and the older
// one is deleted.
func TestFixtureCacheSizes(t *testing.T) {
	r := newRig(t)
	var cache matches.FixtureCache
	random := rand.NewChaCha8([32]byte{3, 4})
	for _, tt := range []struct {
		size int
		kind attr.Kind
	}{{0, attr.KindS}, {64<<10 - 20, attr.KindS}, {64 << 10, attr.KindB}, {400 << 10, attr.KindB}, {800 << 10, 0}} {
		s := snap("1", "2nd Innings", r.now)
		s.Raw = fmt.Appendf(nil, `{"id":1,"note":%q}`, letters(random, tt.size))
		f := cached(t, s, r.now)
		err := r.Update(t.Context(), func(tx *store.Tx) error {
			err := cache.Put(tx, &f, matches.Owner{Fence: 3})
			if errors.Is(err, matches.ErrTooBig) {
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r.do(func(tx *store.Tx) error {
			item, err := tx.Get(tables.FixtureCache, attr.Item{"matchId": attr.S("1")})
			if err != nil {
				return err
			}
			if got := item["raw"].Kind(); got != tt.kind {
				t.Errorf("%d bytes are stored as %v", tt.size, got)
			}
			got, found, err := cache.Get(tx, "1")
			if found != (tt.kind != 0) || found && cmp.Diff(f, got) != "" {
				t.Errorf("%d bytes are read back: %t, %d bytes", tt.size, found, len(got.Raw))
			}
			return err
		})
	}
}

// Expired replies are not returned, although their rows exist. A fenced-off holder cannot write.
func TestFixtureCacheReads(t *testing.T) {
	r := newRig(t)
	var cache matches.FixtureCache
	put := func(id string, league int64, status cricket.Status, fence int64) error {
		s := snap(id, status, r.now.Add(time.Duration(len(status))*time.Second)) // the longer the status, the later the start
		s.League.ID, s.Raw = league, []byte(`{"id":`+id+`}`)
		f := cached(t, s, r.now)
		return r.Update(t.Context(), func(tx *store.Tx) error { return cache.Put(tx, &f, matches.Owner{Fence: fence}) })
	}
	for i, status := range []cricket.Status{"1st Innings", "NS", "NS"} {
		if err := put(fmt.Sprint(i+1), int64(3+i/2), status, 5); err != nil {
			t.Fatal(err)
		}
	}
	if err := put("2", 9, "NS", 4); err == nil {
		t.Error("a fenced-off holder wrote")
	}
	given := func(all []matches.CachedFixture) (out string) {
		for i := range all {
			out += all[i].MatchID + " "
		}
		return out
	}
	look := func(wantAll, wantLeague string, wantOne bool) {
		t.Helper()
		r.do(func(tx *store.Tx) error {
			all, err1 := cache.All(tx)
			batch, err2 := cache.Batch(tx, "1", "2", "3", "4")
			league, err3 := cache.ByLeague(tx, "3")
			_, one, err4 := cache.Get(tx, "1")
			got := fmt.Sprint(given(all), "|", given(batch), "|", given(league), one)
			if want := fmt.Sprint(wantAll, "|", wantAll, "|", wantLeague, wantOne); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			return errors.Join(err1, err2, err3, err4)
		})
	}
	look("1 2 3 ", "2 1 ", true)
	r.now = r.now.Add(10 * time.Second)
	look("2 3 ", "2 ", false)
	if err := put("1", 3, "1st Innings", 6); err != nil {
		t.Fatal(err)
	}
	look("1 2 3 ", "2 1 ", true)
	r.do(func(tx *store.Tx) error {
		stats, err := cache.Stats(tx)
		if stats.Entries != 3 || stats.Fresh != 3 || stats.Bytes != 3*int64(len(`{"id":1}`)) {
			t.Errorf("stats %+v", stats)
		}
		return err
	})
	for _, c := range []struct {
		id   string
		want int
	}{{"1", 1}, {"1", 0}, {"", 2}, {"", 0}} {
		r.do(func(tx *store.Tx) error {
			n, err := cache.Clear(tx, c.id)
			if n != c.want {
				t.Errorf("clear %q: %d rows, want %d", c.id, n, c.want)
			}
			return err
		})
	}
}
