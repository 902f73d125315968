package threefc

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/table"
)

const (
	tableName = "3fc-test"
	boss      = "boss@example.org"
)

func codeOf(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Code
	}
	return ""
}

// rig is a service over a store, with a clock that the test moves.
type rig struct {
	*Service
	t     testing.TB
	store *store.Store
	now   time.Time
	txns  uint64 // number of transactions reported as refused
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, now: time.Date(2026, 7, 4, 10, 0, 0, 0, time.UTC), Service: &Service{Handle: Rows(tableName)}}
	r.store = storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: func() time.Time { return r.now }}, Table(tableName))
	return r
}

// try plans and commits a change, as a request does.
func (r *rig) try(do func(tx *store.Tx) (Change, error)) (c Change, err error) {
	err = r.store.Update(r.t.Context(), func(tx *store.Tx) (err error) {
		if c, err = do(tx); err != nil || len(c.Writes) == 0 {
			return err
		}
		return tx.TransactWrite(store.TransactWrite{Items: c.Writes})
	})
	return c, err
}

func (r *rig) must(do func(tx *store.Tx) (Change, error)) Change {
	r.t.Helper()
	c, err := r.try(do)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func view[T any](r *rig, do func(tx *store.Tx) (T, error)) (v T) {
	r.t.Helper()
	if err := r.store.View(r.t.Context(), func(tx *store.Tx) (err error) {
		v, err = do(tx)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	return v
}

// read lists the records of a partition whose sort keys have a prefix.
func read[T any, P stamped[T]](r *rig, tx *store.Tx, pk, prefix string) ([]T, error) {
	p := r.plan(tx)
	return list[T, P](p, pk, prefix), p.Err()
}

func (r *rig) rostered(tx *store.Tx, game string) (map[string]Rostered, error) {
	p := r.plan(tx)
	return p.rosteredPlayers(game), p.Err()
}

// row returns a row as stored, or nil if there is none.
func (r *rig) row(k attr.Item) attr.Item {
	r.t.Helper()
	return view(r, func(tx *store.Tx) (attr.Item, error) { return tx.Get(tableName, k) })
}

// GamesOf lists the games of a session.
func (r *rig) GamesOf(tx *store.Tx, session string) ([]Board, error) {
	all, _, err := r.Games(tx, Scope{"session", session}, ListPage{Limit: MaxGames})
	return all, err
}

func (r *rig) board(game string) *Board {
	r.t.Helper()
	return view(r, func(tx *store.Tx) (*Board, error) { return r.Board(tx, game) })
}

// export processes the journal records after a sequence number, as the consumer does, and returns the last number.
func (r *rig) export(after uint64) uint64 {
	r.t.Helper()
	for {
		records, err := r.store.Journal(r.t.Context(), after, 100)
		if err != nil {
			r.t.Fatal(err)
		}
		if len(records) == 0 {
			return after
		}
		after = records[len(records)-1].Seq
		more := true
		for more { // slices
			err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
				err := r.ConsumeRecords(tx, records)
				if more = errors.Is(err, table.ErrMore); more {
					return nil
				}
				return err
			})
			if err != nil {
				r.t.Fatal(err)
			}
		}
		r.derive(records)
	}
}

// derive derives the rows of the games that records concern, as the node does; for nil, of all games.
func (r *rig) derive(records []store.Record) (left []derived.Row) {
	r.t.Helper()
	var games []string
	if err := r.store.View(r.t.Context(), func(tx *store.Tx) (err error) {
		games, err = r.DerivedRule().Units(tx, records)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	for _, game := range games {
		out, err := r.DerivedRule().SettleUnit(r.t.Context(), r.store, game)
		if err != nil {
			r.t.Fatal(err)
		}
		left = append(left, out.Others...)
	}
	return left
}

// league creates a league with a season, a session and a game g, with players r1, r2, b1, b2, y1 and y2 in its teams.
func (r *rig) league() {
	r.t.Helper()
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateLeague(tx, boss, League{LeagueID: "l", Name: "League"})
	})
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateSeason(tx, Season{LeagueID: "l", SeasonID: "s", Name: "Season"})
	})
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateSession(tx, Session{SeasonID: "s", SessionID: "d", SessionDate: "2026-07-04"})
	})
	r.game("g")
}

func (r *rig) game(id string) {
	r.t.Helper()
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateGame(tx, Game{SessionID: "d", GameID: id, GameStartTs: "2026-07-04T10:00:00.000Z"})
	})
	for _, team := range TeamIDs() {
		for _, n := range []string{"1", "2"} {
			player := team[:1] + n
			r.must(func(tx *store.Tx) (Change, error) {
				if _, err := r.Player(tx, player); err == nil {
					return Change{}, nil
				}
				return r.AddPlayer(tx, id, player, "Player "+player, &IDs{})
			})
			r.must(func(tx *store.Tx) (Change, error) { return r.Assign(tx, id, player, team, false) })
		}
	}
}

func (r *rig) start(game string, n int) {
	r.t.Helper()
	r.must(func(tx *store.Tx) (Change, error) { return r.StartThird(tx, game, n, r.now) })
}

func (r *rig) end(game string, n int) {
	r.t.Helper()
	r.must(func(tx *store.Tx) (Change, error) { return r.FinishThird(tx, game, n, r.now) })
}

// scored returns a goal by the first player of one team against another, or an own goal if both are the same.
func scored(by, against string) Scored {
	s := Scored{ScoringTeamID: &by, ConcedingTeamID: against, ScorerPlayerID: by[:1] + "1", AssistPlayerIDs: []string{}}
	if by == against {
		s.ScoringTeamID, s.OwnGoal = nil, true
	}
	return s
}

func (r *rig) goal(game, by, against string) string {
	r.t.Helper()
	return r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateGoal(tx, game, NewGoal{Scored: scored(by, against), At: r.now, Actor: boss}, &IDs{})
	}).IDs["event"]
}

// play plays a game to the end, with goals in each third.
func (r *rig) play(game string, goals ...[2]string) {
	r.t.Helper()
	for n := 1; n <= thirds; n++ {
		r.start(game, n)
		for _, g := range goals {
			r.now = r.now.Add(time.Minute)
			r.goal(game, g[0], g[1])
		}
		r.now = r.now.Add(20 * time.Minute)
		r.end(game, n)
	}
	r.export(0)
	r.must(func(tx *store.Tx) (Change, error) { return r.FinishGame(tx, game) })
}
