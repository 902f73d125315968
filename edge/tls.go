package edge

import (
	"net"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// CAInfo is a node's own CA, as its operator is told of it.
type CAInfo struct {
	File        string    `json:"file"` // of the certificate, in PEM
	Title       string    `json:"title"`
	Fingerprint string    `json:"fingerprint"` // SHA-256
	ExpiresAt   time.Time `json:"expiresAt"`
	Page        string    `json:"page"` // where devices are given it, once the node serves with it
}

// InitTLS makes the CA in the data directory of a configuration. One that is there stays, unless it is to be replaced.
func InitTLS(c Config, replace bool) (CAInfo, error) {
	for _, p := range c.Problems() { // the others are for serve
		if p.Key == "data_dir" || p.Key == "http.tls.hosts" {
			return CAInfo{}, fault.New(fault.Invalid, "bad_config", "%s %s", p.Key, p.Text)
		}
	}
	ca, err := certs.CreateCA(c.DataDir, c.HTTP.TLS.Hosts, replace, clock.Real().Now())
	if err != nil {
		return CAInfo{}, err
	}
	_, port, err := net.SplitHostPort(c.Listen)
	return CAInfo{
		File: filepath.Join(c.DataDir, certs.CAFile), Title: ca.Title(), Fingerprint: ca.Fingerprint(), ExpiresAt: ca.Cert.NotAfter,
		Page: "http://" + net.JoinHostPort(certs.Here()[1], port) + "/_/tls",
	}, err
}
