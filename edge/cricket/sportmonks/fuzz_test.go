package sportmonks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/internal/testrig/corpus"
)

const fuzzSeed = `{"data":{"id":5,"total_overs_played":20,"rpc_overs":7.3,"starting_at":"2026-10-09T13:00:00.000000Z",
"runs":[{"inning":1,"score":182,"overs":20}],"batting":[{"scoreboard":"S1","wicket_id":54,"score_id":54,"fow_balls":0.5}],
"balls":[{"id":1,"ball":0.3,"scoreboard":"S1","batsman_id":2,"batsman":{"fullname":"Lahiru Udara"},
"score":{"id":54,"name":"Catch Out","is_wicket":true,"ball":true}}],"lineup":{"data":[{"id":2,"firstname":"L"}]}}}`

// FuzzReply decodes two texts in turn, the second with and without the memory of the first. There must be no panic, and
// the same result for both. They share the catalogue of scores, because it learns from every reply.
func FuzzReply(f *testing.F) {
	// Small texts only: with large ones the fuzzer spends its time minimizing them.
	list := listText([]fakeFixture{{id: 1, balls: []fakeBall{{id: 1}, {id: 2}}}, {id: 2}})
	f.Add([]byte(list), []byte(list))
	f.Add([]byte(list[:200]), []byte(fuzzSeed))
	f.Add([]byte(`{"data":{"id":5,"balls":{"data":[{"id":1,"ball":"0.1"}]}}}`), []byte(`{"data":[{"id":5,"balls":null}]}`))
	f.Add([]byte(`{"data":null}`), []byte(`{"data":{"id":1e1,"runs":{"data":[]}},"links":{"next":null},"meta":[]}`))
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := newDecoder()
		var last []known
		if r, err := d.reply(first, nil); err == nil {
			last = r.fixtures
		}
		got, gotErr := d.reply(second, last)
		other := newDecoder()
		other.scores = d.scores
		want, wantErr := other.reply(second, nil)
		if (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("with memory %v, without %v", gotErr, wantErr)
		}
		if gotErr != nil {
			return
		}
		for i := range got.fixtures {
			for j := range got.fixtures[i].snap.Batting {
				// An unchanged row is not decoded again and keeps the dismissal's name from when it was.
				got.fixtures[i].snap.Batting[j].HowOut = want.fixtures[i].snap.Batting[j].HowOut
			}
		}
		if diff := cmp.Diff(snapshotsOf(want), snapshotsOf(got)); diff != "" {
			t.Fatalf("without memory (-) and with (+):\n%s", diff)
		}
	})
}

// FuzzLists decodes a text as each of the lists other than those of matches. There must be no panic, and every row is
// either taken or counted as skipped.
func FuzzLists(f *testing.F) {
	f.Add([]byte(`{"data":[{"resource":"leagues","id":3,"season_id":1715,"name":"T20I","updated_at":"2026-01-03T08:07:05.000000Z"}]}`))
	f.Add([]byte(`{"data":[{"id":1,"name":2026,"national_team":1},{"id":{}},{"id":1.5}],"links":{"next":null},"meta":{"current_page":1}}`))
	f.Add([]byte(`{"data":{"resource":"teams","id":1,"squad":{"data":[{"id":2,"fullname":"A B","position":{"name":"Bowler"}}]}}}`))
	f.Add([]byte(`{"data":[{"id":2,"firstname":"A","squad":{"season_id":3}},{"id":"x"}]}`))
	f.Add([]byte(`{"data":[{"id":47,"name":"FOUR","runs":4,"four":true,"ball":true}]}`))
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		var leagues []reference.LeagueRecord
		var seasons []reference.SeasonRecord
		var teams []reference.TeamRecord
		var squad []reference.SquadPlayer
		read := func(rows rowsFunc) *reply {
			r := &reply{}
			_ = r.envelope(body, func(at int) (int, error) { return rows(r, body, at) })
			return r
		}
		read(scoreRows(&scores{byID: map[int64]wireScore{}}))
		for name, lost := range map[string]int{
			"leagues": lost(read(rowsOf(&leagues, leagueRecord)), len(leagues)),
			"seasons": lost(read(rowsOf(&seasons, seasonRecord)), len(seasons)),
			"teams":   lost(read(rowsOf(&teams, teamRecord)), len(teams)),
		} {
			if lost != 0 {
				t.Errorf("%s: %d rows neither taken nor counted", name, lost)
			}
		}
		read(squadRows(&squad))
		ids := map[string]bool{}
		for _, p := range squad {
			if p.ID == "" || ids[p.ID] {
				t.Errorf("player %+v has no id, or is there twice", p)
			}
			ids[p.ID] = true
		}
	})
}

func lost(r *reply, taken int) int { return r.rows - len(r.skipped) - taken }
