package cricketapp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// demoJournal is small: a demo's readers never lag, and its memory should stay small.
const demoJournal = 4 << 20

// newNode opens the demo's node: the real feed client and push client, with a recorded match and a push service in this process.
func (d *demo) newNode(ctx context.Context, dir string, login *node.DemoLogin) (*played, error) {
	feed, err := readInside(replay.NewFeed(d.match, d.clock, demoToken, 0), sportmonks.Config{Token: demoToken, Clock: d.clock, Logger: d.log})
	if err != nil {
		return nil, err
	}
	set := DefaultSettings()
	set.Leagues = []string{poll.AllLeagues}
	return openPlayed(ctx, dir, node.Parts{
		Clock: d.clock, Speed: d.speedName(), Version: d.Version, Log: d.log, JournalBytes: demoJournal, Gallery: true,
		Auth: login.Identity, Demo: login.SignIn,
	}, set, Outside{
		Feed: feed, Featured: d.Match, Phones: d.phones.Phones,
		Sender: toSandbox(d.phones, d.log),
	})
}

func (d *demo) speedName() string {
	if d.Speed == 0 {
		return "max"
	}
	return fmt.Sprintf("%gx", d.Speed)
}

// play runs the node with its audience until the match is over (with Once) or ctx ends.
func (d *demo) play(ctx context.Context, ln net.Listener) (*Summary, error) {
	asked := ctx // ends when the user interrupts
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := d.switchPhonesOn(ctx); err != nil {
		return nil, errors.Join(err, d.node.Close())
	}
	d.say("%s, %s\n", title(d.match.Info()), d.match.Info().Date)
	home := "http://" + ln.Addr().String()
	d.say("watch it at %s (%s, Ctrl-C ends)\n", home, d.speedName())
	d.say("operator's page %s, API %s, OpenAPI document %s\n", home+"/_/hub", home+"/_/docs", home+DefaultSettings().Mount+"/openapi.yaml")
	var summary *Summary
	var watchErr error
	var watch sync.WaitGroup
	leave := d.clock.Join()
	watch.Go(func() {
		defer leave()
		summary, watchErr = d.watch(ctx)
		d.node.Rest()
		if c, ok := d.clock.(*clock.Scaled); ok {
			c.Stop() // a finished match stays as it ended, for later visitors of the page
		}
		if d.Once || watchErr != nil {
			cancel()
		}
	})
	err := d.node.Run(ctx, ln)
	cancel()
	watch.Wait()
	d.goOn()
	switch {
	case asked.Err() == nil && !errors.Is(watchErr, context.Canceled):
		err = errors.Join(err, watchErr)
	case asked.Err() != nil && d.Once && err == nil && summary == nil: // later errors of the watcher are ignored: the store was closed under it
		err = fault.New(fault.Unavailable, "interrupted", "interrupted before the end of the match; the next start resumes it")
	}
	if !d.Once {
		summary = nil
	}
	return summary, err
}

// say prints a line on the terminal; a lost terminal is no reason to stop.
func (d *demo) say(format string, args ...any) {
	if !d.Quiet {
		_, _ = fmt.Fprintf(d.Out, format, args...)
	}
}

// goOn suggests next steps at the end.
func (d *demo) goOn() {
	const form = "  %-52s %s\n"
	d.say("next steps:\n")
	for _, next := range [][2]string{
		{" demo cricket --list", "the recorded matches; demo cricket --match ID --speed 60 plays one"},
		{" cricket replay --faults 7 " + d.Match, "this match from a faulty feed, at top speed"},
		{" demo", "this and four other applications side by side"},
		{" dynamodb --memory", "DynamoDB's API on this machine, for any AWS SDK"},
		{" serve --help", "the node itself; docs/OPERATIONS.md explains how to follow a real match"},
	} {
		d.say(form, d.Program+next[0], next[1])
	}
}

// switchPhonesOn connects the demo's phones.
func (d *demo) switchPhonesOn(ctx context.Context) error {
	d.audience = &audience{store: d.node.Store(), phones: d.phones, match: d.Match, service: func() *matches.Service { return d.node.cricket }}
	if err := d.audience.switchOn(demoPhones()); err != nil {
		return err
	}
	return d.audience.forget(ctx)
}

// watch makes the users follow the match as soon as the node knows it, prints what happens, and returns when the
// match is over and every phone has been notified.
func (d *demo) watch(ctx context.Context) (*Summary, error) {
	last := d.node.Store().Seq()
	err := d.audience.attend(ctx, d.clock, func(over bool) (next time.Time, err error) {
		if last, err = d.printAlerts(ctx, last); err == nil && !over {
			err = d.stuckError()
		}
		return next, err
	})
	if err != nil {
		return nil, err
	}
	return d.summarize(ctx)
}

// longAfter is how long after the feed's last change a match may take to end.
const longAfter = 2 * time.Hour

// stuckError returns an error if the match cannot come to its end.
func (d *demo) stuckError() error {
	switch {
	case d.node.Store().Stats().Refused > 0:
		return fault.New(fault.Full, "store_full", "the disk under %s is full: the match cannot go on", d.node.Store().Path())
	case d.clock.Wall().After(d.match.End().Add(longAfter)):
		return fault.New(fault.Unavailable, "match_lost", "the match was over before the node saw its end: try a lower --speed")
	default:
		return nil
	}
}

// printAlerts prints the alerts as they are claimed.
func (d *demo) printAlerts(ctx context.Context, last uint64) (uint64, error) {
	for {
		records, err := d.node.Store().Journal(ctx, last, 64)
		if err != nil || len(records) == 0 {
			return last, err
		}
		for i := range records {
			r := &records[i]
			last = r.Seq
			if r.Table == tables.Events && r.Old == nil && r.New["alert"].Bool() {
				d.say("%s  %s\n", r.At.Format("Jan 2 15:04"), r.New["text"].Str())
			}
		}
	}
}

func (d *demo) summarize(ctx context.Context) (*Summary, error) {
	v, err := d.node.push.View(ctx, d.Match)
	if err != nil {
		return nil, err
	}
	c := v.Pushes
	pushes := SummaryPushes{Sent: int64(c.Sent), Accepted: int64(c.Accepted), Refused: int64(c.Refused)}
	s, err := summarize(ctx, d.node.cricket, d.Match, title(d.match.Info()), pushes)
	if err == nil {
		d.say("%s\n", s.Result)
	}
	return s, err
}
