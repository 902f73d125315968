package strictyaml

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

type word string

type part struct {
	Name  word     `yaml:"name"`
	Words []string `yaml:"words"`
}

type whole struct {
	Title string        `yaml:"title"`
	On    bool          `yaml:"on"`
	N     int           `yaml:"n"`
	Seed  uint64        `yaml:"seed"`
	Share float64       `yaml:"share"`
	Wait  time.Duration `yaml:"wait"`
	Parts []part        `yaml:"parts"`
}

func TestDecode(t *testing.T) {
	want := whole{
		Title: "a b", On: true, N: -3, Seed: 1 << 63, Share: 0.5, Wait: 50 * time.Millisecond,
		Parts: []part{{"x", []string{"1", "true"}}, {"y", nil}},
	}
	const (
		inYAML = "title: a b\non: true\nn: -3\nseed: 9223372036854775808\nshare: 0.5\nwait: 50ms\n" +
			"parts:\n  - name: x\n    words: [1, true]\n  - name: y\n"
		inJSON = "{\"title\": \"a b\", \"on\": true,\n\t\"n\": -3, \"seed\": 9223372036854775808, \"share\": 5e-1,\n" +
			"\t\"wait\": \"50ms\",\n\t\"parts\": [{\"name\": \"x\", \"words\": [\"1\", \"true\"]}, {\"name\": \"y\"}]}"
	)
	for _, text := range []string{inYAML, inJSON} {
		var got whole
		lines, problems := Decode([]byte(text), &got)
		if len(problems) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n%+v, %v", text, got, problems)
		}
		if text == inYAML && (lines.LineOf("parts[0].words") != 9 || lines.LineOf("parts[1].words[3]") != 10 || lines.LineOf("nothing") != 0) {
			t.Errorf("lines: %v", lines)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "null"} {
		got := whole{Title: "kept"}
		if _, problems := Decode([]byte(text), &got); len(problems) > 0 || got.Title != "kept" {
			t.Errorf("%q: %+v, %v", text, got, problems)
		}
	}
}

type Common struct {
	Name  word     `yaml:"name"`
	Words []string `yaml:"words"`
}

