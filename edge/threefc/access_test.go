package threefc

import (
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// invite creates an invite; without an address, the league's reusable one.
func (r *rig) invite(league, by, email string) string {
	r.t.Helper()
	return r.must(func(tx *store.Tx) (Change, error) { return r.CreateInvite(tx, league, by, email) }).IDs["invite"]
}

func (r *rig) accept(code, user string) error {
	_, err := r.try(func(tx *store.Tx) (Change, error) { return r.AcceptInvite(tx, code, user) })
	return err
}

func (r *rig) grant(by, user, role string) {
	r.t.Helper()
	r.grantIn("l", by, user, role)
}

// grantIn gives a user a role that they accept.
func (r *rig) grantIn(league, by, user, role string) {
	r.t.Helper()
	r.must(func(tx *store.Tx) (Change, error) { return r.Grant(tx, league, by, user, role) })
	r.must(func(tx *store.Tx) (Change, error) { return r.AcceptRole(tx, league, user) })
}

// A demoted admin cannot regain the role by an invite code: neither by the league's, whoever created it, nor by one they made for another
// address. The next request for the league's invite creates a new one.
func TestCodesGoWithTheRole(t *testing.T) {
	r := newRig(t)
	r.league()
	old := r.invite("l", boss, "")
	if err := r.accept(old, "second"); err != nil {
		t.Fatal(err)
	}
	other := r.invite("l", "second", "other@example.org")
	r.grant(boss, "second", RoleScorekeeper)
	for code, user := range map[string]string{old: "second", other: "other@example.org"} {
		if err := r.accept(code, user); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s by %s: %v", code, user, err)
		}
	}
	again := r.invite("l", boss, "")
	if again == old || r.invite("l", boss, "") != again {
		t.Errorf("the league's code was %s and is %s", old, again)
	}
	for range 2 { // an admin who accepts an invite stays an admin
		if err := r.accept(again, "second"); err != nil {
			t.Error(err)
		}
	}
	r.grant("second", boss, RoleScorekeeper)
	if r.invite("l", "second", "") == again {
		t.Error("the code of a former admin is still valid")
	}
}

// A code known to a former admin is invalid, even if the node that removed the role did not have the invite's row.
func TestShareCodeOfElsewhere(t *testing.T) {
	r := newRig(t)
	r.league()
	r.grant(boss, "second", RoleAdmin)
	code := r.invite("l", boss, "")
	kept := r.row(InviteKey(code))
	r.adopt(InviteKey(code), nil)
	r.grant(boss, "second", RoleScorekeeper)
	r.adopt(InviteKey(code), kept)
	if err := r.accept(code, "second"); !fault.Is(err, fault.NotFound) {
		t.Errorf("the former code: %v", err)
	}
	if now := r.invite("l", boss, ""); now == code || r.accept(now, "third") != nil {
		t.Errorf("the league's code was %s and is %s", code, now)
	}
}

// An invite ends with its league, and is not valid for a new league with the same id.
func TestInvitesGoWithTheirLeague(t *testing.T) {
	r := newRig(t)
	begin := func() {
		r.must(func(tx *store.Tx) (Change, error) {
			return r.CreateLeague(tx, boss, League{LeagueID: "m", Name: "League"})
		})
	}
	begin()
	share, mail := r.invite("m", boss, ""), r.invite("m", boss, "other@example.org")
	seq := r.store.Seq()
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteLeague(tx, boss, "m") })
	kept := r.row(InviteKey(mail))
	r.export(seq)
	for _, code := range []string{share, mail} {
		if row := r.row(InviteKey(code)); row != nil {
			t.Errorf("row left over: %v", row)
		}
	}
	r.now = r.now.Add(buried + 1)
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: tableName, Key: deletedKey(pkLeague + "m")})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	begin()
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error { // from a node that does not know of the deletion
		_, err := tx.Put(store.PutItem{Table: tableName, Item: kept})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.accept(mail, "other@example.org"); !fault.Is(err, fault.NotFound) {
		t.Errorf("invite of the former league: %v", err)
	}
}
