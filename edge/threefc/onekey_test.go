package threefc

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// If another node answered the request for a goal first, our later changes are applied to that node's goal.
func TestOneKeyTwoNodes(t *testing.T) {
	for name, tt := range map[string]struct {
		correct        func(r *rig, tx *store.Tx, event string) (Change, error)
		goals, changes int
		came           bool // the other node's goal arrived before the correction; our copy in the refusal is older
	}{
		"undo": {func(r *rig, tx *store.Tx, event string) (Change, error) {
			return r.UndoLast(tx, "g", event, Corrector{Actor: boss}, &IDs{Seed: "s\nl"})
		}, 0, 2, false},
		"undo of what has come": {func(r *rig, tx *store.Tx, event string) (Change, error) {
			return r.UndoLast(tx, "g", event, Corrector{Actor: boss}, &IDs{Seed: "s\nl"})
		}, 0, 2, true},
		"edit of what has come": {func(r *rig, tx *store.Tx, event string) (Change, error) {
			return r.UpdateGoal(tx, "g", event, Corrector{Actor: boss}, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{Seed: "s\nl"})
		}, 1, 2, true},
		"edit": {func(r *rig, tx *store.Tx, event string) (Change, error) {
			return r.UpdateGoal(tx, "g", event, Corrector{Actor: boss}, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{Seed: "s\nl"})
		}, 1, 2, false},
		"edit and undo": {func(r *rig, tx *store.Tx, event string) (Change, error) {
			c, err := r.UpdateGoal(tx, "g", event, Corrector{Actor: boss}, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{Seed: "s\nm"})
			if err != nil {
				return c, err
			}
			undo, err := r.UndoLast(tx, "g", event, Corrector{Actor: boss}, &IDs{Seed: "s\nl"})
			undo.Writes = append(c.Writes, undo.Writes...)
			return undo, err
		}, 0, 3, false},
	} {
		r := newRig(t)
		r.league()
		r.start("g", 1)
		create := func(tx *store.Tx) (Change, error) {
			c, err := r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: r.now, Actor: boss}, &IDs{Seed: "s\nk"})
			once := OnceKey("s", "k")
			once["requestHash"] = attr.S("h")
			c.Writes = append([]store.WriteItem{{Put: &store.PutItem{Table: tableName, Item: once, Condition: absent}}}, c.Writes...)
			return c, err
		}
		var event string
		all := r.refused(create, func() { event = r.must(create).IDs["event"] })
		var behind []Refused
		for _, e := range r.entries(view(r, func(tx *store.Tx) (Change, error) { return tt.correct(r, tx, event) })) {
			if inSK(e, skGoal) && !tt.came {
				all[1].View = e.View
			}
			behind = append(behind, Refused{Key: e.Key, Again: e.Again})
		}
		if _, ok := r.Merge(all, append(behind, Refused{Key: gameTeamKey("g", "red")}), r.get); ok {
			t.Errorf("%s: a later team name was dropped without asking a person", name)
		}
		open := func(w store.WriteItem) bool { return w.Check != nil && attr.EqualItems(w.Check.Key, gameKey("g")) }
		if writes, _ := r.Merge(all, behind, r.get); !slices.ContainsFunc(writes, open) {
			t.Errorf("%s: the writes are not conditional on the game", name)
		}
		r.merged(all, behind...)
		goals := r.board("g").Goals
		if len(goals) != tt.goals || tt.goals > 0 && (*goals[0].ScoringTeamID != "yellow" || goals[0].EventID != event) {
			t.Errorf("%s: %+v", name, goals)
		}
		if audits := view(r, func(tx *store.Tx) ([]Audit, error) { return read[Audit](r, tx, pkGame+"g", skAudit) }); len(audits) != tt.changes {
			t.Errorf("%s: %d changes", name, len(audits))
		}
	}
}

