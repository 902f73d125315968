package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

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
	maxFile     = 1 << 20 // bytes of a configuration file
)

// loaded is a configuration with the source of each value.
type loaded struct {
	edge.Config
	file    string            // empty: no file
	sources map[string]string // by key: flag, environment or file; missing: default
	lines   strictyaml.Lines  // of the file
	wrong   []string          // errors with their places
}

// load merges defaults, file, environment and flags, in that order. Unknown keys are errors.
func load(path string, flags *pflag.FlagSet) (*loaded, error) {
	c := &loaded{Config: edge.DefaultConfig(), sources: map[string]string{}}
	if err := c.fromFile(path); err != nil {
		return nil, err
	}
	c.fromEnv()
	c.fromFlags(flags)
	if len(c.wrong) > 0 {
		return nil, fault.New(fault.Invalid, "bad_config", "%s", strings.Join(c.wrong, "\n"))
	}
	c.Said = map[string]bool{}
	for key := range c.sources {
		section, _, _ := strings.Cut(key, ".")
		c.Said[section] = true
	}
	return c, nil
}

// loadFor is load for an application's commands.
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

// fromFile reads the configuration file. The default file may be missing, a named one may not.
func (c *loaded) fromFile(path string) error {
	asked := path != ""
	if !asked {
		path = defaultFile
	}
	raw, err := secretfile.ReadAny(path, maxFile)
	if err != nil {
		if !asked && os.IsNotExist(err) {
			return nil
		}
		return fault.Wrap(err, fault.Invalid, "no_config", "cannot read configuration %s: %s", path, node.ReasonOf(err))
	}
	c.file = path
	var problems []strictyaml.Problem
	c.lines, problems = strictyaml.Decode(raw, &c.Config)
	slices.SortStableFunc(problems, func(a, b strictyaml.Problem) int { return cmp.Compare(a.Line, b.Line) })
	for _, p := range problems {
		place := path
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d", path, p.Line)
		}
		c.refuse(place, p)
	}
	var secrets []string // contained in the file itself
	for _, key := range slices.Sorted(maps.Keys(c.lines)) {
		c.sources[key] = "file"
		if isSecret(key) && c.lines[key+"_file"] == 0 {
			secrets = append(secrets, key)
		}
	}
	if err := checkFileMode(path, secrets); err != nil {
		c.wrong = append(c.wrong, err.Error())
	}
	return nil
}

// refuse records an error and its place.
func (c *loaded) refuse(place string, p strictyaml.Problem) {
	p.Line = 0
	c.wrong = append(c.wrong, place+": "+p.String())
}

// checkFileMode refuses a configuration file that other users can change, or one that contains a secret and that they can read.
func checkFileMode(path string, secrets []string) error {
	err := secretfile.Check(path)
	switch {
	case errors.Is(err, secretfile.ErrWritable):
		return fmt.Errorf("%s: %w (chmod go-w %s)", path, err, path)
	case errors.Is(err, secretfile.ErrReadable) && len(secrets) > 0:
		return fmt.Errorf("%s: contains %s, and %w (chmod 600 %s)", path, secrets[0], err, path)
	}
	return nil
}

// fromEnv applies environment variables: TOUCHLINE_HTTP__RATE__BURST is http.rate.burst.
func (c *loaded) fromEnv() {
	for _, variable := range slices.Sorted(slices.Values(os.Environ())) {
		name, value, _ := strings.Cut(variable, "=")
		key, ours := strings.CutPrefix(name, envPrefix)
		if !ours {
			continue
		}
		key = strings.ReplaceAll(strings.ToLower(key), "__", ".")
		if !isKnownKey(key) {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: no configuration key %s%s", name, key, suggestVariable(key)))
			continue
		}
		c.set(key, value, name, "environment")
	}
}

// set sets one key from its text.
func (c *loaded) set(key, text, place, source string) {
	for _, p := range strictyaml.Set(&c.Config, key, text) {
		c.refuse(place, p)
	}
	if secret, in := strings.CutSuffix(key, "_file"); in && isSecret(secret) {
		key, source = secret, source+" ("+text+")"
	}
	c.sources[key] = source
}

func (c *loaded) fromFlags(flags *pflag.FlagSet) {
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
		case !isKnownKey(key): // --log-level is log.level
			key = strings.Replace(key, "_", ".", 1)
		}
		if f.Changed && isKnownKey(key) {
			c.set(key, f.Value.String(), "--"+f.Name, "flag")
		}
	})
}
