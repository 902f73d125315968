package sportmonks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
)

func ballsOfReply(t testing.TB, rows ...string) []cricket.Ball {
	t.Helper()
	return decodeOne(t, `{"data":{"id":5,"balls":[`+strings.Join(rows, ",")+`]}}`).Balls
}

type scoreForm struct {
	name, score, out string
	want             cricket.Ball
	total, bat       int
	legal            bool
}

// scoreForms returns the forms of score object that have been seen, and the ball that each stands for.
func scoreForms() []scoreForm {
	return []scoreForm{
		{"dot", `"name":"No Run","runs":0,"ball":true`, "", cricket.Ball{Outcome: "No Run"}, 0, 0, true},
		{"run", `"name":"1 Run","runs":1,"ball":true`, "", cricket.Ball{Outcome: "1 Run", Runs: 1}, 1, 1, true},
		{"four", `"name":"FOUR","runs":4,"four":true,"ball":true`, "",
			cricket.Ball{Outcome: "FOUR", Runs: 4, Four: true}, 4, 4, true},
		{"four run, no boundary", `"name":"4 Runs","runs":4,"four":false,"ball":true`, "",
			cricket.Ball{Outcome: "4 Runs", Runs: 4}, 4, 4, true},
		{"six", `"name":"SIX","runs":6,"six":true,"ball":true`, "",
			cricket.Ball{Outcome: "SIX", Runs: 6, Six: true}, 6, 6, true},
		{"wide", `"name":"1 Wide","runs":1,"ball":false`, "",
			cricket.Ball{Outcome: "1 Wide", Runs: 1, Wide: true}, 1, 0, false},
		{"five wides", `"name":"5 Wides","runs":5,"ball":false`, "",
			cricket.Ball{Outcome: "5 Wides", Runs: 5, Wide: true}, 5, 0, false},
		{"wide by name only", `"name":"2 Wides","runs":2`, "",
			cricket.Ball{Outcome: "2 Wides", Runs: 2, Wide: true}, 2, 0, false},
		{"bye", `"name":"1 Bye","runs":0,"bye":1,"ball":true`, "", cricket.Ball{Outcome: "1 Bye", Byes: 1}, 1, 0, true},
		{"leg byes", `"name":"4 Leg Bye","runs":0,"leg_bye":4,"ball":true`, "",
			cricket.Ball{Outcome: "4 Leg Bye", LegByes: 4}, 4, 0, true},
		{"no-ball", `"name":"1 No Ball","runs":1,"noball":1,"noball_runs":1,"ball":true`, "",
			cricket.Ball{Outcome: "1 No Ball", Runs: 1, NoBall: true, NoBallRuns: 1}, 1, 0, false},
		{"no-ball hit for six", `"name":"1 No Ball + Six","runs":7,"six":true,"noball":1,"noball_runs":1,"ball":true`, "",
			cricket.Ball{Outcome: "1 No Ball + Six", Runs: 7, Six: true, NoBall: true, NoBallRuns: 1}, 7, 6, false},
		{"no-ball of two", `"name":"1 No Ball + 1 Run","runs":3,"noball":1,"noball_runs":2,"ball":true`, "",
			cricket.Ball{Outcome: "1 No Ball + 1 Run", Runs: 3, NoBall: true, NoBallRuns: 2}, 3, 1, false},
		{"no-ball and bye", `"name":"1 No Ball + 1 Bye","runs":1,"bye":1,"noball":1,"noball_runs":1,"ball":true`, "",
			cricket.Ball{Outcome: "1 No Ball + 1 Bye", Runs: 1, Byes: 1, NoBall: true, NoBallRuns: 1}, 2, 0, false},
		{"no-ball with ball false", `"name":"1 No Ball","runs":1,"noball":1,"noball_runs":1,"ball":false`, "",
			cricket.Ball{Outcome: "1 No Ball", Runs: 1, NoBall: true, NoBallRuns: 1}, 1, 0, false},
		{"caught", `"name":"Catch Out","runs":0,"ball":true,"is_wicket":true,"out":true`, "166",
			cricket.Ball{Outcome: "Catch Out", Wicket: true, OutID: 166}, 0, 0, true},
		{"stumped off a wide", `"name":"1 Wide + Stump Out","runs":1,"ball":false,"is_wicket":true,"out":true`, "166",
			cricket.Ball{Outcome: "1 Wide + Stump Out", Runs: 1, Wide: true, Wicket: true, OutID: 166}, 1, 0, false},
		{"run out by the batter's id only", `"name":"Run Out + 1 Run","runs":1,"ball":true`, "166",
			cricket.Ball{Outcome: "Run Out + 1 Run", Runs: 1, Wicket: true, OutID: 166}, 1, 1, true},
		{"run out on a no-ball without its flag, repeated spaces", `"name":"1NB + 1 Run+  Run Out","runs":2,"ball":true,"is_wicket":true`, "null",
			cricket.Ball{Outcome: "1NB + 1 Run+ Run Out", Runs: 2, NoBall: true, NoBallRuns: 1, Wicket: true}, 2, 1, false},
		{"retired hurt is not a wicket", `"name":"Retired Hurt","runs":0,"ball":true`, "166",
			cricket.Ball{Outcome: "Retired Hurt"}, 0, 0, true},
		{"retired out is a wicket", `"name":"Retired Out","runs":0,"ball":true,"is_wicket":true,"out":true`, "166",
			cricket.Ball{Outcome: "Retired Out", Wicket: true, OutID: 166}, 0, 0, true},
		{"numbers as text, flags as digits", `"name":"FOUR","runs":"4","four":"1","ball":1`, "",
			cricket.Ball{Outcome: "FOUR", Runs: 4, Four: true}, 4, 4, true},
	}
}

