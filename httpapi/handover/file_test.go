package handover

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
)

const (
	hashOne = "0123456789abcdef0123456789abcdef"
	goal    = `{"key":"k1","device":"` + hashOne + `","maker":"0011223344556677","method":"POST","path":"/3fc/v1/games/g/goals","body":"{\"ownGoal\":true}","at":1757080000000,"ahead":[-2000.4,-1000]}`
)

func fileOf(entries ...string) string {
	return `{"format":"touchline-entries","version":1,"scope":"/3fc/-/","entries":[` + strings.Join(entries, ",") + `]}`
}

// with returns the entry with one member replaced by JSON, or removed if that is empty.
func with(t *testing.T, name, value string) string {
	t.Helper()
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(goal), &members); err != nil {
		t.Fatal(err)
	}
	members[name] = json.RawMessage(value)
	if value == "" {
		delete(members, name)
	}
	out, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestParseFile(t *testing.T) {
	f, err := ParseFile([]byte(fileOf(goal, with(t, "key", `"k2"`))))
	if err != nil {
		t.Fatal(err)
	}
	want := Entry{
		Key: "k1", Device: hashOne, Maker: "0011223344556677", Method: "POST", Path: "/3fc/v1/games/g/goals", Body: `{"ownGoal":true}`, At: 1757080000000,
		Ahead: &[2]float64{-2000, -1000},
	}
	if f.Scope != "/3fc/-/" || len(f.Entries) != 2 || !reflect.DeepEqual(f.Entries[0], want) {
		t.Errorf("%+v", f)
	}
	if at := f.Entries[0].Made(); !at.Equal(time.UnixMilli(1757079998500)) {
		t.Errorf("made at %v", at)
	}
}

