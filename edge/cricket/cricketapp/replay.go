package cricketapp

import (
	"context"
	"log/slog"
	"sync"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
)

// ReplayConfig configures `touchline cricket replay`.
type ReplayConfig struct {
	Sources  []string // ids of recorded matches, Cricsheet files, or folders of them
	NoBalls  bool     // read score lines and rows only
	Faults   uint64   // seed of the feed faults; 0: none
	Seeds    int      // how many seeds from Faults on each match is played with; 0: 1
	Restarts int      // how often the node is discarded and rebuilt from its store
	Parallel int      // matches at once; 0: 2
	Phones   int      // phones that follow each match; 0: 2
	Log      *slog.Logger

	// Clean, if set, returns the replay of a match without faults; otherwise it is played as well.
	Clean func(ctx context.Context, match string) (*ReplayReport, error)
	// Report is called with the report of each match, in the order of the sources, and of the seeds.
	Report func(*ReplayReport) error
	// Cost, if set, is called in the end with what the feed's faults cost, if more than one match was played with faults.
	Cost func(*ReplayCost) error
	// Passed, if set, is called for each folder with other files, with their number.
	Passed func(dir string, files int)
	// Failed, if set, is called for each of several matches that could not be played.
	Failed func(error)
	// Progress, if set, is called with the progress of a match, from 0 to 1. Calls are concurrent.
	Progress func(title string, done float64)
}

// ReplayReport is the outcome of a replayed match, and what its followers received.
type ReplayReport struct {
	Summary
	NoBalls  bool   `json:"noBalls,omitempty"`
	Faults   uint64 `json:"faults,omitempty"`
	Restarts int    `json:"restarts,omitempty"`

	InningsEnds    []string       `json:"inningsEnds"` // causes, in order
	Corrections    []SummaryAlert `json:"corrections"`
	ByPriority     map[string]int `json:"pushesByPriority"` // "10", "5"
	UrgentPerHour  int            `json:"p10PerHour"`       // the most per device in any running hour
	LargestPayload int            `json:"largestPayload"`   // bytes
	TooLong        int            `json:"over2KB"`          // payloads above 2,048 bytes
	Late           int            `json:"backwards"`        // pushes whose timestamp did not rise
	Ignored        int            `json:"ignored"`          // pushes that a phone ignored
	Mute           int            `json:"mute"`             // alerts whose state says something else: an iPhone shows the state
	LitUp          int            `json:"litUp"`            // pushes that lit up the first phone, besides starts
	CleanLitUp     int            `json:"cleanLitUp"`       // the same without faults; 0 if there are none
	PhonesRight    bool           `json:"phonesRight"`      // each phone last showed the display

	LastWords  *LastWords  `json:"lastWords,omitempty"`  // nil without faults: that replay is the truth
	RecordDiff *RecordDiff `json:"recordDiff,omitempty"` // likewise

	Display cricket.Display `json:"-"`
	Record  []cricket.Event `json:"-"` // all events in the order they were recorded
	Shown   []string        `json:"-"` // texts of the alerts that the first phone showed

	last map[string]string // its last alert on each subject
}

// Replay plays matches through whole nodes at top speed, each in a node of its own with an in-memory store. It
// continues after a match that could not be played, and returns all errors.
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
	sources = c.withSeeds(ctx, sources)
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

// collect passes on the reports in the order of the sources.
func (c *ReplayConfig) collect(ctx context.Context, results []chan replayResult) error {
	failed, cost := 0, &ReplayCost{}
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
			cost.add(r.report)
			if err := c.Report(r.report); err != nil { // the receiver has failed
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
	if c.Cost != nil && cost.Runs > 1 {
		if err := c.Cost(cost); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fault.New(fault.Unavailable, "replay_incomplete", "%d of %d matches could not be played", failed, len(results))
	}
	return nil
}

// replayOne plays one match. With feed faults it is also played without them: that is the truth to compare with.
func replayOne(ctx context.Context, c *ReplayConfig, s replaySource) (*ReplayReport, error) {
	own := *c
	own.Faults = c.Faults + s.seed
	report, err := replayOnce(ctx, &own, s)
	if err != nil || c.Faults == 0 {
		return report, err
	}
	var clean *ReplayReport
	switch {
	case c.Clean != nil:
		clean, err = c.Clean(ctx, report.Match)
	default:
		clean, err = s.clean()
	}
	if err != nil {
		return nil, err
	}
	report.LastWords = lastWords(report.last, clean.Record)
	report.RecordDiff = recordDiff(report.Record, clean.Record)
	report.CleanLitUp = clean.LitUp
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
