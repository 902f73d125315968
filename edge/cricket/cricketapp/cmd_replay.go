package cricketapp

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/clock"
)

// replayFlags holds the flags of cricket replay.
type replayFlags struct {
	ReplayConfig
	output string
}

func newReplay() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE|DIR|ID...",
		Short: "Replay matches through the whole node at top speed, and print the alerts users would have received",
		Long: "Replay matches through the whole node at top speed: feed, poller, rules, store, pushes and simulated phones, nothing on\n" +
			"disk. A match is an id from 'touchline demo cricket --list', a JSON file from cricsheet.org, or a folder of such files. For each\n" +
			"it prints the scores and the result, the events, every alert in order, and the pushes. With --faults it also compares the last\n" +
			"alert on each subject with the same match without faults: alerts that are wrong, that report what never happened, or that\n" +
			"withdraw what is true; and the recorded events that differ. All of these counts should be 0. The list of alerts has every one that was\n" +
			"sent; those whose event was taken back are marked. Pushes that light up a phone are counted with faults and without: that is what a\n" +
			"feed that corrects itself costs, and the last line has it for all matches, and for all --seeds, in the mean and at worst.",
		Example: "  touchline cricket replay 1144530\n  touchline cricket replay --faults 7 --restarts 3 -o json ~/cricsheet/t20s",
		Args:    cli.Usage(cli.RefuseEmptyName(cobra.MinimumNArgs(1))),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.NoBalls, "no-balls", false, "read scores and rows only, as with a feed plan without balls")
	flags.Uint64Var(&f.Faults, "faults", 0, "seed of feed faults: revised and deleted balls, inconsistent and late answers, errors (0: none)")
	flags.IntVar(&f.Seeds, "seeds", 1, "with --faults, how many seeds from that one on each match is played with")
	flags.IntVar(&f.Restarts, "restarts", 0, "how often the node is discarded in mid-match and rebuilt from its store")
	flags.IntVar(&f.Parallel, "parallel", 0, "matches at once (default 2)")
	cli.OutputFlag(cmd, &f.output)
	return cmd
}

func (f *replayFlags) run(cmd *cobra.Command, args []string) error {
	if f.Seeds < 1 || f.Seeds > 10_000 || f.Seeds > 1 && f.Faults == 0 {
		return cli.Misuse(cmd, fmt.Errorf("--seeds must be from 1 to 10000, and needs --faults"))
	}
	if f.Restarts < 0 || f.Restarts > 1000 || f.Parallel < 0 || f.Parallel > 64 {
		return cli.Misuse(cmd, fmt.Errorf("--restarts must be from 0 to 1000, --parallel from 0 to 64"))
	}
	f.Sources = args
	out, progress := cmd.OutOrStdout(), &progress{clock: clock.Real(), meter: cli.NewMeter(cmd), done: map[string]float64{}}
	f.Progress = progress.showProgress
	f.Passed = func(dir string, files int) {
		what := "files are"
		if files == 1 {
			what = "file is"
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d %s skipped: their names are not match ids\n", dir, files, what) //nolint:errcheck // there is nowhere else to tell
	}
	f.Failed = func(err error) {
		progress.clear()
		fmt.Fprintln(cmd.ErrOrStderr(), "touchline: "+cli.Message(err)) //nolint:errcheck // there is nowhere else to tell
	}
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	first := true
	f.Report = func(r *ReplayReport) error {
		progress.clear()
		if f.output == "json" {
			return lines.Encode(r)
		}
		if !first {
			fmt.Fprintln(out) //nolint:errcheck // the report's own writing tells
		}
		first = false
		return printReplay(out, r)
	}
	f.Cost = func(c *ReplayCost) error {
		if f.output == "json" {
			return lines.Encode(map[string]*ReplayCost{"cost": c})
		}
		return printCost(out, c)
	}
	err := Replay(cmd.Context(), f.ReplayConfig)
	progress.clear()
	return err
}

// printCost writes what the faults of all matches cost.
func printCost(w io.Writer, c *ReplayCost) error {
	_, err := fmt.Fprintf(w, "\n%d matches with faults: pushes that light up a phone %d, without faults %d; in the mean %+.0f %%, at worst %+.0f %% "+
		"(match %s, --faults %d); last alerts that are not true: %d\n", c.Runs, c.LitUp, c.Clean, c.Mean, c.Worst, c.WorstRun, c.Seed, c.Standing)
	return err
}

// printReplay writes a report as text.
func printReplay(w io.Writer, r *ReplayReport) error {
	if err := r.Print(w); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(tw, format, args...) } //nolint:errcheck // Flush tells
	line("priority 10: %d, at most %d an hour a phone; priority 5: %d; largest payload %d bytes\n",
		r.ByPriority["10"], r.UrgentPerHour, r.ByPriority["5"], r.LargestPayload)
	if !r.PhonesRight {
		line("a phone shows something other than the node\n")
	}
	if w := r.LastWords; w != nil {
		line("last alert on each subject: %d wrong, %d false, %d withdrawn though true\n", w.Wrong, w.False, w.Untold)
		for _, each := range w.Each {
			line("%s\n", each)
		}
	}
	if r.CleanLitUp > 0 {
		line("pushes that light up a phone: %d, without faults %d (%+.0f %%)\n", r.LitUp, r.CleanLitUp, r.cost())
	}
	if d := r.RecordDiff; d != nil {
		line("events recorded: %d missing, %d false\n", sum(d.Missing), sum(d.False))
		for _, each := range d.Each {
			line("%s\n", each)
		}
	}
	line("\nalerts, each after the key of its event:\n")
	for _, a := range r.Alerts {
		line("%s\t%s%s\n", a.Key, a.Text, map[bool]string{true: "  (withdrawn)"}[a.Withdrawn])
	}
	if len(r.Dropped) > 0 {
		line("\nevents without an alert of their own:\n")
	}
	for _, rule := range slices.Sorted(maps.Keys(r.Dropped)) {
		line("%s\t%d\t%s\n", rule, r.Dropped[rule], whyNot(rule))
	}
	return tw.Flush()
}

// whyNot explains the rule by which an event has no alert.
func whyNot(rule string) string {
	return map[string]string{
		"merged":    "another alert at the same moment covered it",
		"cooldown":  "one of its kind went out a moment before",
		"budget":    "the hourly alert limit was reached",
		"baseline":  "it happened before the node was watching",
		"stale":     "it was too old to be news",
		"burst":     "several balls came at once",
		"abandoned": "the match had been abandoned",
	}[rule]
}

// progress shows on a terminal how far the matches are; elsewhere it is silent.
type progress struct {
	clock clock.Clock

	mu    sync.Mutex
	meter *cli.Meter
	last  time.Time
	done  map[string]float64
}

func (p *progress) showProgress(title string, done float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done[title] = done; done >= 1 {
		delete(p.done, title)
	}
	now := p.clock.Now()
	if now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last = now
	var text strings.Builder
	for _, title := range slices.Sorted(maps.Keys(p.done)) {
		fmt.Fprintf(&text, "%.30s %.0f%%  ", title, 100*p.done[title])
	}
	p.meter.ShowProgress(text.String(), 0, 0)
}

// clear clears the line for other output.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.meter.End(nil)
}
