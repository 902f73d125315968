package sigv4

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
	"github.com/touchline/touchline/internal/strictyaml"
)

// Config is the keys as they are configured.
type Config struct {
	Regions []string `yaml:"regions"` // of which requests may be signed; none: of any
	Keys    []Key    `yaml:"keys"`
}

// Key is a key and what it may do.
type Key struct {
	ID         string  `yaml:"access_key"`
	Secret     Secret  `yaml:"secret" secret:"true"`
	SecretFile string  `yaml:"secret_file"` // holds the secret, where it is not said
	Allow      []Grant `yaml:"allow"`
}

// Grant allows each of the actions on each of the tables.
type Grant struct {
	Tables  []string `yaml:"tables"`
	Actions []string `yaml:"actions"`
}

// Secret is a text that is not shown.
type Secret string

const hidden = "(secret)"

// Format implements fmt.Formatter: whatever the verb is.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText implements encoding.TextMarshaler, for JSON and YAML.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// The bounds of keys.
const (
	minID     = 3
	maxID     = 128
	minSecret = 16 // who listens can try secrets at home
	maxSecret = 256
	maxFile   = 1 << 20
)

func goodID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return len(id) >= minID && len(id) <= maxID
}

// Keyring is keys by which requests are verified. It does not change.
type Keyring struct {
	regions []string
	byID    map[string]*key
}

// Format implements fmt.Formatter: it tells how many keys there are, whatever the verb is.
func (r Keyring) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "(%d keys)", len(r.byID)) }

type key struct {
	secret func() Secret // a function, because fmt shows fields that are not exported as they are
	grants []grant
}

// Load reads a file of keys. The error is a *fault.Error that lists all problems, by line and key.
func Load(file string) (*Keyring, error) {
	raw, err := secretfile.Read(file, maxFile)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "no_keys", "cannot read the keys in %s: %s", file, reason(err))
	}
	c, problems := read(raw, filepath.Dir(file))
	if len(problems) > 0 {
		return nil, fault.New(fault.Invalid, "bad_keys", "%s: %s", file, strictyaml.Join(problems))
	}
	return compile(c), nil
}

// NewKeyring creates a Keyring of keys whose secrets have been read. The error is a *fault.Error that lists all problems.
func NewKeyring(c Config) (*Keyring, error) {
	if problems := c.Problems(); len(problems) > 0 {
		return nil, fault.New(fault.Invalid, "bad_keys", "%s", strictyaml.Join(problems))
	}
	return compile(c), nil
}

// read reads a file of keys that lies in dir.
func read(raw []byte, dir string) (c Config, problems []strictyaml.Problem) {
	lines, problems := strictyaml.Decode(raw, &c)
	if len(problems) > 0 {
		return c, problems
	}
	if problems = c.ReadSecrets(dir); len(problems) == 0 {
		problems = c.Problems()
	}
	for i := range problems {
		problems[i].Line = lines.Of(problems[i].Key)
	}
	return c, problems
}

// ReadSecrets fetches the secrets that are in files of their own, and returns what is wrong with these. Files lie in dir
// unless they say otherwise.
func (c *Config) ReadSecrets(dir string) (problems []strictyaml.Problem) {
	for i := range c.Keys {
		if p := c.Keys[i].readSecret(dir); p != "" {
			problems = append(problems, strictyaml.Problem{Key: fmt.Sprintf("keys[%d].secret_file", i), Text: p})
		}
	}
	return problems
}

// readSecret fetches the secret from its file, and returns what is wrong.
func (k *Key) readSecret(dir string) (problem string) {
	if k.SecretFile == "" {
		return ""
	}
	if k.Secret != "" {
		return "cannot be combined with secret"
	}
	file := k.SecretFile
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	raw, err := secretfile.Read(file, maxSecret+2)
	if err != nil {
		return fmt.Sprintf("cannot read %s: %s", file, reason(err))
	}
	k.Secret, k.SecretFile = Secret(strings.TrimSpace(string(raw))), ""
	if k.Secret == "" {
		return fmt.Sprintf("there is nothing in %s", file)
	}
	return ""
}

// Problems returns everything that is wrong with keys whose secrets have been read.
func (c Config) Problems() (problems []strictyaml.Problem) {
	bad := func(key, format string, args ...any) {
		problems = append(problems, strictyaml.Problem{Key: key, Text: fmt.Sprintf(format, args...)})
	}
	for i, region := range c.Regions {
		if !goodID(region) {
			bad(fmt.Sprintf("regions[%d]", i), "must be the name of a region, such as us-east-1")
		}
	}
	if len(c.Keys) == 0 {
		bad("keys", "must hold at least one key: without one nobody has access")
	}
	first := map[string]int{}
	for i, k := range c.Keys {
		at := fmt.Sprintf("keys[%d].", i)
		if !goodID(k.ID) {
			bad(at+"access_key", "must be %d to %d letters, digits, _ and -", minID, maxID)
		} else if other, twice := first[k.ID]; twice {
			bad(at+"access_key", "is that of keys[%d] too", other)
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
	r := &Keyring{regions: c.Regions, byID: map[string]*key{}}
	for _, k := range c.Keys {
		made := &key{secret: func() Secret { return k.Secret }}
		for _, g := range k.Allow {
			made.grants = append(made.grants, g.compile())
		}
		r.byID[k.ID] = made
	}
	return r
}

// reason is an error without the path, which the text around it has already.
func reason(err error) string {
	text := err.Error()
	if at := strings.LastIndex(text, ": "); at >= 0 {
		text = text[at+2:]
	}
	return text
}
