package payload

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

const contentDoc = "../../../docs/live-activities.md"

// swiftName is the app's name of a type.
func swiftName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Attributes]():
		return "MatchAttributes"
	case reflect.TypeFor[AttributeTeam]():
		return "Side"
	case reflect.TypeFor[ContentEvent]():
		return "KeyEvent"
	case reflect.TypeFor[ContentState]():
		return "ContentState"
	default:
		return strings.TrimPrefix(t.Name(), "Content")
	}
}

// swiftFields writes a Go struct as the app has to declare it: "name: Type?", property by property. A property is optional
// exactly if the node may leave it out.
func swiftFields(t reflect.Type, into map[string][]string) string {
	switch {
	case t == reflect.TypeFor[SwiftDate]():
		return "Date"
	case t.Kind() == reflect.Pointer:
		return swiftFields(t.Elem(), into)
	case t.Kind() == reflect.Slice:
		return "[" + swiftFields(t.Elem(), into) + "]"
	case t.Kind() == reflect.String:
		return "String"
	case t.Kind() == reflect.Bool:
		return "Bool"
	case t.Kind() != reflect.Struct:
		return "Int"
	}
	name := swiftName(t)
	into[name] = nil
	for f := range t.Fields() {
		json, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		line := json + ": " + swiftFields(f.Type, into)
		if strings.Contains(options, "omit") {
			line += "?"
		}
		into[name] = append(into[name], line)
	}
	return name
}

// TestSwiftTypes compares the structs on the page with what the node sends.
func TestSwiftTypes(t *testing.T) {
	doc, err := os.ReadFile(contentDoc)
	if err != nil {
		t.Fatal(err)
	}
	_, swift, _ := strings.Cut(string(doc), "```swift\n")
	swift, _, ok := strings.Cut(swift, "```")
	if !ok {
		t.Fatal("no Swift on the page")
	}
	got := map[string][]string{}
	var open []string
	for line := range strings.Lines(swift) {
		line = strings.TrimSpace(line)
		if m := regexp.MustCompile(`^struct (\w+)`).FindStringSubmatch(line); m != nil {
			open = append(open, m[1])
		} else if line == "}" {
			open = open[:len(open)-1]
		} else if rest, ok := strings.CutPrefix(line, "let "); ok {
			name := open[len(open)-1]
			got[name] = append(got[name], rest)
		}
	}
	want := map[string][]string{}
	swiftFields(reflect.TypeFor[Attributes](), want)
	swiftFields(reflect.TypeFor[ContentState](), want)
	if len(want) < 8 || len(got) != len(want) {
		t.Errorf("structs on the page: %d, in the code %d", len(got), len(want))
	}
	for name, fields := range want {
		if strings.Join(got[name], "\n") != strings.Join(fields, "\n") {
			t.Errorf("%s on the page:\n%s\nin the code:\n%s", name, strings.Join(got[name], "\n"), strings.Join(fields, "\n"))
		}
	}
}

// docPush makes one of the page's examples.
func docPush(t *testing.T, name string) []byte {
	t.Helper()
	file := map[string]string{"end": "superover"}[name]
	if file == "" {
		file = "chase"
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "content", file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var c contentCase
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	d := &c.Display
	at := d.UpdatedAt.Add(time.Second)
	state := NewContentState(d)
	p := ActivityPush{Event: ActivityUpdate, At: at, State: &state, StaleAt: at.Add(20 * time.Minute)}
	switch name {
	case "start", "channel":
		p.Event, p.Alert, p.Attributes = ActivityStart, StartAlert(d), NewAttributes(d)
		if name == "channel" {
			p.Channel = "dHN0LXNyY2gtY2hubA=="
		}
	case "alert":
		p.Alert = NewAlert(d, &cricket.Event{Type: cricket.EventWicket, Text: d.KeyEvent.Text})
	case "end":
		p.Event, p.StaleAt, p.DismissAt = ActivityEnd, time.Time{}, at.Add(20*time.Minute)
	}
	body, err := p.Encode(0)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestExamplePayloads compares the pushes on the page with what the node sends, byte for byte but for the white space.
func TestExamplePayloads(t *testing.T) {
	doc, err := os.ReadFile(contentDoc)
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)<!-- example: (\\w+) -->\n```json\n(.*?)```")
	found := 0
	out := example.ReplaceAllFunc(doc, func(block []byte) []byte {
		found++
		m := example.FindSubmatch(block)
		var want bytes.Buffer
		if err := json.Indent(&want, docPush(t, string(m[1])), "", "  "); err != nil {
			t.Fatal(err)
		}
		want.WriteByte('\n')
		if !*updateContent && want.String() != string(m[2]) {
			t.Errorf("%s on the page:\n%s\nis sent as:\n%s", m[1], m[2], want.String())
		}
		return []byte("<!-- example: " + string(m[1]) + " -->\n```json\n" + want.String() + "```")
	})
	if found != 5 {
		t.Errorf("%d examples on the page, want 5", found)
	}
	if *updateContent {
		if err := os.WriteFile(contentDoc, out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The page lists the marks that balls have.
func TestMarksInTheDocument(t *testing.T) {
	text, err := os.ReadFile(contentDoc)
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := bytes.Cut(text, []byte("| `lastBalls` |"))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllSubmatch(line, -1) {
		named[string(m[1])] = true
	}
	for _, b := range []cricket.Ball{
		{}, {Runs: 1}, {Runs: 4, Four: true}, {Runs: 6, Six: true}, {Wicket: true}, {Wide: true, Runs: 2},
		{NoBall: true, Runs: 1}, {Byes: 4}, {LegByes: 1},
	} {
		mark := b.Mark().Mark
		if !named[mark] {
			t.Errorf("the page does not name the mark %q", mark)
		}
		delete(named, mark)
	}
	if len(named) > 0 {
		t.Errorf("no ball has the marks %v", named)
	}
}
