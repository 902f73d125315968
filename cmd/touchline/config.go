package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
)

func newConfig() *cobra.Command {
	return cli.Group(&cobra.Command{Use: "config", Short: "Check and show the configuration"}, newConfigCheck(), newConfigPrint())
}

func newConfigCheck() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "List every error in the configuration; exit 1 if there is any",
		Args:  cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(path, cmd.Flags())
			if err != nil {
				return err
			}
			problems := c.Problems()
			slices.SortStableFunc(problems, func(a, b app.Problem) int { return cmp.Compare(c.lines[a.Key], c.lines[b.Key]) })
			for _, p := range problems {
				if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s: %s\n", c.placeOf(p.Key), p.Key, p.Text); err != nil {
					return err
				}
			}
			if len(problems) > 0 {
				return fault.New(fault.Invalid, "bad_config", "%s in the configuration", operator.Count(len(problems), "problem"))
			}
			if c.file == "" {
				using := "the defaults"
				if slices.ContainsFunc(slices.Collect(maps.Values(c.sources)), fromEnvironment) {
					using = "the environment and the defaults"
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "configuration is valid: no file %s; using %s\n", defaultFile, using)
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "configuration is valid:", c.file)
			return err
		},
	}
	configFlag(cmd, &path)
	return cmd
}

// fromEnvironment reports whether a value comes from a variable, or a file named by one.
func fromEnvironment(source string) bool { return strings.HasPrefix(source, "environment") }

// placeOf returns where a key is set: file and line, or the kind of source.
func (c *loaded) placeOf(key string) string {
	if line := c.lines[key]; line > 0 && (c.sources[key] == "file" || c.sources[key] == "") {
		return fmt.Sprintf("%s:%d", c.file, line)
	}
	source := c.sources[key]
	switch line := c.lines.LineOf(key); { // for a missing key: the line of its section, or the file
	case source != "":
		return source
	case line > 0:
		return fmt.Sprintf("%s:%d", c.file, line)
	case c.file != "":
		return c.file
	}
	return "configuration" // several sources, or none
}

// source is where, but "default" for a value that is not set.
func (c *loaded) source(key string) string {
	if c.sources[key] == "" {
		return "default"
	}
	return c.placeOf(key)
}

func newConfigPrint() *cobra.Command {
	var path string
	var sources bool
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Show the effective configuration, secrets masked",
		Args:  cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(path, cmd.Flags())
			if err != nil {
				return err
			}
			return c.print(cmd.OutOrStdout(), sources)
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().BoolVar(&sources, "sources", false, "show where each value comes from")
	return cmd
}

func (c *loaded) print(w io.Writer, sources bool) error {
	values := c.Values()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		if u, err := url.Parse(value); err == nil && (u.User != nil || u.RawQuery != "") {
			value = u.Scheme + "://********" // user and query of a URL may be secrets, though they do not belong there
		}
		if isSecret(key) && value != "" {
			value = "********"
		}
		line := fmt.Sprintf("%s: %s", key, value)
		if sources {
			line = fmt.Sprintf("%-60s # %s", line, c.source(key))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}
