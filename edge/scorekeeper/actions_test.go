package scorekeeper

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/actions"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// crowd adds members to a team as if another node, cut off, had let them in.
func (r *rig) crowd(team string, members int) {
	r.t.Helper()
	r.must(func(tx *store.Tx) error {
		for i := range members {
			if err := table.Commit(tx, r.membership(team, fmt.Sprintf("x%03d", i), "", RoleMember, 1)...); err != nil {
				return err
			}
		}
		return nil
	})
}

// No transaction grows with the data: each has a fixed bound for a team that two nodes have filled, and a session with many games. The walk has
// all of them.
func TestTransactionsDoNotGrow(t *testing.T) {
	r := newRig(t)
	w := actions.On(t, r.store)
	step := func(what string, do func(tx *store.Tx) error) {
		t.Helper()
		if err := r.update(do); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		w.Largest(what)
	}
	id := r.team1("ann", "bob")
	r.crowd(id, 2*MaxMembers)
	step("roles", func(tx *store.Tx) error {
		for _, role := range []Role{RoleAdmin, RoleMember} {
			if _, err := r.SetTeammate(tx, "ann", id, "bob", role); err != nil {
				return err
			}
		}
		_, err := r.RemoveTeammate(tx, "bob", id, "bob")
		return err
	})
	step("a team", func(tx *store.Tx) error { _, err := r.DeleteTeam(tx, "ann", id); return err })
	for i := range 2 * MaxMembers {
		if it := r.row(memberKey(id, fmt.Sprintf("x%03d", i))); it != nil {
			t.Fatalf("left of a deleted team: %v", it)
		}
	}
	today, from := r.now, time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC)
	for i := range 120 { // days that a session has played, each a transaction when it becomes an account's
		r.now = from.AddDate(0, 0, i).Add(10 * time.Hour)
		date := r.now.Format(time.DateOnly)
		r.answerIs(date, "manna")
		r.plays(anon, date, "proud", "slate")
	}
	step("an answer changed", func(tx *store.Tx) error {
		_, err := r.SetAnswer(tx, NewAnswer{Date: from.Format(time.DateOnly), Word: "brick"})
		return err
	})
	step("words", func(tx *store.Tx) error { return r.Import(tx, "ann", []string{"proud"}, r.now) })
	step("a conversion", func(tx *store.Tx) error { _, err := r.Convert(tx, "ann", anon); return err })
	r.now = today
	r.answerIs(day, "manna")
	r.plays(anon, day, "proud")
	records, err := r.store.Journal(t.Context(), r.store.Seq()-1, 10)
	if err != nil {
		t.Fatal(err)
	}
	step("what a converted session plays", func(tx *store.Tx) error { return r.ConsumeRecords(tx, records) })
	full, other := &Game{UserID: "ann", Date: day, SK: skGame}, &Game{UserID: "ann", Date: day, SK: skGame}
	for i := range MaxGuesses {
		full.add(turn{fmt.Sprint("w", i), stampOf(i), ""})
		other.add(turn{fmt.Sprint("v", i), stampOf(i), ""})
	}
	view, remote := encoded(t, full), encoded(t, other)
	writes, ok := r.MergeRefused([]table.Refused{{Key: GameKey("ann", day), View: view, Remote: remote, Again: []store.WriteItem{{Put: &store.PutItem{Table: tableName, Item: view}}}}}, nil,
		func(attr.Item) (attr.Item, error) { return remote, nil })
	if w.Bounded("guesses of two nodes", writes); !ok || len(writes) != 1 {
		t.Errorf("guesses of two nodes: %d writes, %t", len(writes), ok)
	}
	w.Covers(".", "Take", "keep")
}

func stampOf(minute int) string {
	return time.Date(2026, 2, 2, 10, minute, 0, 0, time.UTC).Format(stamp)
}

func encoded(t *testing.T, g *Game) attr.Item {
	t.Helper()
	row, err := attr.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// What is left of a deleted team's members is deleted only while the team is gone.
func TestMembersStayWithTheirTeam(t *testing.T) {
	r := newRig(t)
	id := r.team1("ann")
	r.crowd(id, 2*MaxMembers)
	team := read(r, func(tx *store.Tx) (Team, error) { return r.Team(tx, id, "ann") })
	all := r.deletion(&team, "ann")
	if len(all) < 3 {
		t.Fatalf("%d transactions", len(all))
	}
	for i, items := range all[1:] { // the first was refused
		if err := r.update(func(tx *store.Tx) error { return table.Commit(tx, items...) }); !fault.Is(err, fault.Conflict) {
			t.Errorf("transaction %d: %v", i+2, err)
		}
	}
}
