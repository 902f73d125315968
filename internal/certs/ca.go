package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
)

// The files of a CA in a node's data directory.
const (
	caDir  = "tls"
	caCert = "ca.crt"
	caKey  = "ca.key"
)

const (
	caLife   = 10 * 365 * 24 * time.Hour
	leafLife = 90 * 24 * time.Hour // Apple's devices accept 825 days at most
	backdate = 24 * time.Hour      // clients' clocks are off
)

// CA is a node's own authority, which the devices around it are made to trust. Name constraints keep it from vouching for
// anything but local networks and the names and addresses that it was made with: whoever steals the key cannot pose as a bank.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// privateNames are the domains that no public CA gives certificates for.
func privateNames() []string { return []string{"localhost", "local", "lan", "internal", "home.arpa"} }

// privateNets are the networks of such addresses.
func privateNets() (nets []*net.IPNet) {
	for _, text := range []string{
		"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7", "fe80::/10",
	} {
		_, n, _ := net.ParseCIDR(text) // they are right
		nets = append(nets, n)
	}
	return nets
}

// CreateCA makes the CA of a data directory, for this machine as it is called and addressed now, and for hosts. One that is there
// stays, unless it is to be replaced: every device has to be given the new one.
func CreateCA(dataDir string, hosts []string, replace bool, now time.Time) (*CA, error) {
	dir := filepath.Join(dataDir, caDir)
	if _, err := os.Stat(filepath.Join(dir, caKey)); !replace && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Conflict, "ca_exists", "there is a CA in %s already: --replace makes a new one, which every device has to be given", dir)
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
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: privateNames(), PermittedIPRanges: privateNets(),
	}
	for _, host := range slices.Concat(hosts, Here()) {
		permit(spec, host)
	}
	der, err := sign(spec, spec, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	err = secretfile.Write(filepath.Join(dir, caKey), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	if err == nil {
		err = secretfile.Write(filepath.Join(dir, caCert), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot write the CA: %s", err)
	}
	return OpenCA(dataDir)
}

// permit has a CA vouch for a host.
func permit(spec *x509.Certificate, host string) {
	ip := net.ParseIP(host)
	if v4 := ip.To4(); v4 != nil {
		ip = v4
	}
	switch {
	case (&CA{cert: spec}).MayName(host):
	case ip != nil:
		spec.PermittedIPRanges = append(spec.PermittedIPRanges, &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
	default:
		spec.PermittedDNSDomains = append(spec.PermittedDNSDomains, strings.TrimPrefix(host, "*."))
	}
}

// OpenCA reads the CA of a data directory; without one it is fault.NotFound.
func OpenCA(dataDir string) (*CA, error) {
	dir := filepath.Join(dataDir, caDir)
	pair, err := ReadPair(filepath.Join(dir, caCert), filepath.Join(dir, caKey))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "no_ca", "there is no CA in %s: touchline tls init creates one", dir)
	}
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return nil, fault.New(fault.Invalid, "bad_ca", "%s does not hold a CA of touchline tls init", dir)
	}
	return &CA{cert: pair.Leaf, key: key}, nil
}

// Certificate is the CA's own, in DER: what devices are given.
func (ca *CA) Certificate() []byte { return ca.cert.Raw }

// File is where the certificate lies in a data directory, in PEM.
func (ca *CA) File(dataDir string) string { return filepath.Join(dataDir, caDir, caCert) }

// Title is its name on the devices that trust it.
func (ca *CA) Title() string { return ca.cert.Subject.CommonName }

// Until is when it expires.
func (ca *CA) Until() time.Time { return ca.cert.NotAfter }

// Fingerprint is the SHA-256 of the certificate, as devices show it.
func (ca *CA) Fingerprint() string {
	sum := sha256.Sum256(ca.cert.Raw)
	text := strings.ToUpper(hex.EncodeToString(sum[:]))
	var out strings.Builder
	for i := 0; i < len(text); i += 2 {
		if i > 0 {
			out.WriteByte(':')
		}
		out.WriteString(text[i : i+2])
	}
	return out.String()
}

// MayName reports whether the CA's constraints allow a host name or an address.
func (ca *CA) MayName(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		for _, n := range ca.cert.PermittedIPRanges {
			if n.Contains(ip) {
				return true
			}
		}
		return false
	}
	for _, domain := range ca.cert.PermittedDNSDomains {
		if host == domain || strings.HasSuffix(host, "."+domain) { // as RFC 5280 has it
			return true
		}
	}
	return false
}

// issue makes a certificate of the CA for names and addresses. It ends before the CA does.
func (ca *CA) issue(names []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	spec := &x509.Certificate{
		Subject:   pkix.Name{Organization: []string{"touchline"}, CommonName: names[0]},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(leafLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	if spec.NotAfter.After(ca.cert.NotAfter) {
		spec.NotAfter = ca.cert.NotAfter
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			spec.IPAddresses = append(spec.IPAddresses, ip)
		} else {
			spec.DNSNames = append(spec.DNSNames, name)
		}
	}
	der, err := sign(spec, ca.cert, &key.PublicKey, ca.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der, ca.cert.Raw}, PrivateKey: key, Leaf: leaf}, err
}

// sign makes a certificate with a serial number that nobody can guess.
func sign(spec, parent *x509.Certificate, public *ecdsa.PublicKey, key *ecdsa.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	spec.SerialNumber = serial
	return x509.CreateCertificate(rand.Reader, spec, parent, public, key)
}
