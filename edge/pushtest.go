package edge

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// PushTestConfig is what a test of the way to Apple is told.
type PushTestConfig struct {
	Push  PushConfig
	Token string // of a device, for a real notification; empty: only host and key are tested
	CA    string // file of an authority to trust besides the system's, for a sandbox
	Log   *slog.Logger
}

// PushTestResult is what came of it.
type PushTestResult struct {
	OK     bool   `json:"ok"`
	Host   string `json:"host"`
	Status int    `json:"status"` // of the answer; 0: none came
	Reason string `json:"reason,omitempty"`
	Says   string `json:"says"` // what that means
	Advice string `json:"advice,omitempty"`
	Millis int64  `json:"millis"`
}

// wrongToken is a token of the right form that no device has: what Apple says to it tells whether the key is right.
const wrongToken = "0000000000000000000000000000000000000000000000000000000000000000"

// PushTest sends one push as the configuration says and explains the answer. Its error is for what keeps it from being
// sent at all.
func PushTest(ctx context.Context, c PushTestConfig) (PushTestResult, error) {
	out := PushTestResult{Host: c.Push.Host}
	if c.Push.Key == "" {
		return out, fault.New(fault.Invalid, "no_key", "no push key is configured: set cricket.push.key_file to the .p8 file from developer.apple.com")
	}
	for _, p := range c.Push.problems() {
		return out, fault.New(fault.Invalid, "bad_config", "%s %s", p.Key, p.Text)
	}
	key, err := apns.ParseKey([]byte(c.Push.Key))
	if err != nil {
		return out, fault.Wrap(err, fault.Invalid, "bad_key", "cricket.push.key is not the text of a .p8 key file")
	}
	cfg := apns.Config{
		Host: c.Push.Host, BundleID: c.Push.BundleID, TeamID: c.Push.TeamID, KeyID: c.Push.KeyID, Key: key, Logger: c.Log,
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
	res := client.Send(ctx, testPush(c.Token, began))
	out.Millis = wall.Now().Sub(began).Milliseconds()
	out.explain(&res, c.Token != "")
	return out, ctx.Err()
}

// authorities are the system's and those of a file; nil: the system's.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "ca", "cannot read %s: %s", file, reasonOf(err))
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

// testPush is a notification that says what it is, or one that no device gets.
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

// explain puts an answer into words. To a token that nobody has BadDeviceToken is the right answer: Apple looks at the
// key first.
func (r *PushTestResult) explain(res *apns.Result, toDevice bool) {
	r.Status, r.Reason = res.Status, res.Reason
	switch {
	case res.Action == apns.Accepted:
		r.OK, r.Says = true, "Apple has accepted the push. It should be on the device; if it is not, notifications are switched off there."
		if !toDevice {
			r.Says = "The push was accepted, though no device has that token: this is a sandbox that takes any."
		}
	case !toDevice && res.Reason == "BadDeviceToken":
		r.OK = true
		r.Says = "Host, key, key id and team id are right: Apple refused only the device token, which is made up. " +
			"Whether the bundle id is right shows with a real one (--token)."
	case res.Status == 0:
		r.Says, r.Advice = "No answer came.", apns.Advice(res.Reason)
		if res.Err != nil {
			r.Says = "No answer came: " + res.Err.Error()
		}
		if _, ok := errors.AsType[*tls.CertificateVerificationError](res.Err); ok {
			r.Advice = "The certificate of the other side is of an authority that this machine does not know: a proxy looks into the " +
				"connection, or this is a sandbox whose ca.pem has to be named (--ca)."
		}
	default:
		r.Says, r.Advice = fmt.Sprintf("Apple answered %d %s.", res.Status, res.Reason), apns.Advice(res.Reason)
	}
}

// Print tells people.
func (r PushTestResult) Print(w io.Writer) error {
	word := "ok"
	if !r.OK {
		word = "failed"
	}
	text := fmt.Sprintf("%s: %s (%d ms)\n%s\n", word, r.Host, r.Millis, r.Says)
	if r.Advice != "" {
		text += r.Advice + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// JSON tells programs, on one line.
func (r PushTestResult) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }
