package cricketapp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
	"github.com/touchline/touchline/store"
)

// PushTestConfig configures a test of the connection to Apple.
type PushTestConfig struct {
	Push  PushConfig
	Token string       // of a device, for a real notification; empty: only host and key are tested
	CA    string       // file of an authority to trust besides the system's, for a sandbox; empty: PushConfig.CAFile
	Dir   string       `json:"-"` // the node's data directory, which has the provider token; empty: none
	Log   *slog.Logger `json:"-"`
}

// PushTestResult is the result of a test.
type PushTestResult struct {
	OK     bool   `json:"ok"`
	Host   string `json:"host"`
	Status int    `json:"status"` // of the answer; 0: none
	Reason string `json:"reason,omitempty"`
	Says   string `json:"says"` // what the answer means
	Advice string `json:"advice,omitempty"`
	Millis int64  `json:"millis"`
	Note   string `json:"note,omitempty"` // what else to know
}

// wrongToken is a well-formed token that no device has: Apple's answer to it shows whether the key is right.
const wrongToken = "0000000000000000000000000000000000000000000000000000000000000000"

// PushTest sends one push as configured and explains the answer. It uses the provider token of the node in Dir: a running
// node sends the push itself; otherwise the token is read from its database, or saved there. A second token within 20
// minutes would be refused by Apple, and with it every push of its process. The error is set only if the push could not be
// sent at all.
func PushTest(ctx context.Context, c PushTestConfig) (PushTestResult, error) {
	out := PushTestResult{Host: c.Push.Host}
	if c.Push.Key == "" {
		return out, fault.New(fault.Invalid, "no_key", "no push key is configured: set cricket.push.key_file to the .p8 file from developer.apple.com")
	}
	for _, p := range c.Push.problems() {
		return out, fault.New(fault.Invalid, "bad_config", "%s %s", p.Key, p.Text)
	}
	if c.CA == "" {
		c.CA = c.Push.CAFile
	}
	if c.CA != "" {
		path, err := filepath.Abs(c.CA) // the node has another working directory
		if err != nil {
			return out, err
		}
		c.CA = path
	}
	s, err := c.openStore(ctx)
	switch {
	case fault.Is(err, fault.Locked):
		client, err := node.Ask(c.Dir)
		if err != nil {
			return out, err
		}
		return out, client.Command(ctx, pathPushTest, c, nil, &out)
	case err != nil:
		out, err = pushTest(ctx, c, nil)
		out.Note = "The provider token of this test is not kept in " + c.Dir + ", which cannot be used: a node that starts " +
			"within 20 minutes makes another, which Apple may refuse until they are over."
		return out, err
	case s == nil:
		return pushTest(ctx, c, nil)
	}
	out, err = pushTest(ctx, c, push.Bearers(s))
	return out, errors.Join(err, s.Close())
}

// openStore opens the database of a node that is not running, and creates it if necessary, because the next node
// must find the provider token. The error is Locked if the node is running; the store is nil without a directory.
func (c *PushTestConfig) openStore(ctx context.Context) (*store.Store, error) {
	if c.Dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "no_data_dir", "cannot create the data directory %s: %s", c.Dir, node.ReasonOf(err))
	}
	s, err := store.Open(filepath.Join(c.Dir, node.StoreFile), store.Options{LockTimeout: node.HeldAfter, CompactAbove: -1})
	if err != nil {
		return nil, err
	}
	if err := schema().Apply(ctx, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// pathPushTest is the path of the command on the admin socket.
const pathPushTest = "/" + name + "/push/test"

// testPush handles the command of the admin socket.
func (a *application) testPush(ctx context.Context, ask json.RawMessage, _ func(admin.Progress)) (any, error) {
	var c PushTestConfig
	if err := json.Unmarshal(ask, &c); err != nil {
		return nil, fault.New(fault.Invalid, "validation", "this is not a test of the push service") // err may quote the key
	}
	return pushTest(ctx, c, push.Bearers(a.host.Store))
}

// pushTest runs the test in this process, with a provider token saved in tokens; nil: it is not saved.
func pushTest(ctx context.Context, c PushTestConfig, tokens apns.TokenStore) (PushTestResult, error) {
	out := PushTestResult{Host: c.Push.Host}
	key, err := apns.ParseKey([]byte(c.Push.Key))
	if err != nil {
		return out, fault.Wrap(err, fault.Invalid, "bad_key", "cricket.push.key is not the text of a .p8 key file")
	}
	cfg := apns.Config{
		Host: c.Push.Host, BundleID: c.Push.BundleID, TeamID: c.Push.TeamID, KeyID: c.Push.KeyID, Key: key,
		Tokens: tokens, Logger: c.Log,
	}
	if cfg.RootCAs, err = authorities(c.CA); err != nil {
		return out, err
	}
	client, err := apns.New(cfg)
	if err != nil {
		return out, err
	}
	defer client.Close()
	wall := clock.Real()
	began := wall.Now()
	res := client.Send(ctx, testPush(c.Token, wall.Wall()))
	out.Millis = wall.Now().Sub(began).Milliseconds()
	out.explain(&res, c.Token != "")
	return out, ctx.Err()
}

// maxAuthorities bounds a file of certificates, in bytes.
const maxAuthorities = 1 << 20

// authorities returns the system's authorities and those of a file; nil: only the system's.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := secretfile.ReadAny(file, maxAuthorities)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "ca", "cannot read %s: %s", file, node.ReasonOf(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fault.New(fault.Invalid, "ca", "%s holds no certificate", file)
	}
	return pool, nil
}