// goalWithKey creates a goal with an Idempotency-Key, as each of two nodes does.
func (r *rig) goalWithKey(tx *store.Tx) (Change, error) {
	c, err := r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: r.now, Actor: boss}, &IDs{Seed: "s\nk"})
	once, ids := OnceKey("s", "k"), attr.Item{}
	for name, id := range c.IDs {
		ids[name] = attr.S(id)
	}
	once["requestHash"], once["responseIds"] = attr.S("h"), attr.M(ids)
	c.Writes = append([]store.WriteItem{r.Create(once)}, c.Writes...)
	return c, err
}

// If another node recorded the same goal in another minute, our later changes are applied to that goal, which keeps its minute, even if it
// has not arrived yet. If the other node changed it, a person decides.
func TestOneKeyInTwoMinutes(t *testing.T) {
	edit := func(r *rig, event string) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) {
			return r.UpdateGoal(tx, "g", event, Corrector{Actor: boss}, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{Seed: "s\nl"})
		}
	}
	undo := func(r *rig, event string) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) {
			return r.UndoLast(tx, "g", event, Corrector{Actor: boss}, &IDs{Seed: "s\nl"})
		}
	}
	for name, tt := range map[string]struct {
		correct func(r *rig, event string) func(tx *store.Tx) (Change, error)
		goals   int
	}{"undo": {undo, 0}, "edit": {edit, 1}} {
		for _, came := range []bool{true, false} {
			ours, theirs := newRig(t), newRig(t)
			for _, r := range []*rig{ours, theirs} {
				r.league()
				r.start("g", 1)
			}
			all := ours.entries(view(ours, ours.goalWithKey))
			event := ours.must(ours.goalWithKey).IDs["event"]
			behind := ours.entries(view(ours, tt.correct(ours, event)))
			theirs.now = theirs.now.Add(2 * time.Minute)
			theirs.must(theirs.goalWithKey)
			for i := range all {
				if row := theirs.row(all[i].Key); row != nil {
					all[i].Remote = row
				}
			}
			was := theirs.board("g").Goals[0]
			there := goalKey("g", was.Third, was.GameMinute, was.EventID)
			row := theirs.row(there)
			if !came {
				theirs.adopt(there, nil)
			}
			writes, ok := theirs.Merge(all, behind, theirs.get)
			if !ok {
				t.Fatalf("%s: left to a person", name)
			}
			changed := maps.Clone(row)
			changed["updatedAt"] = attr.S("2026-07-04T11:00:00.000Z")
			theirs.adopt(there, changed)
			if name == "undo" && !came { // wherever it arrives, the row that says so removes it
				theirs.must(func(*store.Tx) (Change, error) { return Change{Writes: writes}, nil })
				theirs.export(0)
				if notes := view(theirs, func(tx *store.Tx) ([]Undone, error) { return theirs.UndoneChanges(tx, "g") }); len(notes) != 1 || len(theirs.board("g").Goals) > 0 {
					t.Errorf("a goal that was changed there meanwhile has the notes %+v", notes)
				}
				continue
			}
			if _, err := theirs.try(func(*store.Tx) (Change, error) { return Change{Writes: writes}, nil }); !fault.Is(err, fault.Conflict) {
				t.Errorf("%s of a goal changed there: %v", name, err)
			}
			if theirs.adopt(there, row); !came {
				theirs.adopt(there, nil)
			}
			theirs.must(func(*store.Tx) (Change, error) { return Change{Writes: writes}, nil })
			for _, said := range view(theirs, func(tx *store.Tx) ([]Audit, error) { return read[Audit](theirs, tx, pkGame+"g", skAudit) }) {
				if said.EventID != was.EventID || said.Before != nil && (said.Before.EventID != was.EventID || said.Before.Moment != was.Moment) {
					t.Errorf("%s: the record of a change is about another goal: %+v", name, said)
				}
			}
			goals := theirs.board("g").Goals
			if len(goals) != tt.goals || tt.goals > 0 && (*goals[0].ScoringTeamID != "yellow" || goals[0].Moment != was.Moment || goals[0].EventID != was.EventID || was.EventID == event) {
				t.Errorf("%s: %+v, was %+v", name, goals, was)
			}
		}
	}
}

