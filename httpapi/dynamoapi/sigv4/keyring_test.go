package sigv4

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
)

func TestExampleFile(t *testing.T) {
	dir := t.TempDir() // files in a checkout are readable by everybody, and such keys are refused
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Chmod(file, 0o700); err != nil { // a directory too
			t.Fatal(err)
		}
	}
	keys, err := Load(filepath.Join(dir, "keys.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if string(keys.byID["AKIDSCOREBOARD"].secret()) != "from a file, 0123456789" || len(keys.byID) != 2 {
		t.Errorf("%+v", keys.byID)
	}
	p := &Principal{id: "AKIDSCOREBOARD", grants: keys.byID["AKIDSCOREBOARD"].grants}
	if err := p.Allow("Query", "Scoreboard"); err != nil {
		t.Error(err)
	}
}

func TestFileProblems(t *testing.T) {
	const head = "keys:\n- access_key: AKID\n  "
	const allow = "\n  allow: [{tables: [a], actions: [read]}]"
	tests := []struct{ text, want string }{
		{"", "keys: must contain at least one key: without one nobody has access"},
		{"keys: hunter2hunter2hunter2", "line 1: keys: must be a list"},
		{head + "secret: hunter2" + allow, "line 3: keys[0].secret: must be 16 to 256 bytes long, here or in the file that secret_file names"},
		{head + "secret: hunter2hunter2hunter2\n  secret_file: s" + allow, "line 4: keys[0].secret_file: cannot be combined with secret"},
		{head + "secret_file: none" + allow,
			"line 3: cannot read the file for keys[0].secret: no such file or directory"},
		{head + "secret: hunter2hunter2hunter2", "line 2: keys[0].allow: must allow at least one action"},
		{head + "secret: hunter2hunter2hunter2\n  allow: [{}]",
			`line 4: keys[0].allow[0].tables: must not be empty; "*" means all; line 4: keys[0].allow[0].actions: must not be empty; "*" means all`},
		{head + "secret: hunter2hunter2hunter2\n  allow:\n  - tables: ['a?']\n    actions: [PutItems, Backup*, 'dynamodb:*', iam:GetUser]",
			"line 5: keys[0].allow[0].tables[0]: must be a table's name, with * for any text; " +
				"line 6: keys[0].allow[0].actions[0]: must be read, write, admin, or an action's name, with * for any text; " +
				"line 6: keys[0].allow[0].actions[1]: must be read, write, admin, or an action's name, with * for any text; " +
				"line 6: keys[0].allow[0].actions[3]: must be read, write, admin, or an action's name, with * for any text"},
		{head + "secret: hunter2hunter2hunter2" + allow + "\n- access_key: AKID\n  secret: hunter2hunter2hunter2" + allow,
			"line 5: keys[1].access_key: is also the id of keys[0]"},
		{"keys:\n- access_key: a/b\n  secret: hunter2hunter2hunter2" + allow,
			"line 2: keys[0].access_key: must be 3 to 128 letters, digits, _ and -"},
		{head + "secrets: hunter2hunter2hunter2", "line 3: keys[0]: unknown key secrets"},
	}
	for _, test := range tests {
		dir := t.TempDir()
		file := filepath.Join(dir, "keys.yaml")
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(file)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Invalid || f.Code != "bad_keys" {
			t.Fatalf("%q: %v", test.text, err)
		}
		if got := strings.ReplaceAll(err.Error(), dir, "DIR"); got != "DIR/keys.yaml: "+test.want {
			t.Errorf("%q:\n got %s\nwant %s", test.text, got, test.want)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("it tells the secret: %v", err)
		}
	}
	if _, err := Load("testdata/none"); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "cannot read the keys in testdata/none") {
		t.Error(err)
	}
}

func TestKeysWithoutSecrets(t *testing.T) {
	_, err := NewKeyring(Config{Keys: []Key{{ID: testID, Allow: []Grant{{[]string{"*"}, []string{"*"}}}}}})
	if err == nil || err.Error() != "keys[0].secret: must be 16 to 256 bytes long, here or in the file that secret_file names" {
		t.Errorf("a key needs a secret: %v", err)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	c := Config{Keys: []Key{{ID: testID, Secret: testSecret, Allow: []Grant{{[]string{"*"}, []string{"*"}}}}}}
	keys, err := NewKeyring(c)
	if err != nil {
		t.Fatal(err)
	}
	v := New(keys, time.Now)
	p := &Principal{grants: keys.byID[testID].grants}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, x := range []any{c, &c, c.Keys[0], c.Keys[0].Secret, keys, *keys, v, p} {
			fmt.Fprintf(&out, verb, x)
		}
	}
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		slog.New(handler).Info("m", "c", c, "s", c.Keys[0].Secret, "k", keys, "v", v)
	}
	if err := json.NewEncoder(&out).Encode(c); err != nil {
		t.Fatal(err)
	}
	hexed := fmt.Sprintf("%x", testSecret)
	if s := out.String(); strings.Contains(s, testSecret) || strings.Contains(s, hexed) || !strings.Contains(s, hidden) {
		t.Error(s)
	}
}

// FuzzKeys checks that a file yields keys or problems, that no problem reveals a secret, and that no key may do more than configured.
func FuzzKeys(f *testing.F) {
	corpus.Add(f)
	if raw, err := os.ReadFile("testdata/keys.yaml"); err == nil {
		f.Add(raw)
	}
	f.Add([]byte("keys: [{access_key: abc, secret: 0123456789abcdef, allow: [{tables: [a*b], actions: ['*']}]}]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if bytes.Contains(raw, []byte("secret_file")) {
			return // would read files
		}
		c, problems := read(raw, "testdata")
		for _, p := range problems {
			for _, k := range c.Keys {
				if len(k.Secret) > 6 && strings.Contains(p.Text, string(k.Secret)) && !strings.Contains(hidden+"must be bytes long", string(k.Secret)) {
					t.Fatalf("%q: %s", raw, p)
				}
			}
		}
		if len(problems) > 0 {
			return
		}
		for _, k := range compile(c).byID {
			p := Principal{grants: k.grants}
			for _, table := range []string{"", "a", "*"} {
				if p.Allow("Frobnicate", table) == nil && !bytes.ContainsRune(raw, '*') {
					t.Fatalf("%q allows what nobody knows on %q", raw, table)
				}
			}
		}
	})
}
