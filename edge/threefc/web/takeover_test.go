package web

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// codeSession signs somebody in with a code that an admin of a league makes, and keeps the cookie under a name.
func (r *rig) codeSession(admin, league, who, name string) {
	r.t.Helper()
	made := r.want(201, "", admin, "POST", "/v1/leagues/"+league+"/sign-in-codes", fmt.Sprintf(`{"email":"%s@example.org"}`, who))
	var code struct{ Code string }
	if err := json.Unmarshal([]byte(made), &code); err != nil {
		r.t.Fatal(err)
	}
	w := r.ask("-", "POST", "/v1/auth/code/complete", fmt.Sprintf(`{"email":"%s@example.org","code":%q}`, who, code.Code))
	r.cookies[name] = cookieIn(w)
}

// cookieIn returns the secret in the session cookie that an answer sets.
func cookieIn(w *httptest.ResponseRecorder) string {
	value, _, _ := strings.Cut(strings.TrimPrefix(w.Header().Get("Set-Cookie"), cookieName+"="), ";")
	return value
}

// Nobody becomes somebody else by giving them a role: a role is an offer until its owner, signed in by mail, accepts it.
func TestRoleIsAnOffer(t *testing.T) {
	r := newRig(t)
	r.league()
	r.want(201, "", "other", "POST", "/v1/leagues", `{"leagueId":"m","name":"Mine"}`)
	r.want(404, "has no role in this league", "other", "POST", "/v1/leagues/m/sign-in-codes", `{"email":"boss@example.org"}`)
	r.want(200, `"accepted":false`, "other", "POST", "/v1/leagues/m/access", `{"userId":"boss@example.org","role":"admin"}`)
	r.want(409, "role_not_accepted", "other", "POST", "/v1/leagues/m/sign-in-codes", `{"email":"boss@example.org"}`)
	r.want(403, "league_access_required", "boss", "GET", "/v1/leagues/m/seasons", "")
	r.want(409, "last_admin", "other", "POST", "/v1/leagues/m/access", `{"userId":"other@example.org","role":"scorekeeper"}`)
	r.want(200, `"offers":[{"leagueId":"m"`, "boss", "GET", "/v1/leagues", "")
	r.want(404, "Access was not found", "keeper", "POST", "/v1/leagues/m/access/accept", "")
	r.want(200, `"accepted":true`, "boss", "POST", "/v1/leagues/m/access/accept", "")
	r.want(200, `"accepted":true`, "boss", "POST", "/v1/leagues/m/access/accept", "")
	r.want(200, `{"leagueId":"m"`, "boss", "GET", "/v1/leagues", "")
	r.want(200, `"seasons":[]`, "boss", "GET", "/v1/leagues/m/seasons", "")
	r.want(200, `"role":"scorekeeper"`, "boss", "POST", "/v1/leagues/m/access", `{"userId":"other@example.org","role":"scorekeeper"}`)
}

// Whoever makes a league does not learn with it which addresses have signed in on this node: without their owner's consent the answers are
// the same for all.
func TestCodesTellNothingOfAddresses(t *testing.T) {
	r := newRig(t)
	r.league()
	r.want(201, "", "other", "POST", "/v1/leagues", `{"leagueId":"m","name":"Mine"}`)
	for _, address := range []string{"boss@example.org", "nobody@example.org"} { // the second has never signed in
		r.want(404, "has no role in this league", "other", "POST", "/v1/leagues/m/sign-in-codes", `{"email":"`+address+`"}`)
		r.want(200, `"accepted":false`, "other", "POST", "/v1/leagues/m/access", `{"userId":"`+address+`","role":"admin"}`)
		r.want(409, "role_not_accepted", "other", "POST", "/v1/leagues/m/sign-in-codes", `{"email":"`+address+`"}`)
	}
	r.change(func(tx *store.Tx) (threefc.Change, error) { return r.service.AcceptRole(tx, "m", "nobody@example.org") }) // at another node
	r.want(404, "Nobody has signed in on this node", "other", "POST", "/v1/leagues/m/sign-in-codes", `{"email":"nobody@example.org"}`)
}

