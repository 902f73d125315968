package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/sync/replica/conflict"
)

func newConflicts() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "conflicts",
		Short: "Show writes that the cloud refused, and decide about them",
		Long: "A conflict is a write accepted here that the cloud did not accept as intended. Its record shows the request, what\n" +
			"the cloud had instead, and the outcome, and is kept for 30 days. The node must be running.",
	}, newConflictsList(), newConflictsShow(),
		newConflictsDecide("retry", "Apply the writes of conflicts again, as new writes",
			"The same operations are applied again to the current items, all of a conflict or none, and sent to the cloud as new\n"+
				"writes. If a condition does not hold here, the retry is refused at once and its conflict stays open."),
		newConflictsDecide("discard", "Give up the writes of conflicts: the cloud's items stay",
			"The records stay for 30 days. Quarantined writes are removed from the queue for the cloud."))
}

// mostConflicts is how many conflicts a node lists at once.
const mostConflicts = 100

func newConflictsList() *cobra.Command {
	var f maintainFlags
	var ask conflict.Query
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List conflicts, the newest first",
		Args:  cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all := conflict.States(); !slices.Contains(all, string(ask.State)) {
				return cli.Misuse(cmd, fmt.Errorf("--state must be one of %s, not %q", strings.Join(all, ", "), ask.State))
			}
			if ask.Limit < 1 || ask.Limit > mostConflicts {
				return cli.Misuse(cmd, fmt.Errorf("--limit must be from 1 to %d, not %d", mostConflicts, ask.Limit))
			}
			dir, err := f.dataDir(cmd)
			if err != nil {
				return err
			}
			page, err := edge.Ask(dir, func(a *admin.Client) (admin.ConflictList, error) { return a.Conflicts(cmd.Context(), ask) })
			if err != nil {
				return err
			}
			return f.print(cmd, page, conflictLines(&page, ask.State))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar((*string)(&ask.State), "state", "open", "one of "+strings.Join(conflict.States(), ", "))
	cmd.Flags().StringVar(&ask.Table, "table", "", "only conflicts of this table")
	cmd.Flags().IntVar(&ask.Limit, "limit", 50, fmt.Sprintf("how many at most, up to %d", mostConflicts))
	cmd.Flags().Uint64Var(&ask.Before, "before", 0, "only conflicts older than this number")
	return cmd
}

func conflictLines(page *admin.ConflictList, state conflict.State) string {
	if len(page.Items) == 0 {
		if state == conflict.StateOpen {
			return "no open conflicts\n"
		}
		return "no such conflicts\n"
	}
	s := newSheet()
	s.row("ID", "AT", "KIND", "STATE", "TABLE", "KEY", "WRITES", "WHAT")
	for i := range page.Items {
		c := &page.Items[i]
		s.row(fmt.Sprint(c.ID), instant(c.At), string(c.Kind), string(c.State), c.Table, clipText(asJSON(c.Key), widestKey), fmt.Sprint(c.Writes), c.Text)
	}
	out := s.String()
	if page.Cursor != nil {
		out += "older ones: --before " + *page.Cursor + "\n"
	}
	return out
}

