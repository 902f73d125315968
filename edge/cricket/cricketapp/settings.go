package cricketapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// Settings is the configuration section cricket.
type Settings struct {
	Mount   string        `yaml:"mount"`   // path of its routes; "/" on a node that serves nothing else
	Leagues []string      `yaml:"leagues"` // codes of the leagues that become active when the feed first names them; "*": all
	Alerts  AlertsConfig  `yaml:"alerts"`
	Devices DevicesConfig `yaml:"devices"`
	Replay  bool          `yaml:"replay"` // recorded matches instead of the feed, started by admins
	Feed    FeedConfig    `yaml:"feed"`
	Push    PushConfig    `yaml:"push"`
	App     AppConfig     `yaml:"app"` // what apps request at startup
}

// AlertsConfig enables alerts that are off by default.
type AlertsConfig struct {
	Toss          bool `yaml:"toss"`
	Six           bool `yaml:"six"`
	Four          bool `yaml:"four"`
	OnHatTrick    bool `yaml:"on_hat_trick"`
	TeamMilestone bool `yaml:"team_milestone"`
}

// DevicesConfig configures users' devices.
type DevicesConfig struct {
	Multi bool `yaml:"multi"` // several devices per user; otherwise a registration replaces the previous one
}

// FeedConfig configures the feed of live scores. Without a token nothing is polled.
type FeedConfig struct {
	BaseURL      string `yaml:"base_url"`
	Token        string `yaml:"token" secret:"true"`
	CallsPerHour int    `yaml:"calls_per_hour"` // the plan's limit per endpoint
}

// PushConfig configures the connection to Apple's push service. Without a key nothing is pushed.
type PushConfig struct {
	Host            string `yaml:"host"`
	DevelopmentHost string `yaml:"development_host"` // for devices that register with environment development; empty: host has them too
	BundleID        string `yaml:"bundle_id"`
	TeamID          string `yaml:"team_id"`
	KeyID           string `yaml:"key_id"`
	Key             string `yaml:"key" secret:"true"` // the .p8 file's text; usually given as key_file
	Collapse        bool   `yaml:"collapse"`          // states of a match have a collapse id
	Channels        bool   `yaml:"channels"`          // one push per state for all phones with iOS 18, by broadcast channels
	ManageHost      string `yaml:"manage_host"`       // host that manages channels; empty: the one that belongs to host
	CAFile          string `yaml:"ca_file"`           // authorities to trust for both besides the system's, e.g. a sandbox's ca.pem
}

// AppConfig is what an app gets at startup, from /app/config.
type AppConfig struct {
	MinVersion  string `yaml:"min_version"` // older apps ask for an update; empty: all versions are accepted
	StoreURL    string `yaml:"store_url"`   // where the app is updated
	Maintenance bool   `yaml:"maintenance"` // apps show that the service is under maintenance
}

// isVersion reports whether text is a version that an app can compare: 2, 2.14 or 2.14.0.
func isVersion(text string) bool {
	parts := strings.Split(text, ".")
	return len(parts) <= 4 && !slices.ContainsFunc(parts, func(part string) bool {
		return part == "" || len(part) > 6 || strings.Trim(part, "0123456789") != ""
	})
}

func (a AppConfig) problems() (out []app.Problem) {
	if a.MinVersion != "" && !isVersion(a.MinVersion) {
		out = append(out, app.Problem{Key: "app.min_version", Text: fmt.Sprintf("must be numbers and dots, such as 2.14.0, not %q", a.MinVersion)})
	}
	if a.StoreURL != "" {
		if err := app.SecureURL(a.StoreURL); err != nil {
			out = append(out, app.Problem{Key: "app.store_url", Text: err.Error()})
		}
	}
	return out
}

// DefaultSettings returns the defaults.
func DefaultSettings() *Settings {
	return &Settings{
		Mount:   "/cricket",
		Leagues: []string{},
		Feed:    FeedConfig{BaseURL: "https://cricket.sportmonks.com/api/v2.0", CallsPerHour: 2000},
		Push:    PushConfig{Host: "https://api.push.apple.com"},
	}
}

// options returns the rules' options; shared reports whether other nodes share the matches.
func (a AlertsConfig) options(shared bool) cricket.Options {
	return cricket.Options{Shared: shared, Alerts: map[cricket.EventType]bool{
		cricket.EventToss: a.Toss, cricket.EventSix: a.Six, cricket.EventFour: a.Four,
		cricket.EventOnHatTrick: a.OnHatTrick, cricket.EventTeamMilestone: a.TeamMilestone,
	}}
}

// Path implements app.Settings.
func (c *Settings) Path() string { return c.Mount }

// Problems implements app.Settings.
func (c *Settings) Problems() (out []app.Problem) {
	bad := func(key, format string, args ...any) {
		out = append(out, app.Problem{Key: key, Text: fmt.Sprintf(format, args...)})
	}
	if slices.Contains(c.Leagues, "") {
		bad("leagues", "an empty code names no league")
	}
	if err := app.SecureURL(c.Feed.BaseURL); err != nil {
		bad("feed.base_url", "%s", err)
	}
	if c.Feed.CallsPerHour < 60 || c.Feed.CallsPerHour > mostCalls {
		bad("feed.calls_per_hour", "must be from 60 to %d, not %d", mostCalls, c.Feed.CallsPerHour)
	}
	if c.Replay && c.Feed.Token != "" {
		bad("replay", "replaces the feed: remove cricket.feed.token, or this")
	}
	return append(append(out, c.App.problems()...), c.Push.problems()...)
}

// mostCalls is more calls an hour than any plan has: a larger number is a typing error.
const mostCalls = 1_000_000

// problems checks the section: with a key, everything else is required too.
func (p PushConfig) problems() (out []app.Problem) {
	if err := app.SecureURL(p.Host); err != nil {
		out = append(out, app.Problem{Key: "push.host", Text: err.Error()})
	}
	if p.ManageHost != "" {
		if err := app.SecureURL(p.ManageHost); err != nil {
			out = append(out, app.Problem{Key: "push.manage_host", Text: err.Error()})
		}
	}
	if p.DevelopmentHost != "" {
		if err := app.SecureURL(p.DevelopmentHost); err != nil {
			out = append(out, app.Problem{Key: "push.development_host", Text: err.Error()})
		}
	}
	if p.Key == "" {
		return out
	}
	for _, f := range []struct{ key, value string }{
		{"push.bundle_id", p.BundleID}, {"push.team_id", p.TeamID}, {"push.key_id", p.KeyID},
	} {
		if f.value == "" {
			out = append(out, app.Problem{Key: f.key, Text: "must be set when cricket.push.key is"})
		}
	}
	for _, f := range []struct{ key, value string }{{"push.team_id", p.TeamID}, {"push.key_id", p.KeyID}} {
		if f.value != "" && !appleID(f.value) {
			out = append(out, app.Problem{Key: f.key, Text: fmt.Sprintf("must be Apple's ten letters and digits, not %q", f.value)})
		}
	}
	if _, err := apns.ParseKey([]byte(p.Key)); err != nil {
		out = append(out, app.Problem{Key: "push.key", Text: "is not the text of a .p8 key file as Apple issues it"})
	}
	return out
}

// appleID reports whether text has the form of Apple's team and key ids.
func appleID(s string) bool {
	return len(s) == 10 && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
}