// If another node made the same correction with the same key, of a goal that both recorded, ours is dropped.
func TestOneKeyTwice(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	once := OnceKey("s", "l")
	once["requestHash"] = attr.S("h")
	edit := func(tx *store.Tx) (Change, error) {
		c, err := r.UpdateGoal(tx, "g", r.board("g").Goals[0].EventID, Corrector{Actor: boss}, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{Seed: "s\nl"})
		c.Writes = append([]store.WriteItem{r.Create(once)}, c.Writes...)
		return c, err
	}
	all := r.refused(r.goalWithKey, func() { r.must(r.goalWithKey) })
	behind := r.entries(view(r, edit))
	r.must(edit)
	for range 2 {
		if writes, ok := r.Merge(all, behind, r.get); !ok || len(writes) > 0 {
			t.Errorf("the correction was made again: %t %v", ok, writes)
		}
		r.adopt(OnceKey("s", "l"), nil) // the row of its key has not arrived yet
	}
}

// A person decides if two nodes recorded a goal for the same request and corrected it differently.
func TestOneKeyCorrectedTwice(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	all := r.refused(r.goalWithKey, func() { r.must(r.goalWithKey) })
	edit := func(by string) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) {
			return r.UpdateGoal(tx, "g", r.board("g").Goals[0].EventID, Corrector{Actor: boss}, func(s *Scored) { *s = scored(by, "blue") }, &IDs{})
		}
	}
	behind := r.entries(view(r, edit("yellow")))
	r.must(edit("blue"))
	for i := range all {
		all[i].Remote = r.row(all[i].Key)
	}
	if writes, ok := r.Merge(all, behind, r.get); ok {
		t.Errorf("no person was asked: %v", writes)
	}
}

// If two corrections are sent again together and another node has already made one of them, only the other is written.
func TestOneOfTwoKeys(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	event := r.goal("g", "red", "blue")
	once := func(name string) Refused {
		row := OnceKey("s", name)
		row["requestHash"] = attr.S("h")
		return Refused{Key: OnceKey("s", name), View: row, Again: []store.WriteItem{r.Create(row)}}
	}
	edit := func(by string) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) {
			return r.UpdateGoal(tx, "g", event, Corrector{Actor: boss}, func(s *Scored) { *s = scored(by, "blue") }, &IDs{})
		}
	}
	theirs := r.entries(view(r, edit("blue")))
	r.must(edit("blue"))
	ours := r.entries(view(r, edit("yellow"))) // the goal and the audit
	used, other := once("k"), once("l")
	used.Remote, ours[0].Remote = used.View, r.row(ours[0].Key)
	all := []Refused{used, theirs[1], other, ours[1], ours[0]}
	for i := range all {
		all[i].Txn = 9
	}
	r.merged(all)
	if g := r.board("g").Goals[0]; *g.ScoringTeamID != "yellow" || r.row(other.Key) == nil || r.row(used.Key) != nil {
		t.Errorf("%+v", g)
	}
}

// A player who joined at two nodes by one request is one player, in the team to which either node assigned him.
func TestOneJoinTwoNodes(t *testing.T) {
	ours, theirs := newRig(t), newRig(t)
	join := func(r *rig) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) {
			c, err := r.AddPlayer(tx, "g", "", "Jo", &IDs{Seed: "s\nk"})
			once := OnceKey("s", "k")
			once["requestHash"] = attr.S("h")
			c.Writes = append([]store.WriteItem{r.Create(once)}, c.Writes...)
			return c, err
		}
	}
	for _, r := range []*rig{ours, theirs} {
		r.league()
	}
	all := ours.entries(view(ours, join(ours)))
	player := ours.must(join(ours)).IDs["player"]
	assign := func(r *rig, team string) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) { return r.Assign(tx, "g", player, team, false) }
	}
	behind := ours.entries(view(ours, assign(ours, "red")))
	theirs.now = theirs.now.Add(time.Minute)
	if other := theirs.must(join(theirs)).IDs["player"]; other != player {
		t.Fatalf("%s and %s", player, other)
	}
	for i := range all {
		all[i].Remote = theirs.row(all[i].Key)
	}
	theirs.merged(all, behind...)
	is := func(want string) {
		t.Helper()
		in := view(theirs, func(tx *store.Tx) (map[string]Rostered, error) { return theirs.rostered(tx, "g") })
		if here, err := decode[gamePlayer](theirs.row(gamePlayerKey("g", player))); err != nil || in[player].TeamID != want || here.TeamID != want {
			t.Errorf("he is in %q and %q, want %q", in[player].TeamID, here.TeamID, want)
		}
	}
	is("red")
	theirs.must(assign(theirs, "blue"))
	theirs.merged(all, behind...)
	is("blue")
	theirs.must(func(tx *store.Tx) (Change, error) { return theirs.Unassign(tx, "g", player, false) })
	is("")
}