func TestScoreObjects(t *testing.T) {
	for _, tt := range scoreForms() {
		t.Run(tt.name, func(t *testing.T) {
			out := tt.out
			if out == "" {
				out = "null"
			}
			got := ballsOfReply(t, `{"id":1,"ball":0.1,"scoreboard":"S1","batsmanout_id":`+out+`,"score":{"id":1,`+tt.score+`}}`)[0]
			want := tt.want
			want.ID, want.Innings, want.Label = 1, 1, "0.1"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Total() != tt.total || got.BatRuns() != tt.bat || got.Legal() != tt.legal {
				t.Errorf("total %d, bat %d, legal %v; want %d, %d, %v",
					got.Total(), got.BatRuns(), got.Legal(), tt.total, tt.bat, tt.legal)
			}
		})
	}
}

func ballRow(id int, board, label, updated, score string) string {
	return fmt.Sprintf(`{"id":%d,"scoreboard":%q,"ball":%s,"updated_at":"2026-10-09T13:%s.000000Z","score":{%s}}`,
		id, board, label, updated, score)
}

const (
	dot  = `"id":82,"name":"No Run","ball":true`
	wide = `"id":17,"name":"1 Wide","runs":1,"ball":false`
	four = `"id":47,"name":"FOUR","runs":4,"four":true,"ball":true`
)

