package cricketapp

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/rebind"
)

// SandboxConfig configures the APNs sandbox.
type SandboxConfig struct {
	Listen   string // address of the push service, TLS
	Control  string // address of log and controls, plain HTTP; empty: none
	Dir      string // for the authority's certificate and the provider key
	BundleID string
	TeamID   string
	KeyID    string
	Phones   int           // simulated phones at the start
	System   string        // their iOS version
	Strict   bool          // accept only known tokens and this project's content state
	Public   bool          // allow addresses reachable from other machines
	Delay    time.Duration // before every answer
	Log      *slog.Logger
	Ready    func(SandboxReady) // called once when it is ready; may be nil
}

// SandboxReady is what a sender needs to use the sandbox.
type SandboxReady struct {
	URL      string         `json:"url"`
	Control  string         `json:"control,omitempty"`
	CA       string         `json:"ca"`  // file
	Key      string         `json:"key"` // file, .p8
	BundleID string         `json:"bundleId"`
	TeamID   string         `json:"teamId"`
	KeyID    string         `json:"keyId"`
	Phones   []SandboxPhone `json:"phones"`
}

// SandboxPhone is a simulated phone with its tokens.
type SandboxPhone struct {
	Name             string `json:"name"`
	DeviceID         string `json:"deviceId"`
	DeviceToken      string `json:"deviceToken"`
	PushToStartToken string `json:"pushToStartToken"`
}

// Names of the files in SandboxConfig.Dir.
const (
	sandboxCA  = "ca.pem"
	sandboxKey = "AuthKey.p8"

	sandboxCAKey = "ca.key" // the authority's key, for the next start
)

// maxPhones bounds the phones at the start: each is printed, and kept in memory.
const maxPhones = 10_000

// Sandbox runs a local APNs with simulated phones until ctx ends.
func Sandbox(ctx context.Context, c SandboxConfig) error {
	for flag, addr := range map[string]string{"--listen": c.Listen, "--control": c.Control} {
		if local, err := node.IsLoopback(addr); addr != "" && (err != nil || !local && !c.Public) {
			return fault.New(fault.Invalid, "bad_listen", "%s %s: a loopback address is required; --public allows another, and "+
				"anyone who reaches it sees every token and push", flag, addr)
		}
	}
	if c.Phones < 0 || c.Phones > maxPhones {
		return fault.New(fault.Invalid, "bad_phones", "--phones %d: must be from 0 to %d", c.Phones, maxPhones)
	}
	if c.Delay < 0 {
		return fault.New(fault.Invalid, "bad_delay", "--delay %s: must not be negative", c.Delay)
	}
	key, err := savedKey(filepath.Join(c.Dir, sandboxKey))
	if err != nil {
		return err
	}
	caKey, err := savedKey(filepath.Join(c.Dir, sandboxCAKey))
	if err != nil {
		return err
	}
	box, err := sandbox.New(sandbox.Config{
		Key: key, CAKey: caKey, Addr: c.Listen, Clock: clock.Real(), BundleID: c.BundleID, TeamID: c.TeamID, KeyID: c.KeyID,
		Lenient: !c.Strict, LogSize: 1000, Delay: c.Delay, Logger: c.Log,
	})
	if err != nil {
		return err
	}
	ready := SandboxReady{URL: box.URL(), Phones: []SandboxPhone{}}
	if err := ready.write(c.Dir, box.Account()); err != nil {
		return err
	}
	for i := range c.Phones {
		p, err := box.AddPhone(sandbox.Phone{
			Name: fmt.Sprintf("Phone %d", i+1), DeviceID: fmt.Sprintf("phone-%d", i+1), System: c.System,
		}, nil)
		if err != nil {
			return err
		}
		ready.Phones = append(ready.Phones, SandboxPhone{p.Name, p.DeviceID, p.DeviceToken, p.PushToStartToken})
	}
	return c.run(ctx, box, ready)
}

func (c *SandboxConfig) run(ctx context.Context, box *sandbox.Sandbox, ready SandboxReady) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, 2)
	n := 1
	if c.Control != "" {
		ln, err := node.Listen(ctx, c.Control, "--control")
		if err != nil {
			return err
		}
		srv := &http.Server{
			Handler: rebind.Guard(ln, box.Control(), func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, rebind.Refusal, http.StatusMisdirectedRequest)
			}), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
			WriteTimeout: 30 * time.Second,
		}
		ready.Control = "http://" + ln.Addr().String()
		n++
		go func() { errs <- node.ServeUntil(ctx, srv, ln) }()
	}
	go func() { errs <- box.Run(ctx) }()
	if c.Ready != nil {
		c.Ready(ready)
	}
	first := <-errs // both end with ctx, or one of them with an error
	cancel()
	all := []error{first}
	for range n - 1 {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// savedKey returns a key saved by an earlier sandbox, nil if there is none.
func savedKey(path string) (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "no_dir", "cannot read %s: %s", path, node.ReasonOf(err))
	}
	key, err := apns.ParseKey(text)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_key", "%s is not a key file: remove it, and the sandbox creates another", path)
	}
	return key, nil
}

// keyFile encodes a key for its file.
func keyFile(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "sandbox_key", "the key cannot be written")
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// write saves the authority's certificate and the keys for senders and the next sandbox.
func (r *SandboxReady) write(dir string, a sandbox.Account) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.Wrap(err, fault.Unavailable, "no_dir", "cannot create the directory %s: %s", dir, node.ReasonOf(err))
	}
	key, err := keyFile(a.Key)
	if err != nil {
		return err
	}
	caKey, err := keyFile(a.CAKey)
	if err != nil {
		return err
	}
	r.CA, r.Key = filepath.Join(dir, sandboxCA), filepath.Join(dir, sandboxKey)
	r.BundleID, r.TeamID, r.KeyID = a.BundleID, a.TeamID, a.KeyID
	for path, text := range map[string][]byte{r.CA: a.CA, r.Key: key, filepath.Join(dir, sandboxCAKey): caKey} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return fault.Wrap(err, fault.Unavailable, "no_dir", "cannot write %s: %s", path, node.ReasonOf(err))
		}
	}
	return nil
}

// String lists addresses, files and ids.
func (r SandboxReady) String() string {
	var b strings.Builder
	for _, line := range [][2]string{
		{"push to", r.URL}, {"look at", r.Control}, {"authority", r.CA}, {"key", r.Key}, {"bundle id", r.BundleID},
		{"team id", r.TeamID}, {"key id", r.KeyID},
	} {
		fmt.Fprintf(&b, "%-12s %s\n", line[0], line[1])
	}
	for _, p := range r.Phones {
		fmt.Fprintf(&b, "%s\n  device token         %s\n  push-to-start token  %s\n", p.Name, p.DeviceToken, p.PushToStartToken)
	}
	return b.String()
}
