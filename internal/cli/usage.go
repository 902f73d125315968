// Package cli is what the commands of the node and those of applications have in common: how a wrong command line is told,
// how results are printed, and how progress is shown.
package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/touchline/touchline/internal/fault"
)

// UsageError is a command line that cannot be understood.
type UsageError struct{ error }

// Misuse is a UsageError that says which command's help to read.
func Misuse(cmd *cobra.Command, err error) error { return UsageError{hint(cmd, err)} }

// UnknownFlag is the UsageError of a flag that a command does not have, or of its value.
func UnknownFlag(cmd *cobra.Command, err error) error {
	return Misuse(cmd, didYouMean(plain(err), flagLike(cmd, err)))
}

// Usage marks the errors of an argument check as usage errors.
func Usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return Misuse(cmd, didYouMean(plain(err), commandLike(cmd, args)))
		}
		return nil
	}
}

// Group completes a command that there is for those below it.
func Group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = Usage(cobra.NoArgs), func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(below...)
	return cmd
}

// likeness is by how many letters a name may differ from what was typed.
const likeness = 2

// didYouMean adds what was probably meant.
func didYouMean(err error, names []string) error {
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w, did you mean %s?", err, strings.Join(slices.Compact(names), " or "))
}

// commandLike returns the subcommands whose names are like the first argument.
func commandLike(cmd *cobra.Command, args []string) []string {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = likeness
	return cmd.SuggestionsFor(args[0])
}

// flagLike returns the flags whose names are like that of the error.
func flagLike(cmd *cobra.Command, err error) (names []string) {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return nil
	}
	flags := &cobra.Command{SuggestionsMinimumDistance: likeness} // a likeness of names is what cobra has for commands
	typed := unknown.GetSpecifiedName()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		like := &cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}}
		if strings.HasPrefix(typed, f.Name+"-") || strings.HasSuffix(f.Name, "-"+typed) { // --data-dir for --data, --dir for --data-dir
			like.SuggestFor = []string{typed}
		}
		flags.AddCommand(like)
	})
	for _, name := range flags.SuggestionsFor(typed) {
		names = append(names, "--"+name)
	}
	return names
}

// Named refuses an empty name, as an unset variable of a shell makes it: it would stand for the default.
func Named(check cobra.PositionalArgs) cobra.PositionalArgs {
	return cobra.MatchAll(check, func(_ *cobra.Command, args []string) error {
		if slices.Contains(args, "") {
			return errors.New("the name of the file is empty")
		}
		return nil
	})
}

// plain says in words what the libraries say of a command line in their own terms.
func plain(err error) error {
	text := err.Error()
	if strings.HasPrefix(text, "requires at least ") || strings.HasPrefix(text, "accepts ") && strings.Contains(text, ", received ") {
		if strings.HasSuffix(text, "received 0") {
			return errors.New("the command needs an argument")
		}
		return errors.New("wrong number of arguments")
	}
	flag, reason, found := strings.Cut(text, ": strconv.")
	if !found {
		return err
	}
	_, reason, _ = strings.Cut(reason, ": ")
	if i := strings.LastIndex(reason, ": "); i >= 0 {
		reason = reason[i+2:]
	}
	switch reason {
	case "invalid syntax":
		reason = "it is not a valid number"
	case "value out of range":
		reason = "it is too large or too small"
	}
	return errors.New(flag + ": " + reason)
}

type hinted struct {
	error
	hint string
}

// Error is one line that says where help is.
func (h hinted) Error() string {
	return strings.ReplaceAll(h.error.Error(), "\n", " ") + " (see '" + h.hint + " --help')"
}

func hint(cmd *cobra.Command, err error) error { return hinted{err, cmd.CommandPath()} }

// OutputFlag adds -o, checked.
func OutputFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "text", "text or json")
	check := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if *output != "text" && *output != "json" {
			return Misuse(cmd, fmt.Errorf("-o must be text or json, not %q", *output))
		}
		if check != nil {
			return check(cmd, args)
		}
		return nil
	}
}

// Message is what a person is shown of an error: one line, without the causes that only a log needs.
func Message(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return err.Error()
}

// Print shows a result as JSON (output json) or as the text that a person reads.
func Print(cmd *cobra.Command, output string, result any, text string) error {
	if output == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}