// Labels repeat, and balls stay in the order of the reply: the rules sort them. The innings is the scoreboard's number: S10 is not S1.
func TestBallsAsInTheReply(t *testing.T) {
	balls := ballsOfReply(t,
		ballRow(50, "S10", "0.1", "50:00", dot),
		ballRow(40, "S2", "0.1", "40:00", dot),
		ballRow(12, "S1", "0.2", "02:00", wide),
		ballRow(14, "S1", "1.1", "04:00", dot),
		ballRow(13, "S1", "0.2", "03:00", dot),
		ballRow(13, "S1", "0.2", "03:30", four),
	)
	var got []string
	for i := range balls {
		b := &balls[i]
		got = append(got, fmt.Sprintf("%d:%d %s/%d %s", b.Innings, b.ID, b.Label, b.Over, b.Outcome))
	}
	want := []string{"10:50 0.1/0 No Run", "2:40 0.1/0 No Run", "1:12 0.2/0 1 Wide", "1:14 1.1/1 No Run", "1:13 0.2/0 No Run", "1:13 0.2/0 FOUR"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A ball without a score object takes it from the catalogue. If the catalogue learns the score later, the next reply has
// it, although the ball's text is unchanged.
func TestBallWithoutScore(t *testing.T) {
	d := newDecoder()
	body := []byte(`{"data":{"id":5,"balls":[{"id":1,"scoreboard":"S1","ball":0.1,"score_id":47}]}}`)
	first, err := d.reply(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b := first.fixtures[0].snap.Balls[0]; b.Outcome != "" || b.Runs != 0 || b.ID != 1 {
		t.Errorf("unknown score: %+v", b)
	}
	d.scores.learn(wireScore{ID: 47, Name: "FOUR", Runs: 4, Four: true})
	second, err := d.reply(body, first.fixtures)
	if err != nil {
		t.Fatal(err)
	}
	if b := second.fixtures[0].snap.Balls[0]; b.Outcome != "FOUR" || !b.Four || b.Runs != 4 {
		t.Errorf("known score: %+v", b)
	}
}

func TestBallFields(t *testing.T) {
	got := ballsOfReply(t, `{"id":11,"team_id":39,"ball":12.4,"scoreboard":"S1","batsman_one_on_creeze_id":1,
		"batsman_two_on_creeze_id":2,"batsman_id":2,"bowler_id":3,"batsmanout_id":2,"catchstump_id":4,"runout_by_id":5,
		"score":{"name":"Run Out","is_wicket":true,"ball":true},"updated_at":"2026-10-09T13:06:04.123456Z"}`)[0]
	want := cricket.Ball{ID: 11, Innings: 1, TeamID: 39, Over: 12, Label: "12.4", BatterID: 2, BowlerID: 3,
		PairIDs: [2]int64{1, 2}, Outcome: "Run Out", Wicket: true, OutID: 2, CatchID: 4, RunOutID: 5,
		UpdatedAt: time.Date(2026, 10, 9, 13, 6, 4, 123456000, time.UTC)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	tests := []struct{ first, last, full, wantFull, wantLast string }{
		{"Sahibzada", "Farhan", "Sahibzada Farhan", "Sahibzada Farhan", "Farhan"},
		{"AB", "Villiers", "AB de Villiers", "AB de Villiers", "de Villiers"},
		{"", "", "BA Stokes", "BA Stokes", "Stokes"},
		{"", "", "M.S. Dhoni", "M.S. Dhoni", "Dhoni"},
		{"Ben", "Stokes", "Ben A Stokes", "Ben A Stokes", "Stokes"},
		{"", "", "Rassie van der Dussen", "Rassie van der Dussen", "van der Dussen"},
		{"", "", "HE van der Dussen", "HE van der Dussen", "van der Dussen"},
		{"", "", "Kusal Mendis", "Kusal Mendis", "Mendis"},
		{"Shaheen", "", "Shaheen Shah Afridi", "Shaheen Shah Afridi", "Shah Afridi"},
		{"Mohammad Rizwan", "", "Mohammad Rizwan", "Mohammad Rizwan", "Rizwan"},
		{"", "", "Fawad", "Fawad", "Fawad"},
		{"", "", "KL", "KL", "KL"},
		{"Ish", "Sodhi", "", "Ish Sodhi", "Sodhi"},
		{"", "Sodhi", "", "Sodhi", "Sodhi"},
		{"", "", "", "", ""},
	}
	for _, tt := range tests {
		got := nameOf(&wirePlayer{FirstName: text(tt.first), LastName: text(tt.last), FullName: text(tt.full)})
		if got.Full != tt.wantFull || got.Last != tt.wantLast {
			t.Errorf("%q %q %q: %+v, want %q and %q", tt.first, tt.last, tt.full, got, tt.wantFull, tt.wantLast)
		}
	}
}

func TestOversText(t *testing.T) {
	for sent, want := range map[text]string{
		"20": "20.0", "0": "0.0", "1.2": "1.2", "49.3": "49.3", "20.0": "20.0", "": "", "165.5": "165.5", "half": "half",
	} {
		if got := oversText(sent); got != want {
			t.Errorf("%q: %q, want %q", sent, got, want)
		}
	}
}
