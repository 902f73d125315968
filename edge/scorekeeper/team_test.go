package scorekeeper

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func (r *rig) team1(admin string, members ...string) string {
	r.t.Helper()
	var team Team
	r.must(func(tx *store.Tx) (err error) {
		team, err = r.CreateTeam(tx, admin, "Wizards")
		return err
	})
	for _, m := range members {
		r.must(func(tx *store.Tx) error {
			_, err := r.SetTeammate(tx, admin, team.ID, m, RoleMember)
			return err
		})
		r.must(func(tx *store.Tx) error { _, err := r.AcceptTeam(tx, m, team.ID); return err })
	}
	return team.ID
}

func TestTeams(t *testing.T) {
	r := newRig(t)
	id := r.team1("ann", "bob")
	set := func(by, who string, role Role) error {
		return r.update(func(tx *store.Tx) error { _, err := r.SetTeammate(tx, by, id, who, role); return err })
	}
	remove := func(by, who string) error {
		return r.update(func(tx *store.Tx) error { _, err := r.RemoveTeammate(tx, by, id, who); return err })
	}
	for _, c := range []struct {
		what string
		do   func() error
		kind fault.Kind
		ok   bool
	}{
		{"a member adds", func() error { return set("bob", "cat", RoleMember) }, fault.Forbidden, false},
		{"a stranger adds", func() error { return set("eve", "cat", RoleMember) }, fault.Forbidden, false},
		{"the last admin steps down", func() error { return set("ann", "ann", RoleMember) }, fault.Conflict, false},
		{"the last admin leaves", func() error { return remove("ann", "ann") }, fault.Conflict, false},
		{"a member removes another", func() error { return remove("bob", "ann") }, fault.Forbidden, false},
		{"who is no member is removed", func() error { return remove("ann", "cat") }, fault.NotFound, false},
		{"a member becomes an admin", func() error { return set("ann", "bob", RoleAdmin) }, 0, true},
		{"again", func() error { return set("ann", "bob", RoleAdmin) }, 0, true},
		{"one of two admins steps down", func() error { return set("ann", "ann", RoleMember) }, 0, true},
		{"who was an admin adds", func() error { return set("ann", "cat", RoleMember) }, fault.Forbidden, false},
		{"the new admin adds an admin", func() error { return set("bob", "cat", RoleAdmin) }, 0, true},
		{"a member leaves", func() error { return remove("ann", "ann") }, 0, true},
		{"one of two admins leaves", func() error { return remove("cat", "cat") }, 0, true},
	} {
		if err := c.do(); c.ok != (err == nil) || !c.ok && !fault.Is(err, c.kind) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	team := read(r, func(tx *store.Tx) (Team, error) { return r.Team(tx, id, "bob") })
	if len(team.Members) != 1 || team.Members[0].Role != RoleAdmin || team.Name != "Wizards" {
		t.Errorf("%+v", team)
	}
	for _, who := range []string{"ann", "cat"} {
		if ids := read(r, func(tx *store.Tx) ([]string, error) { return r.TeamsOf(tx, who) }); len(ids) != 0 {
			t.Errorf("%s is still in %v", who, ids)
		}
		if _, err := tryRead(r, func(tx *store.Tx) (Team, error) { return r.Team(tx, id, who) }); !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s sees the team: %v", who, err)
		}
	}
	r.must(func(tx *store.Tx) error { _, err := r.DeleteTeam(tx, "bob", id); return err })
	if _, err := tryRead(r, func(tx *store.Tx) (Team, error) { return r.Team(tx, id, "bob") }); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleted: %v", err)
	}
}

// A full team takes nobody else, and can be deleted.
func TestFullTeam(t *testing.T) {
	r := newRig(t)
	var members []string
	for i := range MaxMembers - 1 {
		members = append(members, fmt.Sprintf("m%02d", i))
	}
	id := r.team1("ann", members...)
	err := r.update(func(tx *store.Tx) error { _, err := r.SetTeammate(tx, "ann", id, "one more", RoleMember); return err })
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("one too many: %v", err)
	}
	r.must(func(tx *store.Tx) error { _, err := r.DeleteTeam(tx, "ann", id); return err })
}