// The fields of an embedded struct are keys of the struct around it.
func TestEmbedded(t *testing.T) {
	var got struct {
		Common
		N int `yaml:"n"`
	}
	if _, problems := Decode([]byte("name: x\nwords: a, b\nn: 3\n"), &got); len(problems) > 0 || got.Name != "x" || len(got.Words) != 2 || got.N != 3 {
		t.Errorf("%+v, %v", got, problems)
	}
	if _, problems := Decode([]byte("Common: {}\n"), &got); len(problems) != 1 {
		t.Errorf("its type is a key: %v", problems)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct{ text, want string }{
		{"title: a\ntitel: b", "line 2: unknown key titel"},
		{"title: a\ntitle: b", "line 2: title: comes twice"},
		{"title:\n", "line 1: title: must be a text"},
		{"title: [a]", "line 1: title: must be a text"},
		{"on: yes", "line 1: on: must be true or false"},
		{"n: 1.5", "line 1: n: must be a whole number"},
		{"n: 0x10", "line 1: n: must be a whole number"},
		{"seed: -1", "line 1: seed: must be a whole number"},
		{"share: .nan", "line 1: share: must be a number"},
		{"share: '0.5'", "line 1: share: must be a number"},
		{"wait: 50", "line 1: wait: must be a duration, such as 50ms or 2s"},
		{"parts: s3cret", "line 1: parts: must be a list"},
		{"parts:\n- s3cret", "line 2: parts[0]: must be keys and values"},
		{"- s3cret", "line 1: must be keys and values"},
		{"parts:\n- name: a\n  s3cret s3cret: b", "line 3: parts[0]: has an unknown key"},
		{"title: &s3cret a\nparts:\n- words: [*s3cret]", "line 3: parts[0].words[0]: must be written out: aliases are not supported"},
		{"title: *s3cret", "is not YAML"},
		{"title: a\n--- \ntitle: b", "must be one document"},
		{"title: [a\n", "line 1: is not YAML: a list in brackets is not closed"},
		{"n: x\non: x", "line 1: n: must be a whole number; line 2: on: must be true or false"},
	}
	for _, test := range tests {
		_, problems := Decode([]byte(test.text), new(whole))
		if got := Join(problems); got != test.want {
			t.Errorf("%q:\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

// node has what only a configuration has: sections in addition to its fields, sections with names chosen by the author, and secrets.
type node struct {
	Listen string            `yaml:"listen"`
	Key    string            `yaml:"key" secret:"true"`
	Many   map[string]person `yaml:"many"`

	sections map[string]any `yaml:"-"`
}

type person struct {
	Name string   `yaml:"name"`
	Age  int      `yaml:"age"`
	Also []string `yaml:"also"`
}

func (n *node) Sections() map[string]any { return n.sections }

func TestSections(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	games := person{Age: 7}
	n := node{sections: map[string]any{"games": &games}}
	lines, problems := Decode([]byte("key_file: "+file+"\nmany:\n  ann: {name: Ann, also: 'a, b'}\ngames: {name: x}\n"), &n)
	for _, set := range [][2]string{{"many.ann.age", "30"}, {"many.bob.name", "Bob"}, {"games.also", "c,d"}, {"listen", "1"}} {
		problems = append(problems, Set(&n, set[0], set[1])...)
	}
	want := map[string]person{"ann": {"Ann", 30, []string{"a", "b"}}, "bob": {"Bob", 0, nil}}
	if len(problems) > 0 || n.Key != "s3cret" || n.Listen != "1" || !reflect.DeepEqual(n.Many, want) ||
		!reflect.DeepEqual(games, person{"x", 7, []string{"c", "d"}}) {
		t.Errorf("%+v, %+v, %v", n, games, problems)
	}
	if lines["key"] != 1 || lines["key_file"] != 1 || lines["many.ann.also"] != 3 || lines["games"] != 4 {
		t.Errorf("lines: %v", lines)
	}
}

// A secret is given directly or in a file.
func TestSecretTwice(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"key_file: key":                "",
		"key: s3cret\nkey_file: key":   "line 2: key_file: cannot be combined with key",
		"key_file: key\nkey: s3cret":   "line 2: key: cannot be combined with key_file",
		"key_file: key\nlisten: other": "",
	} {
		var n node
		_, problems := DecodeIn(dir, []byte(text), &n)
		if got := Join(problems); got != want || n.Key != "s3cret" {
			t.Errorf("%q: %q, %s", text, n.Key, got)
		}
	}
}

func TestSetProblems(t *testing.T) {
	tests := []struct{ key, text, want string }{
		{"games.age", "s3cret", "games.age: must be a whole number"},
		{"games.age", "", "games.age: must be a whole number"},
		{"games", "s3cret", "games: must be keys and values"},
		{"games.agee", "1", "games: unknown key agee"},
		{"s3cret.age", "1", "has an unknown key"},
		{"many.a b.age", "1", "many: has a name with characters other than letters, digits, _ and -"},
		{"key_file", "", "key_file: must be a file's name"},
		{"key_file", "s3cret", "cannot read the file for key: no such file or directory"},
	}
	for _, test := range tests {
		n := node{sections: map[string]any{"games": &person{}}}
		if got := Join(Set(&n, test.key, test.text)); got != test.want {
			t.Errorf("%s=%s:\n got %s\nwant %s", test.key, test.text, got, test.want)
		}
	}
}

// FuzzDecode checks that a file results in a value or in problems, and that no problem repeats a value.
func FuzzDecode(f *testing.F) {
	corpus.Add(f)
	f.Add([]byte("title: s3cret\nparts: [{name: s3cret, words: [a]}]"))
	f.Add([]byte("{\"on\":\ttrue, \"share\": 1e-3, \"wait\": \"1h2m\"}"))
	f.Add([]byte("a: &a [*a]\nparts: *a"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got whole
		lines, problems := Decode(raw, &got)
		for _, p := range problems {
			if p.Text == "" || p.Line < 0 || p.Line > strings.Count(string(raw), "\n")+2+strings.Count(string(raw), "\r") {
				t.Fatalf("%q: %+v", raw, p)
			}
			if strings.Contains(p.Text, "s3cret") {
				t.Fatalf("%q: %s", raw, p)
			}
		}
		if len(problems) == 0 && len(lines) == 0 && !reflect.DeepEqual(got, whole{}) {
			t.Fatalf("%q: %+v of no lines", raw, got)
		}
	})
}
