package threefcapp

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// mailing is the application in a server with an outbox whose messages wait.
type mailing struct {
	t      *testing.T
	store  *store.Store
	rules  *threefc.Service
	server *httpapi.Server
}

func newMailing(t *testing.T) *mailing {
	t.Helper()
	const table = "3fc-test"
	db := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, threefc.Table(table), migrations.Private(mail.Table, "id", "sent from this node alone"))
	c := mail.Defaults()
	c.Mode, c.Dir, c.From = "files", t.TempDir(), "scores@example.org"
	outbox := mail.New(c, mail.Deps{Store: db, Clock: clock.Real(), Log: slog.New(slog.DiscardHandler)})
	in, err := open(&Settings{Place: app.Place{Mount: "/3fc", Table: table}}, &app.Host{Store: db, Mail: outbox, PublicURL: "https://3fc.example", Clock: clock.Real()})
	if err != nil {
		t.Fatal(err)
	}
	in.API.Name, in.API.Title, in.API.Mount = name, "3FC", "/3fc"
	server, err := httpapi.New(httpapi.Config{Apps: []httpapi.App{in.API}, Store: db, Clock: clock.Real()})
	if err != nil {
		t.Fatal(err)
	}
	return &mailing{t: t, store: db, rules: &threefc.Service{Handle: threefc.Rows(table)}, server: server}
}

// ask posts a body from an address, with a session or without one, and returns the status.
func (m *mailing) ask(from, session, path, body string) int {
	m.t.Helper()
	req := httptest.NewRequestWithContext(m.t.Context(), http.MethodPost, "/3fc"+path, strings.NewReader(body))
	req.RemoteAddr = from
	req.Header.Set("Content-Type", "application/json")
	if session != "" {
		req.AddCookie(&http.Cookie{Name: "threefc_session", Value: session})
	}
	w := httptest.NewRecorder()
	m.server.Handler().ServeHTTP(w, req)
	return w.Code
}

// session signs in with an address whose mailbox the caller reads.
func (m *mailing) session(address string) (secret string) {
	m.t.Helper()
	secret = threefc.SessionSecret("", "")
	if err := m.store.Update(m.t.Context(), func(tx *store.Tx) error {
		magic, err := m.rules.StartMagic(tx, address)
		if err != nil {
			return err
		}
		c, err := m.rules.CompleteMagic(tx, magic.Token, secret)
		if err != nil {
			return err
		}
		return tx.TransactWrite(store.TransactWrite{Items: c.Writes})
	}); err != nil {
		m.t.Fatal(err)
	}
	return secret
}

// texts returns the texts of the queued messages.
func (m *mailing) texts() (all []string) {
	m.t.Helper()
	if err := m.store.View(m.t.Context(), func(tx *store.Tx) error {
		for row, err := range tx.ScanAll(store.Scan{Table: mail.Table}) {
			if err != nil {
				return err
			}
			all = append(all, row["text"].Str())
		}
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	return all
}

// One attacker, with one address and any number of accounts, neither stops others' sign-in nor sends a text and a link of their own.
func TestNobodyUsesUpTheMail(t *testing.T) {
	m := newMailing(t)
	const attacker, sentence = "203.0.113.7:4000", "Your account is locked. Verify it within one hour at https://evil.example/login or www.evil.example or lose it"
	asked := 0
	for range 5 { // links for one victim
		m.ask(attacker, "", "/v1/auth/magic/start", `{"email":"ann@example.org"}`)
		asked++
	}
	for n := range 25 { // accounts, and links for strangers
		m.ask(attacker, "", "/v1/auth/magic/start", fmt.Sprintf(`{"email":"evil%d@evil.example"}`, n))
		asked++
	}
	for n := range 9 {
		session := m.session(fmt.Sprintf("evil%d@evil.example", n))
		league := fmt.Sprintf("l%d", n)
		if got := m.ask(attacker, session, "/v1/leagues", fmt.Sprintf(`{"leagueId":%q,"name":%q}`, league, sentence)); got != http.StatusCreated {
			t.Fatalf("a league: %d", got)
		}
		asked++
		for victim := range 20 {
			m.ask(attacker, session, "/v1/leagues/"+league+"/organiser-invites", fmt.Sprintf(`{"email":"victim%d-%d@example.org"}`, n, victim))
			asked++
		}
	}
	sentences := 0
	for _, text := range m.texts() {
		if strings.Contains(text, "Your account is locked") {
			sentences++
		}
		for _, part := range []string{"evil.example", "www.", "or lose it"} {
			if strings.Contains(text, part) {
				t.Errorf("a message has %q: %s", part, text)
				break
			}
		}
	}
	if sentences == 0 || sentences > 12 {
		t.Errorf("%d requests sent %d messages with the attacker's sentence", asked, sentences)
	}
	for n := range 40 {
		from := fmt.Sprintf("198.51.100.%d:4000", n)
		if got := m.ask(from, "", "/v1/auth/magic/start", fmt.Sprintf(`{"email":"player%d@example.org"}`, n)); got != http.StatusAccepted {
			t.Errorf("the %d. sign-in of others: %d", n+1, got)
			break
		}
	}
	if got := m.ask("198.51.100.77:4000", "", "/v1/auth/magic/start", `{"email":"ann@example.org"}`); got != http.StatusAccepted {
		t.Errorf("the victim's sign-in: %d", got)
	}
	boss := m.session("boss@example.org")
	m.ask("198.51.100.78:4000", boss, "/v1/leagues", `{"leagueId":"real","name":"F.C. Bar (St. Pauli)"}`)
	if got := m.ask("198.51.100.78:4000", boss, "/v1/leagues/real/organiser-invites", `{"email":"helper@example.org"}`); got != http.StatusCreated {
		t.Errorf("an invitation of others: %d", got)
	}
	if all := strings.Join(m.texts(), "\n"); !strings.Contains(all, `organise the league "F C. Bar (St. Pauli)" on 3FC`) {
		t.Error("a league's usual name is not in its invitation")
	}
}

// An IPv6 client has a network of addresses: it counts as one.
func TestNetworkIsOneClient(t *testing.T) {
	m := newMailing(t)
	sent := 0
	for n := range 40 {
		if m.ask(fmt.Sprintf("[2001:db8:1:2::%x]:4000", n), "", "/v1/auth/magic/start", fmt.Sprintf(`{"email":"p%d@example.org"}`, n)) == http.StatusAccepted {
			sent++
		}
	}
	if sent != 30 {
		t.Errorf("one network had %d links sent", sent)
	}
}
