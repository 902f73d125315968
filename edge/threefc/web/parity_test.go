package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The life of a league over every route: each status and error code in the parity table must occur.
func TestParity(t *testing.T) {
	r := newRig(t)
	r.signIns()
	r.league()
	r.leagues()
	r.play()
	secrets := r.people()
	r.conflicts()
	r.publicReads()
	r.deletions()
	for _, text := range append(secrets, "@") {
		if text == "" || strings.Contains(strings.ToUpper(r.log.String()), text) {
			t.Errorf("the log has %q", text)
		}
	}
	if !strings.Contains(r.log.String(), "path=/3fc/v1/invites/.../accept") {
		t.Error("the log has no requests")
	}
	var missing []string
	for line := range strings.Lines(parity) {
		if line = strings.TrimSpace(line); line != "" && !r.seen[line] {
			missing = append(missing, line)
		}
	}
	if len(missing) > 0 {
		t.Errorf("not seen:\n%s", strings.Join(missing, "\n"))
	}
}

func (r *rig) signIns() {
	r.want(200, `"status":"ok"`, "-", "GET", "/v1/health", "")
	r.want(400, "Field `email` is required.", "-", "POST", "/v1/auth/magic/start", `{}`)
	r.want(400, `{"error":"invalid_email","message":`, "-", "POST", "/v1/auth/magic/start", `{"email":"nobody"}`)
	r.want(400, "Field `more` is not known here.", "-", "POST", "/v1/auth/magic/start", `{"email":"a@b.c","more":1}`)
	r.want(202, `{"email":"ann@example.org","expiresAt":"2026-07-04T10:15:00.000Z","messageId":`, "-", "POST", "/v1/auth/magic/start", `{"email":" Ann@Example.org "}`)
	token := r.token()
	bad := `{"error":"invalid_or_expired_magic_link","message":"Invalid or expired magic link."}`
	for _, t := range []string{"x", "x.y", strings.ToUpper(token), token + "x"} {
		r.want(401, bad, "-", "POST", "/v1/auth/magic/complete", fmt.Sprintf(`{"token":%q}`, t))
	}
	w := r.ask("-", "POST", "/v1/auth/magic/complete", fmt.Sprintf(`{"token":%q}`, token))
	cookie := w.Header().Get("Set-Cookie")
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"status":"authenticated"`) || !strings.HasSuffix(cookie, "; Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax") {
		r.t.Errorf("%d %s %s", w.Code, w.Body, cookie)
	}
	value, _, _ := strings.Cut(strings.TrimPrefix(cookie, cookieName+"="), ";")
	r.cookies["ann"] = value
	r.signInAgain(bad)
	r.want(401, bad, "-", "POST", "/v1/auth/magic/complete", fmt.Sprintf(`{"token":%q}`, token))
	r.want(202, "", "-", "POST", "/v1/auth/magic/start", `{"email":"late@example.org"}`)
	late := r.token()
	r.now = r.now.Add(16 * time.Minute)
	r.want(401, bad, "-", "POST", "/v1/auth/magic/complete", fmt.Sprintf(`{"token":%q}`, late))
	r.want(200, `{"authenticated":true,"session":{"sessionId":`, "ann", "GET", "/v1/auth/session", "")
	r.want(401, `"message":"Valid session cookie required."`, "-", "GET", "/v1/auth/session", "")
	r.cookies["stale"] = "x"
	r.want(401, `"message":"Session is missing, invalid, or expired."`, "stale", "GET", "/v1/auth/session", "")
	r.want(204, "", "ann", "POST", "/v1/auth/logout", "")
	r.want(204, "", "-", "POST", "/v1/auth/logout", "")
	r.want(401, "unauthorized", "ann", "GET", "/v1/auth/session", "")
	for range 4 {
		r.want(202, "", "-", "POST", "/v1/auth/magic/start", `{"email":"ann@example.org"}`)
	}
	r.want(429, `{"error":"too_many_requests"`, "-", "POST", "/v1/auth/magic/start", `{"email":"ann@example.org"}`)
}

// signInAgain repeats a sign-in whose answer was lost: the same key gets the same session again, another key none, and after sign-out neither.
func (r *rig) signInAgain(bad string) {
	r.want(202, "", "-", "POST", "/v1/auth/magic/start", `{"email":"again@example.org"}`)
	body := fmt.Sprintf(`{"token":%q}`, r.token())
	first := r.ask("-", "POST", "/v1/auth/magic/complete", body, "Idempotency-Key", "n")
	again := r.ask("-", "POST", "/v1/auth/magic/complete", body, "Idempotency-Key", "n")
	cookie := again.Header().Get("Set-Cookie")
	if first.Code != 200 || again.Code != 200 || cookie == "" || cookie != first.Header().Get("Set-Cookie") || again.Body.String() != first.Body.String() {
		r.t.Errorf("first %d %s, again %d %s %s", first.Code, first.Body, again.Code, again.Body, cookie)
	}
	r.want(401, bad, "-", "POST", "/v1/auth/magic/complete", body, "Idempotency-Key", "m")
	r.want(409, "idempotency_conflict", "-", "POST", "/v1/auth/magic/complete", `{"token":"x.y"}`, "Idempotency-Key", "n")
	session, _, _ := strings.Cut(strings.TrimPrefix(cookie, cookieName+"="), ";")
	r.want(204, "", "-", "POST", "/v1/auth/logout", "", "Cookie", cookieName+"="+session)
	r.want(401, "unauthorized", "-", "POST", "/v1/auth/magic/complete", body, "Idempotency-Key", "n")
}

// token returns the token in the last mail.
func (r *rig) token() string {
	m := r.mails[len(r.mails)-1]
	_, token, ok := strings.Cut(m.Text, "https://3fc.example/3fc/-/sign-in?token=")
	if !ok {
		r.t.Errorf("mail: %s", m.Text)
	}
	token, _, _ = strings.Cut(token, "\n")
	return token
}

func (r *rig) leagues() {
	league := `{"leagueId":"l","name":"League"}`
	r.want(409, `{"error":"conflict","code":"already_exists"`, "other", "POST", "/v1/leagues", league)
	r.want(400, "Field `leagueId` must be a non-empty string. Field `name` must be a non-empty string.", "other", "POST", "/v1/leagues", `{"leagueId":" "}`)
	r.want(401, "", "-", "POST", "/v1/leagues", league)
	r.want(200, `"access":{"role":"viewer"}`, "watcher", "GET", "/v1/leagues", "")
	r.want(200, `{"leagues":[]}`, "other", "GET", "/v1/leagues", "")
	r.want(200, `"slug":"lg"`, "watcher", "GET", "/v1/leagues/l", "")
	r.want(403, `{"error":"forbidden","code":"league_access_required"`, "other", "GET", "/v1/leagues/l", "")
	r.want(404, `{"error":"not_found","message":"League x was not found."}`, "boss", "GET", "/v1/leagues/x", "")
	r.want(409, "Cannot delete league with existing seasons.", "boss", "DELETE", "/v1/leagues/l", "")
	r.want(403, `"message":"Admin role is required for league l."`, "keeper", "DELETE", "/v1/leagues/l", "")
	r.want(409, "already_exists", "boss", "POST", "/v1/leagues/l/seasons", `{"seasonId":"s","name":"Again"}`)
	r.want(403, "admin_required", "watcher", "POST", "/v1/leagues/l/seasons", `{`)
	r.want(200, `"startsOn":null`, "watcher", "GET", "/v1/leagues/l/seasons", "")
	r.want(200, `"name":"Season"`, "watcher", "GET", "/v1/seasons/s", "")
	r.want(404, `"code":"acl_scope_not_found","message":"ACL scope could not be resolved for season x."`, "boss", "GET", "/v1/seasons/x", "")
	r.want(409, "Cannot delete season with existing games.", "boss", "DELETE", "/v1/seasons/s", "")
	r.want(409, "already_exists", "boss", "POST", "/v1/seasons/s/sessions", `{"sessionId":"d","sessionDate":"2026-07-04"}`)
	r.want(200, `"sessionDate":"2026-07-04"`, "watcher", "GET", "/v1/seasons/s/sessions", "")
	r.want(200, `"color":"#d83b36"`, "watcher", "GET", "/v1/seasons/s/teams", "")
	r.want(200, `"name":"Reds"`, "boss", "PUT", "/v1/seasons/s/teams/red", `{"name":"Reds","color":"#aa0000"}`)
	r.want(200, `"name":"Reds","color":null`, "boss", "PUT", "/v1/seasons/s/teams/red", `{"name":"Reds"}`)
	r.want(400, "Field `teamId` must be red, blue or yellow.", "boss", "PUT", "/v1/seasons/s/teams/green", `{"name":"Reds"}`)
	r.want(400, "Field `color`", "boss", "PUT", "/v1/seasons/s/teams/red", `{"name":"Reds","color":"red"}`)
	r.want(409, "already_exists", "boss", "POST", "/v1/sessions/d/games", `{"gameId":"g","gameStartTs":"2026-07-04T10:00:00Z"}`)
	r.want(400, "\"Field `status` must be one of scheduled, live.\"", "boss", "POST", "/v1/sessions/d/games", `{"gameId":"h","gameStartTs":"2026-07-04T10:00:00Z","status":"finished"}`)
	r.want(400, "\"Field `status` must be a non-empty string.\"", "boss", "PATCH", "/v1/games/g", `{"status":""}`)
	for _, at := range []string{"2026-07-04", "9999-12-31T23:59:59-01:00"} { // in UTC the year 10000
		r.want(400, "\"Field `gameStartTs` must be an ISO 8601 timestamp.\"", "boss", "POST", "/v1/sessions/d/games", `{"gameId":"h","gameStartTs":"`+at+`"}`)
	}
	r.want(200, `"gameId":"g"`, "watcher", "GET", "/v1/sessions/d/games", "")
	r.want(200, `"gameId":"g"`, "watcher", "GET", "/v1/seasons/s/games", "")
	r.want(413, `{"error":"too_large"`, "boss", "POST", "/v1/leagues", `{"leagueId":"`+strings.Repeat("x", 70<<10)+`"}`)
}

func (r *rig) play() {
	g := "/v1/games/g"
	r.want(200, `"timer":{"thirdLengthMinutes":20,"activeThird":null,"status":"not_started"`, "watcher", "GET", g, "")
	r.want(404, "acl_scope_not_found", "boss", "GET", "/v1/games/x", "")
	r.want(400, `PATCH /v1/games/{gameId} accepts status and/or gameStartTs.`, "boss", "PATCH", g, `{}`)
	r.want(200, `"thirdLengthMinutes":25`, "boss", "PATCH", g, `{"thirdLengthMinutes":25}`)
	r.want(200, `"gameStartTs":"2026-07-04T12:00:00.000Z"`, "boss", "PATCH", g, `{"gameStartTs":"2026-07-04T12:00:00Z","thirdLengthMinutes":20}`)
	r.want(403, "admin_required", "keeper", "PATCH", g, `{}`)
	r.want(200, `"name":"Reds"`, "watcher", "GET", g+"/teams", "")
	r.want(200, `"name":"Blues","color":"#2364d2","scored":0`, "boss", "PUT", g+"/teams/blue", `{"name":"Blues"}`)
	r.want(400, "must be red, blue or yellow", "boss", "PUT", g+"/teams/green", `{"name":"Blues"}`)
	r.want(200, `{"players":[{"playerId":"y1"`, "watcher", "GET", g+"/players?search=ER%20Y&limit=99", "")
	r.want(400, "Field `limit`", "watcher", "GET", g+"/players?limit=0", "")
	r.want(409, "already_exists", "keeper", "POST", g+"/players", `{"playerId":"y1","nickname":"Again"}`)
	r.want(201, `"nickname":"Zoe"`, "keeper", "POST", g+"/players", `{"playerId":"z1","nickname":"Zoe"}`)
	r.want(403, `"code":"scorekeeper_required","message":"Admin or scorekeeper role is required for league l."`, "watcher", "POST", g+"/players", `{`)
	r.want(200, `"unassignedPlayers":[{"playerId":"z1"`, "watcher", "GET", g+"/roster", "")
	r.want(200, `"teamId":"red"`, "keeper", "PUT", g+"/roster/z1", `{"teamId":"red"}`)
	r.want(200, `"teamId":"blue"`, "keeper", "PUT", g+"/roster/z1", `{"teamId":"blue"}`)
	r.want(200, `"teamId":"blue"`, "keeper", "PUT", g+"/roster/z1", `{"teamId":"blue"}`)
	r.want(400, "Field `teamId` must be red, blue or yellow.", "keeper", "PUT", g+"/roster/z1", `{"teamId":"green"}`)
	r.want(404, "Player x was not found.", "keeper", "PUT", g+"/roster/x", `{"teamId":"red"}`)
	r.want(204, "", "keeper", "DELETE", g+"/roster/z1", "")
	r.want(404, "not_found", "keeper", "DELETE", g+"/roster/z1", "")
	r.want(201, "", "keeper", "POST", g+"/players", `{"playerId":"rude","nickname":"Rude"}`)
	r.want(403, "admin_required", "keeper", "DELETE", g+"/players/rude", "")
	r.want(204, "", "boss", "DELETE", g+"/players/rude", "")
	r.want(404, "This player is not in this game.", "boss", "DELETE", g+"/players/rude", "")
	r.want(404, "Player rude was not found.", "keeper", "PUT", g+"/roster/rude", `{"teamId":"red"}`)

	r.want(400, "Third must be 1, 2, or 3.", "keeper", "POST", g+"/thirds/4/start", "")
	r.want(400, "Third must be 1, 2, or 3.", "keeper", "POST", g+"/thirds/01/finish", "")
	r.want(409, "third_not_started", "keeper", "POST", g+"/thirds/1/finish", "")
	r.want(409, "previous_third_unfinished", "keeper", "POST", g+"/thirds/2/start", "")
	r.want(409, "no_active_third", "keeper", "POST", g+"/goals", redGoal)
	r.want(409, "thirds_incomplete", "keeper", "POST", g+"/finish", "")
	r.want(200, `"status":"live"`, "keeper", "POST", g+"/thirds/1/start", "{}")
	r.want(200, `"played":0`, "-", "GET", "/v1/public/seasons/s/standings", "")
	r.want(409, "third_already_started", "keeper", "POST", g+"/thirds/1/start", "")
	r.want(409, "third_already_running", "keeper", "POST", g+"/thirds/2/start", "")
	r.want(409, "third_length_locked", "boss", "PATCH", g, `{"thirdLengthMinutes":30}`)
	r.want(409, "timer_status_locked", "boss", "PATCH", g, `{"status":"scheduled"}`)
	r.want(409, "third_running", "keeper", "POST", g+"/finish", "")
	r.goals()
	r.want(200, `"status":"between_thirds"`, "keeper", "POST", g+"/thirds/1/finish", "")
	r.want(409, "third_already_finished", "keeper", "POST", g+"/thirds/1/finish", "")
	r.want(409, "occurred_at", "keeper", "POST", g+"/thirds/2/start", "", "Touchline-Occurred-Ago", "3600")
	for n := 2; n <= 3; n++ {
		r.want(200, "", "keeper", "POST", fmt.Sprint(g, "/thirds/", n, "/start"), "")
		r.now = r.now.Add(20 * time.Minute)
		r.want(200, "", "keeper", "POST", fmt.Sprint(g, "/thirds/", n, "/finish"), "")
	}
	r.want(409, "teams_not_ready", "keeper", "POST", g+"/finish", "")
	r.export()
	r.want(200, `"result":{"comparator":"fewest_conceded_then_most_scored","teams":[{"teamId":"red"`, "keeper", "POST", g+"/finish", "")
	r.want(200, `"status":"finished"`, "keeper", "POST", g+"/finish", "{}")
	for path, body := range map[string]string{"/thirds/1/start": "", "/thirds/3/finish": "", "/goals": redGoal} {
		r.want(409, "game_finished", "boss", "POST", g+path, body)
	}
	r.want(409, "game_finished", "boss", "PUT", g+"/teams/blue", `{"name":"B"}`)
	r.want(409, "game_finished", "keeper", "PUT", g+"/roster/z1", `{"teamId":"red"}`)
	r.want(409, "game_finished", "keeper", "DELETE", g+"/roster/r1", "")
	r.want(409, "player_has_goals", "boss", "DELETE", g+"/roster/r1", "")
	r.want(409, "player_has_goals", "boss", "DELETE", g+"/players/r1", "")
	r.want(200, "", "boss", "PUT", g+"/roster/z1", `{"teamId":"red"}`)
	last := r.last()
	for _, ask := range [][3]string{{"PATCH", "/goals/" + last, `{"ownGoal":false,"scoringTeamId":"red","scorerPlayerId":"r1"}`}, {"POST", "/goals/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, last)}, {"DELETE", "/goals/" + last, ""}} {
		r.want(409, "game_finished", "keeper", ask[0], g+ask[1], ask[2])
	}
	r.want(200, `"action":"goal_updated"`, "boss", "PATCH", g+"/goals/"+last, `{"concedingTeamId":"blue","scoringTeamId":"red","ownGoal":false,"scorerPlayerId":"r1"}`)
	r.want(200, `"conceded":2`, "watcher", "GET", g, "")
}

// last returns the id of the latest goal.
func (r *rig) last() string {
	all := strings.Split(r.want(200, `"timeline":`, "watcher", "GET", "/v1/games/g/goals", ""), `"eventId":"`)
	id, _, _ := strings.Cut(all[len(all)-1], `"`)
	return id
}

func (r *rig) goals() {
	g := "/v1/games/g/goals"
	for code, body := range map[string]string{
		"invalid_team":                 `{"scoringTeamId":"green","concedingTeamId":"blue","scorerPlayerId":"r1","ownGoal":false}`,
		"invalid_assists":              `{"scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":"r1","ownGoal":false,"assistPlayerIds":["r1"]}`,
		"own_goal_scoring_team":        `{"scoringTeamId":"red","concedingTeamId":"red","scorerPlayerId":"r1","ownGoal":true}`,
		"scoring_team_required":        `{"scoringTeamId":null,"concedingTeamId":"blue","scorerPlayerId":"r1","ownGoal":false}`,
		"same_team_goal":               `{"scoringTeamId":"red","concedingTeamId":"red","scorerPlayerId":"r1","ownGoal":false}`,
		"scorer_not_rostered":          `{"scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":"q","ownGoal":false}`,
		"scorer_not_on_scoring_team":   `{"scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":"y1","ownGoal":false}`,
		"scorer_not_on_conceding_team": `{"scoringTeamId":null,"concedingTeamId":"blue","scorerPlayerId":"y1","ownGoal":true}`,
		"assist_not_rostered":          `{"scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":"r1","ownGoal":false,"assistPlayerIds":["q"]}`,
	} {
		r.want(400, `{"error":"bad_request","code":"`+code, "keeper", "POST", g, body)
	}
	r.want(400, "Field `scoringTeamId` is required.", "keeper", "POST", g, `{"concedingTeamId":"blue","scorerPlayerId":"r1","ownGoal":false}`)
	r.now = r.now.Add(time.Minute)
	first := r.goal(redGoal)
	r.want(409, "occurred_at", "keeper", "POST", g, redGoal, "Touchline-Occurred-Ago", "3600")
	r.want(409, "occurred_at", "keeper", "POST", g, redGoal, "Touchline-Occurred-Ago", "50000")
	r.want(400, "Field `Touchline-Occurred-Ago`", "keeper", "POST", g, redGoal, "Touchline-Occurred-Ago", "soon")
	r.want(201, `"displayTime":"00:30"`, "keeper", "POST", g, redGoal, "Touchline-Occurred-Ago", "30")
	r.once(g)
	r.now = r.now.Add(time.Minute)
	own := r.goal(ownGoal)
	r.want(400, "at least one goal field", "keeper", "PATCH", g+"/"+own, `{}`)
	r.want(400, "same_team_goal", "keeper", "PATCH", g+"/"+first, `{"concedingTeamId":"red"}`)
	r.want(404, "This goal is no longer in the game.", "keeper", "PATCH", g+"/x", `{"ownGoal":true}`)
	r.want(200, `"previousGoal":`, "keeper", "PATCH", g+"/"+first, `{"concedingTeamId":"yellow"}`)
	r.want(409, "not_latest_goal", "keeper", "POST", g+"/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, first))
	r.want(409, "latest_goal_changed", "keeper", "POST", g+"/undo-last", `{"expectedEventId":"x"}`)
	r.want(200, `"action":"goal_undo_last"`, "keeper", "POST", g+"/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, own))
	r.want(200, `"deletedGoal":`, "keeper", "DELETE", g+"/"+first, "")
	r.want(404, "", "keeper", "DELETE", g+"/"+first, "")
	r.goal(ownGoal)
}

// once repeats a key: with the same body there is one goal and the same answer; with another body the request is refused.
func (r *rig) once(g string) {
	key := []string{"Idempotency-Key", " k1 "}
	first := r.want(201, `"goal":`, "keeper", "POST", g, redGoal, key...)
	if again := r.want(201, `"goal":`, "keeper", "POST", g, redGoal, key...); again != first {
		r.t.Errorf("again: %s\nfirst: %s", again, first)
	}
	r.want(409, `{"error":"idempotency_conflict","code":"idempotency_conflict","message":"Idempotency key has already been used with a different payload."}`,
		"keeper", "POST", g, ownGoal, key...)
	r.want(400, "Field `Idempotency-Key`", "keeper", "POST", g, redGoal, "Idempotency-Key", strings.Repeat("x", 129))
	r.want(200, `"deletedGoal":`, "keeper", "DELETE", g+"/"+eventOf(first), "", "Idempotency-Key", "k2")
	r.want(200, `"deletedGoal":`, "keeper", "DELETE", g+"/"+eventOf(first), "", "Idempotency-Key", "k2")
	r.want(201, `"goal":{"gameId":"g","eventId":"`+eventOf(first), "keeper", "POST", g, redGoal, key...)
}

func eventOf(answer string) string {
	_, after, _ := strings.Cut(answer, `"eventId":"`)
	id, _, _ := strings.Cut(after, `"`)
	return id
}

// people returns the codes that were used.
func (r *rig) people() (secrets []string) {
	_, after, _ := strings.Cut(r.want(200, "", "watcher", "GET", "/v1/games/g", ""), `"joinCode":"`)
	code := strings.ToLower(after[:8])
	r.want(404, `"message":"Join code was not found."`, "-", "POST", "/v1/join/AAAAAAAA", `{"nickname":"Al"}`)
	r.want(404, "", "-", "POST", "/v1/join/A", `{"nickname":"Al"}`)
	r.want(400, "Field `nickname` must be 80 characters or fewer.", "-", "POST", "/v1/join/"+code, fmt.Sprintf(`{"nickname":%q}`, strings.Repeat("é", 81)))
	joined := r.want(201, `"joinCode":"`+strings.ToUpper(code), "-", "POST", "/v1/join/"+code, `{"nickname":"Al"}`, "Idempotency-Key", "j")
	if again := r.want(201, "", "-", "POST", "/v1/join/"+code, `{"nickname":"Al"}`, "Idempotency-Key", "j"); again != joined {
		r.t.Errorf("joined twice: %s %s", joined, again)
	}
	_, after, _ = strings.Cut(joined, `"playerId":"`)
	al, _, _ := strings.Cut(after, `"`)
	r.want(200, `"claimedByCurrentUser":true`, "other", "POST", "/v1/players/"+al+"/claim", "{}")
	r.want(200, "", "other", "POST", "/v1/players/"+al+"/claim", "")
	r.want(409, "player_claimed", "watcher", "POST", "/v1/players/"+al+"/claim", "")
	r.want(404, "", "watcher", "POST", "/v1/players/x/claim", "")
	r.want(200, `{"playerId":"`+al+`","nickname":"Al","createdAt"`, "watcher", "GET", "/v1/players/"+al, "")
	r.want(403, "league_access_required", "other", "GET", "/v1/players/"+al, "")

	r.want(200, `"role":"viewer"`, "boss", "GET", "/v1/leagues/l/access", "")
	r.want(400, "Field `role`", "boss", "POST", "/v1/leagues/l/access", `{"userId":"a@b.c","role":"owner"}`)
	r.want(409, "last_admin", "boss", "POST", "/v1/leagues/l/access", `{"userId":"boss@example.org","role":"scorekeeper"}`)
	r.want(404, "has no role in this league", "boss", "POST", "/v1/leagues/l/sign-in-codes", `{"email":"new@example.org"}`)
	r.want(404, "has no role in this league", "boss", "POST", "/v1/leagues/l/sign-in-codes", `{"email":"other@example.org"}`)
	made := r.want(201, `"expiresAt"`, "boss", "POST", "/v1/leagues/l/sign-in-codes", `{"email":"keeper@example.org"}`)
	_, after, _ = strings.Cut(made, `"code":"`)
	signIn := fmt.Sprintf(`{"email":"keeper@example.org","code":%q}`, strings.ToLower(after[:8]))
	r.want(401, "invalid_or_expired_magic_link", "-", "POST", "/v1/auth/code/complete", strings.Replace(signIn, "keeper", "other", 1))
	r.want(200, `"email":"keeper@example.org"`, "-", "POST", "/v1/auth/code/complete", signIn)
	for range 4 {
		r.want(401, "invalid_or_expired_magic_link", "-", "POST", "/v1/auth/code/complete", signIn)
	}
	r.want(429, "too_many_requests", "-", "POST", "/v1/auth/code/complete", signIn)

	share := r.want(201, `"kind":"share"`, "boss", "POST", "/v1/leagues/l/organiser-invites", `{}`)
	if again := r.want(201, "", "boss", "POST", "/v1/leagues/l/organiser-invites", ``); again != share {
		r.t.Errorf("two links: %s %s", share, again)
	}
	mailed := r.want(201, `"emailDelivery":"queued"`, "boss", "POST", "/v1/leagues/l/organiser-invites", `{"email":"other@example.org"}`)
	if m := r.mails[len(r.mails)-1]; m.To != "other@example.org" || !strings.Contains(m.Text, "/3fc/-/invites/"+inviteOf(mailed)) {
		r.t.Errorf("%+v", m)
	}
	r.want(400, "invalid_email", "boss", "POST", "/v1/leagues/l/organiser-invites", `{"email":"x"}`)
	r.want(403, "invite_email_mismatch", "watcher", "POST", "/v1/invites/"+inviteOf(mailed)+"/accept", "")
	r.want(200, `"role":"admin"`, "other", "POST", "/v1/invites/"+inviteOf(mailed)+"/accept", "{}")
	r.want(409, "invite_used", "other", "POST", "/v1/invites/"+inviteOf(mailed)+"/accept", "{}")
	r.want(404, "", "other", "POST", "/v1/invites/AAAAAAAA/accept", "")
	r.want(200, `"inviteLink":"https://3fc.example/3fc/-/leagues/l"`, "watcher", "POST", "/v1/invites/"+inviteOf(share)+"/accept", "{}")
	r.want(200, `"role":"scorekeeper"`, "other", "POST", "/v1/leagues/l/access", `{"userId":"boss@example.org","role":"scorekeeper"}`)
	r.want(200, `"role":"admin"`, "other", "POST", "/v1/leagues/l/access", `{"userId":"boss@example.org","role":"admin"}`)
	for range 15 {
		r.want(201, "", "boss", "POST", "/v1/leagues/l/organiser-invites", ``)
	}
	for n := 0; ; n++ {
		if w := r.ask("boss", "POST", "/v1/leagues/l/organiser-invites", ``); w.Code == 429 {
			break
		} else if n > 20 {
			r.t.Fatal("invites are not limited")
		}
	}
	return []string{strings.ToUpper(code), inviteOf(mailed), inviteOf(share)}
}

// conflicts has an admin decide about refused writes of the game. Those of another game cannot be decided here.
func (r *rig) conflicts() {
	cloud := &refusing{games: []string{"g", "x"}}
	was := r.server
	r.sync, r.server = cloud, nil
	r.server = r.serve()
	c := "/v1/games/g/conflicts/"
	r.want(200, `{"id":1,"state":"retry"}`, "boss", "POST", c+"1/retry", "")
	r.want(200, `{"id":1,"state":"discard"}`, "boss", "POST", c+"1/discard", "{}")
	for _, verb := range []string{"/retry", "/discard"} {
		r.want(404, "not_found", "boss", "POST", c+"2"+verb, "")
		r.want(404, "not_found", "boss", "POST", c+"none"+verb, "")
	}
	r.want(403, "admin_required", "keeper", "POST", c+"1/retry", "")
	elsewhere := &metElsewhere{}
	r.sync, r.server = elsewhere, nil
	r.server = r.serve()
	r.want(404, "not_found", "boss", "POST", "/v1/conflicts/2/discard", "")
	r.want(404, "not_found", "keeper", "POST", "/v1/conflicts/1/discard", "")
	r.want(200, `{"id":1,"state":"discard"}`, "boss", "POST", "/v1/conflicts/1/discard", "{}")
	if got := strings.Join(cloud.decided, " "); got != "1 retry 1 discard" || elsewhere.dismissed != 1 {
		r.t.Errorf("decided: %s", got)
	}
	r.sync, r.server = nil, was
}

func (r *rig) publicReads() {
	p := "/v1/public"
	r.want(200, `{"leagues":[{"leagueId":"l","name":"League","slug":"lg"}]}`, "-", "GET", p+"/leagues", "")
	for _, league := range []string{"l", "lg"} {
		r.want(200, `"seasonId":"s"`, "-", "GET", p+"/leagues/"+league+"/seasons", "")
	}
	r.want(404, "not_found", "-", "GET", p+"/leagues/x/seasons", "")
	r.want(200, `"winnerTeamId":"red"`, "-", "GET", p+"/games/g", "")
	r.want(404, "not_found", "-", "GET", p+"/games/x", "")
	r.want(200, `"scorer":"Player r"`, "-", "GET", p+"/games/g/timeline", "")
	r.want(404, "not_found", "-", "GET", p+"/games/x/timeline", "")
	r.want(200, `"standings":[{"rank":1,"teamId":"red"`, "-", "GET", p+"/seasons/s/standings", "")
	r.want(200, `"points":0`, "-", "GET", p+"/seasons/s/standings?table=blissett", "")
	r.want(400, "Field `table`", "-", "GET", p+"/seasons/s/standings?table=x", "")
	r.want(404, "not_found", "-", "GET", p+"/seasons/x/standings", "")
	r.want(200, `"nickname":"Player r","goals":2,"ownGoals":0,"assists":0,"games":1,"goalsPerGame":2}`, "-", "GET", p+"/seasons/s/leaderboards/players", "")
	r.want(200, `"players":[{"rank":1,`, "-", "GET", p+"/seasons/s/leaderboards/players?sort=perGame", "")
	r.want(404, "not_found", "-", "GET", p+"/seasons/x/leaderboards/players", "")
	for _, path := range []string{"/leagues", "/leagues/l/seasons", "/games/g", "/games/g/timeline", "/seasons/s/standings", "/seasons/s/leaderboards/players"} {
		w := r.ask("-", "GET", p+path, "")
		if strings.Contains(w.Body.String(), "@") || strings.Contains(w.Body.String(), "playerId") {
			r.t.Errorf("%s: %s", path, w.Body)
		}
		if w := r.ask("-", "GET", p+path, "", "If-None-Match", w.Header().Get("ETag")); w.Code != http.StatusNotModified {
			r.t.Errorf("%s with its ETag: %d", path, w.Code)
		}
	}
}

func (r *rig) deletions() {
	r.want(403, "admin_required", "keeper", "DELETE", "/v1/games/g", "")
	r.want(204, "", "boss", "DELETE", "/v1/games/g", "")
	r.want(404, "acl_scope_not_found", "boss", "DELETE", "/v1/games/g", "")
	r.want(200, `{"games":[]}`, "boss", "GET", "/v1/sessions/d/games", "")
	r.want(200, `"sessionId":"d"`, "boss", "GET", "/v1/seasons/s/sessions", "")
	r.want(204, "", "boss", "DELETE", "/v1/seasons/s", "")
	r.want(204, "", "boss", "DELETE", "/v1/leagues/l", "")
	r.export()
	r.want(404, "not_found", "boss", "GET", "/v1/leagues/l", "")
	r.want(200, `{"leagues":[]}`, "boss", "GET", "/v1/leagues", "")
}

// parity lists the answers that must occur: method, path, status and error code.
const parity = `
GET /v1/health 200
POST /v1/auth/magic/start 202
POST /v1/auth/magic/start 400 bad_request
POST /v1/auth/magic/start 400 invalid_email
POST /v1/auth/magic/start 429 rate_limited
POST /v1/auth/magic/complete 200
POST /v1/auth/magic/complete 401 invalid_or_expired_magic_link
POST /v1/auth/code/complete 200
POST /v1/auth/code/complete 401 invalid_or_expired_magic_link
POST /v1/auth/code/complete 429 rate_limited
POST /v1/leagues/{league}/sign-in-codes 201
POST /v1/leagues/{league}/sign-in-codes 404 not_found
GET /v1/auth/session 200
GET /v1/auth/session 401 unauthorized
POST /v1/auth/logout 204
POST /v1/leagues 201
POST /v1/leagues 400 bad_request
POST /v1/leagues 401 unauthorized
POST /v1/leagues 409 already_exists
POST /v1/leagues 413 too_large
GET /v1/leagues 200
GET /v1/leagues/{league} 200
GET /v1/leagues/{league} 403 league_access_required
GET /v1/leagues/{league} 404 not_found
DELETE /v1/leagues/{league} 204
DELETE /v1/leagues/{league} 403 admin_required
DELETE /v1/leagues/{league} 409 league_has_seasons
POST /v1/leagues/{league}/seasons 201
POST /v1/leagues/{league}/seasons 403 admin_required
POST /v1/leagues/{league}/seasons 409 already_exists
GET /v1/leagues/{league}/seasons 200
GET /v1/seasons/{season} 200
GET /v1/seasons/{season} 404 acl_scope_not_found
DELETE /v1/seasons/{season} 204
DELETE /v1/seasons/{season} 409 season_has_games
GET /v1/seasons/{season}/games 200
POST /v1/seasons/{season}/sessions 201
POST /v1/seasons/{season}/sessions 409 already_exists
GET /v1/seasons/{season}/sessions 200
GET /v1/seasons/{season}/teams 200
PUT /v1/seasons/{season}/teams/{team} 200
PUT /v1/seasons/{season}/teams/{team} 400 bad_request
POST /v1/sessions/{session}/games 201
POST /v1/sessions/{session}/games 400 bad_request
POST /v1/sessions/{session}/games 409 already_exists
GET /v1/sessions/{session}/games 200
GET /v1/games/{game} 200
GET /v1/games/{game} 404 acl_scope_not_found
PATCH /v1/games/{game} 200
PATCH /v1/games/{game} 400 bad_request
PATCH /v1/games/{game} 403 admin_required
PATCH /v1/games/{game} 409 third_length_locked
PATCH /v1/games/{game} 409 timer_status_locked
DELETE /v1/games/{game} 204
DELETE /v1/games/{game} 403 admin_required
DELETE /v1/games/{game} 404 acl_scope_not_found
GET /v1/games/{game}/teams 200
PUT /v1/games/{game}/teams/{team} 200
PUT /v1/games/{game}/teams/{team} 400 bad_request
PUT /v1/games/{game}/teams/{team} 409 game_finished
GET /v1/games/{game}/players 200
GET /v1/games/{game}/players 400 bad_request
POST /v1/games/{game}/players 201
POST /v1/games/{game}/players 403 scorekeeper_required
POST /v1/games/{game}/players 409 already_exists
GET /v1/games/{game}/roster 200
PUT /v1/games/{game}/roster/{player} 200
PUT /v1/games/{game}/roster/{player} 400 bad_request
PUT /v1/games/{game}/roster/{player} 404 not_found
PUT /v1/games/{game}/roster/{player} 409 game_finished
DELETE /v1/games/{game}/roster/{player} 204
DELETE /v1/games/{game}/roster/{player} 404 not_found
DELETE /v1/games/{game}/roster/{player} 409 player_has_goals
DELETE /v1/games/{game}/roster/{player} 409 game_finished
POST /v1/games/{game}/thirds/{third}/start 200
POST /v1/games/{game}/thirds/{third}/start 400 bad_request
POST /v1/games/{game}/thirds/{third}/start 409 game_finished
POST /v1/games/{game}/thirds/{third}/start 409 third_already_started
POST /v1/games/{game}/thirds/{third}/start 409 third_already_running
POST /v1/games/{game}/thirds/{third}/start 409 previous_third_unfinished
POST /v1/games/{game}/thirds/{third}/start 409 occurred_at
POST /v1/games/{game}/thirds/{third}/finish 200
POST /v1/games/{game}/thirds/{third}/finish 400 bad_request
POST /v1/games/{game}/thirds/{third}/finish 409 game_finished
POST /v1/games/{game}/thirds/{third}/finish 409 third_not_started
POST /v1/games/{game}/thirds/{third}/finish 409 third_already_finished
POST /v1/conflicts/{conflict}/discard 200
POST /v1/conflicts/{conflict}/discard 404 not_found
POST /v1/games/{game}/conflicts/{conflict}/retry 200
POST /v1/games/{game}/conflicts/{conflict}/retry 404 not_found
POST /v1/games/{game}/conflicts/{conflict}/discard 200
POST /v1/games/{game}/conflicts/{conflict}/discard 404 not_found
GET /v1/games/{game}/goals 200
POST /v1/games/{game}/goals 201
POST /v1/games/{game}/goals 400 bad_request
POST /v1/games/{game}/goals 400 invalid_team
POST /v1/games/{game}/goals 400 invalid_assists
POST /v1/games/{game}/goals 400 own_goal_scoring_team
POST /v1/games/{game}/goals 400 scoring_team_required
POST /v1/games/{game}/goals 400 same_team_goal
POST /v1/games/{game}/goals 400 scorer_not_rostered
POST /v1/games/{game}/goals 400 scorer_not_on_scoring_team
POST /v1/games/{game}/goals 400 scorer_not_on_conceding_team
POST /v1/games/{game}/goals 400 assist_not_rostered
POST /v1/games/{game}/goals 409 game_finished
POST /v1/games/{game}/goals 409 no_active_third
POST /v1/games/{game}/goals 409 occurred_at
POST /v1/games/{game}/goals 409 idempotency_conflict
PATCH /v1/games/{game}/goals/{event} 200
PATCH /v1/games/{game}/goals/{event} 400 bad_request
PATCH /v1/games/{game}/goals/{event} 400 same_team_goal
PATCH /v1/games/{game}/goals/{event} 404 not_found
PATCH /v1/games/{game}/goals/{event} 409 game_finished
DELETE /v1/games/{game}/goals/{event} 200
DELETE /v1/games/{game}/goals/{event} 404 not_found
DELETE /v1/games/{game}/goals/{event} 409 game_finished
POST /v1/games/{game}/goals/undo-last 200
POST /v1/games/{game}/goals/undo-last 409 latest_goal_changed
POST /v1/games/{game}/goals/undo-last 409 not_latest_goal
POST /v1/games/{game}/goals/undo-last 409 game_finished
POST /v1/games/{game}/finish 200
POST /v1/games/{game}/finish 409 third_running
POST /v1/games/{game}/finish 409 thirds_incomplete
POST /v1/games/{game}/finish 409 teams_not_ready
POST /v1/join/{code} 201
POST /v1/join/{code} 400 bad_request
POST /v1/join/{code} 404 not_found
POST /v1/players/{player}/claim 200
POST /v1/players/{player}/claim 404 not_found
POST /v1/players/{player}/claim 409 player_claimed
GET /v1/players/{player} 200
GET /v1/players/{player} 403 league_access_required
GET /v1/leagues/{league}/access 200
POST /v1/leagues/{league}/access 200
POST /v1/leagues/{league}/access 400 bad_request
POST /v1/leagues/{league}/access 409 last_admin
POST /v1/leagues/{league}/organiser-invites 201
POST /v1/leagues/{league}/organiser-invites 400 invalid_email
POST /v1/leagues/{league}/organiser-invites 429 rate_limited
POST /v1/invites/{code}/accept 200
POST /v1/invites/{code}/accept 403 invite_email_mismatch
POST /v1/invites/{code}/accept 404 not_found
POST /v1/invites/{code}/accept 409 invite_used
GET /v1/public/leagues 200
GET /v1/public/leagues/{league}/seasons 200
GET /v1/public/leagues/{league}/seasons 404 not_found
GET /v1/public/games/{game} 200
GET /v1/public/games/{game} 404 not_found
GET /v1/public/games/{game}/timeline 200
GET /v1/public/games/{game}/timeline 404 not_found
GET /v1/public/seasons/{season}/standings 200
GET /v1/public/seasons/{season}/standings 400 bad_request
GET /v1/public/seasons/{season}/standings 404 not_found
GET /v1/public/seasons/{season}/leaderboards/players 200
GET /v1/public/seasons/{season}/leaderboards/players 404 not_found
`

// inviteOf returns the code of an invite.
func inviteOf(answer string) string {
	_, after, _ := strings.Cut(answer, `"inviteCode":"`)
	return after[:8]
}
