package conformance

import (
	"strings"
	"testing"
)

const sample = `# what it is about
let key {"pk":{"S":"a"}}
table {"TableName":"tab"}

case one
PutItem*3 {"TableName":"tab","Item":%[key],
  "more":"%{x*200}%02n"}
= {}
GetItem/set {"TableName":"tab"}
! ConditionalCheckFailedException: The conditional request failed
  {"Item":{}}
differs ours: because
ours ! ValidationException: no
`

func TestAFileIsWrittenAsItIsRead(t *testing.T) {
	f, err := parse("sample", sample)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.String(); got != sample {
		t.Errorf("got\n%s", got)
	}
	put, get := f.Cases[0].Steps[0], f.Cases[0].Steps[1]
	if put.Times != 3 || !put.Recorded || put.Operation != "PutItem" {
		t.Errorf("%+v", put)
	}
	want := `{"TableName":"tab","Item":{"pk":{"S":"a"}},"more":"` + strings.Repeat("x", 200) + `07"}`
	if got := newPatterns(f.Lets).expand(put.Request, 7); got != want {
		t.Errorf("expanded: %s", got)
	}
	if get.AnswerOf(Local).Body != `{"Item":{}}` || get.AnswerOf(Ours).Refusal != "ValidationException" || get.Modes[0] != "set" {
		t.Errorf("%+v %+v", get, get.Differs)
	}
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := testdata.ReadFile("testdata/" + f.Name + ".txt")
		if err != nil || f.String() != string(data) {
			t.Errorf("%s is not written as it is read: %v", f.Name, err)
		}
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"PutItem {}":                           "outside a case",
		"= {}":                                 "without a request",
		"  {}":                                 "belongs to nothing",
		"case a\nGet {}\nours = {}":            "without the line that says why",
		"case a\nGet {}\n= {}\ndiffers me: so": "the side that agrees",
		"case a\nGet {}\n= {}\ndiffers ours":   "the side that agrees",
		"case a\nGet {}\n= {}\n= {}":           "without a request",
		"case a\nGet*x {}":                     "invalid syntax",
		"case a\nGet {}\n= {}\ndiffers ours: a\nours ?": "want = or !",
	} {
		if _, err := parse("bad", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestContractKeepsWhatIsShort(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("x", 99):                   strings.Repeat("x", 99),
		"a" + strings.Repeat("x", 150) + "b":      "a%{x*150}b",
		strings.Repeat("ab", 100):                 strings.Repeat("ab", 100),
		strings.Repeat("é", 100):                  strings.Repeat("é", 100),
		strings.Repeat("é", 60) + "0123456789012": strings.Repeat("é", 60) + "0123456789012",
	} {
		if got := contract(text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAnswersAreBroughtToOneForm(t *testing.T) {
	body, err := decode([]byte(`{"b":{"SS":["b","a"]},"a":{"N":"1E2"},"ns":{"NS":["10","9"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := canonical(body); got != `{"a":{"N":"1E2"},"b":{"SS":["a","b"]},"ns":{"NS":["10","9"]}}` {
		t.Errorf("got %s", got)
	}
	normalNumbers(body)
	if got := canonical(body["a"]); got != `{"N":"100"}` {
		t.Errorf("got %s", got)
	}
}

func TestWordsThatAreKnown(t *testing.T) {
	w, err := knownWords()
	if err != nil {
		t.Fatal(err)
	}
	refused := func(message string) Answer { return Answer{Refusal: "ValidationException", Message: message} }
	for _, c := range []struct {
		local, ours Answer
		want        bool
	}{
		{Answer{Body: "{}"}, Answer{Body: "{}"}, true},
		{Answer{Body: "{}"}, Answer{Body: `{"a":1}`}, false},
		{Answer{Body: "{}"}, refused("no"), false},
		{refused("no"), refused("never"), false},
		{refused("Type mismatch"), Answer{Refusal: "ResourceNotFoundException", Message: "Type mismatch"}, false},
		{
			refused("One or more parameter values were invalid: Type mismatch for Index Key"),
			refused("One or more parameter values were invalid: Type mismatch for Index Key q Expected: S Actual: N IndexName: xyz"),
			true,
		},
	} {
		if got := w.sameAnswer(c.local, c.ours, false); got != c.want {
			t.Errorf("%s and %s: %v", c.local, c.ours, got)
		}
	}
}
