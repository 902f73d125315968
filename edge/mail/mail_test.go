package mail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
)

// TestMain checks that no goroutine is left running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A message is sent once, over a verified connection and with credentials, as soon as its transaction is committed.
func TestSent(t *testing.T) {
	for _, mode := range []string{tlsStart, tlsWhole, tlsNone} {
		s := serve(t, mode)
		r := open(t, s, s.config(mode))
		ctx, cancel := context.WithCancel(t.Context())
		var loop sync.WaitGroup
		loop.Go(func() { _ = r.Run(ctx) })
		r.mustQueue("player@example.net")
		wait.Until(t, "the message is sent", func() bool {
			r.clock.pass(time.Millisecond)
			return len(s.letters()) > 0 && r.waits() == 0
		}, func() any { return r.log })
		cancel()
		loop.Wait()
		r.want(s, 1, 0)
		l := s.letters()[0]
		if secure := mode != tlsNone; l.secure != secure || (l.password == "a-password") != secure {
			t.Errorf("%s: %+v", mode, l)
		}
		if l.to != "player@example.net" || l.body != "https://scores.example/x\r\n" || l.head.Get("Subject") != "Sign in" || l.head.Get("Auto-Submitted") != "auto-generated" ||
			!strings.Contains(l.head.Get("From"), "<scores@example.org>") || !strings.HasSuffix(l.head.Get("Message-ID"), "@touchline>") {
			t.Errorf("%s: %+v", mode, l)
		}
	}
}

// A server that cannot prove its identity, or offers no TLS, receives neither password nor message.
func TestNeverInTheClear(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (*server, *rig){
		"another CA": func(t *testing.T) (*server, *rig) {
			s := serve(t, tlsStart)
			return s, open(t, serve(t, tlsStart), s.config(tlsStart))
		},
		"another CA, TLS from the start": func(t *testing.T) (*server, *rig) {
			s := serve(t, tlsWhole)
			return s, open(t, serve(t, tlsWhole), s.config(tlsWhole))
		},
		"no STARTTLS": func(t *testing.T) (*server, *rig) {
			s := serve(t, tlsNone)
			return s, open(t, s, s.config(tlsStart))
		},
	} {
		s, r := open(t)
		r.mustQueue("player@example.net")
		r.sendDue(t.Context())
		r.want(s, 0, 1)
		if s.times("auth") > 0 {
			t.Errorf("%s: the server was told the password", name)
		}
	}
}

// 4xx and broken connections are retried at growing intervals; 5xx is not.
func TestRetries(t *testing.T) {
	s := serve(t, tlsStart)
	s.rcpt = func(to string) error {
		if strings.HasPrefix(to, "busy") {
			return &smtp.SMTPError{Code: 451, Message: to + " later"}
		}
		return &smtp.SMTPError{Code: 550, Message: to + " is unknown"}
	}
	r := open(t, s, s.config(tlsStart))
	r.mustQueue("busy@player.example", "gone@player.example")
	r.sendDue(t.Context())
	r.want(s, 0, 1)
	if text := r.log.String(); !strings.Contains(text, "450") && !strings.Contains(text, "451") || !strings.Contains(text, "550") {
		t.Errorf("nobody is told what the server said: %s", text)
	}
	tries := s.times("connect")
	r.sendDue(t.Context()) // too early
	r.clock.pass(59 * time.Second)
	r.sendDue(t.Context())
	if s.times("connect") != tries {
		t.Error("tried again before its time")
	}
	if st := r.Status(); st.Waiting != 1 || st.GivenUp != 1 || st.LastAt.IsZero() || !strings.Contains(st.LastWhy, "550") || strings.Contains(st.LastWhy, "gone") {
		t.Errorf("the operator is told %+v", st)
	}
	s.rcpt = nil
	r.clock.pass(time.Second)
	r.sendDue(t.Context())
	r.want(s, 1, 0)
	again := New(r.cfg, r.Deps) // a given-up message is reported for a day, also after a restart
	for _, want := range []int{1, 0} {
		again.sendDue(t.Context())
		if st := again.Status(); st.GivenUp != want {
			t.Errorf("%d were given up, want %d", st.GivenUp, want)
		}
		r.clock.pass(told)
	}
	for outcome, want := range map[string]float64{"sent": 1, "retried": 1, "given_up": 1} {
		if got := testutil.ToFloat64(r.counts.WithLabelValues(outcome)); got != want {
			t.Errorf("%s: %v", outcome, got)
		}
	}
}

