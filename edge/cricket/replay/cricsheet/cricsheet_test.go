package cricsheet

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/cricket/replay/tape"
)

// match is a file in the source's form with its rarer facts: what each key becomes is told by the recording.
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

// record is the text of the recording.
func record(id, why string, src []byte) (string, error) {
	m, err := Convert(id, why, src)
	if err != nil {
		return "", err
	}
	return string(tape.Format(m)), nil
}

func TestRecord(t *testing.T) {
	got, err := record("7", "small", []byte(match))
	if err != nil {
		t.Fatal(err)
	}
	want := `touchline match 1
id 7
why small
type T20
gender male
sides club
event Cup
number 3
group 1
season 2020
date 2020-01-01
venue Park
city Ghent
balls-per-over 6
overs 20
umpire U One
umpire U Two
winner Reds
by-wickets 2
method D/L

team Blues
player a 00000001 A B
supersub b 00000002 K L

team Reds
toss field
player A 00000003 C D
player B 00000004 E F
fielder C 00000005 S T

after
best A

innings Blues
penalty-before 5
penalty-after 6
absent b
miscounted 0 2
powerplay 0.1 5.6 mandatory
0 @A ab4r @B +ba:supersub ab1nb+4b/ro:b(C*?*)

innings Reds
target 21 in 7.3
0 @a AB1wd
`
	if got != want {
		t.Errorf("got\n%s", got)
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
		{"no registry number", `"A B":"00000001",`, ``, "a player is a letter"},
		{"broken JSON", `"toss":{`, `"toss":`, "invalid character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(match, tt.old) {
				t.Fatalf("%s is not there", tt.old)
			}
			_, err := record("7", "", []byte(strings.Replace(match, tt.old, tt.new, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// The proof of a recording must be able to fail: every part of a source that differs is seen.
func TestDiffer(t *testing.T) {
	read := func(text string) *source {
		t.Helper()
		s, err := decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, tt := range []struct{ old, new, want string }{
		{`"season":2020`, `"season":2021`, "info"},
		{`"wickets":2`, `"wickets":3`, "info"},
		{`"umpires":["U One"`, `"umpires":["U Six"`, "info"},
		{`"group":1`, `"group":2`, "info"},
		{`"non_boundary":true`, `"non_boundary":false`, "innings 1 over 0"},
		{`{"substitute":true}`, `{"substitute":false}`, "innings 1 over 0"},
		{`"reason":"supersub"`, `"reason":"injury"`, "innings 1 over 0"},
		{`"pre":5`, `"pre":4`, "innings 1"},
		{`"overs":7.3`, `"overs":7.2`, "innings 2"},
		{`"wides":1`, `"byes":1`, "innings 2 over 0"},
	} {
		if !strings.Contains(match, tt.old) {
			t.Fatalf("%s is not there", tt.old)
		}
		got := differ(read(match), read(strings.Replace(match, tt.old, tt.new, 1)))
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.new, got, tt.want)
		}
	}
	more := read(match)
	more.Innings = append(more.Innings, more.Innings[1])
	if got := differ(more, read(match)); got != "the number of innings" {
		t.Errorf("one more: %q", got)
	}
	if got := differ(read(match), more); got != "the number of innings" {
		t.Errorf("one less: %q", got)
	}
	if got := differ(read(match), read(match)); got != "" {
		t.Errorf("the same: %q", got)
	}
}
