package session

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// hands is a clock that stands still until it is set.
type hands struct {
	clock.Clock
	at atomic.Int64
}

func (h *hands) Wall() time.Time { return h.Now() }

func (h *hands) Now() time.Time          { return time.Unix(h.at.Load(), 0).UTC() }
func (h *hands) forward(d time.Duration) { h.at.Add(seconds(d)) }

const issuer = "https://issuer.example"

type rig struct {
	*Keeper
	t       *testing.T
	clock   *hands
	welcome bool
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, clock: &hands{}, welcome: true}
	r.clock.at.Store(1_800_000_000)
	s := storetest.OpenWith(t, t.TempDir()+"/store.db", store.Options{NoSync: true, Now: r.clock.Now}, Tables()...)
	r.Keeper = New(Config{
		Store: s, Clock: r.clock, Idle: 7 * 24 * time.Hour, Life: 30 * 24 * time.Hour, Log: slog.New(slog.DiscardHandler),
		Knows: func(iss string) bool { return r.welcome && iss == issuer },
	})
	return r
}

func user(subject string) auth.Identity {
	return auth.Identity{Subject: subject, Issuer: issuer, Scheme: auth.Bearer, Groups: []string{"g"}, Name: "N " + subject}
}

func (r *rig) begin(id auth.Identity) string {
	r.t.Helper()
	cookie, err := r.Begin(r.t.Context(), id, SignIn{Agent: "a browser\n", Cookie: PlainName})
	if err != nil {
		r.t.Fatal(err)
	}
	return cookie
}

// find looks up a cookie; good says whether it must be valid.
func (r *rig) find(what, cookie string, good bool) (next string) {
	r.t.Helper()
	id, next, err := r.Find(r.t.Context(), Shown{Value: cookie, Name: PlainName, Renew: true})
	switch {
	case good && (err != nil || id.Subject != "u1" || id.Scheme != auth.Session || id.Session == "" || id.Name != "N u1" || len(id.Groups) != 1):
		r.t.Errorf("%s: %+v, %v", what, id, err)
	case !good && !fault.Is(err, fault.Unauthorized):
		r.t.Errorf("%s: %+v, %v", what, id, err)
	}
	return next
}

// A secret is replaced once an hour. The old one stays valid for a minute; a later use means that it was copied.
func TestRotation(t *testing.T) {
	r := newRig(t)
	first := r.begin(user("u1"))
	if next := r.find("fresh", first, true); next != "" {
		t.Error("replaced at once")
	}
	r.clock.forward(rotateEvery)
	if _, next, err := r.Find(t.Context(), Shown{Value: first, Name: PlainName}); err != nil || next != "" {
		t.Errorf("an answer that cannot carry a cookie: %q, %v", next, err)
	}
	second := r.find("after an hour", first, true)
	if second == "" || second == first {
		t.Fatalf("not replaced: %q", second)
	}
	if next := r.find("a request beside it", first, true); next != "" {
		t.Error("two requests at once have two secrets")
	}
	// The answer is lost: nobody is signed out because of that.
	r.clock.forward(2 * time.Hour)
	third := r.find("its answer was lost", first, true)
	if third == "" {
		t.Fatal("no further secret")
	}
	r.find("the lost one turns up", second, false)
	r.find("the new one", third, true)
	r.find("one that was on its way", first, true)
	r.clock.forward(grace)
	r.find("the new one, later", third, true)
	r.find("a copy of the old one", first, false)
	r.find("the session has ended with it", third, false)
}

// However often a secret was replaced, using an old one ends the session; an unknown one does nothing.
func TestStolen(t *testing.T) {
	r := newRig(t)
	all := []string{r.begin(user("u1"))}
	for range 10 {
		r.clock.forward(rotateEvery)
		next := r.find("rotate", all[len(all)-1], true)
		r.find("take", next, true)
		all = append(all, next)
	}
	last := all[len(all)-1]
	id, _, _ := strings.Cut(last, ".")
	for _, wrong := range []string{id + ".x", id + ".", id, "." + last, last + "x", "", ".", strings.Repeat("x", 200), "nobody.x"} {
		r.find("wrong secret", wrong, false)
	}
	r.find("a wrong secret ends nothing", last, true)
	r.find("a secret of hours ago", all[3], false)
	r.find("after it", last, false)
}

// Sessions end when unused, when old, when their issuer is no longer accepted, and when ended.
func TestEnds(t *testing.T) {
	r := newRig(t)
	idle := r.begin(user("u1"))
	r.clock.forward(r.Idle - time.Second)
	r.find("almost idle", idle, true)
	r.clock.forward(time.Second)
	r.find("idle", idle, false)

	used := r.begin(user("u1"))
	begun := r.clock.Now()
	for r.clock.Now().Sub(begun) < r.Life-12*time.Hour {
		r.clock.forward(6 * time.Hour)
		if next := r.find("in use", used, true); next != "" {
			used = next
		}
	}
	r.clock.forward(12 * time.Hour)
	r.find("old", used, false)

	mine := r.begin(user("u1"))
	r.welcome = false
	r.find("its issuer is not welcome", mine, false)
	r.welcome = true
	r.find("it is again", mine, true)

	id, _, _ := strings.Cut(mine, ".")
	if err := r.End(t.Context(), id, user("u2")); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody else ends it: %v", err)
	}
	if err := r.End(t.Context(), id, auth.Identity{Subject: "u1", Issuer: issuer + "2"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("the same name of another issuer ends it: %v", err)
	}
	if err := r.End(t.Context(), id, user("u1")); err != nil {
		t.Error(err)
	}
	r.find("ended by its owner", mine, false)
	other := r.begin(user("u1"))
	id, _, _ = strings.Cut(other, ".")
	if err := r.End(t.Context(), id, auth.Identity{Subject: "boss", Admin: true}); err != nil {
		t.Error(err)
	}
	r.find("ended by an admin", other, false)
}

