package threefc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
		out, err := to.ImportSeason(t.Context(), to.store, f, nil)
		return out.Made, err
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

// An import writes a large file in slices, between which others write, whether its rows are large or many. One that ends on its way is
// continued by the next, which writes the rest and no more; a third does not take the writer.
func TestImportInSlices(t *testing.T) {
	for name, file := range map[string]*File{"large rows": largeFile(2<<20, 390_000), "small rows": largeFile(300<<10, 600)} {
		r := newRig(t)
		r.must(func(tx *store.Tx) (Change, error) {
			return r.CreateLeague(tx, boss, League{LeagueID: "l", Name: "League"})
		})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		slices := 0
		load := func(ctx context.Context, half bool) (Imported, error) {
			before, others := int64(0), r.store.Seq()
			return r.ImportSeason(ctx, r.store, file, func(done, total int64) {
				rows := r.store.Seq() - others
				if size := done - before; rows > importRows || size > importBytes && rows > 1 {
					t.Errorf("%s: one transaction wrote %d rows of %d bytes", name, rows, size)
				}
				if err := r.store.Update(t.Context(), func(tx *store.Tx) error { // somebody else
					_, err := tx.Put(store.PutItem{Table: tableName, Item: key("OTHER#1", fmt.Sprint(done))})
					return err
				}); err != nil {
					t.Error(err)
				}
				if slices++; half && done > total/2 {
					stop()
				}
				before, others = done, r.store.Seq()
			})
		}
		first, err := load(ctx, true)
		if !errors.Is(err, context.Canceled) || first.Made == 0 || first.Made == len(file.Rows) || slices < 3 {
			t.Errorf("%s: interrupted after %d slices: %+v %v", name, slices, first, err)
		}
		if second, err := load(t.Context(), false); err != nil || first.Made+second.Made != len(file.Rows) {
			t.Errorf("%s: %+v, then %+v %v", name, first, second, err)
		}
		before := r.store.Seq()
		if third, err := r.ImportSeason(t.Context(), r.store, file, nil); err != nil || third.Made != 0 || r.store.Seq() != before {
			t.Errorf("%s: a third time: %+v %v", name, third, err)
		}
	}
}
