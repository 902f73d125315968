// Package cli has what the commands of the node and of applications share: errors for wrong command lines, printing of results, and
// progress.
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

// UsageError is the error of an invalid command line.
type UsageError struct{ error }

// Misuse returns a UsageError that refers to the command's help.
func Misuse(cmd *cobra.Command, err error) error { return UsageError{hint(cmd, err)} }

// UnknownFlag returns the UsageError for an unknown flag or an invalid flag value.
func UnknownFlag(cmd *cobra.Command, err error) error {
	return Misuse(cmd, didYouMean(plain(err), flagLike(cmd, err)))
}

// Usage turns the errors of an argument check into usage errors.
func Usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return Misuse(cmd, didYouMean(plain(err), commandLike(cmd, args)))
		}
		return nil
	}
}

// Group sets up a command that only has subcommands.
func Group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = Usage(cobra.NoArgs), func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(below...)
	return cmd
}

// likeness is the number of letters in which a suggestion may differ from the typed name.
const likeness = 2

// didYouMean adds suggestions to an error.
func didYouMean(err error, names []string) error {
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w, did you mean %s?", err, strings.Join(slices.Compact(names), " or "))
}

// commandLike returns the subcommands with names like the first argument.
func commandLike(cmd *cobra.Command, args []string) []string {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = likeness
	return cmd.SuggestionsFor(args[0])
}

// flagLike returns the flags with names like that in the error.
func flagLike(cmd *cobra.Command, err error) (names []string) {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return nil
	}
	flags := &cobra.Command{SuggestionsMinimumDistance: likeness} // cobra only compares names of commands
	typed := unknown.GetSpecifiedName()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		like := &cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}}
		if strings.HasPrefix(typed, f.Name+"-") || strings.HasSuffix(f.Name, "-"+typed) { // suggests --data-dir for --data, and for --dir
			like.SuggestFor = []string{typed}
		}
		flags.AddCommand(like)
	})
	for _, name := range flags.SuggestionsFor(typed) {
		names = append(names, "--"+name)
	}
	return names
}

// RefuseEmptyName refuses an empty file name, which an unset shell variable produces and which would mean the default.
func RefuseEmptyName(check cobra.PositionalArgs) cobra.PositionalArgs {
	return cobra.MatchAll(check, func(_ *cobra.Command, args []string) error {
		if slices.Contains(args, "") {
			return errors.New("the name of the file is empty")
		}
		return nil
	})
}

// plain rewords errors of the libraries about the command line.
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

// Error returns one line that says where to find help.
func (h hinted) Error() string {
	return strings.ReplaceAll(h.error.Error(), "\n", " ") + " (see '" + h.hint + " --help')"
}

func hint(cmd *cobra.Command, err error) error { return hinted{err, cmd.CommandPath()} }

// OutputFlag adds the flag -o and its check.
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

// Message returns an error's text for a user: one line, without the causes that belong in a log.
func Message(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return err.Error()
}

// Print prints a result as JSON, if output is json, or as text.
func Print(cmd *cobra.Command, output string, result any, text string) error {
	if output == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}
