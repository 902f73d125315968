package cricketapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// Settings are the section cricket of the configuration.
type Settings struct {
	Mount   string        `yaml:"mount"`   // path that its routes lie under; "/" on a node that serves nothing else
	Leagues []string      `yaml:"leagues"` // codes of the leagues that become active when the feed first names them; "*": all
	Alerts  AlertsConfig  `yaml:"alerts"`
	Devices DevicesConfig `yaml:"devices"`
	Replay  bool          `yaml:"replay"` // recorded matches in the place of the feed, started by admins
	Feed    FeedConfig    `yaml:"feed"`
	Push    PushConfig    `yaml:"push"`
	App     AppConfig     `yaml:"app"` // what apps ask about themselves
}

// AlertsConfig switches on the alerts that phones are spared by default.
type AlertsConfig struct {
	Toss          bool `yaml:"toss"`
	Six           bool `yaml:"six"`
	Four          bool `yaml:"four"`
	OnHatTrick    bool `yaml:"on_hat_trick"`
	TeamMilestone bool `yaml:"team_milestone"`
}

// DevicesConfig is how users' devices are kept.
type DevicesConfig struct {
	Multi bool `yaml:"multi"` // several devices a user; else a registration replaces the one before
}

// FeedConfig is the live-score feed. Without a token nothing is polled.
type FeedConfig struct {
	BaseURL      string `yaml:"base_url"`
	Token        string `yaml:"token" secret:"true"`
	CallsPerHour int    `yaml:"calls_per_hour"` // that the plan allows for each endpoint
}

// PushConfig is the way to Apple's push service. Without a key nothing is pushed.
type PushConfig struct {
	Host       string `yaml:"host"`
	BundleID   string `yaml:"bundle_id"`
	TeamID     string `yaml:"team_id"`
	KeyID      string `yaml:"key_id"`
	Key        string `yaml:"key" secret:"true"` // the .p8 file's text; usually given as key_file
	Channels   bool   `yaml:"channels"`          // one push a state for all phones with iOS 18, by broadcast channels
	ManageHost string `yaml:"manage_host"`       // where channels are made; empty: the one that goes with host
	CAFile     string `yaml:"ca_file"`           // authorities to trust for both, besides the system's: a sandbox's ca.pem
}

// AppConfig is what an app is told when it starts, at /app/config.
type AppConfig struct {
	MinVersion  string `yaml:"min_version"` // older apps tell their user to update; empty: every one will do
	StoreURL    string `yaml:"store_url"`   // where the app is updated
	Maintenance bool   `yaml:"maintenance"` // apps show that the service is being worked on
}

// isVersion reports whether a text is a version that an app can compare: 2, 2.14 or 2.14.0.
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

// DefaultSettings hold where nothing is said.
func DefaultSettings() *Settings {
	return &Settings{
		Mount:   "/cricket",
		Leagues: []string{},
		Feed:    FeedConfig{BaseURL: "https://cricket.sportmonks.com/api/v2.0", CallsPerHour: 2000},
		Push:    PushConfig{Host: "https://api.push.apple.com"},
	}
}

// options are the rules of a node, which may share its matches with others.
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
	if p := app.MountProblem(name, c.Mount); p != "" {
		bad("mount", "%s", p)
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

// mostCalls an hour are more than any plan has: above it a number is a slip of the keyboard.
const mostCalls = 1_000_000

// problems of a push section: with a key the rest must be there too.
func (p PushConfig) problems() (out []app.Problem) {
	if err := app.SecureURL(p.Host); err != nil {
		out = append(out, app.Problem{Key: "push.host", Text: err.Error()})
	}
	if p.ManageHost != "" {
		if err := app.SecureURL(p.ManageHost); err != nil {
			out = append(out, app.Problem{Key: "push.manage_host", Text: err.Error()})
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

// appleID reports whether a text has the form of Apple's team and key ids.
func appleID(s string) bool {
	return len(s) == 10 && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
}