func TestBoard(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	id := r.team1("ann", "bob", "cat", "dan", "eve", "fay")
	name := "Bob"
	r.must(func(tx *store.Tx) error { _, err := r.SetProfile(tx, "bob", &name, nil); return err })
	r.plays("cat", day, "crane", "slate", "moist", "proud", "brick", "fjord")
	r.plays("ann", day, "crane", "slate", "manna")
	r.plays("bob", day, "crane", "manna")
	r.plays("dan", day, "slate", "manna")
	r.plays("eve", day, "crane")
	r.plays("stranger", day, "manna")
	b := read(r, func(tx *store.Tx) (Board, error) { return r.Board(tx, "fay", id, day) })
	var order []string
	for i := range b.Scores {
		order = append(order, b.Scores[i].UserID)
	}
	if got := fmt.Sprint(order); got != "[bob dan ann cat]" || b.Participants != 5 || b.Scores[0].Name != "Bob" {
		t.Errorf("%s of %d", got, b.Participants)
	}
	for player, want := range map[string]string{
		"bob": "Scorekeeper 2026-02-02 2/6\n\n⬛⬛🟨🟩⬛\n🟩🟩🟩🟩🟩",
		"cat": "Scorekeeper 2026-02-02 X/6\n\n⬛⬛🟨🟩⬛\n⬛⬛🟨⬛⬛\n🟩⬛⬛⬛⬛\n⬛⬛⬛⬛⬛\n⬛⬛⬛⬛⬛\n⬛⬛⬛⬛⬛",
	} {
		if v := read(r, func(tx *store.Tx) (View, error) { return r.Game(tx, player, day) }); v.Share(day) != want {
			t.Errorf("share text %q, want %q", v.Share(day), want)
		}
	}
	if _, err := tryRead(r, func(tx *store.Tx) (Board, error) { return r.Board(tx, "stranger", id, day) }); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a stranger: %v", err)
	}
	r.answerIs("2026-02-01", "crane")
	r.answerIs("2026-02-20", "crane") // has not begun yet
	for _, c := range []struct {
		behind, most int
		want         string
	}{{0, 9, "[2026-02-01 2026-02-02]"}, {0, 1, "[2026-02-01]"}, {1, 1, "[2026-02-02]"}, {2, 9, "[]"}, {7, 9, "[]"}} {
		var days []string
		if err := r.store.View(t.Context(), func(tx *store.Tx) error {
			all, of, err := r.Boards(tx, "ann", id, "2026-02-01", "2026-02-28", c.behind, c.most)
			if err != nil || of != 2 {
				t.Errorf("%d days, %v", of, err)
			}
			for _, b := range all {
				if days = append(days, b.Date); b.Scores != nil || b.Date == day && b.Participants != 5 {
					t.Errorf("%+v", b)
				}
			}
			return nil
		}); err != nil || fmt.Sprint(days) != c.want {
			t.Errorf("%d behind %d: %v, want %s, %v", c.most, c.behind, days, c.want, err)
		}
	}
}

// A player who is no longer an admin cannot delete the team, even if their node did not know that.
func TestDeletionChecksItsAdmin(t *testing.T) {
	r := newRig(t)
	id := r.team1("ann", "bob")
	team := read(r, func(tx *store.Tx) (Team, error) { return r.Team(tx, id, "ann") })
	r.must(func(tx *store.Tx) error { _, err := r.SetTeammate(tx, "ann", id, "bob", RoleAdmin); return err })
	r.must(func(tx *store.Tx) error { _, err := r.SetTeammate(tx, "bob", id, "ann", RoleMember); return err })
	err := r.update(func(tx *store.Tx) error {
		return tx.TransactWrite(store.TransactWrite{Items: r.deletion(&team, "ann")[0]})
	})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	if left := read(r, func(tx *store.Tx) (Team, error) { return r.Team(tx, id, "bob") }); len(left.Members) != 2 {
		t.Errorf("%+v", left)
	}
}

// Players see the finished games of others with whom they share a team.
func TestScores(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	r.answerIs("2026-02-01", "manna")
	id := r.team1("ann", "bob")
	r.plays("bob", day, "crane")
	r.plays("bob", "2026-02-01", "crane", "manna")
	for by, want := range map[string]int{"bob": 2, "ann": 1} {
		if got := read(r, func(tx *store.Tx) ([]Score, error) { return r.Scores(tx, by, "bob", "", "9") }); len(got) != want {
			t.Errorf("%s sees %+v", by, got)
		}
	}
	strange := func(by, user string) {
		t.Helper()
		if all, err := tryRead(r, func(tx *store.Tx) ([]Score, error) { return r.Scores(tx, by, user, "", "9") }); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s sees the scores of %s: %v, %v", by, user, all, err)
		}
	}
	strange("eve", "bob")
	strange("ann", "USER#ann")
	r.must(func(tx *store.Tx) error { // as a node does that does not know of bob
		_, err := tx.Delete(store.DeleteItem{Table: tableName, Key: teamKey(id)})
		return err
	})
	strange("ann", "bob")
}

