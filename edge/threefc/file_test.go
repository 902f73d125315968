package threefc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
)

// A season exported and imported elsewhere has the same tables; a second import changes nothing. The file contains no addresses.
func TestSeasonFile(t *testing.T) {
	from, to := newRig(t), newRig(t)
	from.league()
	from.play("g", [2]string{"red", "blue"}, [2]string{"yellow", "yellow"})
	from.must(func(tx *store.Tx) (Change, error) { return from.Claim(tx, "ann@example.org", "r1") })
	f := view(from, func(tx *store.Tx) (File, error) { return from.ExportSeason(tx, "s") })
	raw, err := json.Marshal(f)
	if err != nil || strings.Contains(string(raw), "@") {
		t.Errorf("%v %s", err, raw)
	}
	var read File
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	load := func(f *File) (made int, err error) {
		err = to.store.Update(t.Context(), func(tx *store.Tx) (err error) {
			made, err = to.ImportSeason(tx, f)
			return err
		})
		return made, err
	}
	if _, err := load(&read); codeOf(err) != "" || err == nil {
		t.Errorf("import without the league: %v", err)
	}
	to.must(func(tx *store.Tx) (Change, error) {
		return to.CreateLeague(tx, boss, League{LeagueID: "l", Name: "League"})
	})
	if made, err := load(&read); err != nil || made != len(f.Rows) {
		t.Errorf("%d rows of %d, %v", made, len(f.Rows), err)
	}
	if made, err := load(&read); err != nil || made != 0 {
		t.Errorf("again: %d rows, %v", made, err)
	}
	for _, r := range []*rig{from, to} {
		table := view(r, func(tx *store.Tx) ([]Standing, error) { return r.Standings(tx, "s", false) })
		leaders := view(r, func(tx *store.Tx) ([]Leader, error) { return r.Leaders(tx, "s", false) })
		if table[0].TeamID != "red" || table[0].Played != 1 || table[0].Scored != 3 || leaders[0].Nickname != "Player r1" || leaders[0].Goals != 3 {
			t.Errorf("%+v %+v", table, leaders)
		}
	}
	last := len(read.Rows) - 1
	for _, change := range []func(r *FileRow){
		func(r *FileRow) { r.PK = "AUTH_SESSION#x" }, func(r *FileRow) { r.Entity = "acl" }, func(r *FileRow) { r.SK = skACL + "x" }, func(r *FileRow) { r.Data = json.RawMessage(`[]`) },
		func(r *FileRow) { r.PK = pkSeason + "other" }, func(r *FileRow) { r.PK, r.SK, r.Entity = pkGame+"other", skGoal+"1#0001#e", "goal" },
		func(r *FileRow) { r.PK, r.SK, r.Entity = pkGame+"g", skDeleted, "goal" }, func(r *FileRow) { r.PK, r.SK, r.Entity = pkLeague+"l", pkSeason+"other", "season" },
		func(r *FileRow) {
			r.PK, r.SK, r.Entity, r.Data = pkGame+"g", skMeta, "game", json.RawMessage(`{"seasonId":"other"}`)
		},
	} {
		bad := File{Format: fileFormat, SeasonID: "s", Rows: append(read.Rows[:last:last], read.Rows[last])}
		change(&bad.Rows[last])
		if _, err := load(&bad); codeOf(err) != "bad_file" {
			t.Errorf("%+v: %v", bad.Rows[last], err)
		}
	}
}
