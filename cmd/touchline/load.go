package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
	"github.com/touchline/touchline/internal/strictyaml"
)

const (
	defaultFile = "/etc/touchline/config.yaml"
	envPrefix   = "TOUCHLINE_"
)

// loaded is a configuration and where each value of it came from.
type loaded struct {
	edge.Config
	file    string            // "" when there is none
	sources map[string]string // key to flag, environment, file or default
	lines   map[string]int    // key to its line in the file
}

// loader sets values in ascending order of precedence.
type loader struct {
	c       *edge.Config
	fields  map[string]reflect.Value // what can be set, and the sections, by key
	sources map[string]string
	wrong   []string // what cannot be taken over, with its place
}

// index finds the fields of the configuration.
func (l *loader) index() {
	l.fields = map[string]reflect.Value{}
	l.c.Settings(func(key string, _ reflect.StructField, v reflect.Value) {
		l.fields[key] = v
		if !isSection(v) {
			l.sources[key] = cmp.Or(l.sources[key], "default")
		}
	})
}

func isSection(v reflect.Value) bool { return v.Kind() == reflect.Struct || v.Kind() == reflect.Map }

// keys lists the keys that have a value.
func (l *loader) keys() []string {
	return slices.Sorted(maps.Keys(l.sources))
}

// load merges default, file, environment and flags, in that order. Keys that nobody knows are errors.
func load(path string, flags *pflag.FlagSet) (*loaded, error) {
	out := &loaded{Config: edge.DefaultConfig(), sources: map[string]string{}}
	l := &loader{c: &out.Config, sources: out.sources}
	l.index()
	var err error
	if out.file, out.lines, err = l.fromFile(path); err != nil {
		return nil, err
	}
	l.fromEnv()
	if err := l.fromFlags(flags); err != nil {
		return nil, err
	}
	if len(l.wrong) > 0 {
		return nil, fault.New(fault.Invalid, "bad_config", "%s", strings.Join(l.wrong, "\n"))
	}
	out.Said = map[string]bool{}
	for key, source := range out.sources {
		if section, _, in := strings.Cut(key, "."); in && source != "default" {
			out.Said[section] = true
		}
	}
	return out, nil
}

// loadFor is load for the commands of an application.
func loadFor(cmd *cobra.Command, file, application string) (dataDir string, s app.Settings, err error) {
	c, err := load(file, cmd.Flags())
	if err != nil {
		return "", nil, err
	}
	for _, a := range c.Apps {
		if a.Name == application {
			s = a.Settings
		}
	}
	return c.DataDir, s, nil
}

// fromFile reads the configuration file. Only a file that was asked for must be there.
func (l *loader) fromFile(path string) (string, map[string]int, error) {
	asked := path != ""
	if !asked {
		path = defaultFile
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		if !asked && os.IsNotExist(err) {
			return "", nil, nil
		}
		return "", nil, fault.Wrap(err, fault.Invalid, "no_config", "cannot read configuration %s: %s", path, node.ReasonOf(err))
	}
	places, err := keyPlaces(raw)
	if err != nil {
		return "", nil, fault.New(fault.Invalid, "bad_yaml", "%s: %s", path, err)
	}
	var said map[string]any
	if err := yaml.Unmarshal(raw, &said); err != nil {
		return "", nil, fault.New(fault.Invalid, "bad_yaml", "%s: %s", path, strictyaml.Syntax(err))
	}
	values := map[string]any{}
	flatten(said, "", values)
	lines := map[string]int{}
	for key, place := range places {
		lines[key] = place.line
	}
	keys := slices.Sorted(maps.Keys(values))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(lines[a], lines[b]) })
	for _, key := range keys {
		value := values[key]
		l.name(strings.TrimSuffix(key, "_file"))
		if field := l.fields[key]; field.Kind() == reflect.String && value != nil {
			value = places[key].or(value)
		}
		known, err := l.set(key, value, "file")
		if !known {
			err = l.unknown(key)
		}
		if err != nil {
			l.wrong = append(l.wrong, fmt.Sprintf("%s:%d: %s", path, lines[key], err))
		}
	}
	if err := guarded(path, keys); err != nil {
		l.wrong = append(l.wrong, err.Error())
	}
	return path, lines, nil
}

// flatten notes the values of a document by their keys, with dots between those of sections.
func flatten(section map[string]any, prefix string, into map[string]any) {
	for key, value := range section {
		if below, ok := value.(map[string]any); ok && len(below) > 0 {
			flatten(below, prefix+key+".", into)
		} else {
			into[prefix+key] = value
		}
	}
}

