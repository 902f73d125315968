package node

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/certs/acme"
	"github.com/touchline/touchline/internal/certs/route53"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// Sources of the certificate: http.tls.mode.
const (
	tlsOff   = "off"
	tlsFiles = "files"
	tlsLocal = "local"
	tlsACME  = "acme"
)

// TLSConfig configures HTTPS.
type TLSConfig struct {
	Mode  string   `yaml:"mode"`  // off, files, local or acme
	Cert  string   `yaml:"cert"`  // for files: the certificate and its chain, in PEM
	Key   string   `yaml:"key"`   // for files
	Hosts []string `yaml:"hosts"` // for local: names and addresses besides this machine's own; for acme: all names

	ACME ACMEConfig `yaml:"acme"`

	PlainListen string `yaml:"plain_listen"` // second address, such as :80, that redirects to HTTPS; empty: none
}

// ACMEConfig configures certificates from an ACME CA. The node proves its names by DNS records, which it creates at Route 53 with the
// machine's AWS credentials.
type ACMEConfig struct {
	Email     string `yaml:"email"`     // contact address for the CA
	Directory string `yaml:"directory"` // URL of the CA
}

// DefaultTLS returns the defaults.
func DefaultTLS() TLSConfig {
	return TLSConfig{Mode: tlsOff, ACME: ACMEConfig{Directory: acme.LetsEncrypt}}
}

// IsEnabled reports whether the node uses HTTPS.
func (c *TLSConfig) IsEnabled() bool { return c.Mode != "" && c.Mode != tlsOff }

// Open prepares the certificate and listens on the second port. nil: the node does not use TLS.
func (c *TLSConfig) Open(ctx context.Context, dataDir string, log *slog.Logger) (*httpapi.TLS, error) {
	if !c.IsEnabled() {
		return nil, nil //nolint:nilnil // not configured
	}
	t := &httpapi.TLS{HSTS: c.Mode == tlsACME}
	err := c.openSource(ctx, t, dataDir, log)
	if err == nil && c.PlainListen != "" {
		t.Plain, err = Listen(ctx, c.PlainListen, "http.tls.plain_listen")
	}
	return t, err
}

func (c *TLSConfig) openSource(ctx context.Context, t *httpapi.TLS, dataDir string, log *slog.Logger) (err error) {
	switch c.Mode {
	case tlsFiles:
		t.Source, err = certs.OpenFiles(c.Cert, c.Key, clock.Real(), log)
	case tlsLocal:
		if t.CA, err = certs.OpenCA(dataDir); err != nil {
			return err
		}
		for _, host := range c.Hosts {
			if !t.CA.MayName(host) {
				return fault.New(fault.Invalid, "bad_host", "http.tls.hosts: the CA of this node was made without %s: make a new one "+
					"(touchline tls init --replace), and install it on every device", host)
			}
		}
		t.Source, err = certs.OpenLocal(t.CA, c.Hosts, clock.Real(), log)
	case tlsACME:
		var dns *route53.Provider
		if dns, err = route53.New(ctx); err != nil {
			return err
		}
		t.Source, err = acme.Open(acme.Config{
			Hosts: c.Hosts, Email: c.ACME.Email, Directory: c.ACME.Directory, Storage: filepath.Join(dataDir, "tls", "acme"), DNS: dns, Log: log,
		})
	}
	return err
}

// problems calls bad for each error in the section.
func (c *TLSConfig) problems(bad func(key, format string, args ...any)) {
	c.modeProblems(bad)
	if c.Mode != tlsFiles && (c.Cert != "" || c.Key != "") {
		bad("cert", "cert and key are for http.tls.mode files")
	}
	for _, host := range c.Hosts {
		if !certs.ValidHost(host) && (net.ParseIP(host) == nil || c.Mode == tlsACME) {
			bad("hosts", "%q is neither a host name in lower case nor an address", host)
		}
	}
	if c.PlainListen != "" {
		if _, err := IsLoopback(c.PlainListen); err != nil {
			bad("plain_listen", "%s", err)
		} else if !c.IsEnabled() {
			bad("plain_listen", "needs http.tls.mode: without HTTPS there is nothing to redirect to")
		}
	}
}

// modeProblems calls bad for each error in the settings of the mode.
func (c *TLSConfig) modeProblems(bad func(key, format string, args ...any)) {
	switch c.Mode {
	case "", tlsOff, tlsLocal:
	case tlsACME:
		if err := app.SecureURL(c.ACME.Directory); err != nil {
			bad("acme.directory", "%s", err)
		}
		if len(c.Hosts) == 0 || slices.ContainsFunc(c.Hosts, func(host string) bool { return !strings.Contains(host, ".") }) {
			bad("hosts", "must list the full names for which acme gets certificates")
		}
	case tlsFiles:
		if c.Cert == "" || c.Key == "" {
			bad("mode", "files needs http.tls.cert and http.tls.key")
		} else if _, err := certs.ReadPair(c.Cert, c.Key); err != nil {
			bad("cert", "%s", err)
		}
	default:
		bad("mode", "must be off, files, local or acme, not %q", c.Mode)
	}
}
