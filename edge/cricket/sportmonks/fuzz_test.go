package sportmonks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

const fuzzSeed = `{"data":{"id":5,"total_overs_played":20,"rpc_overs":7.3,"starting_at":"2026-10-09T13:00:00.000000Z",
"runs":[{"inning":1,"score":182,"overs":20}],"batting":[{"scoreboard":"S1","wicket_id":54,"score_id":54,"fow_balls":0.5}],
"balls":[{"id":1,"ball":0.3,"scoreboard":"S1","batsman_id":2,"batsman":{"fullname":"Lahiru Udara"},
"score":{"id":54,"name":"Catch Out","is_wicket":true,"ball":true}}],"lineup":{"data":[{"id":2,"firstname":"L"}]}}}`

// FuzzReply decodes two texts one after the other, with the memory of the first for the second: no panic, and the
// memory never shows. What the catalogue learned on the way is given to both.
func FuzzReply(f *testing.F) {
	// Small texts: the fuzzer spends its time making a large one smaller.
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
				// A row that is not looked at again keeps the name its dismissal had when it was.
				got.fixtures[i].snap.Batting[j].HowOut = want.fixtures[i].snap.Batting[j].HowOut
			}
		}
		if diff := cmp.Diff(snapshotsOf(want), snapshotsOf(got)); diff != "" {
			t.Fatalf("without memory (-) and with (+):\n%s", diff)
		}
	})
}
