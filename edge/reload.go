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

// Reload configures how a running node reloads its configuration.
type Reload struct {
	Ask   <-chan os.Signal       // each value triggers a reload; may be nil
	Load  func() (Config, error) // reads the configuration again
	Level *slog.LevelVar         // level of the node's log
}

// liveKeys are the settings that take effect without a restart.
func liveKeys() []string {
	return []string{
		"auth.api_key", "http.max_streams", "http.rate.burst", "http.rate.per_minute", "http.trusted_proxies", "log.level",
	}
}

// withLive returns c with the live settings of next.
func (c Config) withLive(next *Config) Config {
	c.Auth.APIKey, c.Log.Level = next.Auth.APIKey, next.Log.Level
	c.HTTP.Rate, c.HTTP.MaxStreams, c.HTTP.TrustedProxies = next.HTTP.Rate, next.HTTP.MaxStreams, next.HTTP.TrustedProxies
	return c
}

// changedKeys returns the settings in which two configurations differ: live ones, and those that need a restart.
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
	now      Config // the configuration in force
	apply    func(c Config) error
	endpoint *node.Endpoint // nil: no endpoint
	log      *slog.Logger
}

// onSignal calls do for each value of ask, until stop is called.
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

// start reloads at each request, until stop is called.
func (r *reloader) start(ctx context.Context) (stop func()) { return onSignal(ctx, r.Ask, r.reload) }

// reload applies the live settings. An error anywhere in the configuration changes nothing.
func (r *reloader) reload() {
	live, rest, files, err := r.readChanges()
	switch {
	case err != nil:
		r.log.Error("the configuration was not reloaded: the previous settings stay in force", "err", cli.Message(err))
	case len(rest) > 0:
		r.log.Warn("configuration reloaded, but some settings need a restart", "changed", live, "files", files, "needsRestart", rest)
	case len(live)+len(files) > 0:
		r.log.Info("configuration reloaded", "changed", live, "files", files)
	default:
		r.log.Debug("the configuration was reloaded: nothing has changed")
	}
}

func (r *reloader) readChanges() (live, rest, files []string, err error) {
	next, err := r.Load()
	if err != nil {
		return nil, nil, nil, err
	}
	if err := next.Validate(); err != nil {
		return nil, nil, nil, err
	}
	live, rest = changedKeys(r.now, next)
	merged := r.now.withLive(&next)
	if err := merged.Validate(); err != nil { // such as: an API key goes now, its replacement comes only with a restart
		return nil, nil, nil, fault.New(fault.Invalid, "needsRestart", "without a restart: %s", cli.Message(err))
	}
	if err := r.apply(merged); err != nil {
		return nil, nil, nil, err
	}
	r.now = merged
	files, err = r.endpoint.Reload()
	return live, rest, files, err
}

// startReloading reloads the files of a standalone endpoint at each request, until stop is called.
func (c *StandaloneConfig) startReloading(ctx context.Context, e *node.Endpoint) (stop func()) {
	return onSignal(ctx, c.Reload, func() {
		if files, err := e.Reload(); err != nil {
			c.Log.Error("a file was not reloaded: its previous contents stay in force", "err", cli.Message(err))
		} else {
			c.Log.Info("reloaded; a change of flags needs a restart", "files", files)
		}
	})
}
