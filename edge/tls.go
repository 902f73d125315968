package edge

import (
	"net"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// CAInfo describes a node's own CA to its operator.
type CAInfo struct {
	File        string    `json:"file"` // path of the certificate, in PEM
	Title       string    `json:"title"`
	Fingerprint string    `json:"fingerprint"` // SHA-256
	ExpiresAt   time.Time `json:"expiresAt"`
	Page        string    `json:"page"` // where devices install it once the node uses it
}

// InitTLS creates the CA in the data directory of a configuration. An existing one is an error, unless replace is set.
func InitTLS(c Config, replace bool) (CAInfo, error) {
	for _, p := range c.Problems() { // serve reports the others
		if p.Key == "data_dir" || p.Key == "http.tls.hosts" {
			return CAInfo{}, fault.New(fault.Invalid, "bad_config", "%s %s", p.Key, p.Text)
		}
	}
	ca, err := certs.CreateCA(c.DataDir, c.HTTP.TLS.Hosts, replace, clock.Real().Wall())
	if err != nil {
		return CAInfo{}, err
	}
	_, port, err := net.SplitHostPort(c.Listen)
	return CAInfo{
		File: filepath.Join(c.DataDir, certs.CAFile), Title: ca.Title(), Fingerprint: ca.Fingerprint(), ExpiresAt: ca.Cert.NotAfter,
		Page: "http://" + net.JoinHostPort(certs.LocalNames()[1], port) + "/_/tls",
	}, err
}
