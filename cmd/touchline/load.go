package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/structs"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// loader collects values in ascending order of precedence.
type loader struct {
	k       *koanf.Koanf
	sources map[string]string
	wrong   []string // what cannot be taken over, with its place
}

// load merges default, file, environment and flags, in that order. Keys that nobody knows are errors.
func load(path string, flags *pflag.FlagSet) (*loaded, error) {
	l := &loader{k: koanf.New("."), sources: map[string]string{}}
	out := &loaded{Config: edge.DefaultConfig(), sources: l.sources}
	if err := l.k.Load(structs.Provider(out.Config, "koanf"), nil); err != nil {
		return nil, err
	}
	for _, a := range out.Apps {
		section := koanf.New(".")
		if err := section.Load(structs.Provider(a.Settings, "koanf"), nil); err != nil {
			return nil, err
		}
		if err := l.k.MergeAt(section, a.Name); err != nil {
			return nil, err
		}
	}
	for _, key := range l.k.Keys() {
		l.sources[key] = "default"
	}
	var err error
	if out.file, out.lines, err = l.fromFile(path); err != nil {
		return nil, err
	}
	if err := l.fromEnv(); err != nil {
		return nil, err
	}
	if err := l.fromFlags(flags); err != nil {
		return nil, err
	}
	if len(l.wrong) > 0 {
		return nil, fault.New(fault.Invalid, "bad_config", "%s", strings.Join(l.wrong, "\n"))
	}
	if err := l.k.UnmarshalWithConf("", &out.Config, koanf.UnmarshalConf{Tag: "koanf"}); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_config", "%s: a value has the wrong type for its key", describe(out.file))
	}
	for _, a := range out.Apps {
		if err := l.k.UnmarshalWithConf(a.Name, a.Settings, koanf.UnmarshalConf{Tag: "koanf"}); err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "bad_config", "%s: a value has the wrong type for its key", describe(out.file))
		}
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

func describe(file string) string {
	if file == "" {
		return "configuration"
	}
	return file
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
	k := koanf.New(".")
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		return "", nil, fault.New(fault.Invalid, "bad_yaml", "%s: %s", path, strictyaml.Syntax(err))
	}
	lines := map[string]int{}
	for key, place := range places {
		lines[key] = place.line
	}
	keys := k.Keys()
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(lines[a], lines[b]) })
	for _, key := range keys {
		value := k.Get(key)
		l.name(strings.TrimSuffix(key, "_file"))
		if _, textual := l.k.Get(key).(string); textual && value != nil {
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
	known := l.k.Keys()
	for _, secret := range secrets() {
		known = append(known, secret+"_file")
	}
	if strictyaml.Near(key, known) {
		return fmt.Errorf("unknown key %s", key)
	}
	return errors.New("an unknown key, or one that belongs in another section")
}

func (l *loader) fromEnv() error {
	k := koanf.New(".")
	err := k.Load(env.Provider(".", env.Opt{Prefix: envPrefix, TransformFunc: func(name, value string) (string, any) {
		key := strings.ToLower(strings.TrimPrefix(name, envPrefix))
		return strings.ReplaceAll(key, "__", "."), value
	}}), nil)
	if err != nil {
		return err
	}
	for _, key := range k.Keys() {
		known, err := l.set(key, k.Get(key), "environment")
		if !known {
			err = fmt.Errorf("no configuration key %s%s", key, l.meant(key))
		}
		if err != nil {
			name := envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "__"))
			l.wrong = append(l.wrong, name+": "+err.Error())
		}
	}
	return nil
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
		case !l.k.Exists(key): // --log-level is log.level
			key = strings.Replace(key, "_", ".", 1)
		}
		if f.Changed && l.k.Exists(key) && err == nil {
			_, err = l.set(key, f.Value.String(), "flag")
		}
	})
	return err
}

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
		return true, l.k.Set(secret, text)
	}
	if !l.k.Exists(key) {
		return false, nil
	}
	l.sources[key] = source
	if value, err = likeDefault(key, value, l.k.Get(key)); err != nil {
		return true, err
	}
	return true, l.k.Set(key, value)
}

// likeDefault reads a value as what its key's default is: file, environment and flags write it in their own ways.
func likeDefault(key string, value, usual any) (any, error) {
	text := ""
	if value != nil {
		text = fmt.Sprint(value)
	}
	if _, ok := usual.(time.Duration); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("%s must be a duration such as 30s or 10m, not %q", key, text)
		}
		return d, nil
	}
	switch reflect.ValueOf(usual).Kind() {
	case reflect.Map:
		return nil, fmt.Errorf("%s is a section: its keys go below it", key)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s must be a whole number, not %q", key, text)
		}
		return n, nil
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%s must be true or false, not %q", key, text)
		}
		return b, nil
	case reflect.Slice:
		list, ok := value.([]any)
		if !ok { // of one value, of none, or with commas between
			return listOf(text), nil
		}
		for _, one := range list {
			switch one.(type) {
			case []any, map[string]any, nil:
				return nil, fmt.Errorf("%s must be a list of strings", key)
			}
		}
	case reflect.String:
		switch value.(type) {
		case []any, map[string]any:
			return nil, fmt.Errorf("%s must be a single string, not a list", key)
		}
		return text, nil
	}
	return value, nil
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
	for _, known := range l.k.Keys() {
		if strings.ReplaceAll(known, ".", "_") == key {
			return " (did you mean " + envPrefix + strings.ToUpper(strings.ReplaceAll(known, ".", "__")) + "?)"
		}
	}
	return ""
}
