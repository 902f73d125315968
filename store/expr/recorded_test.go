package expr

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// recorded is a case in a file of testdata: an expression, its input, and DynamoDB's result.
type recorded struct {
	line       int
	kind, text string
	params     Params
	item       attr.Item
	want       string
}

// TestRecorded compares results with answers of DynamoDB Local, stored in testdata.
func TestRecorded(t *testing.T) {
	for file, atLeast := range map[string]int{"condition": 600, "update": 490, "projection": 90, "key": 50} {
		t.Run(file, func(t *testing.T) {
			cases := readRecorded(t, filepath.Join("testdata", file+".txt"))
			if len(cases) < atLeast {
				t.Fatalf("%d cases, want at least %d", len(cases), atLeast)
			}
			for _, c := range cases {
				if got := c.run(t); got != c.want {
					t.Errorf("line %d: %s %s\n got  %s\n want %s", c.line, c.kind, c.text, got, c.want)
				}
			}
		})
	}
}

func readRecorded(t *testing.T, name string) []recorded {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []recorded
	var item attr.Item
	next := recorded{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "", "#":
		case "item":
			item = mustItem(t, rest)
		case "names":
			if err := json.Unmarshal([]byte(rest), &next.params.Names); err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
		case "values":
			next.params.Values = mustItem(t, rest)
		case "=":
			next.want, next.item = rest, item
			cases = append(cases, next)
		default:
			next = recorded{line: n, kind: word, text: rest}
			if text, err := strconv.Unquote(rest); err == nil {
				next.text = text
			}
		}
	}
	return cases
}

func (c recorded) run(t *testing.T) string {
	got, err := c.evaluate(t)
	if err == nil {
		return got
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Code != "validation" && f.Code != CodeOperand {
		t.Errorf("line %d: %#v is not an Invalid fault with the code validation", c.line, err)
	}
	return "error " + err.Error()
}

func (c recorded) evaluate(t *testing.T) (string, error) {
	r := Request{Key: testKey("pk", "sk"), Params: c.params}
	switch c.kind {
	case "condition":
		return c.evaluateCondition(r)
	case "update":
		return c.evaluateUpdate(t, r)
	case "projection":
		return c.evaluateProjection(r)
	}
	if c.text == "" {
		_, err := ParseKeyCondition(c.text, c.params, r.Key)
		return "", err
	}
	r.KeyCondition = c.text
	b, err := Bind(r)
	if err == nil {
		err = b.Key.Check(&Key{Attrs: []KeyAttr{{"pk", attr.KindS}, {"sk", attr.KindS}}, Partition: 1})
	}
	sign := []string{"", "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}[b.Key.Op]
	partition := ""
	if len(b.Key.Partition) > 0 {
		partition = b.Key.Partition[0].Str()
	}
	words := []string{partition, sign, b.Key.Low.Str(), b.Key.High.Str()}
	return strings.TrimSpace(strings.Join(words, " ")), err
}

func (c recorded) evaluateCondition(r Request) (string, error) {
	if c.text == "" {
		_, err := parseCondition(formCondition, c.text, c.params)
		return "", err
	}
	r.Condition = c.text
	b, err := Bind(r)
	if err != nil {
		return "", err
	}
	inMemory, err := b.Condition.Match(Item(c.item))
	if err != nil {
		return "", err
	}
	encoded, err := b.Condition.Match(attr.Encoded(attr.Encode(nil, c.item)))
	if err == nil && inMemory != encoded {
		err = errors.New("an encoded item is judged differently")
	}
	return fmt.Sprint(encoded), err
}

func (c recorded) evaluateUpdate(t *testing.T, r Request) (string, error) {
	if c.text == "" {
		_, err := ParseUpdate(c.text, c.params)
		return "", err
	}
	r.Update = c.text
	b, err := Bind(r)
	if err != nil {
		return "", err
	}
	before := string(attr.AppendJSON(nil, c.item))
	after, err := b.Update.Apply(c.item)
	if now := string(attr.AppendJSON(nil, c.item)); now != before {
		t.Errorf("line %d: the item was changed\n from %s\n to   %s", c.line, before, now)
	}
	return changes(c.item, after), err
}

func (c recorded) evaluateProjection(r Request) (string, error) {
	if c.text == "" {
		_, err := ParseProjection(c.text, c.params)
		return "", err
	}
	r.Projection = c.text
	b, err := Bind(r)
	if err != nil {
		return "", err
	}
	return canonical(attr.AppendJSON(nil, b.Projection.Project(c.item))), nil
}

// changes formats the attributes that differ: their new values, null for removed ones.
func changes(before, after attr.Item) string {
	parts := make(map[string]json.RawMessage)
	for name, v := range after {
		if !attr.Equal(v, before[name]) {
			one := attr.AppendJSON(nil, attr.Item{"": v})
			parts[name] = json.RawMessage(one[len(`{"":`) : len(one)-1])
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			parts[name] = json.RawMessage("null")
		}
	}
	out, _ := json.Marshal(parts)
	return canonical(out)
}

// canonical formats JSON with sorted names and without spaces.
func canonical(data []byte) string {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err.Error()
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func mustItem(t testing.TB, text string) attr.Item {
	t.Helper()
	it, err := attr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return it
}
