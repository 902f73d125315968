package threefc

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// adopt sets a row to the cloud's version; nil removes it.
func (r *rig) adopt(k, row attr.Item) {
	r.t.Helper()
	if err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Adopt(tableName, k, row)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
}

// anew replaces the record at a key by one created later.
func (r *rig) anew(k attr.Item) func() {
	return func() {
		row := r.row(k)
		row["createdAt"] = attr.S(stampOf(r.now.Add(time.Hour)))
		r.adopt(k, row)
	}
}

// A write is refused if a row it was decided on has changed at any node in the meantime.
func TestStandsOrFalls(t *testing.T) {
	type plan = func(tx *store.Tx) (Change, error)
	by := Corrector{Actor: boss, Admin: true}
	for name, tt := range map[string]struct {
		over  bool // the game has ended
		mine  func(r *rig) plan
		while func(r *rig) func()
	}{
		"a game with the id of one that was deleted": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) {
					return r.CreateGame(tx, Game{SessionID: "d", GameID: "n", GameStartTs: "2026-07-04T10:00:00.000Z"})
				}
			},
			while: func(r *rig) func() {
				return func() {
					r.game("n")
					r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, "n") })
				}
			},
		},
		"a game of another session": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) { return r.CreateGame(tx, Game{SessionID: "d", GameID: "n"}) }
			},
			while: func(r *rig) func() { return r.anew(sessionMirror("d")) },
		},
		"a player of another game": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) { return r.AddPlayer(tx, "g", "n", "N", &IDs{}) }
			},
			while: func(r *rig) func() { return r.anew(gameKey("g")) },
		},
		"a place in another game": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) { return r.Assign(tx, "g", "r1", "blue", false) }
			},
			while: func(r *rig) func() { return r.anew(gameKey("g")) },
		},
		"no place in another game": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) { return r.Unassign(tx, "g", "r2", false) }
			},
			while: func(r *rig) func() { return r.anew(gameKey("g")) },
		},
		"a team's name in another season": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) { return r.PutSeasonTeam(tx, "s", "red", TeamName{Name: "R"}) }
			},
			while: func(r *rig) func() { return r.anew(seasonMirror("s")) },
		},
		"a team's name in a season that is gone": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) { return r.PutSeasonTeam(tx, "s", "red", TeamName{Name: "R"}) }
			},
			while: func(r *rig) func() { return func() { r.adopt(seasonMirror("s"), nil) } },
		},
		"a goal of another game": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) {
					return r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: r.now, Actor: boss}, &IDs{})
				}
			},
			while: func(r *rig) func() { return r.anew(gameKey("g")) },
		},
		"an edit in a game that has ended": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) {
					return r.UpdateGoal(tx, "g", r.last(tx), Corrector{Actor: boss}, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{})
				}
			},
			while: func(r *rig) func() {
				return func() {
					g := r.board("g").Game
					at := stampOf(r.now)
					g.FinishedAt, g.Result = &at, &Result{}
					row, _ := encode(gameKey("g"), g)
					r.adopt(gameKey("g"), row)
				}
			},
		},
		"an edit of what was edited": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) {
					return r.UpdateGoal(tx, "g", r.last(tx), by, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{})
				}
			},
			while: func(r *rig) func() {
				return func() {
					r.must(func(tx *store.Tx) (Change, error) {
						return r.UpdateGoal(tx, "g", r.last(tx), by, func(s *Scored) { *s = scored("blue", "red") }, &IDs{})
					})
				}
			},
		},
		"a deletion of what was edited": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) { return r.DeleteGoal(tx, "g", r.last(tx), by, &IDs{}) }
			},
			while: func(r *rig) func() {
				return func() {
					r.must(func(tx *store.Tx) (Change, error) {
						return r.UpdateGoal(tx, "g", r.last(tx), by, func(s *Scored) { *s = scored("blue", "red") }, &IDs{})
					})
				}
			},
		},
		"a deletion of what was edited and put back": {
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) { return r.DeleteGoal(tx, "g", r.last(tx), by, &IDs{}) }
			},
			while: func(r *rig) func() {
				return func() {
					k := key(pkGame+"g", r.board("g").Goals[0].sk)
					row := r.row(k)
					row["updatedAt"] = attr.S(stampOf(r.now.Add(time.Hour)))
					r.adopt(k, row)
				}
			},
		},
		"an admin's correction of another game": {
			over: true,
			mine: func(r *rig) plan {
				return func(tx *store.Tx) (Change, error) { return r.DeleteGoal(tx, "g", r.last(tx), by, &IDs{}) }
			},
			while: func(r *rig) func() { return r.anew(gameKey("g")) },
		},
		"a share code that is gone": {
			mine:  func(r *rig) plan { return r.accepting(r.invite("l", boss, "")) },
			while: func(r *rig) func() { return func() { r.adopt(shareKey("l"), nil) } },
		},
		"an invite to another league": {
			mine:  func(r *rig) plan { return r.accepting(r.invite("l", boss, "new@example.org")) },
			while: func(r *rig) func() { return r.anew(leagueKey("l")) },
		},
		"an invite of who is no admin any more": {
			mine: func(r *rig) plan {
				r.grant(boss, "second", RoleAdmin)
				return r.accepting(r.invite("l", "second", "new@example.org"))
			},
			while: func(r *rig) func() { return func() { r.grant(boss, "second", RoleScorekeeper) } },
		},
		"a season that who is no admin any more deletes": {
			mine: func(r *rig) plan {
				r.grant(boss, "second", RoleAdmin)
				r.must(func(tx *store.Tx) (Change, error) { return r.CreateSeason(tx, Season{LeagueID: "l", SeasonID: "e"}) })
				return func(tx *store.Tx) (Change, error) { return r.DeleteSeason(tx, "second", "e") }
			},
			while: func(r *rig) func() { return func() { r.grant(boss, "second", RoleScorekeeper) } },
		},
		"a league that who is no admin any more deletes": {
			mine: func(r *rig) plan {
				r.must(func(tx *store.Tx) (Change, error) { return r.CreateLeague(tx, boss, League{LeagueID: "m"}) })
				r.grantIn("m", boss, "second", RoleAdmin)
				return func(tx *store.Tx) (Change, error) { return r.DeleteLeague(tx, "second", "m") }
			},
			while: func(r *rig) func() {
				return func() {
					r.must(func(tx *store.Tx) (Change, error) { return r.Grant(tx, "m", boss, "second", RoleScorekeeper) })
				}
			},
		},
	} {
		r := newRig(t)
		r.league()
		if tt.over {
			r.play("g", [2]string{"red", "blue"})
		} else {
			r.start("g", 1)
			r.goal("g", "red", "blue")
		}
		c := view(r, tt.mine(r))
		tt.while(r)()
		if _, err := r.try(func(*store.Tx) (Change, error) { return c, nil }); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// last returns the id of a game's last goal.
func (r *rig) last(tx *store.Tx) string {
	b, err := r.Board(tx, "g")
	if err != nil {
		r.t.Fatal(err)
	}
	return b.Goals[len(b.Goals)-1].EventID
}

func (r *rig) accepting(code string) func(tx *store.Tx) (Change, error) {
	return func(tx *store.Tx) (Change, error) { return r.AcceptInvite(tx, code, "new@example.org") }
}

// Finishing a game is conditional on its teams' rows.
func TestFinishNeedsItsTeams(t *testing.T) {
	r := newRig(t)
	r.league()
	for n := 1; n <= thirds; n++ {
		r.start("g", n)
		r.end("g", n)
	}
	r.export(0)
	c := view(r, func(tx *store.Tx) (Change, error) { return r.FinishGame(tx, "g") })
	r.adopt(gameTeamKey("g", "yellow"), nil)
	if _, err := r.try(func(*store.Tx) (Change, error) { return c, nil }); !fault.Is(err, fault.Conflict) {
		t.Errorf("without a team: %v", err)
	}
}

// Only a tombstone causes a partition to be emptied, and only until the record is created again. An index entry in a session does not
// count if its game is in another session or starts at another time.
func TestOnlyWhatWasDeletedIsEmptied(t *testing.T) {
	r := newRig(t)
	r.league()
	settle := func(pk string) {
		t.Helper()
		if err := r.store.Update(t.Context(), func(tx *store.Tx) error { return r.emptyIfDeleted(tx, pk) }); err != nil {
			t.Fatal(err)
		}
	}
	place := rosterKey("unknown", "red", "p")
	row, err := encode(place, Rostered{GameID: "unknown", TeamID: "red", PlayerID: "p"})
	if err != nil {
		t.Fatal(err)
	}
	r.adopt(place, row)
	settle(pkGame + "unknown")
	if r.row(place) == nil {
		t.Error("a partition that has not arrived yet was emptied")
	}
	r.must(func(tx *store.Tx) (Change, error) {
		return r.PutSeasonTeam(tx, "s", "red", TeamName{Name: "Reds"})
	})
	dead, err := encode(deletedKey(pkSeason+"s"), tombstone{})
	if err != nil {
		t.Fatal(err)
	}
	r.adopt(deletedKey(pkSeason+"s"), dead)
	settle(pkSeason + "s")
	if r.row(sessionKey("s", "d")) == nil || r.row(seasonTeamKey("s", "red")) == nil {
		t.Error("a season that was created again was emptied")
	}
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error { return r.empty(tx, pkSeason+"s", &tombstone{}) }); !fault.Is(err, fault.Conflict) {
		t.Errorf("emptying a season that exists: %v", err)
	}
	for game, start := range map[string]string{"g": "2026-07-04T09:00:00.000Z", "elsewhere": "2026-07-04T10:00:00.000Z"} {
		k := sessionGameKey("d", start, game)
		row, err := encode(k, sessionGame{SessionID: "d", GameID: game, GameStartTs: start})
		if err != nil {
			t.Fatal(err)
		}
		r.adopt(k, row)
	}
	if games := view(r, func(tx *store.Tx) ([]Board, error) { return r.GamesOf(tx, "d") }); len(games) != 1 {
		t.Errorf("%d games", len(games))
	}
}
