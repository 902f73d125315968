package threefc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// The tests in this file play schedules that break simpler designs. Other such tests are beside their subject: TestPartitionWiped,
// TestTapsMoment, TestOneKeyTwoNodes, TestMergeOfAStartWithItsKey and, with two nodes, TestTimer.

// Wrong tallies of another node of this program are corrected, even if nothing else has changed. Those of another program stay, and wait for a
// person.
func TestDerivedRowsWrongForEver(t *testing.T) {
	for _, ours := range []bool{true, false} {
		r := newRig(t)
		r.league()
		r.start("g", 1)
		r.goal("g", "red", "blue")
		r.export(0)
		k := gameTeamKey("g", "blue")
		wrong, err := decode[GameTeam](r.row(k))
		if err != nil {
			t.Fatal(err)
		}
		wrong.Conceded = 9
		if wrong.by = ""; ours {
			wrong.by = sign(k, wrong)
		}
		it, err := encode(k, wrong)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.store.Update(t.Context(), func(tx *store.Tx) error { _, err := tx.Adopt(tableName, k, it); return err }); err != nil {
			t.Fatal(err)
		}
		left := r.derive(nil)
		if ours {
			r.exported(t, "g", 1, 1)
			continue
		}
		if len(left) != 1 || !attr.EqualItems(r.row(k), it) {
			t.Errorf("%d rows are left, and the tallies of another program are %v", len(left), r.row(k))
		}
	}
}

// A goal that arrives between the count and the finish is in the result.
func TestFinishFreezesAWrongResult(t *testing.T) {
	r := newRig(t)
	r.league()
	began := r.now
	for n := 1; n <= thirds; n++ {
		r.start("g", n)
		r.now = r.now.Add(20 * time.Minute)
		r.end("g", n)
	}
	seq := r.store.Seq()
	for _, team := range TeamIDs() {
		r.must(func(tx *store.Tx) (Change, error) { return r.PutGameTeam(tx, "g", team, TeamName{Name: team}) })
	}
	finish := view(r, func(tx *store.Tx) (Change, error) { return r.FinishGame(tx, "g") })
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: began.Add(time.Minute), Actor: boss}, &IDs{})
	})
	r.must(func(*store.Tx) (Change, error) { return finish, nil })
	r.export(seq)
	row, err := decode[Game](r.row(gameKey("g")))
	if err != nil || row.Result.WinnerTeamID == nil || *row.Result.WinnerTeamID != "red" || !row.countedPart()["result"].Equal(r.board("g").countedPart()["result"]) {
		t.Errorf("%+v %v", row.Result, err)
	}
}

// A goal is conditional on its game existing without a result from before the tap. A name that looks like a result does not count as one.
func TestChecks(t *testing.T) {
	r := newRig(t)
	r.league()
	odd := `"result":{`
	r.game(odd)
	r.start(odd, 1)
	r.goal(odd, "red", "blue")
	r.start("g", 1)
	late := view(r, func(tx *store.Tx) (Change, error) {
		return r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: r.now, Actor: boss}, &IDs{})
	})
	refused := func(when string) {
		t.Helper()
		if _, err := r.try(func(*store.Tx) (Change, error) { return late, nil }); !fault.Is(err, fault.Conflict) {
			t.Errorf("goal in a game that is %s: %v", when, err)
		}
	}
	finished := r.board("g").Game
	at := stampOf(r.now.Add(-time.Second))
	finished.FinishedAt, finished.Result = &at, &Result{}
	set := func(row attr.Item) {
		if err := r.store.Update(t.Context(), func(tx *store.Tx) (err error) {
			if row == nil {
				_, err = tx.Delete(store.DeleteItem{Table: tableName, Key: gameKey("g")})
			} else {
				_, err = tx.Put(store.PutItem{Table: tableName, Item: row})
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	row, err := encode(gameKey("g"), finished)
	if err != nil {
		t.Fatal(err)
	}
	set(row)
	refused("finished")
	set(nil)
	refused("gone")
}

// If another node assigned a player first, its team stays. Of two admins who demote each other, one stays. A former admin cannot grant
// roles, create invites or delete anything.
func TestWriteSkew(t *testing.T) {
	r := newRig(t)
	r.league()
	r.now = r.now.Add(time.Second)
	assign := func(team string) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) { return r.Assign(tx, "g", "r1", team, false) }
	}
	r.merged(r.refused(assign("blue"), func() { r.must(assign("yellow")) }))
	in := view(r, func(tx *store.Tx) (map[string]Rostered, error) { return r.rostered(tx, "g") })
	if in["r1"].TeamID != "yellow" {
		t.Errorf("%+v", in["r1"])
	}
	demote := func(by, user string) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) { return r.Grant(tx, "l", by, user, RoleScorekeeper) }
	}
	r.grant(boss, "second", RoleAdmin)
	for name, mine := range map[string]func(tx *store.Tx) (Change, error){
		"the other":  demote("second", boss),
		"oneself":    demote(boss, boss),
		"a role":     func(tx *store.Tx) (Change, error) { return r.Grant(tx, "l", "second", "third", RoleAdmin) },
		"an invite":  func(tx *store.Tx) (Change, error) { return r.CreateInvite(tx, "l", "second", "") },
		"a deletion": func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, "second", "g") },
	} {
		all := r.refused(mine, func() { r.must(demote(boss, "second")) })
		if writes, ok := r.Merge(all, nil, r.get); ok {
			t.Errorf("%s: no person was asked: %v", name, writes)
		}
		r.grant(boss, "second", RoleAdmin)
	}
}

