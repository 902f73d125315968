package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/contract"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// rig runs the application in a server over a store, with a clock that the test moves. It checks each answer against the OpenAPI document.
type rig struct {
	t       *testing.T
	store   *store.Store
	config  Config
	sync    operator.Sync // nil: no cloud
	log     strings.Builder
	logger  *slog.Logger // of all servers, which write to log one after another
	server  *httpapi.Server
	service *threefc.Service
	now     time.Time // zero: the machine's time
	doc     *contract.Document
	cookies map[string]string // by signed-in user
	mails   []threefc.Mail
	seen    map[string]bool // "METHOD path status word" of the document
	seq     uint64
}

func newRig(t *testing.T, change ...func(c *Config)) *rig {
	t.Helper()
	return newRigOver(t, store.Options{NoSync: true}, change...)
}

func newRigOver(t *testing.T, o store.Options, change ...func(c *Config)) *rig {
	t.Helper()
	r := &rig{t: t, now: time.Date(2026, 7, 4, 10, 0, 0, 0, time.UTC), cookies: map[string]string{}, seen: map[string]bool{}}
	r.logger = slog.New(slog.NewTextHandler(&r.log, nil))
	o.Now = func() time.Time {
		if r.now.IsZero() {
			return time.Now()
		}
		return r.now
	}
	r.store = storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, append(handover.Tables(), threefc.Table("3fc-test"))...)
	r.service = &threefc.Service{Handle: threefc.Rows("3fc-test")}
	c := Config{
		Scorers: presence.NewBoard(clock.Real()),
		Service: r.service, Mount: "/3fc", Version: "v1", Node: r.store.Node(), Read: r.store.View, PublicURL: "https://3fc.example", Origins: []string{"https://app.example"},
		Queue: func(_ *store.Tx, m threefc.Mail) error { r.mails = append(r.mails, m); return nil },
	}
	for _, do := range change {
		do(&c)
	}
	r.config = c
	r.server, r.doc = r.serve(), contract.Read(t, document)
	return r
}

// serve returns a new server, with an empty page cache.
func (r *rig) serve() *httpapi.Server {
	r.t.Helper()
	app, err := New(r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	app.Name, app.Title, app.Mount = "threefc", "3FC", "/3fc"
	s, err := httpapi.New(httpapi.Config{Apps: []httpapi.App{app}, Store: r.store, Clock: rigClock{clock.Real(), r}, Sync: r.sync, Logger: r.logger, Devices: true})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// rigClock is the real clock with the rig's time of day.
type rigClock struct {
	clock.Clock
	r *rig
}

func (c rigClock) Wall() time.Time {
	if c.r.now.IsZero() {
		return c.Clock.Wall()
	}
	return c.r.now
}

// in signs a user in by a link.
func (r *rig) in(who string) {
	r.t.Helper()
	if err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
		m, err := r.service.StartMagic(tx, who+"@example.org")
		if err != nil {
			return err
		}
		secret := threefc.SessionSecret("", "")
		c, err := r.service.CompleteMagic(tx, m.Token, secret)
		if err != nil {
			return err
		}
		r.cookies[who] = secret
		return tx.TransactWrite(store.TransactWrite{Items: c.Writes})
	}); err != nil {
		r.t.Fatal(err)
	}
}

// ask sends a request as a user, or without a session if who is "-".
func (r *rig) ask(who, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	if c := r.cookies[who]; c != "" {
		headers = append(headers, "Cookie", cookieName+"="+c)
	}
	w := web.Ask(r.server.Handler(), method, "/3fc"+path, body, headers...)
	r.check(method, path, body, w)
	return w
}

// want sends a request and checks the answer's status, that its body contains has, and that it conforms to the document.
func (r *rig) want(status int, has, who, method, path, body string, headers ...string) string {
	r.t.Helper()
	w := r.ask(who, method, path, body, headers...)
	if w.Code != status || !strings.Contains(w.Body.String(), has) {
		r.t.Errorf("%s: %s %s %s: %d %s, want %d %s", who, method, path, body, w.Code, w.Body, status, has)
	}
	return w.Body.String()
}

