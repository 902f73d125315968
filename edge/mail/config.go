package mail

import (
	"net/mail"
	"strings"
)

// Modes of sending: mail.mode.
const (
	modeOff   = "off"
	modeSMTP  = "smtp"
	modeFiles = "files"
)

// Connection security: mail.tls.
const (
	tlsStart = "starttls"
	tlsWhole = "tls"
	tlsNone  = "none"
)

// Config is the section mail of a node's configuration.
type Config struct {
	Mode     string `yaml:"mode"` // off, smtp or files
	Host     string `yaml:"host"`
	Port     int    `yaml:"port"` // 0: 587, or 465 with tls
	TLS      string `yaml:"tls"`  // starttls, tls, or none: without credentials only
	Username string `yaml:"username"`
	Password string `yaml:"password" secret:"true"`
	From     string `yaml:"from"` // scores@example.org, or "Scores <scores@example.org>"
	Dir      string `yaml:"dir"`  // for mode files

	PerAddress   int `yaml:"per_address"`    // messages per hour of one cause to one address that one client may cause; all clients: twice as many
	PerHour      int `yaml:"per_hour"`       // messages per hour in total
	UsersPerHour int `yaml:"users_per_hour"` // of these, messages that users cause, such as invitations; 0: a quarter. The rest is for sign-in
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Mode: modeOff, TLS: tlsStart, PerAddress: 5, PerHour: 200}
}

// mostPerHour limits the rows that are read for each message.
const mostPerHour = 10_000

// IsEnabled reports whether the node sends mail.
func (c *Config) IsEnabled() bool { return c.Mode == modeSMTP || c.Mode == modeFiles }

// Problems calls bad for each error in the section.
func (c *Config) Problems(bad func(key, format string, args ...any)) {
	switch c.Mode {
	case "", modeOff:
		return
	case modeFiles:
		if c.Dir == "" {
			bad("mail.dir", "must name the directory of mail.mode files")
		}
	case modeSMTP:
		c.smtpProblems(bad)
	default:
		bad("mail.mode", "must be off, smtp or files, not %q", c.Mode)
	}
	if _, err := mail.ParseAddress(c.From); err != nil || strings.ContainsAny(c.From, "\r\n") {
		bad("mail.from", "must be the sender, such as scores@example.org")
	}
	if c.PerAddress < 1 || c.PerHour < max(2, c.PerAddress) || c.PerHour > mostPerHour {
		bad("mail.per_hour", "per_address must be at least 1, and per_hour from that, and at least 2, to %d", mostPerHour)
	}
	if c.UsersPerHour < 0 || c.UsersPerHour > 0 && c.UsersPerHour >= c.PerHour {
		bad("mail.users_per_hour", "must be from 1 to less than per_hour, or 0 for a quarter of that")
	}
}

func (c *Config) smtpProblems(bad func(key, format string, args ...any)) {
	if c.Host == "" || strings.ContainsAny(c.Host, " /:") {
		bad("mail.host", "must be the name of the SMTP server")
	}
	if c.Port < 0 || c.Port > 65535 {
		bad("mail.port", "must be a port from 1 to 65535, or 0 for the usual one")
	}
	switch c.TLS {
	case tlsStart, tlsWhole:
	case tlsNone:
		if c.Username != "" {
			bad("mail.tls", "none would send the password in the clear: use starttls or tls")
		}
	default:
		bad("mail.tls", "must be starttls, tls or none, not %q", c.TLS)
	}
	if (c.Username == "") != (c.Password == "") {
		bad("mail.password", "username and password go together")
	}
}
