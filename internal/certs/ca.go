package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
)

// The files of a CA in a node's data directory. The certificate is in PEM.
const (
	CAFile = "tls/ca.crt"
	caKey  = "tls/ca.key"
)

const (
	caLife   = 10 * 365 * 24 * time.Hour
	leafLife = 90 * 24 * time.Hour // Apple devices accept at most 825 days
	backdate = 24 * time.Hour      // for clients whose clock is slow
)

// CA is a node's own certificate authority, which the surrounding devices are made to trust. Name constraints limit it to local networks
// and to the names and addresses it was created with: whoever steals the key cannot pose as a bank.
type CA struct {
	Cert *x509.Certificate // installed on devices
	key  crypto.PrivateKey
}

// private returns the domains for which no public CA issues certificates, and the private networks.
func private() []string {
	return []string{
		"localhost", "local", "lan", "internal", "home.arpa",
		"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7", "fe80::/10",
	}
}

// CreateCA creates the CA of a data directory, for this machine's present names and addresses and for hosts. It refuses to replace an
// existing CA unless replace is set, because every device needs the new one.
func CreateCA(dataDir string, hosts []string, replace bool, now time.Time) (*CA, error) {
	certFile, keyFile := filepath.Join(dataDir, CAFile), filepath.Join(dataDir, caKey)
	dir := filepath.Dir(keyFile)
	if _, err := os.Stat(keyFile); !replace && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Conflict, "ca_exists", "there is a CA key in %s already: --replace creates a new CA, which has to be installed on every device", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot create %s: %s", dir, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	spec := &x509.Certificate{
		Subject:   pkix.Name{Organization: []string{"touchline"}, CommonName: "touchline " + machineName() + " " + now.Format("2006-01-02")},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(caLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		PermittedDNSDomainsCritical: true,
	}
	for _, what := range slices.Concat(private(), hosts, LocalNames()) {
		permit(spec, what)
	}
	der, err := x509.CreateCertificate(rand.Reader, spec, spec, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	// The key comes last: after a crash in between there is no CA yet, and the next call replaces the certificate.
	err = secretfile.Write(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	if err == nil {
		err = secretfile.Write(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot write the CA: %s", err)
	}
	return OpenCA(dataDir)
}

// permit allows a CA to certify a domain, a network or an address.
func permit(spec *x509.Certificate, what string) {
	for _, bits := range []string{"", "/128", "/32"} { // an IPv4 address cannot have 128 bits, so /128 fails for it
		if _, n, err := net.ParseCIDR(what + bits); err == nil {
			spec.PermittedIPRanges = append(spec.PermittedIPRanges, n)
			return
		}
	}
	spec.PermittedDNSDomains = append(spec.PermittedDNSDomains, strings.TrimPrefix(what, "*."))
}

// OpenCA reads the CA of a data directory. If there is none, the error is fault.NotFound.
func OpenCA(dataDir string) (*CA, error) {
	pair, err := ReadPair(filepath.Join(dataDir, CAFile), filepath.Join(dataDir, caKey))
	dir := filepath.Join(dataDir, filepath.Dir(caKey))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "no_ca", "there is no CA in %s: touchline tls init creates one", dir)
	case err != nil:
		return nil, err
	case !pair.Leaf.IsCA:
		return nil, fault.New(fault.Invalid, "bad_ca", "%s does not hold a CA of touchline tls init", dir)
	}
	return &CA{pair.Leaf, pair.PrivateKey}, nil
}

// Title returns the CA's name on the devices that trust it.
func (ca *CA) Title() string { return ca.Cert.Subject.CommonName }

// Fingerprint returns the SHA-256 of the certificate, formatted as on devices.
func (ca *CA) Fingerprint() string {
	return strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(ca.Cert.Raw)), " ", ":")
}

// MayName reports whether the CA's constraints allow a host name or an address.
func (ca *CA) MayName(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return slices.ContainsFunc(ca.Cert.PermittedIPRanges, func(n *net.IPNet) bool { return n.Contains(ip) })
	}
	return slices.ContainsFunc(ca.Cert.PermittedDNSDomains, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain) // as in RFC 5280
	})
}

// issue issues a certificate for names and addresses. It expires no later than the CA.
func (ca *CA) issue(names []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	spec := templateOf(names)
	spec.Subject = pkix.Name{Organization: []string{"touchline"}, CommonName: names[0]}
	spec.NotBefore, spec.NotAfter = now.Add(-backdate), now.Add(leafLife)
	if spec.NotAfter.After(ca.Cert.NotAfter) {
		spec.NotAfter = ca.Cert.NotAfter
	}
	spec.KeyUsage, spec.ExtKeyUsage, spec.BasicConstraintsValid = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, true
	der, err := x509.CreateCertificate(rand.Reader, spec, ca.Cert, &key.PublicKey, ca.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der, ca.Cert.Raw}, PrivateKey: key, Leaf: leaf}, err
}
