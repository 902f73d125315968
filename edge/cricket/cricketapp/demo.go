package cricketapp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// DefaultMatch is the men's World Cup final of 2019: tied, super over tied, decided on boundaries.
const DefaultMatch = "1144530"

// demoToken is the token of the replay feed; it protects nothing.
const demoToken = "demo"

// DemoConfig configures the demo.
type DemoConfig struct {
	Match   string
	Speed   float64 // 0: as fast as possible, on a stepped clock
	Listen  string
	DataDir string
	Once    bool // exit after the match
	Version string
	Out     io.Writer // for progress and errors
	Quiet   bool      // errors only
	Program string    // the name of this program, for the commands suggested at the end
}

// MatchInfo describes a recorded match in a list.
type MatchInfo struct {
	ID     string `json:"id"`
	Date   string `json:"date"`
	Type   string `json:"type"`
	Title  string `json:"title"`
	Result string `json:"result"`
}

// Matches lists the recorded matches.
func Matches() []MatchInfo {
	var out []MatchInfo
	for _, m := range replay.List() {
		out = append(out, MatchInfo{m.ID, m.Date, m.Type, title(m), m.Result})
	}
	return out
}

func title(m replay.Info) string {
	if m.Event == "" {
		return m.Title
	}
	return m.Title + ", " + m.Event
}

// demo is a node with everything that a match needs.
type demo struct {
	DemoConfig
	match *replay.Match
	clock clock.Clock
	log   *slog.Logger
	node  *played

	phones   *sandbox.Sandbox
	audience *audience
}

// Demo replays a match through a node of its own. It returns when ctx ends or, with Once, after the match with a summary.
func Demo(ctx context.Context, c DemoConfig) (*Summary, error) {
	if err := node.LoopbackOnly(c.Listen); err != nil {
		return nil, fault.Wrap(nil, fault.Invalid, "bad_listen", "--listen %s", err)
	}
	match, err := replay.Load(c.Match)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "match_not_recorded",
			"no recorded match %q: touchline demo cricket --list shows all", c.Match)
	}
	d := &demo{DemoConfig: c, match: match}
	if d.log, err = node.NewLogger(node.LogConfig{Format: "auto", Level: "warn"}, c.Out); err != nil {
		return nil, err
	}
	ln, err := node.Listen(ctx, c.Listen, "--listen")
	if err != nil {
		return nil, err
	}
	defer ln.Close() //nolint:errcheck // usually the server has closed it
	return d.run(ctx, ln)
}

func (d *demo) run(ctx context.Context, ln net.Listener) (*Summary, error) {
	dir := filepath.Join(d.DataDir, d.Match)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "no_data_dir", "cannot create the data directory %s: %s", dir, node.ReasonOf(err))
	}
	start, err := d.position(ctx, dir)
	if err != nil {
		return nil, err
	}
	if d.Speed == 0 {
		d.clock = clock.NewStepped(start)
	} else {
		d.clock = clock.NewScaled(start, d.Speed)
	}
	login, err := node.OpenDemoLogin(ctx, demoUsers(), d.log)
	if err != nil {
		return nil, err
	}
	defer login.Close()
	// The push service outlives the node, which may end with pushes under way.
	phones, end, err := sandbox.Start(sandbox.Config{Clock: d.clock, Seed: d.Match, Logger: d.log})
	if err != nil {
		return nil, err
	}
	d.phones = phones
	var summary *Summary
	if d.node, err = d.newNode(ctx, dir, login); err == nil {
		summary, err = d.play(ctx, ln)
	}
	return summary, errors.Join(err, end())
}

// position returns where the match continues: at its start, or where an unfinished match was left. A finished
// match is deleted, to be played again.
func (d *demo) position(ctx context.Context, dir string) (time.Time, error) {
	path := filepath.Join(dir, node.StoreFile)
	if _, err := os.Stat(path); err != nil {
		return d.match.Start(), nil // opening reports whatever is wrong with the path
	}
	s, err := store.Open(path, store.Options{Now: d.match.Start})
	if err != nil {
		return time.Time{}, err
	}
	defer s.Close() //nolint:errcheck // it was opened for reading
	if err := schema().Apply(ctx, s); err != nil {
		return time.Time{}, err
	}
	st, found, err := matches.NewService(s, cricket.Options{}).State(ctx, d.Match)
	switch {
	case err != nil || !found:
		return d.match.Start(), err
	case st.Status == cricket.ActiveEnded:
		if err := s.Close(); err != nil {
			return time.Time{}, err
		}
		return d.match.Start(), os.Remove(path)
	default:
		return st.LastTickAt, nil
	}
}