// A session that began with a code counts only in leagues of the admin who made the code, and begins nothing of its own.
func TestSessionByCodeStaysInItsLeagues(t *testing.T) {
	r := newRig(t)
	r.league()
	r.want(201, "", "other", "POST", "/v1/leagues", `{"leagueId":"m","name":"Mine"}`)
	r.want(200, "", "other", "POST", "/v1/leagues/m/access", `{"userId":"keeper@example.org","role":"admin"}`)
	r.want(200, "", "keeper", "POST", "/v1/leagues/m/access/accept", "")
	r.codeSession("other", "m", "keeper", "thief")
	r.want(200, `"byCode":true`, "thief", "GET", "/v1/auth/session", "")
	r.want(200, `"seasons":[]`, "thief", "GET", "/v1/leagues/m/seasons", "")
	const refused = "mail_sign_in_required"
	r.want(403, refused, "thief", "GET", "/v1/leagues/l/seasons", "")
	r.want(403, refused, "thief", "POST", "/v1/games/g/goals", redGoal)
	r.want(403, refused, "thief", "POST", "/v1/leagues", `{"leagueId":"n","name":"N"}`)
	r.want(403, refused, "thief", "GET", "/v1/auth/sessions", "")
	r.want(403, refused, "thief", "POST", "/v1/leagues/m/access/accept", "")
	r.want(403, refused, "thief", "POST", "/v1/players/r1/claim", "")
	if mine := r.want(200, `"leagueId":"m"`, "thief", "GET", "/v1/leagues", ""); strings.Contains(mine, `"leagueId":"l"`) {
		t.Errorf("leagues of a session by code: %s", mine)
	}
	r.page("thief", "/games/g/score", 403)

	// The rights end with those of the admin who made the code; a role that is accepted elsewhere ends the session.
	r.want(200, "", "keeper", "POST", "/v1/leagues/m/access", `{"userId":"other@example.org","role":"scorekeeper"}`)
	r.want(403, refused, "thief", "GET", "/v1/leagues/m/seasons", "")
	r.want(200, `"byCode":true`, "thief", "GET", "/v1/auth/session", "")
	r.want(201, "", "boss", "POST", "/v1/leagues", `{"leagueId":"b","name":"B"}`)
	r.want(200, "", "boss", "POST", "/v1/leagues/b/access", `{"userId":"keeper@example.org","role":"admin"}`)
	r.want(200, `"byCode":true`, "thief", "GET", "/v1/auth/session", "")
	r.want(200, "", "keeper", "POST", "/v1/leagues/b/access/accept", "")
	r.want(401, "unauthorized", "thief", "GET", "/v1/auth/session", "")
	r.want(200, "", "keeper", "GET", "/v1/auth/session", "")
}

// A user sees all of their sessions, however they began, and ends one or all of them.
func TestOwnSessions(t *testing.T) {
	r := newRig(t)
	r.league()
	phone := r.cookies["keeper"]
	r.in("keeper")
	r.codeSession("boss", "l", "keeper", "borrowed")
	var list struct {
		Sessions []struct {
			SessionID       string `json:"sessionId"`
			ByCode, Current bool
		}
	}
	body := r.want(200, `"current":true`, "keeper", "GET", "/v1/auth/sessions", "")
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Sessions) != 3 || strings.Count(body, `"byCode":true`) != 1 {
		t.Fatalf("%v %s", err, body)
	}
	for _, s := range list.Sessions {
		if s.ByCode {
			r.want(404, "no such session", "boss", "DELETE", "/v1/auth/sessions/"+s.SessionID, "")
			r.want(204, "", "keeper", "DELETE", "/v1/auth/sessions/"+s.SessionID, "")
		}
	}
	r.want(401, "unauthorized", "borrowed", "GET", "/v1/auth/session", "")
	r.cookies["phone"] = phone
	r.want(200, "", "phone", "GET", "/v1/auth/session", "")
	r.want(204, "", "keeper", "DELETE", "/v1/auth/sessions", "")
	for _, who := range []string{"keeper", "phone"} {
		r.want(401, "unauthorized", who, "GET", "/v1/auth/session", "")
	}
	r.want(200, "", "boss", "GET", "/v1/auth/session", "")
}

// A grant ends no session: else strangers could sign a scorer out in the middle of a game.
func TestGrantEndsNoSession(t *testing.T) {
	r := newRig(t)
	r.league()
	r.codeSession("boss", "l", "keeper", "tablet")
	r.want(201, "", "other", "POST", "/v1/leagues", `{"leagueId":"m","name":"Mine"}`)
	for _, role := range []string{"scorekeeper", "admin"} {
		r.want(200, `"accepted":false`, "other", "POST", "/v1/leagues/m/access", `{"userId":"keeper@example.org","role":"`+role+`"}`)
		r.want(200, `"sessionId":"sha256-`, "keeper", "GET", "/v1/auth/session", "")
		r.want(200, `"byCode":true`, "tablet", "GET", "/v1/auth/session", "")
	}
	r.want(200, `"seasons":[`, "tablet", "GET", "/v1/leagues/l/seasons", "")
}

