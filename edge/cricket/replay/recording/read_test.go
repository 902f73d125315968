package recording

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// match is a file with rare facts.
const match = `{"meta":{"data_version":"1.1.0","created":"2020-01-02","revision":1},
"info":{"balls_per_over":6,"city":"Ghent","dates":["2020-01-01"],"event":{"name":"Cup","match_number":3,"group":1},
 "gender":"male","match_type":"T20","match_type_number":9,"missing":["x"],"officials":{"umpires":["U One","U Two"]},
 "outcome":{"winner":"Reds","by":{"wickets":2},"method":"D/L"},"overs":20,"player_of_match":["C D"],
 "players":{"Blues":["A B","K L"],"Reds":["C D","E F"]},
 "registry":{"people":{"A B":"00000001","K L":"00000002","C D":"00000003","E F":"00000004","S T":"00000005","U One":"00000006"}},
 "season":2020,"supersubs":{"Blues":"K L"},"team_type":"club","teams":["Blues","Reds"],
 "toss":{"decision":"field","winner":"Reds"},"venue":"Park"},
"innings":[
 {"team":"Blues","absent_hurt":["K L"],"miscounted_overs":{"0":{"balls":"2","umpire":"U One"}},"penalty_runs":{"pre":5,"post":6},
  "powerplays":[{"from":0.1,"to":5.6,"type":"mandatory"}],
  "overs":[{"over":0,"deliveries":[
   {"batter":"A B","bowler":"C D","non_striker":"K L","runs":{"batter":4,"extras":0,"total":4,"non_boundary":true}},
   {"batter":"A B","bowler":"E F","non_striker":"K L","runs":{"batter":0,"extras":5,"total":5},"extras":{"noballs":1,"byes":4},
    "review":{"by":"Reds","decision":"upheld"},
    "replacements":{"match":[{"in":"K L","out":"A B","team":"Blues","reason":"supersub"}],"role":[{"in":"E F","role":"bowler"}]},
    "wickets":[{"kind":"run out","player_out":"K L","fielders":[{"name":"S T","substitute":true},{"substitute":true}]}]}]}]},
 {"team":"Reds","target":{"overs":7.3,"runs":21},"overs":[{"over":0,"deliveries":[
   {"batter":"C D","bowler":"A B","non_striker":"E F","runs":{"batter":0,"extras":1,"total":1},"extras":{"wides":1}}]}]}]}`

