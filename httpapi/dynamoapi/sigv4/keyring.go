package sigv4

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
	"github.com/touchline/touchline/internal/strictyaml"
)

// Config is the configured keys.
type Config struct {
	Keys []Key `yaml:"keys"`
}

// Key is an access key with its permissions.
type Key struct {
	ID     string  `yaml:"access_key"`
	Secret Secret  `yaml:"secret" secret:"true"`
	Allow  []Grant `yaml:"allow"`
}

// Grant allows each of the actions on each of the tables.
type Grant struct {
	Tables  []string `yaml:"tables"`
	Actions []string `yaml:"actions"`
}

// Secret is a text that formatting and encoding hide.
type Secret string

const hidden = "(secret)"

// Format implements fmt.Formatter for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText implements encoding.TextMarshaler, for JSON and YAML.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Limits of keys.
const (
	minID     = 3
	maxID     = 128
	minSecret = 16 // an eavesdropper can guess secrets offline
	maxSecret = 256
	maxFile   = 1 << 20
)

func goodID(id string) bool {
	return len(id) >= minID && len(id) <= maxID && strings.Trim(id, letters+"_-") == ""
}

// Keyring is an immutable set of keys.
type Keyring struct {
	byID map[string]*key
}

// Format implements fmt.Formatter: every verb prints only the number of keys.
func (r Keyring) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "(%d keys)", len(r.byID)) }

type key struct {
	secret func() Secret // a function, because fmt prints unexported fields without their Format
	grants []grant
}

// Load reads a file of keys. The error is a *fault.Error that lists all problems, by line and key.
func Load(file string) (*Keyring, error) {
	raw, err := secretfile.Read(file, maxFile)
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err // the message below names the path
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "no_keys", "cannot read the keys in %s: %s", file, err)
	}
	c, problems := read(raw, filepath.Dir(file))
	if len(problems) > 0 {
		return nil, fault.New(fault.Invalid, "bad_keys", "%s: %s", file, strictyaml.Join(problems))
	}
	return compile(c), nil
}

// NewKeyring returns a Keyring of keys with loaded secrets. The error is a *fault.Error that lists all problems.
func NewKeyring(c Config) (*Keyring, error) {
	if problems := c.Problems(); len(problems) > 0 {
		return nil, fault.New(fault.Invalid, "bad_keys", "%s", strictyaml.Join(problems))
	}
	return compile(c), nil
}

// read parses a file of keys in dir.
func read(raw []byte, dir string) (c Config, problems []strictyaml.Problem) {
	lines, problems := strictyaml.DecodeIn(dir, raw, &c)
	if len(problems) > 0 {
		return c, problems
	}
	problems = c.Problems()
	for i := range problems {
		problems[i].Line = lines.LineOf(problems[i].Key)
	}
	return c, problems
}

// Problems returns all errors in keys with loaded secrets.
func (c Config) Problems() (problems []strictyaml.Problem) {
	bad := strictyaml.AddTo(&problems, "")
	if len(c.Keys) == 0 {
		bad("keys", "must contain at least one key: without one nobody has access")
	}
	first := map[string]int{}
	for i, k := range c.Keys {
		at := fmt.Sprintf("keys[%d].", i)
		if !goodID(k.ID) {
			bad(at+"access_key", "must be %d to %d letters, digits, _ and -", minID, maxID)
		} else if other, twice := first[k.ID]; twice {
			bad(at+"access_key", "is also the id of keys[%d]", other)
		} else {
			first[k.ID] = i
		}
		if len(k.Secret) < minSecret || len(k.Secret) > maxSecret {
			bad(at+"secret", "must be %d to %d bytes long, here or in the file that secret_file names", minSecret, maxSecret)
		}
		if len(k.Allow) == 0 {
			bad(at+"allow", "must allow at least one action")
		}
		for j, g := range k.Allow {
			g.problems(fmt.Sprintf("%sallow[%d].", at, j), bad)
		}
	}
	return problems
}

func compile(c Config) *Keyring {
	r := &Keyring{byID: map[string]*key{}}
	for _, k := range c.Keys {
		made := &key{secret: func() Secret { return k.Secret }}
		for _, g := range k.Allow {
			made.grants = append(made.grants, g.compile())
		}
		r.byID[k.ID] = made
	}
	return r
}