// The two rows of a membership reach a node separately. A node that knows only one of them refuses a change, and says why. The last admin is
// refused for another reason.
func TestMembershipThatIsNotHereInFull(t *testing.T) {
	const keepsOne, notInFull = "A team must keep at least one admin", "A change to this membership at another node has not fully arrived here yet. Try again later"
	r := newRig(t)
	id := r.team1("ann", "bob")
	r.must(func(tx *store.Tx) error { _, err := r.SetTeammate(tx, "ann", id, "cat", RoleAdmin); return err })
	set := func(user string, role Role) error {
		return r.update(func(tx *store.Tx) error { _, err := r.SetTeammate(tx, "ann", id, user, role); return err })
	}
	remove := func(by, user string) error {
		return r.update(func(tx *store.Tx) error { _, err := r.RemoveTeammate(tx, by, id, user); return err })
	}
	want := func(what string, err error, text string) {
		t.Helper()
		if !fault.Is(err, fault.Conflict) || err.Error() != text {
			t.Errorf("%s: %v, want %s", what, err, text)
		}
	}
	lacks := func(key attr.Item, changes func()) {
		t.Helper()
		row := r.row(key)
		r.must(func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: tableName, Key: key})
			return err
		})
		changes()
		r.must(func(tx *store.Tx) error { _, err := tx.Put(store.PutItem{Table: tableName, Item: row}); return err })
	}
	lacks(belongsKey("cat", id), func() {
		want("an admin leaves", remove("cat", "cat"), notInFull)
		want("an admin becomes a member", set("cat", RoleMember), notInFull)
	})
	lacks(belongsKey("bob", id), func() {
		want("a member is removed", remove("ann", "bob"), notInFull)
		want("a member becomes an admin", set("bob", RoleAdmin), notInFull)
	})
	lacks(memberKey(id, "bob"), func() { want("a member is added", set("bob", RoleMember), notInFull) })
	lacks(belongsKey("ann", id), func() {
		want("the team is deleted", r.update(func(tx *store.Tx) error { _, err := r.DeleteTeam(tx, "ann", id); return err }), notInFull)
	})
	if err := remove("cat", "cat"); err != nil {
		t.Fatal(err)
	}
	want("the last admin leaves", remove("ann", "ann"), keepsOne)
	want("the last admin becomes a member", set("ann", RoleMember), keepsOne)
}

// Removing an admin is refused as a whole if another node has removed them or changed their role.
func TestAdminIsCountedDownOnce(t *testing.T) {
	r := newRig(t)
	id := r.team1("ann")
	for _, who := range []string{"bob", "cat"} {
		r.must(func(tx *store.Tx) error { _, err := r.SetTeammate(tx, "ann", id, who, RoleAdmin); return err })
	}
	admins := func() string { return r.row(teamKey(id))["admins"].Text() }
	// out makes the writes of a node that does not know what another node has done.
	out := func(user string) error {
		return r.update(func(tx *store.Tx) error {
			p := r.plan(tx)
			p.setRole(user, id, user, RoleAdmin, "")
			return p.Err()
		})
	}
	if err := out("bob"); err != nil {
		t.Fatal(err)
	}
	if err := out("bob"); !fault.Is(err, fault.Conflict) || admins() != "2" {
		t.Errorf("again: %v, %s admins", err, admins())
	}
	r.must(func(tx *store.Tx) error { _, err := r.SetTeammate(tx, "ann", id, "cat", RoleMember); return err })
	if err := out("cat"); !fault.Is(err, fault.Conflict) || admins() != "1" {
		t.Errorf("somebody who is no longer an admin: %v, %s admins", err, admins())
	}
}

// Whoever is an admin of so many teams creates no more; a repeated request gets its team all the same.
func TestMostTeams(t *testing.T) {
	r := newRig(t)
	create := func(once string) error {
		return r.update(func(tx *store.Tx) error {
			_, err := r.CreateTeam(tx, "ann", "Team", Once{Scope: "ann", Key: once})
			return err
		})
	}
	for n := range MaxTeams {
		if err := create(fmt.Sprint(n)); err != nil {
			t.Fatal(n, err)
		}
	}
	if err := create("one more"); !fault.Is(err, fault.Conflict) {
		t.Errorf("one too many: %v", err)
	}
	if err := create("0"); err != nil {
		t.Errorf("a repeated request: %v", err)
	}
}