// If another node recorded a goal for the same request and deleted it, our deletion has already taken effect, and a note shows what our edit
// said.
func TestOneKeyOfADeletedGoal(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	var deletion, edit []Refused
	all := r.refused(r.goalWithKey, func() {
		event := r.must(r.goalWithKey).IDs["event"]
		remove := func(tx *store.Tx) (Change, error) {
			return r.DeleteGoal(tx, "g", event, Corrector{Actor: boss}, &IDs{})
		}
		edit = r.entries(view(r, func(tx *store.Tx) (Change, error) {
			return r.UpdateGoal(tx, "g", event, Corrector{Actor: boss}, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{})
		}))
		deletion = r.entries(view(r, remove))
		r.must(remove)
	})
	if writes, ok := r.Merge(all, deletion, r.get); !ok || len(writes) > 0 {
		t.Errorf("the goal was deleted again: %t %v", ok, writes)
	}
	r.merged(all, edit...)
	notes := view(r, func(tx *store.Tx) ([]Undone, error) { return r.UndoneChanges(tx, "g") })
	if len(notes) != 1 || *notes[0].Lost.ScoringTeamID != "yellow" || len(r.board("g").Goals) > 0 {
		t.Errorf("notes of the edit: %+v", notes)
	}
}

// Changes to a goal that both nodes recorded are dropped if its game was deleted here afterwards.
func TestOneKeyInADeletedGame(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	all := r.refused(r.goalWithKey, func() { r.must(r.goalWithKey) })
	behind := r.entries(view(r, func(tx *store.Tx) (Change, error) {
		return r.DeleteGoal(tx, "g", r.board("g").Goals[0].EventID, Corrector{Actor: boss}, &IDs{})
	}))
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, "g") })
	if writes, ok := r.Merge(all, behind, r.get); !ok || len(writes) > 0 {
		t.Errorf("%t %v", ok, writes)
	}
}

// Deleting a game takes effect even if two nodes changed it by the same request before.
func TestOneKeyAndADeletion(t *testing.T) {
	r := newRig(t)
	r.league()
	live := Live
	patch := func(tx *store.Tx) (Change, error) {
		c, err := r.PatchGame(tx, "g", GamePatch{Status: &live})
		once := OnceKey("s", "k")
		once["requestHash"] = attr.S("h")
		c.Writes = append([]store.WriteItem{r.Create(once)}, c.Writes...)
		return c, err
	}
	all := r.refused(patch, func() { r.now = r.now.Add(time.Second); r.must(patch) })
	for i := range all {
		all[i].View = all[i].Again[0].Put.Item
		if all[i].Remote = r.row(all[i].Key); inPK(all[i], pkGame) {
			all[i].View = nil
		}
	}
	behind := r.entries(view(r, func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, "g") }))
	for i := range behind { // conditional on the row as written here
		if w := behind[i].Again[0].Delete; w != nil && inPK(behind[i], pkGame) {
			w.Values[":updated"] = attr.S("2026-07-04T10:00:00.000Z")
		}
	}
	r.merged(all, behind...)
	if r.row(gameKey("g")) != nil || r.row(deletedKey(pkGame+"g")) == nil {
		t.Error("the game was not deleted")
	}
}