// A player whom two programs placed in two teams is in the team of the later row. Assigning him to another team or none clears both.
func TestTwoPlaces(t *testing.T) {
	r := newRig(t)
	r.league()
	r.now = r.now.Add(time.Second)
	twice := func() {
		row, err := encode(rosterKey("g", "yellow", "r1"), Rostered{GameID: "g", TeamID: "yellow", PlayerID: "r1", Stamps: Stamps{UpdatedAt: "2026-07-04T09:00:00.000Z"}})
		if err != nil {
			t.Fatal(err)
		}
		r.adopt(rosterKey("g", "yellow", "r1"), row)
	}
	is := func(when, want string) {
		t.Helper()
		in := view(r, func(tx *store.Tx) (map[string]Rostered, error) { return r.rostered(tx, "g") })
		if in["r1"].TeamID != want {
			t.Errorf("%s he is in %q", when, in["r1"].TeamID)
		}
	}
	twice()
	is("at first", "red")
	r.must(func(tx *store.Tx) (Change, error) { return r.Assign(tx, "g", "r1", "yellow", false) })
	is("put into the team of the older place", "yellow")
	r.must(func(tx *store.Tx) (Change, error) { return r.Assign(tx, "g", "r1", "blue", false) })
	twice()
	r.must(func(tx *store.Tx) (Change, error) { return r.Unassign(tx, "g", "r1", false) })
	is("out", "")
}

// A code signs in once: a session created with it at a second node is withdrawn.
func TestCodeUsedTwice(t *testing.T) {
	r := newRig(t)
	for _, k := range []attr.Item{codeKey("ABCDEFGH"), MagicKey("id")} {
		all := []Refused{{Key: k, Base: k, View: k, Remote: k}, {Key: SignInKey("x"), View: SignInKey("x")}}
		if writes, ok := r.Merge(all, nil, r.get); !ok || len(writes) > 0 {
			t.Errorf("%v: %t %v", k, ok, writes)
		}
	}
}

// A browser that sends its link to two nodes with one Idempotency-Key gets one session; without the key or with another it gets two.
func TestOneSessionAtTwoNodes(t *testing.T) {
	a, b := newRig(t), newRig(t)
	var m Magic
	if err := a.store.Update(t.Context(), func(tx *store.Tx) (err error) {
		m, err = a.StartMagic(tx, boss)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(m.Token, ".")
	b.adopt(MagicKey(id), a.row(MagicKey(id)))
	at := func(r *rig, seed string) string {
		var c Change
		if err := r.store.Update(t.Context(), func(tx *store.Tx) (err error) {
			c, err = r.CompleteMagic(tx, m.Token, SessionSecret(MagicProof(m.Token), seed))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return c.IDs["session"]
	}
	if first := at(a, "s\nk"); first != at(b, "s\nk") || first == at(b, "s\nl") || first == at(b, "") || at(a, "") == at(b, "") {
		t.Error("one request has two sessions, or two requests share one")
	}
}

// A partition with more rows than fit in one transaction is emptied.
func TestTransactionsOfManyRows(t *testing.T) {
	r := newRig(t)
	r.league()
	for n := range 150 {
		r.must(func(tx *store.Tx) (Change, error) {
			return r.AddPlayer(tx, "g", fmt.Sprint("p", n), "P", &IDs{})
		})
	}
	seq := r.store.Seq()
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, "g") })
	r.export(seq)
	if here := view(r, func(tx *store.Tx) ([]gamePlayer, error) {
		return read[gamePlayer](r, tx, pkGame+"g", pkPlayer)
	}); len(here) > 0 {
		t.Errorf("%d rows are left", len(here))
	}
}