// The sign-in page lists its reader's sessions and ends each, by the address in its form. It shows none to a session that began with a code.
func TestSessionsOnThePage(t *testing.T) {
	r := newRig(t)
	r.league()
	r.codeSession("boss", "l", "keeper", "borrowed")
	page := r.page("keeper", signInPath, 200, "Where you are signed in", "with a code", "(this browser)", "Sign out everywhere", `action="/3fc/v1/auth/sessions"`)
	forms := regexp.MustCompile(`action="/3fc(/v1/auth/sessions/[^"]+)" data-now data-method="DELETE"`).FindAllStringSubmatch(page, -1)
	if len(forms) != 1 { // this browser signs out instead
		t.Fatalf("%v %s", forms, page)
	}
	r.page("borrowed", signInPath, 200, "!Where you are signed in", "!/v1/auth/sessions")
	r.want(204, "", "keeper", "DELETE", html.UnescapeString(forms[0][1]), "")
	r.want(401, "unauthorized", "borrowed", "GET", "/v1/auth/session", "")
	r.page("keeper", signInPath, 200, "(this browser)", "!with a code")
}

// Sessions from before ids were hashes, the original's and this program's own, are accepted until they expire and not after that.
func TestRawSessionsExpire(t *testing.T) {
	r := newRig(t)
	r.league()
	const life = time.Hour
	for _, who := range []string{"original", "own"} {
		row := threefc.SignInKey("raw-secret-" + who)
		row["email"] = attr.S("boss@example.org")
		row["entityType"] = attr.S("session")
		if who == "own" { // earlier versions of this program also stored these
			row["createdAt"], row["updatedAt"] = attr.S("2026-07-04T09:00:00.000Z"), attr.S("2026-07-04T09:00:00.000Z")
		}
		row["expiresAtEpoch"], row[threefc.AttrTTL] = attr.Int(r.now.Add(life).Unix()), attr.Int(r.now.Add(life).Unix())
		if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: r.service.Table, Item: row})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		r.cookies[who] = "raw-secret-" + who
	}
	for _, at := range []struct {
		after  time.Duration
		status int
	}{{0, 200}, {life - time.Second, 200}, {time.Second, 401}, {24 * time.Hour, 401}} {
		r.now = r.now.Add(at.after)
		for _, who := range []string{"original", "own"} {
			r.want(at.status, "", who, "GET", "/v1/auth/session", "")
			r.want(at.status, "", who, "GET", "/v1/leagues", "")
		}
	}
}

// The table, and so the cloud and backups, has a hash of a session's secret. What is found there opens nothing; sessions of the original,
// whose ids are secrets, are accepted until they expire.
func TestSessionSecretsAreNotStored(t *testing.T) {
	r := newRig(t)
	r.league()
	r.codeSession("boss", "l", "keeper", "borrowed")
	w := r.ask("-", "POST", "/v1/auth/magic/start", `{"email":"ann@example.org"}`)
	if w.Code != 202 {
		t.Fatal(w.Body)
	}
	w = r.ask("-", "POST", "/v1/auth/magic/complete", fmt.Sprintf(`{"token":%q}`, r.token()), "Idempotency-Key", "k")
	r.cookies["ann"] = cookieIn(w)
	r.want(200, "", "ann", "GET", "/v1/auth/session", "")
	err := r.store.View(t.Context(), func(tx *store.Tx) error {
		for row, err := range tx.ScanAll(store.Scan{Table: r.service.Table}) {
			if err != nil {
				return err
			}
			text, err := json.Marshal(row)
			if err != nil {
				return err
			}
			for who, secret := range r.cookies {
				if strings.Contains(string(text), secret) {
					t.Errorf("the secret of %s is in the row %s", who, row["pk"].Str())
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.cookies["hash"] = threefc.SessionID(r.cookies["ann"])
	r.want(401, "unauthorized", "hash", "GET", "/v1/auth/session", "")
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
		row := threefc.SignInKey("raw-secret-of-the-original")
		row["entityType"], row["email"] = attr.S("session"), attr.S("ann@example.org")
		row["expiresAtEpoch"], row[threefc.AttrTTL] = attr.Int(r.now.Unix()+60), attr.Int(r.now.Unix()+60)
		_, err := tx.Put(store.PutItem{Table: r.service.Table, Item: row})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r.cookies["original"] = "raw-secret-of-the-original"
	if body := r.want(200, `"sessionId":"sha256-`, "original", "GET", "/v1/auth/session", ""); strings.Contains(body, "raw-secret") {
		t.Errorf("the answer shows the secret: %s", body)
	}
	r.want(204, "", "original", "POST", "/v1/auth/logout", "")
	r.want(401, "unauthorized", "original", "GET", "/v1/auth/session", "")
}