func TestRead(t *testing.T) {
	got, err := Read("7", "small", []byte(match))
	if err != nil {
		t.Fatal(err)
	}
	want := &Match{
		ID: "7", Why: "small", Type: "T20", Gender: "male", Sides: "club", Event: Event{Name: "Cup", Number: 3, Group: "1"},
		Season: "2020", Dates: []string{"2020-01-01"}, Venue: "Park", City: "Ghent", BallsPerOver: 6, Overs: 20,
		Toss: Toss{Winner: 1}, Umpires: []string{"U One", "U Two"}, Outcome: Outcome{Winner: "Reds", Wickets: 2, Method: "D/L"},
		Best: []Ref{'A'},
		Teams: [2]Team{
			{Name: "Blues", Players: []Player{
				{Name: "A B", Registry: "00000001", Listed: true},
				{Name: "K L", Registry: "00000002", Listed: true, SuperSub: true, Substitute: true},
			}},
			{Name: "Reds", Players: []Player{
				{Name: "C D", Registry: "00000003", Listed: true}, {Name: "E F", Registry: "00000004", Listed: true},
				{Name: "S T", Registry: "00000005"},
			}},
		},
		Innings: []Innings{
			{Pre: 5, Post: 6, Powerplays: []Powerplay{{"0.1", "5.6"}}, Overs: []Over{{Balls: []Delivery{
				{Batter: 'a', NonStriker: 'b', Bowler: 'A', Bat: 4, Run: true},
				{Batter: 'a', NonStriker: 'b', Bowler: 'B', NoBalls: 1, Byes: 4, Wickets: []Wicket{
					{Kind: RunOut, Out: 'b', Fielders: []Fielder{{Who: 'C', Substitute: true}, {Substitute: true}}},
				}},
			}}}},
			{Team: 1, Target: Target{21, "7.3"}, Overs: []Over{{Balls: []Delivery{{Batter: 'A', NonStriker: 'B', Bowler: 'a', Wides: 1}}}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d := got.Innings[0].Overs[0].Balls[1]; d.Total() != 5 || d.Legal() {
		t.Errorf("no-ball and byes: %+v", d)
	}
	if got.Player('Z') != nil || got.Player(0) != nil {
		t.Error("an unknown reference has a player")
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"a fact we do not know", `"city":"Ghent"`, `"roof":"open"`, `unknown field "roof"`},
		{"a fact of a delivery", `"wides":1`, `"leftwides":1`, `unknown field "leftwides"`},
		{"extras that do not add up", `"byes":4`, `"byes":3`, "innings 1, over 0, delivery 2: the kinds of extras"},
		{"a total that is none", `"total":4`, `"total":5`, "runs off the bat and extras do not add up to the total"},
		{"a stranger", `"batter":"C D"`, `"batter":"X Y"`, `"X Y" is not in the side`},
		{"a third side in the field", `"team":"Blues","absent_hurt"`, `"team":"Greens","absent_hurt"`, `"Greens" is neither team`},
		{"a third side", `"team":"Reds","target"`, `"team":"Greens","target"`, `"Greens" is neither team`},
		{"a new way to be out", `"run out"`, `"bored out"`, `"bored out" is an unknown kind`},
		{"one team", `"teams":["Blues","Reds"]`, `"teams":["Blues"]`, "a match has two teams"},
		{"no registry number", `"A B":"00000001",`, ``, `"A B" has no number in the registry`},
		{"a number that is none", `"A B":"00000001"`, `"A B":"0000000G"`, `"A B" has no number in the registry`},
		{"a type of cricket", `"match_type":"T20"`, `"match_type":"T10"`, `match_type "T10" is not one of T20`},
		{"overs of a Test", `"match_type":"T20"`, `"match_type":"Test"`, "a limited-overs match needs overs, and no other match"},
		{"a day that is none", `"2020-01-01"`, `"2020-02-31"`, `"2020-02-31" is not a date`},
		{"days backwards", `["2020-01-01"]`, `["2020-01-01","2019-01-01"]`, "a match needs its dates, in order"},
		{"balls of an over", `"balls_per_over":6`, `"balls_per_over":0`, "a match needs balls_per_over"},
		{"no venue", `"venue":"Park"`, `"venue":""`, "a match needs a venue"},
		{"a stranger wins the toss", `"winner":"Reds"},"venue"`, `"winner":"Greens"},"venue"`, `the toss winner "Greens" is not one of Blues, Reds`},
		{"a stranger wins", `"outcome":{"winner":"Reds"`, `"outcome":{"winner":"Greens"`, `"Greens" is neither team`},
		{"two outcomes", `"method":"D/L"`, `"eliminator":"Reds"`, "a match needs one outcome"},
		{"no outcome", `"winner":"Reds","by"`, `"by"`, "a match needs one outcome"},
		{"fewer runs than none", `"batter":4,"extras":0,"total":4`, `"batter":-4,"extras":0,"total":-4`, "-4 is not a number of runs"},
		{"a target", `"overs":7.3`, `"overs":7.30001`, "innings 2: target or penalty runs"},
		{"a powerplay", `"from":0.1`, `"from":"now"`, "innings 1: a powerplay needs"},
		{"an over too late", `"overs":[{"over":0`, `"overs":[{"over":1`, "deliveries where over 0 should be"},
		{"a fielder of the own side", `{"name":"S T","substitute":true}`, `{"name":"Z Z"}`, `"Z Z" has no number`},
		{"broken JSON", `"toss":{`, `"toss":`, "invalid character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(match, tt.old) {
				t.Fatalf("%s is not there", tt.old)
			}
			_, err := Read("7", "", []byte(strings.Replace(match, tt.old, tt.new, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// Unpacking a packed recording gives the same match; other bytes are an error.
func TestPack(t *testing.T) {
	m, err := Read("7", "why", []byte(match))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := Pack(m)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Unpack(bytes.NewReader(packed)); err != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("%+v, %v, want %+v", back, err, m)
	}
	for n := range packed {
		if _, err := Unpack(bytes.NewReader(packed[:n])); err == nil {
			t.Fatalf("%d of %d bytes are a recording", n, len(packed))
		}
	}
}
