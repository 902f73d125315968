package cricketapp

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/internal/clock"
)

// Beside other applications the demo's match is played today on the node's clock: a replay set is the feed, and
// only the match runs faster. A ball then takes 3.8 s, not less than the poller's pace for a closely watched match.
const (
	besideSpeed = 10
	besideBreak = 2 * time.Minute
	besideAgain = 3 * time.Minute // from the end of the match to the next start
	besideLook  = time.Second
)

// beside is the demo beside other applications.
type beside struct {
	replays *replaySet
	phones  *sandbox.Sandbox
	end     func() error // of the push service
}

func newDemo(version string) *app.Demo {
	d, set := &beside{}, DefaultSettings()
	set.Leagues = []string{poll.AllLeagues}
	a := build(set, d.openOutside, nil)
	open := a.Open
	a.Open = func(ctx context.Context, h *app.Host) (*app.Instance, error) {
		in, err := open(ctx, h)
		if err != nil {
			return nil, errors.Join(err, d.end())
		}
		letGo := in.Close
		in.Close = func() {
			letGo()
			if err := d.end(); err != nil {
				h.Log.Error("the demo's push service failed", "err", err)
			}
		}
		return in, nil
	}
	return &app.Demo{App: a, Live: d.live, Alone: newDemoAlone(version)}
}

// openOutside starts a push service with phones and returns it, with a feed that has no match yet. The service must outlive the
// node's work, which may end with pushes under way; d.end ends it.
func (d *beside) openOutside(h *app.Host) (o Outside, err error) {
	d.end = func() error { return nil }
	if d.replays, err = newReplaySet(h.Clock, h.Log); err != nil {
		return o, err
	}
	phones, end, err := sandbox.Start(sandbox.Config{Clock: h.Clock, Seed: DefaultMatch, Logger: h.Log})
	if err != nil {
		return o, err
	}
	d.phones, d.end = phones, end
	return Outside{Feed: d.replays.feed, Replays: d.replays, Phones: d.phones.Phones, Sender: toSandbox(d.phones, h.Log)}, nil
}

// live plays the match again and again, with phones that follow it.
func (d *beside) live(ctx context.Context, h *app.Host) error {
	a := &audience{store: h.Store, phones: d.phones}
	if err := a.switchOn(demoPhones()); err != nil {
		return err
	}
	for {
		p, err := d.replays.Start(replay.StartReplay{RecordingID: DefaultMatch, Speed: besideSpeed, Break: besideBreak})
		if err != nil {
			return err
		}
		a.match = p.MatchID
		if err := eachSecond(ctx, h.Clock, func() (bool, error) { return a.follow(ctx) }); err != nil {
			return err
		}
		if err := eachSecond(ctx, h.Clock, func() (bool, error) { return d.isOver(p.ID), nil }); err != nil {
			return err
		}
		if err := clock.Sleep(ctx, h.Clock, besideAgain); err != nil {
			return err
		}
	}
}

// isOver reports whether a match has finished, or was removed by an admin.
func (d *beside) isOver(id string) bool {
	for _, p := range d.replays.List() {
		if p.ID == id {
			return p.Status == "finished" || p.Status == "stopped"
		}
	}
	return true
}

// eachSecond calls done once a second until it returns true.
func eachSecond(ctx context.Context, c clock.Clock, done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if err := clock.Sleep(ctx, c, besideLook); err != nil {
			return err
		}
	}
}
