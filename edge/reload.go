package edge

import (
	"context"
	"log/slog"
	"os"
	"slices"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
)

// Reload is how a running node reloads its configuration.
type Reload struct {
	Ask   <-chan os.Signal       // each value asks for it; nil: nobody does
	Load  func() (Config, error) // reads the configuration from where it was read at the start
	Level *slog.LevelVar         // of the node's log
}

// liveKeys are the settings that a running node takes over.
func liveKeys() []string {
	return []string{
		"auth.api_key", "http.max_streams", "http.rate.burst", "http.rate.per_minute", "http.trusted_proxies", "log.level",
	}
}

// withLive is a configuration with the settings of another one that a running node takes over.
func (c Config) withLive(next *Config) Config {
	c.Auth.APIKey, c.Log.Level = next.Auth.APIKey, next.Log.Level
	c.HTTP.Rate, c.HTTP.MaxStreams, c.HTTP.TrustedProxies = next.HTTP.Rate, next.HTTP.MaxStreams, next.HTTP.TrustedProxies
	return c
}

// changedKeys are the settings in which two configurations differ: those that a running node takes over, and the others.
func changedKeys(was, is Config) (live, rest []string) {
	before := was.Values()
	for key, value := range is.Values() {
		switch {
		case before[key] == value:
		case slices.Contains(liveKeys(), key):
			live = append(live, key)
		default:
			rest = append(rest, key)
		}
	}
	slices.Sort(live)
	slices.Sort(rest)
	return live, rest
}

// reloader reloads the configuration of a running node.
type reloader struct {
	Reload
	now      Config // as it holds
	apply    func(c Config) error
	endpoint *node.Endpoint // nil: none
	log      *slog.Logger
}

// onSignal calls do for each value of ask, until the returned function is called.
func onSignal(ctx context.Context, ask <-chan os.Signal, do func()) (stop func()) {
	return node.Background(ctx, func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-ask:
				do()
			}
		}
	})
}

// start reloads whenever that is asked for, until the returned function is called.
func (r *reloader) start(ctx context.Context) (stop func()) { return onSignal(ctx, r.Ask, r.reload) }

// reload takes over what a running node can. A configuration that is wrong anywhere changes nothing.
func (r *reloader) reload() {
	live, rest, files, err := r.take()
	switch {
	case err != nil:
		r.log.Error("the configuration was not reloaded: the previous settings stay in force", "err", cli.Message(err))
	case len(rest) > 0:
		r.log.Warn("configuration reloaded, but some settings need a restart", "changed", live, "files", files, "needsRestart", rest)
	default:
		r.log.Info("configuration reloaded", "changed", live, "files", files)
	}
}

func (r *reloader) take() (live, rest, files []string, err error) {
	next, err := r.Load()
	if err != nil {
		return nil, nil, nil, err
	}
	if err := next.Validate(); err != nil {
		return nil, nil, nil, err
	}
	live, rest = changedKeys(r.now, next)
	merged := r.now.withLive(&next)
	if err := merged.Validate(); err != nil { // of a key that goes and a sign-in that comes with a restart
		return nil, nil, nil, fault.New(fault.Invalid, "needsRestart", "without a restart: %s", cli.Message(err))
	}
	if err := r.apply(merged); err != nil {
		return nil, nil, nil, err
	}
	r.now = merged
	files, err = r.endpoint.Reload()
	return live, rest, files, err
}

// startReloading reads the files of an endpoint that stands alone whenever that is asked for, until the returned function
// is called.
func (c *StandaloneConfig) startReloading(ctx context.Context, e *node.Endpoint) (stop func()) {
	return onSignal(ctx, c.Reload, func() {
		if files, err := e.Reload(); err != nil {
			c.Log.Error("a file was not reloaded: its previous contents stay in force", "err", cli.Message(err))
		} else {
			c.Log.Info("reloaded; a change of flags needs a restart", "files", files)
		}
	})
}