// Nothing is sent after its time, and nothing is retried forever.
func TestGivenUpInTime(t *testing.T) {
	s := serve(t, tlsStart)
	s.rcpt = func(string) error { return &smtp.SMTPError{Code: 421, Message: "later"} }
	r := open(t, s, s.config(tlsStart))
	if err := r.queue(Message{To: "player@example.net", Subject: "Sign in", Text: "x", Until: r.clock.Now().Add(15 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	r.mustQueue("other@example.net")
	passes := 0
	for ; r.waits() > 0 && passes < 400; passes++ {
		next, _ := r.sendDue(t.Context())
		if r.clock.Now().Sub(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)) > time.Hour && r.waits() == 2 {
			t.Fatal("a link that has expired waits")
		}
		r.clock.pass(next.Sub(r.clock.Now()))
	}
	r.want(s, 0, 0)
	if passes >= 400 {
		t.Error("it never ends")
	}
}

// A silent server delays the outbox only briefly.
func TestHang(t *testing.T) {
	s := serve(t, tlsStart)
	release := make(chan struct{})
	s.data = func(_ *smtp.Conn, n int) error {
		if n == 1 {
			<-release
		}
		return nil
	}
	defer close(release)
	r := open(t, s, s.config(tlsStart))
	r.sender.within = 300 * time.Millisecond
	r.mustQueue("player@example.net")
	begin := time.Now()
	r.sendDue(t.Context())
	if took := time.Since(begin); took > hang.Limit(20*time.Second) {
		t.Errorf("it hung for %s", took)
	}
	r.want(s, 1, 1) // it has the message, but has not acknowledged it
	r.sender.within = stepWithin
	r.clock.pass(time.Minute)
	r.sendDue(t.Context())
	r.want(s, 2, 0)
}

// If the answer to the data is lost, the message is sent again with the same id. This is the only way to a duplicate.
func TestLostAnswer(t *testing.T) {
	s := serve(t, tlsStart)
	s.data = func(c *smtp.Conn, n int) error {
		if n == 1 {
			return c.Conn().Close()
		}
		return nil
	}
	r := open(t, s, s.config(tlsStart))
	r.mustQueue("player@example.net")
	r.sendDue(t.Context())
	r.want(s, 1, 1)
	r.clock.pass(time.Minute)
	r.sendDue(t.Context())
	r.want(s, 2, 0)
	if l := s.letters(); l[0].head.Get("Message-ID") != l[1].head.Get("Message-ID") || l[0].head.Get("Date") != l[1].head.Get("Date") {
		t.Error("receivers cannot tell the copy")
	}
}

// A node that stops while sending loses no message and sends none twice.
func TestRestart(t *testing.T) {
	s := serve(t, tlsStart)
	ctx, cancel := context.WithCancel(t.Context())
	s.rcpt = func(to string) error {
		if to == "p2@example.net" && ctx.Err() == nil {
			cancel() // the node stops in the middle of the second
			return &smtp.SMTPError{Code: 421, Message: "cut"}
		}
		return nil
	}
	r := open(t, s, s.config(tlsStart))
	r.mustQueue("p1@example.net", "p2@example.net", "p3@example.net")
	r.sendDue(ctx)
	if len(s.letters()) >= 3 || r.waits() == 0 {
		t.Fatalf("it did not end in the middle: %d letters", len(s.letters()))
	}
	again := New(r.cfg, r.Deps) // as after a start: all it knows is in the store
	again.sender.roots = s.roots
	for range 3 {
		r.clock.pass(time.Hour)
		again.sendDue(t.Context())
	}
	to := map[string]int{}
	for _, l := range s.letters() {
		to[l.to]++
	}
	if len(to) != 3 || to["p1@example.net"] != 1 || to["p2@example.net"] != 1 || to["p3@example.net"] != 1 || r.waits() != 0 {
		t.Error(to)
	}
}

// A message is part of its transaction.
func TestQueueIsTransactional(t *testing.T) {
	s := serve(t, tlsStart)
	r := open(t, s, s.config(tlsStart))
	undone := errors.New("undone")
	err := r.Store.Update(t.Context(), func(tx *store.Tx) error {
		return errors.Join(r.Queue(tx, Message{To: "player@example.net", Subject: "s", Text: "t"}), undone)
	})
	r.sendDue(t.Context())
	if !errors.Is(err, undone) {
		t.Error(err)
	}
	r.want(s, 0, 0)
}

func TestLimits(t *testing.T) {
	s := serve(t, tlsStart)
	c := s.config(tlsStart)
	c.PerAddress, c.PerHour, c.UsersPerHour = 2, 8, 4
	r := open(t, s, c)
	r.mustQueue("a@example.net", "A@Example.net", "b@example.net")
	if err := r.queue(Message{To: "a@example.net"}); !fault.Is(err, fault.Throttled) {
		t.Errorf("a third to one address: %v", err)
	}
	r.sendDue(t.Context()) // what is sent counts too
	r.mustQueue("c@example.net")
	if err := r.queue(Message{To: "d@example.net"}); !fault.Is(err, fault.Throttled) {
		t.Errorf("a fifth in an hour: %v", err)
	}
	r.clock.pass(time.Hour)
	r.sendDue(t.Context())
	r.sendDue(t.Context())
	r.mustQueue("a@example.net")
	r.want(s, 4, 1)
}

// Messages that users cause leave the pot for sign-in alone, and the other way round. One client, or one league, uses up a part of a pot only,
// and cannot keep others from sending to an address. An empty pot is told, until it fills up again.
func TestPots(t *testing.T) {
	c := Defaults()
	c.Mode, c.Dir, c.From = modeFiles, filepath.Join(t.TempDir(), "mail"), "scores@example.org"
	c.PerAddress, c.PerHour, c.UsersPerHour = 2, 40, 15
	r := open(t, nil, c)
	sent := 0
	send := func(cause Cause, to, client, group string) error {
		sent++
		if to == "" {
			to = fmt.Sprintf("a%d@example.net", sent)
		}
		return r.queue(Message{To: to, Subject: "s", Text: "t", Cause: cause, Client: client, Group: group})
	}
	until := func(cause Cause, most int, to, client, group string) (n int) {
		for ; n <= most; n++ {
			if err := send(cause, to, client, group); err != nil {
				if !fault.Is(err, fault.Throttled) {
					t.Error(err)
				}
				return n
			}
		}
		return n
	}
	warned := func() string {
		r.sendDue(t.Context())
		st := r.Status()
		return st.Warning()
	}
	if n := until("", 40, "", "c1", ""); n != 3 {
		t.Errorf("one client had %d messages sent", n)
	}
	league := 0
	for i := range 9 {
		if send(ByUser, "", fmt.Sprint("d", i), "l") == nil {
			league++
		}
	}
	if league != 3 {
		t.Errorf("one league had %d messages sent", league)
	}
	if n := until(SignIn, 40, "ann@example.net", "c1", ""); n != 2 {
		t.Errorf("one client had %d links sent to one address", n)
	}
	if n := until(SignIn, 40, "ann@example.net", "c2", ""); n != 2 {
		t.Errorf("another client had %d links sent to that address", n)
	}
	if n := until(SignIn, 40, "ann@example.net", "c3", ""); n != 0 {
		t.Errorf("a third client had %d links sent to that address", n)
	}
	if text := warned(); text != "" {
		t.Errorf("nothing is used up: %q", text)
	}
	for i := range 40 {
		_ = send(ByUser, "", fmt.Sprint("e", i), fmt.Sprint("m", i))
	}
	if text := warned(); !strings.Contains(text, "invitations are used up") || strings.Contains(text, "sign-in") {
		t.Errorf("the users' pot is empty: %q", text)
	}
	if err := send(SignIn, "bob@example.net", "c4", ""); err != nil {
		t.Errorf("sign-in while the users' pot is empty: %v", err)
	}
	links := 0
	for i := range 40 {
		if send(SignIn, "", fmt.Sprint("f", i), "") == nil {
			links++
		}
	}
	if text := warned(); !strings.Contains(text, "for sign-in are used up") || links != 20 {
		t.Errorf("the pot for sign-in is empty after %d: %q", links, text)
	}
	again := New(r.cfg, r.Deps) // a restart forgets nothing
	r.Outbox = again
	if err := send(SignIn, "", "c9", ""); !fault.Is(err, fault.Throttled) {
		t.Errorf("after a restart: %v", err)
	}
	r.clock.pass(time.Hour)
	if text := warned(); text != "" {
		t.Errorf("an hour later: %q", text)
	}
	if err := send(SignIn, "ann@example.net", "c1", ""); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// Nothing in an address or a subject becomes a header, a command or a second recipient.
func TestInjection(t *testing.T) {
	s := serve(t, tlsStart)
	r := open(t, s, s.config(tlsStart))
	for _, to := range []string{
		"", "x", "a@b\r\nBcc: c@d.example", "a@b.example, c@d.example", "Name <a@b.example>", "<a@b.example>\nRCPT TO:<c@d.example>", "\"a b\"@c.example", "a@b.example\x00",
		strings.Repeat("a", 250) + "@b.example", "é@b.example",
	} {
		if err := r.queue(Message{To: to, Subject: "s", Text: "t"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q was taken: %v", to, err)
		}
	}
	for _, subject := range []string{"a\r\nBcc: c@d.example", "a\nb", "a\x00", strings.Repeat("a", 201)} {
		if err := r.queue(Message{To: "a@b.example", Subject: subject}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q was taken: %v", subject, err)
		}
	}
	if err := r.queue(Message{To: "a@b.example", Subject: "Spiel: Küche", Text: "one\r\n.\r\nMAIL FROM:<x@y.example>\r\n"}); err != nil {
		t.Fatal(err)
	}
	r.sendDue(t.Context())
	r.want(s, 1, 0)
	if l := s.letters()[0]; !strings.Contains(l.body, "\r\n.\r\nMAIL FROM") || len(l.head["Bcc"]) > 0 {
		t.Errorf("%q", l.body)
	}
}

// In mode files, messages are files readable by their owner only.
func TestFiles(t *testing.T) {
	c := Defaults()
	c.Mode, c.Dir, c.From = modeFiles, filepath.Join(t.TempDir(), "mail"), "scores@example.org"
	r := open(t, nil, c)
	r.mustQueue("player@example.net")
	r.sendDue(t.Context())
	names, _ := filepath.Glob(filepath.Join(c.Dir, "*.eml"))
	if len(names) != 1 || r.waits() != 0 {
		t.Fatal(names, r.log)
	}
	raw, err := os.ReadFile(names[0])
	if err != nil || !strings.Contains(string(raw), "To: <player@example.net>") || !strings.Contains(string(raw), "https://scores.example/x") {
		t.Errorf("%s %v", raw, err)
	}
}

func TestProblems(t *testing.T) {
	good := Defaults()
	good.Mode, good.Host, good.From = modeSMTP, "smtp.example.org", "scores@example.org"
	for want, change := range map[string]func(c *Config){
		"":              func(*Config) {},
		"mail.mode":     func(c *Config) { c.Mode = "pigeon" },
		"mail.host":     func(c *Config) { c.Host = "" },
		"mail.tls":      func(c *Config) { c.TLS, c.Username, c.Password = tlsNone, "u", "p" },
		"mail.password": func(c *Config) { c.Username = "u" },
		"mail.from":     func(c *Config) { c.From = "scores" },
		"mail.dir":      func(c *Config) { c.Mode = modeFiles },
		"mail.per_hour": func(c *Config) { c.PerHour = 1 },

		"mail.users_per_hour": func(c *Config) { c.UsersPerHour = 200 },
		"mail.port":           func(c *Config) { c.Port = 70000 },
	} {
		c := good
		change(&c)
		got := ""
		c.Problems(func(key, format string, args ...any) { got += key + fmt.Sprintf(format, args...)[:0] })
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A clock that is set back by hours delays no message, neither one that is tried again nor one of an earlier process.
func TestClockSetBack(t *testing.T) {
	s := serve(t, tlsStart)
	s.rcpt = func(string) error { return &smtp.SMTPError{Code: 451, Message: "later"} }
	r := open(t, s, s.config(tlsStart))
	r.mustQueue("busy@player.example")
	r.sendDue(t.Context())
	r.clock.set(-6 * time.Hour)
	r.clock.pass(time.Minute)
	again := New(r.cfg, Deps{Store: r.Store, Clock: r.clock, Log: r.Log})
	for name, tt := range map[string]struct {
		outbox *Outbox
		after  time.Duration
	}{"the same process": {r.Outbox, 0}, "another process": {again, time.Hour}} {
		if _, _, err := tt.outbox.findDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.clock.pass(tt.after)
		due, next, err := tt.outbox.findDue(t.Context())
		if err != nil || len(due) != 1 {
			t.Errorf("%s: %d messages due, the next look in %s, %v", name, len(due), next.Sub(r.clock.Now()), err)
		}
	}
}
