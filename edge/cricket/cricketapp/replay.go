package cricketapp

import (
	"context"
	"log/slog"
	"sync"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
)

// ReplayConfig is what `touchline cricket replay` is told.
type ReplayConfig struct {
	Sources  []string // ids of recorded matches, Cricsheet files, folders of these
	NoBalls  bool     // read score lines and rows only
	Faults   uint64   // seed of the feed faults; 0: none
	Restarts int      // times that the node is thrown away and built anew from its store
	Parallel int      // matches at once; 0: 2
	Phones   int      // that follow each match; 0: 2
	Log      *slog.Logger

	// Clean, if there is one, gives the replay of a match without faults; else it is played beside one with faults.
	Clean func(ctx context.Context, match string) (*ReplayReport, error)
	// Report takes what became of a match, in the order of the sources.
	Report func(*ReplayReport) error
	// Passed, if there is one, hears of each folder that has files besides matches, and of how many.
	Passed func(dir string, files int)
	// Failed, if there is one, hears of each match of several that could not be played.
	Failed func(error)
	// Progress, if there is one, hears how far a match is, from 0 to 1. Several goroutines call it.
	Progress func(title string, done float64)
}

// ReplayReport is what became of a replayed match, and what its followers were told.
type ReplayReport struct {
	Summary
	NoBalls  bool   `json:"noBalls,omitempty"`
	Faults   uint64 `json:"faults,omitempty"`
	Restarts int    `json:"restarts,omitempty"`

	InningsEnds    []string       `json:"inningsEnds"` // their causes, in order
	Corrections    []SummaryAlert `json:"corrections"`
	ByPriority     map[string]int `json:"pushesByPriority"` // "10", "5"
	UrgentPerHour  int            `json:"p10PerHour"`       // most of a device in any running hour
	LargestPayload int            `json:"largestPayload"`   // bytes
	TooLong        int            `json:"over2KB"`          // payloads above 2,048 bytes
	Late           int            `json:"backwards"`        // pushes whose timestamp did not rise
	Ignored        int            `json:"ignored"`          // pushes that a phone made nothing of
	PhonesRight    bool           `json:"phonesRight"`      // what each phone showed last is the display

	LastWords  *LastWords  `json:"lastWords,omitempty"`  // nil: of a feed without faults, which is the truth
	RecordDiff *RecordDiff `json:"recordDiff,omitempty"` // likewise

	Display cricket.Display `json:"-"`
	Record  []cricket.Event `json:"-"` // all events, in the order they were recorded
	Shown   []string        `json:"-"` // the texts of the alerts that the first phone showed

	last map[string]string // what it had last on each subject
}

// Replay plays matches through the whole node at top speed, each in a node of its own with a store in memory. It goes
// on after a match that could not be played, and returns all that went wrong.
func Replay(ctx context.Context, c ReplayConfig) error {
	if c.Parallel <= 0 {
		c.Parallel = 2
	}
	if c.Phones <= 0 {
		c.Phones = 2
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	sources, err := replaySources(c.Sources, c.Passed)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]chan replayResult, len(sources))
	for i := range results {
		results[i] = make(chan replayResult, 1)
	}
	var workers sync.WaitGroup
	next := make(chan int)
	for range min(c.Parallel, len(sources)) {
		workers.Go(func() {
			for i := range next {
				report, err := replayOne(ctx, &c, sources[i])
				results[i] <- replayResult{report, err}
			}
		})
	}
	workers.Go(func() {
		defer close(next)
		for i := range sources {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	err = c.collect(ctx, results)
	cancel()
	workers.Wait()
	return err
}

type replayResult struct {
	report *ReplayReport
	err    error
}

// collect hands the reports on in the order of the sources.
func (c *ReplayConfig) collect(ctx context.Context, results []chan replayResult) error {
	failed := 0
	for _, result := range results {
		var r replayResult
		select {
		case r = <-result:
		case <-ctx.Done():
		}
		switch {
		case ctx.Err() != nil:
			return fault.New(fault.Unavailable, "interrupted", "interrupted before every match was over")
		case r.err == nil:
			if err := c.Report(r.report); err != nil { // nobody takes reports any more
				return err
			}
		case len(results) == 1:
			return r.err
		default:
			failed++
			if c.Failed != nil {
				c.Failed(r.err)
			}
		}
	}
	if failed > 0 {
		return fault.New(fault.Unavailable, "replay_incomplete", "%d of %d matches could not be played", failed, len(results))
	}
	return nil
}

// replayOne plays one match, and one of a feed with faults without them too: that is the truth, which its last words are
// compared with.
func replayOne(ctx context.Context, c *ReplayConfig, s replaySource) (*ReplayReport, error) {
	report, err := replayOnce(ctx, c, s)
	if err != nil || c.Faults == 0 {
		return report, err
	}
	var clean *ReplayReport
	if c.Clean != nil {
		clean, err = c.Clean(ctx, report.Match)
	} else {
		truth := *c
		truth.Faults, truth.Restarts, truth.Progress = 0, 0, nil
		clean, err = replayOnce(ctx, &truth, s)
	}
	if err != nil {
		return nil, err
	}
	report.LastWords = lastWords(report.last, clean.Record)
	report.RecordDiff = recordDiff(report.Record, clean.Record)
	return report, nil
}

func replayOnce(ctx context.Context, c *ReplayConfig, s replaySource) (*ReplayReport, error) {
	m, err := s.load()
	if err != nil {
		return nil, err
	}
	r, err := newReplayRig(c, m)
	if err != nil {
		return nil, err
	}
	report, err := r.play(ctx)
	if err != nil {
		return nil, fault.Wrap(err, fault.KindOf(err), "replay", "match %s: %s", m.Info().ID, err)
	}
	return report, nil
}