// guarded refuses a configuration file that other users can change, and one with a secret in it that they can read.
func guarded(path string, keys []string) error {
	err := secretfile.Check(path)
	holds := slices.IndexFunc(keys, isSecret)
	switch {
	case errors.Is(err, secretfile.ErrWritable):
		return fmt.Errorf("%s: %w (chmod go-w %s)", path, err, path)
	case errors.Is(err, secretfile.ErrReadable) && holds >= 0:
		return fmt.Errorf("%s: holds %s, and %w (chmod 600 %s)", path, keys[holds], err, path)
	}
	return nil
}

// unknown is what is told of a key that nobody knows: its name only where it is like a known one, for it may be a secret.
func (l *loader) unknown(key string) error {
	known := l.keys()
	for _, secret := range secrets() {
		known = append(known, secret+"_file")
	}
	if strictyaml.Near(key, known) {
		return fmt.Errorf("unknown key %s", key)
	}
	return errors.New("an unknown key, or one that belongs in another section")
}

func (l *loader) fromEnv() {
	values := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if key, ours := strings.CutPrefix(name, envPrefix); ours {
			values[strings.ReplaceAll(strings.ToLower(key), "__", ".")] = value
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		known, err := l.set(key, values[key], "environment")
		if !known {
			err = fmt.Errorf("no configuration key %s%s", key, l.meant(key))
		}
		if err != nil {
			name := envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "__"))
			l.wrong = append(l.wrong, name+": "+err.Error())
		}
	}
}

func (l *loader) fromFlags(flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		key := strings.ReplaceAll(f.Name, "-", "_")
		switch {
		case f.Name == "inject":
			key = "dynamodb.inject"
		case f.Name == "ttl-sweep":
			key = "dynamodb.ttl_sweep"
		case f.Name == "dev-issuer":
			key = "auth.dev_issuer"
		case edge.Flags()[f.Name].Key != "":
			key = edge.Flags()[f.Name].Key
		case !l.has(key): // --log-level is log.level
			key = strings.Replace(key, "_", ".", 1)
		}
		if f.Changed && l.has(key) && err == nil {
			_, err = l.set(key, f.Value.String(), "flag")
		}
	})
	return err
}

func (l *loader) has(key string) bool { return l.fields[key].IsValid() }

// maxSecretFile is how long the file of a secret may be, in bytes: a certificate chain's worth.
const maxSecretFile = 64 << 10

// set takes a value over if its key exists, or if the key with _file after it names a secret.
func (l *loader) set(key string, value any, source string) (known bool, err error) {
	l.name(strings.TrimSuffix(key, "_file"))
	if secret, ok := strings.CutSuffix(key, "_file"); ok && isSecret(secret) {
		raw, err := secretfile.Read(filepath.Clean(fmt.Sprint(value)), maxSecretFile)
		if err != nil {
			return true, fmt.Errorf("cannot read the file for %s: %s", secret, node.ReasonOf(err)) // its name may be the secret itself
		}
		text := strings.TrimSpace(string(raw))
		if text == "" {
			return true, fmt.Errorf("there is nothing in %v", value)
		}
		l.sources[secret] = source + " (" + fmt.Sprint(value) + ")"
		l.fields[secret].SetString(text)
		return true, nil
	}
	if !l.has(key) {
		return false, nil
	}
	if isSection(l.fields[key]) {
		return true, fmt.Errorf("%s is a section: its keys go below it", key)
	}
	l.sources[key] = source
	return true, assign(key, value, l.fields[key])
}

// assign sets a field to what a value means there: file, environment and flags write it in their own ways.
func assign(key string, value any, field reflect.Value) error {
	text := ""
	if value != nil {
		text = fmt.Sprint(value)
	}
	if field.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s must be a duration such as 30s or 10m, not %q", key, text)
		}
		field.SetInt(int64(d))
		return nil
	}
	switch field.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%s must be a whole number, not %q", key, text)
		}
		field.SetInt(int64(n))
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%s must be true or false, not %q", key, text)
		}
		field.SetBool(b)
	case reflect.Slice:
		list := listOf(text) // of one value, of none, or with commas between
		if several, ok := value.([]any); ok {
			list = make([]string, len(several))
			for i, one := range several {
				switch one.(type) {
				case []any, map[string]any, nil:
					return fmt.Errorf("%s must be a list of strings", key)
				}
				list[i] = fmt.Sprint(one)
			}
		}
		field.Set(reflect.ValueOf(list))
	default:
		switch value.(type) {
		case []any, map[string]any:
			return fmt.Errorf("%s must be a single string, not a list", key)
		}
		field.SetString(text)
	}
	return nil
}

// listOf reads a list as a flag or a variable gives it: with commas between.
func listOf(text string) []string {
	list := []string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// meant suggests the variable for a key whose sections were joined by one underscore.
func (l *loader) meant(key string) string {
	for _, known := range l.keys() {
		if strings.ReplaceAll(known, ".", "_") == key {
			return " (did you mean " + envPrefix + strings.ToUpper(strings.ReplaceAll(known, ".", "__")) + "?)"
		}
	}
	return ""
}
