package sportmonks

import (
	"bytes"
	"encoding/json"
	"flag"
	"hash/maphash"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func readAt() time.Time { return time.Date(2026, 10, 9, 15, 12, 0, 0, time.UTC) }

func newDecoder() *decoder {
	odd := newOddities(slog.New(slog.DiscardHandler), func(s string) string { return s })
	return &decoder{seed: maphash.MakeSeed(), scores: &scores{byID: map[int64]wireScore{}}, odd: odd, now: readAt()}
}

func decodeFresh(t testing.TB, body string) *reply {
	t.Helper()
	r, err := newDecoder().reply([]byte(body), nil)
	if err != nil {
		t.Fatalf("reply: %v\n%s", err, body)
	}
	return r
}

func decodeOne(t testing.TB, body string) cricket.Snapshot {
	t.Helper()
	r := decodeFresh(t, body)
	if len(r.fixtures) != 1 || len(r.skipped) != 0 {
		t.Fatalf("got %d fixtures, skipped %v", len(r.fixtures), r.skipped)
	}
	snap := r.fixtures[0].snap
	var kept map[string]json.RawMessage
	if err := json.Unmarshal(snap.Raw, &kept); err != nil || len(kept["id"]) == 0 || len(kept["balls"]) != 0 {
		t.Errorf("raw text of the match: %v, %.200s", err, snap.Raw)
	}
	snap.Raw = nil // its white space is the reply's
	return snap
}

// A real reply, decoded in full.
func TestRealReply(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("testdata", "reply-71344.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(decodeOne(t, string(body)), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "snapshot-71344.json")
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Errorf("snapshot differs from %s (-want +got):\n%s", golden, diff)
	}
}

// A real reply has no unknown values.
func TestRealReplyHasNoOddities(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("testdata", "reply-71344.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := newDecoder()
	if _, err := d.reply(body, nil); err != nil || len(d.odd.counts) != 0 {
		t.Errorf("%v, %v", d.odd.seen, err)
	}
}

// The same reply decodes to the same snapshot in a list, without white space, and with every include wrapped in
// {"data": ...}, as older clients saw it.
func TestRealReplyInOtherDress(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("testdata", "reply-71344.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := decodeOne(t, string(body))
	var compact bytes.Buffer
	if err := json.Compact(&compact, body); err != nil {
		t.Fatal(err)
	}
	fixture, err := field(body, 0, `"data"`)
	if err != nil {
		t.Fatal(err)
	}
	var wrapped map[string]json.RawMessage
	if err := json.Unmarshal(fixture, &wrapped); err != nil {
		t.Fatal(err)
	}
	for name, value := range wrapped {
		if (value[0] == '[' || value[0] == '{') && !strings.HasSuffix(name, "_data") {
			wrapped[name] = json.RawMessage(`{"data": ` + string(value) + `}`)
		}
	}
	inWraps, err := json.Marshal(map[string]any{"data": wrapped})
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]string{
		"compact": compact.String(),
		"list":    `{"data":[` + string(fixture) + `],"meta":{"current_page":1,"last_page":1}}`,
		"wrapped": string(inWraps),
	} {
		if diff := cmp.Diff(want, decodeOne(t, other)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestIncludes(t *testing.T) {
	tests := []struct {
		name, fields string
		want         func(*cricket.Snapshot)
	}{
		{"none", ``, func(*cricket.Snapshot) {}},
		{"null", `,"runs":null,"batting":null,"bowling":null,"lineup":null,"league":null,"venue":null,
			"scoreboards":null,"localteam":null`, func(*cricket.Snapshot) {}},
		{"empty", `,"runs":[],"batting":[],"lineup":{"data":[]},"league":[],"venue":{"data":null}`,
			func(*cricket.Snapshot) {}},
		{"balls null", `,"balls":null`, func(s *cricket.Snapshot) { s.Balls = []cricket.Ball{} }},
		{"balls empty", `,"balls":[ ]`, func(s *cricket.Snapshot) { s.Balls = []cricket.Ball{} }},
		{"balls empty and wrapped", `,"balls":{"data":[]}`, func(s *cricket.Snapshot) { s.Balls = []cricket.Ball{} }},
		{"a team without its include", `,"localteam_id":7,"visitorteam":{"id":9,"name":"Nine","code":"NIN"}`,
			func(s *cricket.Snapshot) {
				s.Teams = [2]cricket.Team{{ID: 7}, {ID: 9, Name: "Nine", Code: "NIN"}}
			}},
		{"numbers as text", `,"league_id":"3","total_overs_played":"20","rpc_target":"151","winner_team_id":7.0`,
			func(s *cricket.Snapshot) { s.League.ID, s.Overs, s.RevTarget, s.Winner = 3, 20, 151, 7 }},
		{"revised", `,"total_overs_played":50,"rpc_overs":7.3,"rpc_target":88`,
			func(s *cricket.Snapshot) { s.Overs, s.RevOvers, s.RevTarget = 50, "7.3", 88 }},
		{"a score by the rain rule", `,"localteam_dl_data":{"score":120,"overs":14.2,"wickets_out":3},
			"visitorteam_dl_data":{"score":null,"overs":null,"wickets_out":null}`, func(s *cricket.Snapshot) {
			s.RainScore[0] = cricket.RainScore{Known: true, Runs: 120, Overs: "14.2", Wickets: 3}
		}},
		{"revised to whole overs", `,"rpc_overs":18`, func(s *cricket.Snapshot) { s.RevOvers = "18.0" }},
		{"unknown fields", `,"nonsense":{"a":[1,{"b":"]}"}]},"more":"\"}"`, func(*cricket.Snapshot) {}},
		{"not a time", `,"starting_at":"soon"`, func(*cricket.Snapshot) {}},
		{"no result", `,"draw_noresult":"no result","super_over":1,"follow_on":"1"`,
			func(s *cricket.Snapshot) { s.NoResult, s.SuperOver, s.FollowOn = "no result", true, true }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := cricket.Snapshot{MatchID: "5", Players: map[int64]cricket.Name{}, ReadAt: readAt()}
			tt.want(&want)
			if diff := cmp.Diff(want, decodeOne(t, `{"data":{"id":5`+tt.fields+`}}`)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestScheduledOvers(t *testing.T) {
	tests := []struct {
		kind, sent string
		want       int
	}{
		{"T20I", "20", 20}, {"T20I", "null", 20}, {"Woman T20I", `""`, 20}, {"ODI", "50", 50}, {"ODI", "null", 50},
		{"List A", "0", 50}, {"T10", "null", 10}, {"100-Ball", "null", 20}, {"100-Ball", "20", 20},
		{"Test", "null", 0}, {"Test/5day", "90", 0}, {"4day", "96", 0}, {"Blitz", "15", 15}, {"Blitz", "null", 0},
	}
	for _, tt := range tests {
		s := decodeOne(t, `{"data":{"id":5,"type":"`+tt.kind+`","total_overs_played":`+tt.sent+`}}`)
		if s.Overs != tt.want {
			t.Errorf("%s, %s sent: %d overs, want %d", tt.kind, tt.sent, s.Overs, tt.want)
		}
	}
}

func TestInnings(t *testing.T) {
	s := decodeOne(t, `{"data":{"id":5,"runs":[
		{"id":3,"team_id":9,"inning":2,"score":10,"wickets":0,"overs":1.2,"updated_at":"2026-10-09T15:11:36.000000Z"},
		{"id":2,"team_id":7,"inning":1,"score":180,"wickets":8,"overs":19.5,"updated_at":"2026-10-09T14:50:00.000000Z"},
		{"id":2,"team_id":7,"inning":1,"score":187,"wickets":8,"overs":20,"updated_at":"2026-10-09T14:50:07.000000Z"},
		{"id":2,"team_id":7,"inning":1,"score":179,"wickets":7,"overs":19.4,"updated_at":"2026-10-09T14:49:00.000000Z"}],
		"scoreboards":[{"scoreboard":"S1","type":"extra","penalty":5},{"scoreboard":"S1","type":"total","penalty":0}]}}`)
	want := []cricket.Innings{
		{No: 1, TeamID: 7, Runs: 187, Wickets: 8, Overs: "20.0", Penalty: 5,
			UpdatedAt: time.Date(2026, 10, 9, 14, 50, 7, 0, time.UTC)},
		{No: 2, TeamID: 9, Runs: 10, Overs: "1.2", UpdatedAt: time.Date(2026, 10, 9, 15, 11, 36, 0, time.UTC)},
	}
	if diff := cmp.Diff(want, s.Innings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBattingRows(t *testing.T) {
	row := func(fields string) cricket.BattingRow {
		return decodeOne(t, `{"data":{"id":5,"batting":[{"id":1,"sort":4,"scoreboard":"S10","team_id":7,"player_id":2,
			"score":54,"ball":63,"four_x":6,"six_x":1`+fields+`}]}}`).Batting[0]
	}
	in := cricket.BattingRow{Innings: 10, Order: 4, TeamID: 7, PlayerID: 2, Runs: 54, Balls: 63, Fours: 6, Sixes: 1}
	tests := []struct {
		name, fields string
		want         func(*cricket.BattingRow)
	}{
		{"not out", `,"wicket_id":84,"fow_score":0,"fow_balls":0`, func(*cricket.BattingRow) {}},
		{"nothing known", `,"wicket_id":null`, func(*cricket.BattingRow) {}},
		{"a wicket id, but no fall of wicket", `,"wicket_id":54,"fow_balls":0.0`, func(*cricket.BattingRow) {}},
		{"caught", `,"wicket_id":54,"bowling_player_id":8,"catch_stump_player_id":9,"fow_score":172,"fow_balls":18.6`,
			func(r *cricket.BattingRow) {
				r.Out, r.BowlerID, r.CatchID, r.FoWRuns, r.FoWOvers = true, 8, 9, 172, "18.6"
			}},
		{"run out, named", `,"wicket_id":63,"runout_by_id":9,"fow_score":30,"fow_balls":4,
			"result":{"id":63,"name":"Run  Out"}`, func(r *cricket.BattingRow) {
			r.Out, r.RunOutID, r.FoWRuns, r.FoWOvers, r.HowOut = true, 9, 30, "4.0", "Run Out"
		}},
		{"timed out: only the fall of wicket is given", `,"wicket_id":99,"fow_score":30,"fow_balls":4.1`,
			func(r *cricket.BattingRow) { r.Out, r.FoWRuns, r.FoWOvers = true, 30, "4.1" }},
		{"retired hurt is not out", `,"wicket_id":88,"fow_score":30,"fow_balls":4.1,"result":{"id":88,"name":"Retired Hurt"}`,
			func(*cricket.BattingRow) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := in
			tt.want(&want)
			if diff := cmp.Diff(want, row(tt.fields)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A text that is not a reply is an error, never a panic and never an empty result.
func TestBrokenReplies(t *testing.T) {
	whole := `{"data":{"id":5,"name":"a\"b","balls":[{"id":1,"score":{"ball":true}},{"id":2}],"runs":[]}}`
	decodeOne(t, whole)
	for i := range len(whole) {
		if r, err := newDecoder().reply([]byte(whole[:i]), nil); err == nil {
			t.Errorf("cut after %d bytes: no error, %+v", i, r)
		}
	}
	for _, body := range []string{
		``, `[]`, `null`, `"data"`, `{}`, `{"message":"Too Many Attempts."}`, `{"data":{}}`, `{"data":{"id":0}}`,
		`{"data":{"id":5}} {"data":{"id":5}}`, `{"data":{"id":5}}<html>`, `{"data":{"id":5,}}`, `{"data":{id:5}}`,
		`{"data" {"id":5}}`, `{"data":{"id":"five"}}`, `{"data":{"id":5.5}}`, `{"data":{"id":5,"balls":[{"id":1]]}}`,
		`{"data":{"id":5,"balls":[,]}}`, `{"data":{"id":5,"runs":[{]]}}`,
	} {
		if r, err := newDecoder().reply([]byte(body), nil); err == nil {
			t.Errorf("%s: no error, %+v", body, r)
		}
	}
}

// A match that cannot be decoded does not affect the others.
func TestOneBadMatchIsSkipped(t *testing.T) {
	r := decodeFresh(t, `{"data":[{"id":5},{"id":6,"runs":[{"score":"many"}]},{"id":"x"},{"id":-8},{"id":7}]}`)
	if len(r.fixtures) != 2 || r.fixtures[0].snap.MatchID != "5" || r.fixtures[1].snap.MatchID != "7" {
		t.Errorf("fixtures: %+v", r.fixtures)
	}
	if len(r.skipped) != 3 {
		t.Errorf("skipped: %v", r.skipped)
	}
}

// The feed's texts end up in rows, pages, payloads and logs, so each is a single line of bounded length.
func TestTextsAreTidy(t *testing.T) {
	for sent, want := range map[string]string{
		`R. Ashwin`:                   "R. Ashwin",
		`Dhruv\u00a0Jurel`:            "Dhruv\u00a0Jurel",
		`श्रेयस अय्यर`:                "श्रेयस अय्यर",
		`a\u0000b\u001b[31mc\u007f`:   "ab[31mc",
		`two\r\nlines\u2028and\tmore`: "two  lines and more",
		`\u202eEvil\u202c \u2067x`:    "Evil x",
	} {
		snap := decodeOne(t, `{"data":{"id":5,"note":"`+sent+`"}}`)
		if snap.Note != want {
			t.Errorf("%s: %q, want %q", sent, snap.Note, want)
		}
	}
	long := decodeOne(t, `{"data":{"id":5,"status":"`+strings.Repeat("é", 300)+`","localteam":{"name":"`+strings.Repeat("x", 1e6)+`"}}}`)
	if s := string(long.Status); len(s) != maxText || strings.Trim(s, "é") != "" {
		t.Errorf("the status has %d bytes: %q", len(s), s)
	}
	if n := len(long.Teams[0].Name); n != maxText {
		t.Errorf("the name has %d bytes", n)
	}
}