// testPush returns a notification that names itself a test, or one for a token that no device has.
func testPush(token string, now time.Time) apns.Push {
	p := apns.Push{
		Token: token, Type: apns.TypeAlert, Priority: apns.PriorityUrgent, Expiration: now.Add(time.Minute),
		Payload: []byte(`{"aps":{"alert":{"title":"Touchline","body":"Push works."}}}`),
	}
	if token == "" {
		p.Token, p.Priority = wrongToken, apns.PriorityNormal
	}
	return p
}

// explain describes an answer. For a token that no device has, BadDeviceToken is the right answer: Apple checks the key first.
func (r *PushTestResult) explain(res *apns.Result, toDevice bool) {
	r.Status, r.Reason = res.Status, res.Reason
	switch {
	case res.Action == apns.Accepted:
		r.OK, r.Says = true, "Apple has accepted the push. It should be on the device; if it is not, notifications are switched off there."
		if !toDevice {
			r.Says = "The push was accepted, though no device has that token: this is a sandbox that accepts any token."
		}
	case !toDevice && res.Reason == "BadDeviceToken":
		r.OK = true
		r.Says = "Host, key, key id and team id are right: Apple refused only the device token, which is made up. " +
			"Whether the bundle id is right shows with a real one (--token)."
	case res.Reason == "TooManyProviderTokenUpdates":
		r.OK = !toDevice
		r.Says = "Host, key, key id and team id are right, but another process with this key has made a provider token " +
			"recently, and Apple accepts a new one only every 20 minutes: the push itself was refused (429 " + res.Reason + ")."
		if toDevice {
			r.Advice = "Try again in 20 minutes, or on the machine that the other process runs on."
		}
	case res.Reason == apns.ReasonNoBearer && res.RetryAfter > 0:
		r.OK = !toDevice
		r.Says = fmt.Sprintf("Nothing was sent: Apple has refused a provider token as one too many, which it does only if the "+
			"credentials are right. The next one may be made in %d minutes.", int(math.Ceil(res.RetryAfter.Minutes())))
		if toDevice {
			r.Advice = "Try again then. If this comes back, another machine uses the same key."
		}
	case res.Status == 0:
		r.Says, r.Advice = "No answer came.", apns.Advice(res.Reason)
		if res.Err != nil {
			r.Says = "No answer came: " + res.Err.Error()
		}
		if _, ok := errors.AsType[*tls.CertificateVerificationError](res.Err); ok {
			r.Advice = "The certificate is from an authority that this machine does not trust: a proxy inspects the " +
				"connection, or this is a sandbox whose ca.pem must be named (cricket.push.ca_file, or --ca)."
		}
	default:
		r.Says, r.Advice = fmt.Sprintf("Apple answered %d %s.", res.Status, res.Reason), apns.Advice(res.Reason)
	}
}

// String returns the result as text.
func (r PushTestResult) String() string {
	word := "ok"
	if !r.OK {
		word = "failed"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s (%d ms)\n%s\n", word, r.Host, r.Millis, r.Says)
	for _, more := range []string{r.Advice, r.Note} {
		if more != "" {
			text.WriteString(more + "\n")
		}
	}
	return text.String()
}