func (r *rig) check(method, path, body string, w *httptest.ResponseRecorder) {
	r.t.Helper()
	route := r.doc.Check(r.t, method, "/3fc"+path, body, w)
	if route == "" {
		return
	}
	word := ""
	for _, name := range []string{`"code":"`, `"error":"`} {
		if _, after, ok := strings.Cut(w.Body.String(), name); ok && w.Code >= http.StatusBadRequest && word == "" {
			word, _, _ = strings.Cut(after, `"`)
		}
	}
	r.seen[strings.TrimSpace(fmt.Sprint(method, " ", route, " ", w.Code, " ", word))] = true
}

// export processes the new journal records, as the node's consumer does.
func (r *rig) export() {
	r.t.Helper()
	for {
		records, err := r.store.Journal(r.t.Context(), r.seq, 100)
		if err != nil {
			r.t.Fatal(err)
		}
		if len(records) == 0 {
			return
		}
		r.seq = records[len(records)-1].Seq
		if err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
			if err := r.service.ConsumeRecords(tx, records); err != nil {
				return err
			}
			games, err := r.service.DerivedRule().Units(tx, records)
			for _, game := range games {
				err = errors.Join(err, r.service.Export(tx, game))
			}
			return err
		}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// change commits what a plan writes.
func (r *rig) change(plan func(tx *store.Tx) (threefc.Change, error)) {
	r.t.Helper()
	if err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
		c, err := plan(tx)
		if err != nil {
			return err
		}
		return tx.TransactWrite(store.TransactWrite{Items: c.Writes})
	}); err != nil {
		r.t.Fatal(err)
	}
}

// league creates league l with admin boss, scorekeeper keeper and viewer watcher, season s, session d and game g with players r1, b1 and
// y1. User other has no role in it.
func (r *rig) league() {
	r.t.Helper()
	for _, who := range []string{"boss", "keeper", "watcher", "other"} {
		r.in(who)
	}
	r.want(201, `"leagueId":"l"`, "boss", "POST", "/v1/leagues", `{"leagueId":"l","name":"League","slug":"lg"}`)
	r.want(200, `"role":"scorekeeper"`, "boss", "POST", "/v1/leagues/l/access", `{"userId":"Keeper@example.org","role":"scorekeeper"}`)
	r.change(func(tx *store.Tx) (threefc.Change, error) {
		return r.service.Grant(tx, "l", "boss@example.org", "watcher@example.org", threefc.RoleViewer)
	})
	for _, who := range []string{"keeper", "watcher"} {
		r.want(200, `"accepted":true`, who, "POST", "/v1/leagues/l/access/accept", "")
	}
	r.want(201, `"seasonId":"s"`, "boss", "POST", "/v1/leagues/l/seasons", `{"seasonId":"s","name":"Season","slug":"sn","startsOn":null}`)
	r.want(201, `"sessionId":"d"`, "boss", "POST", "/v1/seasons/s/sessions", `{"sessionId":"d","sessionDate":"2026-07-04"}`)
	r.want(201, `"gameStartTs":"2026-07-04T10:00:00.000Z"`, "boss", "POST", "/v1/sessions/d/games", `{"gameId":"g","gameStartTs":"2026-07-04T11:00:00+01:00"}`)
	for _, team := range threefc.TeamIDs() {
		r.want(201, `"nickname"`, "keeper", "POST", "/v1/games/g/players", fmt.Sprintf(`{"playerId":"%s1","nickname":"Player %[1]s"}`, team[:1]))
		r.want(200, `"nickname"`, "keeper", "PUT", "/v1/games/g/roster/"+team[:1]+"1", fmt.Sprintf(`{"teamId":%q}`, team))
	}
}

const (
	redGoal = `{"scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":"r1","ownGoal":false}`
	ownGoal = `{"scoringTeamId":null,"concedingTeamId":"yellow","scorerPlayerId":"y1","ownGoal":true}`
)

// goal creates a goal and returns its id.
func (r *rig) goal(body string, headers ...string) string {
	r.t.Helper()
	_, after, _ := strings.Cut(r.want(201, `"eventId":"`, "keeper", "POST", "/v1/games/g/goals", body, headers...), `"eventId":"`)
	id, _, _ := strings.Cut(after, `"`)
	return id
}