// A person has a limited number of sessions; the least recently used one is replaced. Each person sees their own, in full.
func TestList(t *testing.T) {
	r := newRig(t)
	oldest := r.begin(user("u1"))
	for range maxSessions {
		r.clock.forward(time.Minute)
		r.begin(user("u1"))
	}
	r.begin(user("u2"))
	r.find("the one that made room", oldest, false)
	u1 := user("u1")
	mine, err := r.SessionsOf(t.Context(), &u1)
	if err != nil || len(mine) != maxSessions || mine[0].SeenAt.Before(mine[1].SeenAt) || mine[0].Agent != "a browser" || mine[0].Subject != "u1" {
		t.Errorf("%d sessions, %+v, %v", len(mine), mine[:min(2, len(mine))], err)
	}
	all, err := r.SessionsOf(t.Context(), nil)
	if err != nil || len(all) != maxSessions+1 {
		t.Errorf("%d sessions of all, %v", len(all), err)
	}
}

// A code works once, for a quarter of an hour, for five attempts, and for somebody who has signed in here.
func TestCodes(t *testing.T) {
	r := newRig(t)
	if _, _, err := r.Code(t.Context(), "u1", ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("a code for a stranger: %v", err)
	}
	r.begin(user("u1"))
	made := func() string {
		t.Helper()
		code, until, err := r.Code(t.Context(), "u1", "")
		if err != nil || len(code) != codeLength || strings.Trim(code, alphabet) != "" || until.Sub(r.clock.Now()) != codeLife {
			t.Fatalf("%q until %s: %v", code, until, err)
		}
		return code
	}
	takes := func(what, code string, good bool) {
		t.Helper()
		id, err := r.Redeem(t.Context(), code)
		if good != (err == nil) || good && (id.Subject != "u1" || id.Issuer != issuer || id.Admin) || !good && (!fault.Is(err, fault.Unauthorized) || id.Subject != "") {
			t.Errorf("%s: %+v, %v", what, id, err)
		}
	}
	code := made()
	takes("as typed", " "+strings.ToLower(code[:4])+"-"+code[4:]+" ", true)
	takes("twice", code, false)

	code = made()
	r.clock.forward(codeLife)
	takes("late", code, false)

	code = made()
	wrong := code[:7] + string(alphabet[(strings.IndexByte(alphabet, code[7])+1)%len(alphabet)])
	for range codeTries - 1 {
		takes("wrong", wrong, false)
	}
	takes("the fifth", code, true)
	code = made()
	wrong = code[:7] + string(alphabet[(strings.IndexByte(alphabet, code[7])+1)%len(alphabet)])
	for range codeTries {
		takes("wrong", wrong, false)
	}
	takes("after five", code, false)
	for _, text := range []string{"", "x", strings.Repeat("A", 100), "OOOOIIII", "ééééé"} {
		takes("no code", text, false)
	}

	// Of all who enter it at once, one gets in.
	code = made()
	var in atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := r.Redeem(t.Context(), code); err == nil {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d came in with one code", in.Load())
	}
	code = made()
	r.welcome = false
	takes("its issuer is not welcome", code, false)
}

// Two issuers may have people with the same id.
func TestSameName(t *testing.T) {
	r := newRig(t)
	r.Knows = func(string) bool { return true }
	r.begin(user("u1"))
	other := user("u1")
	other.Issuer = issuer + "/2"
	r.begin(other)
	if _, _, err := r.Code(t.Context(), "u1", ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("whose code is it: %v", err)
	}
	code, _, err := r.Code(t.Context(), "u1", other.Issuer)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := r.Redeem(t.Context(), code); err != nil || id.Issuer != other.Issuer {
		t.Errorf("%+v, %v", id, err)
	}
	people, err := r.People(t.Context())
	if err != nil || len(people) != 2 || people[0].Subject != "u1" {
		t.Errorf("%+v, %v", people, err)
	}
	one := user("u1")
	if mine, err := r.SessionsOf(t.Context(), &one); err != nil || len(mine) != 1 {
		t.Errorf("%+v, %v", mine, err)
	}
}

// The stored data does not allow signing in.
func TestStoredHashed(t *testing.T) {
	r := newRig(t)
	cookie := r.begin(user("u1"))
	code, _, err := r.Code(t.Context(), "u1", "")
	if err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(cookie, ".")
	if err := r.Store.View(t.Context(), func(tx *store.Tx) error {
		for _, table := range Tables() {
			for item, err := range tx.ScanAll(store.Scan{Table: table.Name}) {
				if text := fmt.Sprint(item); err != nil || strings.Contains(text, secret) || strings.Contains(text, code) {
					t.Errorf("%s: %s, %v", table.Name, text, err)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