func newConflictsShow() *cobra.Command {
	var f maintainFlags
	cmd := &cobra.Command{
		Use:   "show ID...",
		Short: "Show conflicts in full: the request, and what the cloud had",
		Long:  "Show conflicts: the request, and what the cloud had. Long items are truncated; -o json has them in full.",
		Args:  cli.Usage(requireNumbers),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, ids, err := f.conflicts(cmd, args)
			if err != nil {
				return err
			}
			for _, id := range ids {
				c, err := edge.Ask(dir, func(a *admin.Client) (conflict.View, error) { return a.Conflict(cmd.Context(), id) })
				if err != nil {
					return err
				}
				if err := f.print(cmd, c, conflictText(&c)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func newConflictsDecide(verb, short, long string) *cobra.Command {
	var f maintainFlags
	var yes bool
	cmd := &cobra.Command{
		Use: verb + " ID...", Short: short, Long: long,
		Args: cli.Usage(requireNumbers),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, ids, err := f.conflicts(cmd, args)
			if err != nil {
				return err
			}
			if !yes {
				if ok, err := askConfirmation(cmd, verb, args); err != nil || !ok {
					return err
				}
			}
			return f.decide(cmd, dir, verb, ids)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// decide decides the conflicts one by one. Of several, one that fails does not stop the others.
func (f *maintainFlags) decide(cmd *cobra.Command, dir, verb string, ids []uint64) error {
	failed := 0
	for _, id := range ids {
		c, err := edge.Ask(dir, func(a *admin.Client) (conflict.View, error) { return a.Decide(cmd.Context(), id, verb) })
		if err == nil {
			err = f.print(cmd, c, fmt.Sprintf("conflict %d: %s\n", c.ID, c.State))
		}
		if err == nil {
			continue
		}
		failed++
		if len(ids) == 1 {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "conflict %d: %s\n", id, cli.Message(err)) //nolint:errcheck // nothing to do if stderr is closed
	}
	if failed > 0 {
		return fault.New(fault.Conflict, "not_all", "%d of %d conflicts could not be decided", failed, len(ids))
	}
	return nil
}

// requireNumbers requires at least one argument. Its error says where to find the numbers of conflicts.
func requireNumbers(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("name the number of a conflict: touchline conflicts list shows them")
	}
	return nil
}

// conflicts parses the conflict numbers of a command line, and returns the node's data directory.
func (f *maintainFlags) conflicts(cmd *cobra.Command, args []string) (dir string, ids []uint64, err error) {
	for _, arg := range args {
		id, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			return "", nil, cli.Misuse(cmd, fmt.Errorf("%q is not a conflict number", arg))
		}
		ids = append(ids, id)
	}
	dir, err = f.dataDir(cmd)
	return dir, ids, err
}

// askConfirmation asks the person at the terminal. Without a terminal it returns an error.
func askConfirmation(cmd *cobra.Command, verb string, ids []string) (bool, error) {
	if f, ok := cmd.InOrStdin().(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return false, cli.Misuse(cmd, errors.New("cannot ask for confirmation without a terminal: use --yes"))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s conflict %s? [y/N] ", verb, strings.Join(ids, ", ")) //nolint:errcheck // then nobody answers yes
	answers := make(chan string, 1)
	go func() { // after an interrupt it stays behind: reading a terminal cannot be cancelled
		line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
		if err != nil {
			line = "" // no answer is a no
		}
		answers <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-cmd.Context().Done():
		fmt.Fprintln(cmd.ErrOrStderr()) //nolint:errcheck // ends the line of the question
		return false, fault.Wrap(cmd.Context().Err(), fault.Unavailable, "interrupted", "interrupted: nothing was decided")
	case answer := <-answers:
		return answer == "y" || answer == "yes", nil
	}
}

// conflictText formats a conflict in full, for people.
func conflictText(c *conflict.View) string {
	s := newSheet()
	s.row("conflict", fmt.Sprintf("%d (%s, %s)", c.ID, c.Kind, c.State))
	s.row("at", instant(c.At))
	s.row("what", c.Text+" ("+c.Code+")")
	if !c.ClosedAt.IsZero() {
		s.row("closed", instant(c.ClosedAt))
	}
	if c.Note != "" {
		s.row("note", c.Note)
	}
	if len(c.NewSeqs) > 0 {
		s.row("written again as", strings.Trim(fmt.Sprint(c.NewSeqs), "[]"))
	}
	for i := range c.Decided {
		conflictWrite(s, "write", &c.Decided[i])
	}
	for i := range c.Tail {
		conflictWrite(s, "also rejected", &c.Tail[i])
	}
	return s.String()
}

func conflictWrite(s *sheet, what string, w *conflict.Write) {
	s.gap()
	s.row(what, w.WriteID+", "+instant(w.At)+fmt.Sprintf(", sent %s", times(w.Sent)))
	s.row("table", w.Table)
	s.row("key", asJSON(w.Key))
	for _, part := range []struct{ name, text string }{
		{w.Op, asJSON(w.Item)}, {w.Op, w.Update}, {"condition", w.Condition}, {"names", asJSON(w.Names)}, {"values", asJSON(w.Values)},
		{"last known", asJSON(w.Base)}, {"the cloud has", asJSON(w.Met)},
	} {
		if part.text != "" {
			s.row(part.name, clipText(part.text, widestPart))
		}
	}
}

// asJSON formats an item or attribute names; empty: none.
func asJSON[V any](of map[string]V) string {
	if of == nil {
		return ""
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(of) // into memory; the values came from JSON
	return strings.TrimSuffix(text.String(), "\n")
}

// Limits in bytes of a key in a list, and of an item. -o json has everything.
const (
	widestKey  = 60
	widestPart = 2000
)

// clipText truncates a long text, and appends its full length.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
