package mail

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/textproto"
	"os"
	"path/filepath"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/touchline/touchline/internal/secretfile"
)

// sendWithin bounds an attempt; a server may be silent for as long as stepWithin.
const (
	sendWithin = time.Minute
	stepWithin = 20 * time.Second
)

// failure is why a message was not sent, without a word of the server's: it may hold the address.
type failure struct {
	what  string
	final bool // the server has refused the message for good
}

// Error implements error.
func (f *failure) Error() string { return f.what }

// sender hands one message to whoever delivers it.
type sender struct {
	Config
	roots  *x509.CertPool // nil: the system's
	within time.Duration  // a server may be silent
}

func (s *sender) send(ctx context.Context, r *row) error {
	msg, err := s.compose(r)
	if err != nil {
		return &failure{what: "it cannot be written as a message", final: true}
	}
	if s.Mode == modeFiles {
		return s.file(msg, r.ID)
	}
	client, err := s.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	err = client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() { // the server has it; that the farewell failed changes nothing
		return nil
	}
	return failureOf(err)
}

// compose writes a message. Its id is the row's: a copy has the same one.
func (s *sender) compose(r *row) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := errors.Join(msg.From(s.From), msg.To(r.To)); err != nil {
		return nil, err
	}
	msg.SetMessageIDWithValue(r.ID + "@touchline")
	msg.SetDateWithValue(r.Queued)
	msg.Subject(r.Subject)
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, r.Text)
	return msg, nil
}

func (s *sender) client() (*gomail.Client, error) {
	opts := []gomail.Option{
		gomail.WithTimeout(s.within),
		gomail.WithTLSConfig(&tls.Config{ServerName: s.Host, RootCAs: s.roots, MinVersion: tls.VersionTLS12}),
	}
	port := gomail.DefaultPortTLS
	switch s.TLS {
	case tlsWhole:
		port = gomail.DefaultPortSSL
		opts = append(opts, gomail.WithSSL())
	case tlsNone:
		opts = append(opts, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		opts = append(opts, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.Username != "" {
		opts = append(opts, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.Username), gomail.WithPassword(s.Password))
	}
	return gomail.NewClient(s.Host, append(opts, gomail.WithPort(cmp.Or(s.Port, port)))...)
}

// file writes a message where a developer finds it.
func (s *sender) file(msg *gomail.Msg, id string) error {
	var out bytes.Buffer
	_, err := msg.WriteTo(&out)
	if err == nil {
		err = os.MkdirAll(s.Dir, 0o700)
	}
	if err == nil {
		err = secretfile.Write(filepath.Join(s.Dir, id+".eml"), out.Bytes())
	}
	return err
}

// failureOf reads what a server has answered: 5xx is for good, all else may be otherwise later.
func failureOf(err error) error {
	if sent, ok := errors.AsType[*gomail.SendError](err); ok {
		code := sent.ErrorCode()
		return &failure{what: fmt.Sprintf("%s: %d", sent.Reason, code), final: code >= 500}
	}
	if answer, ok := errors.AsType[*textproto.Error](err); ok { // to the greeting or the credentials: an operator can mend them
		return &failure{what: fmt.Sprintf("the server refused the connection: %d", answer.Code)}
	}
	return &failure{what: err.Error()} // of the network or TLS: nobody's address is in it
}
