package threefc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/table"
)

// names reads the names of all leagues, page by page.
func (r *rig) names(limit int, user string) (all string, pages int) {
	r.t.Helper()
	page := ListPage{Limit: limit}
	for more := true; more; pages++ {
		view(r, func(tx *store.Tx) (_ bool, err error) {
			var leagues []League
			var next string
			if user == "" {
				leagues, next, err = r.PublicLeagues(tx, page)
			} else {
				var own []OwnLeague
				own, next, err = r.LeaguesOf(tx, user, page)
				for i := range own {
					leagues = append(leagues, own[i].League)
				}
			}
			for i := range leagues {
				all += leagues[i].Name
			}
			page.After, more = next, next != ""
			return more, err
		})
	}
	return all, pages
}

// The directory follows what is written, page by page, and what was undone is not in it.
func TestDirectory(t *testing.T) {
	r := newRig(t)
	create := func(id, name, user string) {
		r.must(func(tx *store.Tx) (Change, error) { return r.CreateLeague(tx, user, League{LeagueID: id, Name: name}) })
	}
	want := func(when, all, own string) {
		t.Helper()
		for limit := 1; limit <= len(all)+1; limit++ {
			if got, pages := r.names(limit, ""); got != all || pages != max(1, (len(all)+limit-1)/limit) {
				t.Errorf("%s, %d a page: %q on %d pages, want %q", when, limit, got, pages, all)
			}
			if got, _ := r.names(limit, boss); got != own {
				t.Errorf("%s, %d a page: own %q, want %q", when, limit, got, own)
			}
		}
	}
	want("at first", "", "")
	for i, name := range strings.Split("CABED", "") {
		create(fmt.Sprint(i), name, []string{boss, "other"}[i%2])
	}
	create("5", "B", boss) // two of a name
	want("after creations", "ABBCDE", "BBCD")
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteLeague(tx, boss, "0") })
	want("after a deletion", "ABBDE", "BBD")
	undone := r.store.Update(t.Context(), func(tx *store.Tx) error {
		c, err := r.CreateLeague(tx, boss, League{LeagueID: "6", Name: "X"})
		if err == nil {
			err = tx.TransactWrite(store.TransactWrite{Items: c.Writes})
		}
		all, _, _ := r.PublicLeagues(tx, ListPage{Limit: 10})
		if !slices.ContainsFunc(all, func(l League) bool { return l.Name == "X" }) {
			t.Errorf("the transaction's own league is missing in %v, %v", all, err)
		}
		return fmt.Errorf("undone: %w", err)
	})
	if undone == nil {
		t.Error("committed")
	}
	create("7", "F", boss) // uses the sequences of what was undone
	want("after what was undone", "ABBDEF", "BBDF")
	if _, err := r.store.BeginIncarnation(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	create("8", "G", boss)
	want("in another incarnation", "ABBDEFG", "BBDFG")
	for range mostBehind + 1 {
		r.must(func(tx *store.Tx) (Change, error) {
			return Change{Writes: []store.WriteItem{r.Put(key("OTHER#", "x"), table.If{})}}, nil
		})
	}
	want("far behind", "ABBDEFG", "BBDFG")
}

// A user may have so many leagues; those of others, and deleted ones, do not count. What was undone does not count either.
func TestMostLeagues(t *testing.T) {
	r := newRig(t)
	create := func(i int) error {
		_, err := r.try(func(tx *store.Tx) (Change, error) { return r.CreateLeague(tx, boss, League{LeagueID: fmt.Sprint(i)}) })
		return err
	}
	r.must(func(tx *store.Tx) (Change, error) { return r.CreateLeague(tx, "other", League{LeagueID: "theirs"}) })
	for i := range MaxLeagues {
		if err := create(i); err != nil {
			t.Fatal(i, err)
		}
	}
	r.names(100, boss) // reads the directory
	if err := create(MaxLeagues); codeOf(err) != "too_many_leagues" {
		t.Error(err)
	}
	undone := r.store.Update(t.Context(), func(tx *store.Tx) error {
		c, err := r.DeleteLeague(tx, boss, "2")
		if err == nil {
			err = tx.TransactWrite(store.TransactWrite{Items: c.Writes})
		}
		_, more := r.CreateLeague(tx, boss, League{LeagueID: "2b"})
		return fmt.Errorf("undone: %w", errors.Join(err, more))
	})
	if codeOf(undone) != "" {
		t.Error(undone)
	}
	if err := create(MaxLeagues); codeOf(err) != "too_many_leagues" {
		t.Error(err)
	}
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteLeague(tx, boss, "3") })
	if err := create(MaxLeagues); err != nil {
		t.Error(err)
	}
}

// Of creations at once, in one batch of the writer or in several, as many pass as are allowed. It makes no difference whether the leagues were
// read before.
func TestMostLeaguesAtOnce(t *testing.T) {
	const left, others = 3, 20
	r := newRig(t)
	create := func(id string) error {
		return r.store.Update(t.Context(), func(tx *store.Tx) error {
			c, err := r.CreateLeague(tx, boss, League{LeagueID: id})
			if err != nil {
				return err
			}
			return tx.TransactWrite(store.TransactWrite{Items: c.Writes})
		})
	}
	for i := range MaxLeagues - left {
		if err := create(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, reads := range []bool{false, true} {
		if reads {
			r.names(10, boss)
			r.must(func(tx *store.Tx) (Change, error) { return r.DeleteLeague(tx, boss, "0") })
			r.must(func(tx *store.Tx) (Change, error) { return r.DeleteLeague(tx, boss, "1") })
		}
		errs := make(chan error, others)
		for i := range others {
			go func() { errs <- create(fmt.Sprint(reads, i)) }()
		}
		passed := 0
		for range others {
			switch err := <-errs; {
			case err == nil:
				passed++
			case codeOf(err) != "too_many_leagues":
				t.Error(err)
			}
		}
		if want := map[bool]int{false: left, true: 2}[reads]; passed != want {
			t.Errorf("read before: %t: %d passed, want %d", reads, passed, want)
		}
	}
}

// A league that does not exist, a list's page and the caller's leagues cost as little among many leagues as among few.
func TestCostAmongManyLeagues(t *testing.T) {
	r := newRig(t)
	for i := range 300 {
		r.must(func(tx *store.Tx) (Change, error) {
			return r.CreateLeague(tx, fmt.Sprint("boss", i/MaxLeagues), League{LeagueID: fmt.Sprint(i), Name: "L"})
		})
	}
	r.must(func(tx *store.Tx) (Change, error) { return r.CreateLeague(tx, "other", League{LeagueID: "theirs"}) })
	r.names(100, "") // reads the directory
	if err := r.store.ViewShared(t.Context(), func(tx *store.Tx) error {
		_, absent := r.LeagueNamed(tx, "nowhere")
		own, _, err := r.LeaguesOf(tx, "other", ListPage{Limit: 1000})
		if codeOf(absent) != codeOf(notFound("", "")) || err != nil || len(own) != 1 {
			t.Errorf("%v, %v, %v", absent, own, err)
		}
		_, _, err = r.PublicLeagues(tx, ListPage{Limit: 100})
		if spent := tx.Work().UnitsSpent(); spent > 20_000 {
			t.Errorf("%d units of work", spent)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A league, a season, a session and a game have at most so many of what lists of them show.
func TestMostOfALeague(t *testing.T) {
	r := newRig(t)
	r.must(func(tx *store.Tx) (Change, error) { return r.CreateLeague(tx, boss, League{LeagueID: "l"}) })
	for _, part := range []struct {
		what   string
		most   int
		create func(tx *store.Tx, id string) (Change, error)
	}{
		{"seasons", MaxSeasons, func(tx *store.Tx, id string) (Change, error) {
			return r.CreateSeason(tx, Season{LeagueID: "l", SeasonID: id})
		}},
		{"sessions", MaxSessions, func(tx *store.Tx, id string) (Change, error) {
			return r.CreateSession(tx, Session{SeasonID: "0", SessionID: id, SessionDate: "2026-07-04"})
		}},
		{"games", MaxGames, func(tx *store.Tx, id string) (Change, error) {
			return r.CreateGame(tx, Game{SessionID: "0", GameID: id, GameStartTs: "2026-07-04T10:00:00.000Z"})
		}},
		{"players", MaxPlayers, func(tx *store.Tx, id string) (Change, error) { return r.AddPlayer(tx, "0", id, "Ann", &IDs{}) }},
	} {
		create := func(n int) error {
			_, err := r.try(func(tx *store.Tx) (Change, error) { return part.create(tx, fmt.Sprint(n)) })
			return err
		}
		for n := range part.most {
			if err := create(n); err != nil {
				t.Fatal(part.what, n, err)
			}
		}
		if err := create(part.most); codeOf(err) != "too_many_"+part.what {
			t.Errorf("%s: %v", part.what, err)
		}
	}
}
