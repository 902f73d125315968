package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/mail"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// letter is a message as received by a server.
type letter struct {
	to, password string
	secure       bool
	head         mail.Header
	body         string
}

// server is an SMTP server with scripted behaviour.
type server struct {
	host  string
	port  int
	roots *x509.CertPool

	mu   sync.Mutex
	got  []letter
	rcpt func(to string) error           // answers RCPT
	data func(c *smtp.Conn, n int) error // answers the n-th DATA, after storing the message
	said map[string]int                  // commands, and logins
}

func (s *server) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said[what]++
}

func (s *server) times(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said[what]
}

func (s *server) letters() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]letter{}, s.got...)
}

// serve starts one; its certificate is for localhost and 127.0.0.1.
func serve(t *testing.T, mode string) *server {
	t.Helper()
	ca, err := certs.CreateCA(t.TempDir(), nil, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	local, err := certs.OpenLocal(ca, nil, clock.Real(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{host: "127.0.0.1", roots: x509.NewCertPool(), said: map[string]int{}}
	s.roots.AddCert(ca.Cert)
	srv := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		s.note("connect")
		return &session{s: s, c: c}, nil
	}))
	srv.Domain, srv.AllowInsecureAuth, srv.ErrorLog = "localhost", true, quietLog{}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = ln.Addr().(*net.TCPAddr).Port
	switch mode {
	case tlsStart:
		srv.TLSConfig = certs.Config(local)
		srv.TLSConfig.NextProtos = nil
	case tlsWhole:
		ln = tls.NewListener(ln, &tls.Config{GetCertificate: local.Certificate})
	}
	var loop sync.WaitGroup
	loop.Go(func() { _ = srv.Serve(ln) })
	t.Cleanup(func() { _ = srv.Close(); loop.Wait() })
	return s
}

type quietLog struct{}

func (quietLog) Printf(string, ...any) {}
func (quietLog) Println(...any)        {}

type session struct {
	s      *server
	c      *smtp.Conn
	letter letter
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, _, password string) error {
		s.s.note("auth")
		s.letter.password = password
		return nil
	}), nil
}
func (s *session) Reset()                               {}
func (s *session) Logout() error                        { return nil }
func (s *session) Mail(string, *smtp.MailOptions) error { return nil }
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.letter.to = to
	if s.s.rcpt != nil {
		return s.s.rcpt(to)
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	_, s.letter.secure = s.c.TLSConnectionState()
	s.letter.head, s.letter.body = m.Header, string(body)
	s.s.mu.Lock()
	s.s.got = append(s.s.got, s.letter)
	n := len(s.s.got)
	s.s.mu.Unlock()
	if s.s.data != nil {
		return s.s.data(s.c, n)
	}
	return nil
}

// setClock is a clock set by the test.
type setClock struct {
	clock.Clock
	mu    sync.Mutex
	now   time.Time
	ahead time.Duration
}

// Wall is as far ahead as the test has set it.
func (c *setClock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now.Add(c.ahead)
}

func (c *setClock) set(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
}

func (c *setClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *setClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// rig is an outbox with a store.
type rig struct {
	*Outbox
	t     *testing.T
	clock *setClock
	log   *bytes.Buffer
	path  string
}

func (s *server) config(mode string) Config {
	c := Defaults()
	c.Mode, c.Host, c.Port, c.TLS, c.From = modeSMTP, s.host, s.port, mode, "Scores <scores@example.org>"
	if mode != tlsNone {
		c.Username, c.Password = "scores", "a-password"
	}
	return c
}

func open(t *testing.T, s *server, c Config) *rig {
	t.Helper()
	r := &rig{t: t, clock: &setClock{Clock: clock.Real(), now: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}, log: &bytes.Buffer{}, path: filepath.Join(t.TempDir(), "store.db")}
	db := storetest.OpenWith(t, r.path, store.Options{NoSync: true}, migrations.Private(Table, "id", "sent from this node alone"))
	r.Outbox = New(c, Deps{Store: db, Clock: r.clock, Log: slog.New(slog.NewTextHandler(r.log, nil))})
	if s != nil {
		r.sender.roots = s.roots
	}
	r.random = func() float64 { return 0.999 }
	return r
}

func (r *rig) queue(m Message) error {
	return r.Store.Update(r.t.Context(), func(tx *store.Tx) error { return r.Queue(tx, m) })
}

func (r *rig) mustQueue(to ...string) {
	r.t.Helper()
	for _, to := range to {
		if err := r.queue(Message{To: to, Subject: "Sign in", Text: "https://scores.example/x\n"}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// waits counts waiting messages.
func (r *rig) waits() (n int) {
	r.t.Helper()
	err := r.Store.View(context.Background(), func(tx *store.Tx) error {
		for row, err := range r.rows(tx) {
			if err != nil {
				return err
			}
			if !row.Done {
				n++
			} else if row.Text != "" || row.Subject != "" {
				r.t.Error("what is sent is kept")
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// want checks the number of received and waiting messages, and that the log contains no address.
func (r *rig) want(s *server, letters, waits int) {
	r.t.Helper()
	if got := len(s.letters()); got != letters || r.waits() != waits {
		r.t.Fatalf("%d letters and %d waiting, want %d and %d; %s", got, r.waits(), letters, waits, r.log)
	}
	if text := r.log.String(); strings.Contains(text, "@") || strings.Contains(text, "player") {
		r.t.Errorf("the log has an address: %s", text)
	}
}
