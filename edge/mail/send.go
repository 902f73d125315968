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

// sendWithin limits one attempt, stepWithin each wait for the server.
const (
	sendWithin = time.Minute
	stepWithin = 20 * time.Second
)

// failure is why a message was not sent. It never quotes the server, whose text may contain the address.
type failure struct {
	what  string
	final bool // retrying makes no sense
}

// Error implements error.
func (f *failure) Error() string { return f.what }

// sender delivers one message.
type sender struct {
	Config
	roots  *x509.CertPool // nil: the system's
	within time.Duration  // limit of each wait for the server
}

func (s *sender) send(ctx context.Context, r *row) error {
	msg, err := s.compose(r)
	if err != nil {
		return &failure{what: "it cannot be encoded", final: true}
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
	if err == nil || msg.IsDelivered() { // the server has it, even if QUIT failed
		return nil
	}
	return failureOf(err)
}

// compose builds the message. The Message-ID derives from the row's id, so copies share it.
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

// file writes a message to Dir, for development.
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

// failureOf classifies an error: a 5xx answer to the message is final, everything else is retried.
func failureOf(err error) error {
	if sent, ok := errors.AsType[*gomail.SendError](err); ok {
		code := sent.ErrorCode()
		return &failure{what: fmt.Sprintf("%s: %d", sent.Reason, code), final: code >= 500}
	}
	if answer, ok := errors.AsType[*textproto.Error](err); ok { // to the greeting or the credentials: an operator can fix that
		return &failure{what: fmt.Sprintf("the server refused the connection: %d", answer.Code)}
	}
	return &failure{what: err.Error()} // from the network or TLS: contains no address
}
