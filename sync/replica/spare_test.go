package replica

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// The spare is nobody's identity, whatever is in it: what a crash has left of a text, an older one, another node's, none.
func TestSpareIsNoIdentity(t *testing.T) {
	for name, spare := range map[string]func(file []byte) []byte{
		"torn":  func(file []byte) []byte { return append(bytes.Clone(file[:40]), bytes.Repeat([]byte{0}, 100)...) },
		"none":  func([]byte) []byte { return nil },
		"other": func(file []byte) []byte { return bytes.ReplaceAll(file, []byte(`"a"`), []byte(`"b"`)) },
		"older": func([]byte) []byte {
			return []byte(`{"version":1,"node":"a","incarnation":77,"nonces":["x"]}`)
		},
		"long": func(file []byte) []byte { return bytes.Repeat(file, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, n := opened(t, nil)
				n.put(t, "teams", team("x", 0))
				n.drained(t)
				n.close(t)
				path := filepath.Join(n.dir, identityName)
				file, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(path + spareSuffix)
				if text := spare(file); text != nil {
					if err := os.WriteFile(path+spareSuffix, text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				r := n.again(t)
				r.bump(t, "x")
				r.drained(t)
				r.cloudHas(t, teams{"x": 1})
				r.recorded(t, 0)
				if got := r.st.Incarnation(); got != 1 {
					t.Errorf("incarnation %d", got)
				}
				if f := r.file(t); f.Boot != r.identity.Status().Boot || !f.Clean {
					t.Errorf("the file has %+v", f)
				}
			})
		})
	}
}
