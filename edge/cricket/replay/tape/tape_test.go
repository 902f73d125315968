package tape

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

// small is a match with every word of the form in it.
const small = `touchline match 1
id 7
why everything in few lines
type ODI
gender female
sides club
event Cup of Words
number 3
group A
stage Final
season 2019/20
date 2019-12-31
date 2020-01-01
venue The Oval, Upper End
city Ghent
balls-per-over 6
overs 50
umpire A One
umpire B Two
tv-umpire C Three
reserve-umpire D Four
referee E Five
result tie
method D/L
eliminator Reds

team Blues
player a 00000001 Ann O'Brien
player b 00000002 Bea
fielder c 00000003 Cäcilia (2)

team Reds
toss uncontested field
player A 0000000a Ada
supersub B 0000000b Bo
player C 0000000c Cy

after
best a
best C
bowls-out A hit
bowls-out a miss

innings Blues
penalty-before 5
penalty-after 6
absent b
miscounted 1 5
powerplay 0.1 9.6 mandatory
0 @A ab. ab4 ab4r ab6r ba1+1nb ba2nb+4b ba5wd ba1lb
1 @A +BC:supersub ab5pen @B ab./c(C) ab1/ro:b(A?*)/rout ab./st(C) ab./rhurt:b ab1+1nb+2lb/ro(B*C)

innings Reds
declared
target 242 in 49.3
0 @a AC./lbw CA.

innings Reds
super-over
0 @b AC6

innings Blues
forfeited
`