// Nothing of a file that is refused is repeated.
func TestParseFileRefuses(t *testing.T) {
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"key":"k%d"}`, i)
	}
	for name, raw := range map[string]string{
		"nothing": "", "no JSON": "<script>", "a list": "[]", "two values": fileOf(goal) + "{}", "no format": `{"version":1,"entries":[` + goal + `]}`,
		"another format":    strings.Replace(fileOf(goal), "touchline-entries", "<script>", 1),
		"another version":   strings.Replace(fileOf(goal), `"version":1`, `"version":2`, 1),
		"a huge version":    strings.Replace(fileOf(goal), `"version":1`, `"version":1e400`, 1),
		"a broken version":  strings.Replace(fileOf(goal), `"version":1`, `"version":1.5`, 1),
		"an unknown member": strings.Replace(fileOf(goal), `"version":1`, `"version":1,"<script>":1`, 1),
		"a member twice":    strings.Replace(fileOf(goal), `"version":1`, `"version":1,"version":1`, 1),
		"no entries":        fileOf(), "entries that are none": fileOf("1", "null"), "an entry in an entry": fileOf(strings.Repeat("[", 100) + strings.Repeat("]", 100)),
		"a key twice": fileOf(goal, goal), "a member of an entry twice": fileOf(strings.Replace(goal, `"at"`, `"key":"<script>","at"`, 1)),
		"an unknown member of an entry": fileOf(with(t, "<script>", `1`)), "no key": fileOf(with(t, "key", "")), "an empty key": fileOf(with(t, "key", `""`)),
		"a key with a space": fileOf(with(t, "key", `" k"`)), "a long key": fileOf(with(t, "key", `"`+strings.Repeat("k", 129)+`"`)), "a key that is no ASCII": fileOf(with(t, "key", `"ключ"`)),
		"no device": fileOf(with(t, "device", "")), "an id for a hash": fileOf(with(t, "device", `"ABCDEFGHIJKLMNOPQRSTUVWXYZ"`)), "a device without": fileOf(with(t, "device", `"none"`)),
		"a maker by name": fileOf(with(t, "maker", `"<script>"`)), "a method": fileOf(with(t, "method", `"GET"`)), "a lower method": fileOf(with(t, "method", `"post"`)),
		"no path": fileOf(with(t, "path", "")), "a path of numbers": fileOf(with(t, "path", "1")), "no body": fileOf(with(t, "body", "")), "a body that is no text": fileOf(with(t, "body", "{}")),
		"a long body": fileOf(with(t, "body", `"`+strings.Repeat("x", 16<<10+1)+`"`)),
		"no time":     fileOf(with(t, "at", "")), "a huge time": fileOf(with(t, "at", "1e308")), "a time beyond all": fileOf(with(t, "at", "1e400")), "a time before": fileOf(with(t, "at", "-1")),
		"half a time": fileOf(with(t, "at", "1.5")), "a huge difference": fileOf(with(t, "ahead", "[1e300,1e300]")), "one difference": fileOf(with(t, "ahead", "[1]")),
		"10,000 entries": fileOf(many...), "more than 1 MB": fileOf(with(t, "maker", `"`+strings.Repeat("x", MaxFile)+`"`)),
	} {
		_, err := ParseFile([]byte(raw))
		if err == nil || !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.TooLarge) {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "script") {
			t.Errorf("%s: %v repeats the file", name, err)
		}
	}
}

func TestCheckPath(t *testing.T) {
	for path, ok := range map[string]bool{
		"/3fc/v1/games/g/goals": true, "/3fc/v1/games/a%20b/goals": true, "/3fc/v1/games/%C3%A9/goals": true,
		"": false, "/3fc": false, "/3fc/": false, "/3fcx/v1": false, "3fc/v1": false, "//3fc/v1": false, "/3fc//v1": false, "/3fc/v1/": false, "/pickem/v1/games": false,
		"/3fc/../pickem/v1": false, "/3fc/./v1": false, "/3fc/%2e%2e/v1": false, "/3fc/%2E/v1": false, "/3fc/a%2fb": false, "/3fc/a%2Fb": false, "/3fc/a%5cb": false, `/3fc/a\b`: false,
		"/3fc/a%00": false, "/3fc/a%0d%0aX: y": false, "/3fc/a%": false, "/3fc/a%ff": false, "/3fc/a?b=c": false, "/3fc/a#b": false, "/3fc/a;b": false, "/3fc/a b": false, "/3fc/<b>": false, "/3fc/{a}": false, "/3fc/é": false,
		"https://evil.example/3fc/v1": false, "//evil.example/3fc/v1": false, "http:/3fc/v1": false,
	} {
		e := Entry{Path: path}
		u, got := e.CheckPath("/3fc")
		if got != ok || ok && u.EscapedPath() != path {
			t.Errorf("%q: %v %t", path, u, got)
		}
	}
}

// Whatever is in a file is refused in words, or read as it is encoded again.
func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{"", "{}", fileOf(), fileOf(goal), fileOf(goal, goal), fileOf("null"), `{"format":"touchline-entries","version":1e9}`, "\xff"} {
		f.Add([]byte(seed))
	}
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := ParseFile(raw)
		if err != nil {
			if !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.TooLarge) {
				t.Fatalf("%v is no answer", err)
			}
			return
		}
		if n := len(file.Entries); n == 0 || n > MaxEntries {
			t.Fatalf("%d entries", n)
		}
		for i := range file.Entries {
			e := &file.Entries[i]
			if u, ok := e.CheckPath("/3fc"); ok && (!strings.HasPrefix(u.Path, "/3fc/") || strings.Contains(u.Path, "/../") || strings.HasSuffix(u.Path, "/..")) {
				t.Fatalf("path %q", e.Path)
			}
			if at := e.Made(); at.Year() < 1950 || at.Year() > 2120 {
				t.Fatalf("made in %d", at.Year())
			}
		}
		again, err := file.Encode()
		if fault.Is(err, fault.TooLarge) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		other, err := ParseFile(again)
		if err != nil || !reflect.DeepEqual(other, file) {
			t.Fatalf("%v: %+v, was %+v", err, other, file)
		}
	})
}