func TestEveryWordOfTheForm(t *testing.T) {
	m, err := Parse("small.match", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(small, string(Format(m))); diff != "" {
		t.Errorf("written again (-was +is):\n%s", diff)
	}
	got := m.Innings[0].Overs[1].Balls[2]
	want := Delivery{
		Batter: 'a', NonStriker: 'b', Bowler: 'B', Bat: 1,
		Wickets: []Wicket{
			{Kind: RunOut, Out: 'b', Fielders: []Fielder{{Who: 'A'}, {Substitute: true}}},
			{Kind: RetiredOut, Out: 'a'},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a ball with two wickets (-want +got):\n%s", diff)
	}
	if d := m.Innings[0].Overs[0].Balls[5]; d.Total() != 6 || d.Legal() || d.NoBalls != 2 || d.Byes != 4 {
		t.Errorf("no-ball and byes: %+v", d)
	}
	if !m.Player('B').Substitute || m.Player('C').Substitute {
		t.Error("who came in is a substitute, who went is not")
	}
	if m.Player('Z') != nil || m.Player(0) != nil {
		t.Error("nobody has a name")
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	tests := []struct {
		name, old, new string
		want           string
	}{
		{"another version", "match 1\n", "match 2\n", "x:1: the first line is not"},
		{"unknown keyword", "gender", "sex", `x:5: "sex" is not a header keyword`},
		{"keyword twice", "gender female", "id 8", `x:5: "id" is given twice`},
		{"id", "id 7", "id seven", `x:2: "seven" is not a whole number`},
		{"no value", "city Ghent", "city", "x:15: the line has no value"},
		{"type", "type ODI", "type T10", `x:4: "T10" is not one of`},
		{"day", "date 2020-01-01", "date 2020-02-31", `x:13: "2020-02-31" is not a date`},
		{"days backwards", "date 2020-01-01", "date 2018-01-01", "a match needs its dates"},
		{"missing", "venue The Oval, Upper End\n", "", `"venue" is missing`},
		{"overs of a Test", "type ODI", "type Test", "overs belong to limited-overs matches"},
		{"outcome", "eliminator Reds", "eliminator Greens", `"Greens" is neither team`},
		{"two outcomes", "eliminator Reds", "winner Reds\neliminator Reds", "a match needs one outcome"},
		{"no outcome", "result tie\nmethod D/L\neliminator Reds\n", "", "a match needs one outcome"},
		{"leading zero", "overs 50", "overs 050", "x:17:"},
		{"third team", "\nafter", "\nteam Greens\nplayer a 00000001 X\n\nafter", "no section can begin with"},
		{"team twice", "team Reds", "team Blues", `x:32: "Blues" is named twice`},
		{"letter", "player b 00000002", "player c 00000002", `x:29: "c" is not the next letter`},
		{"registry", "00000002", "0000000G", "x:29: a player is"},
		{"toss twice", "player a 00000001 Ann O'Brien", "player a 00000001 Ann\ntoss bat", `x:29: "toss" must come before`},
		{"no toss", "toss uncontested field\n", "", "two teams and a toss"},
		{"toss word", "uncontested field", "uncontested run", `x:33: "run" is not one of bat, field`},
		{"nobody", "best a", "best z", `x:39: "z" is not a player's letter`},
		{"hit or miss", "A hit", "A wide", `x:41: "wide" is not one of`},
		{"innings of nobody", "innings Reds\ndeclared", "innings Greens\ndeclared", `"Greens" is neither team`},
		{"flag with a value", "declared", "declared late", `x:54: "declared" is not allowed here`},
		{"target", "in 49.3", "in 49.30", `x:55: "49.30" is not a number of overs`},
		{"after the overs", "\ninnings Reds\nsuper", "declared\n\ninnings Reds\nsuper", "x:57: \"declared\" must come before"},
		{"over number", "1 @A +BC", "2 @A +BC", "x:51: over 2 where over 1"},
		{"no bowler", "0 @b AC6", "0 AC6", "no bowler of the other side is named"},
		{"own bowler", "0 @b AC6", "0 @B AC6", "no bowler of the other side is named"},
		{"batter of the other side", "AC6", "aC6", "is not a batter of this side"},
		{"fielder of the own side", "c(C)", "c(a)", "is not a fielder of the other side"},
		{"out of the other side", "ro:b(A?*)", "ro:B(A?*)", "is not a batter of this side"},
		{"striker written out", "rhurt:b", "rhurt:a", "omitted for the striker"},
		{"kind of dismissal", "/lbw", "/lbx", `"lbx" is not a kind of dismissal`},
		{"brackets", "c(C)", "c(C", "fielders stand in brackets"},
		{"extra", "1lb", "1xx", `"xx" is not a kind of extra`},
		{"order of extras", "ba2nb+4b", "ba4b+2nb", `"nb" is out of order`},
		{"extra twice", "ba2nb+4b", "ba2nb+2nb", `"nb" is out of order`},
		{"bat after extras", "ba2nb+4b", "ba2nb+4", "is not a kind of extra"},
		{"zero", "AC6", "AC0", `"0" is not a number of runs`},
		{"too many", "AC6", "AC600", `"600" is not a number of runs`},
		{"empty over", "0 @b AC6", "0 @b", "an over ends with a ball"},
		{"replacement at the end", "0 @b AC6", "0 @b AC6 +BC:injury", "an over ends with a ball"},
		{"replacement across sides", "+BC:", "+Ba:", "two players of one side"},
		{"two blank lines", "\n\nteam Reds", "\n\n\nteam Reds", "one blank line is enough"},
		{"two blanks", "ab. ab4", "ab.  ab4", `"" is not a ball`},
		{"end", "forfeited\n", "forfeited", "the last line is not terminated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(small, tt.old) {
				t.Fatalf("%q is not in the match", tt.old)
			}
			_, err := Parse("x", []byte(strings.Replace(small, tt.old, tt.new, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestEveryRecordingIsAsWritten(t *testing.T) {
	files, err := filepath.Glob("../matches/*.match")
	if err != nil || len(files) != 48 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	size := 0
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		size += len(src)
		m, err := Parse(f, src)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(src), string(Format(m))); diff != "" {
			t.Errorf("%s (-was +is):\n%s", f, diff)
		}
		if m.ID != strings.TrimSuffix(filepath.Base(f), ".match") {
			t.Errorf("%s is match %s", f, m.ID)
		}
	}
	if size > 300<<10 {
		t.Errorf("the recordings take %d bytes", size)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	for _, name := range []string{"1343760", "287862", "1031669", "1369560"} {
		src, err := os.ReadFile("../matches/" + name + ".match")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Parse("f", src)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		again, err := Parse("again", Format(m))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, Format(m))
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Errorf("(-read +read again):\n%s", diff)
		}
	})
}
