package web

import (
	"context"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
)

var update = flag.Bool("update", false, "write the golden files anew; read what changed")

// page requests a page as a user and checks that it has the parts, and lacks those that begin with !. No page may show an email address.
func (r *rig) page(who, path string, status int, has ...string) string {
	r.t.Helper()
	headers := []string{"Accept", "text/html"}
	if c := r.cookies[who]; c != "" {
		headers = append(headers, "Cookie", cookieName+"="+c)
	}
	w := web.Ask(r.serve().Handler(), "GET", "/3fc/-"+path, "", headers...)
	if w.Code != status {
		r.t.Errorf("%s: %s: %d %s, want %d", who, path, w.Code, w.Body, status)
	}
	for _, part := range has {
		text, not := strings.CutPrefix(part, "!")
		if strings.Contains(w.Body.String(), text) == not {
			r.t.Errorf("%s: %s has no %s", who, path, part)
		}
	}
	if status == 200 && strings.Contains(w.Body.String(), "example.org") {
		r.t.Errorf("%s: %s shows an email address", who, path)
	}
	if at := w.Header().Get("Location"); status == 303 && !strings.HasPrefix(at, "/3fc/-/sign-in?to=") {
		r.t.Errorf("%s: %s leads to %s", who, path, at)
	}
	return w.Body.String()
}

var figures = regexp.MustCompile(`data-wash="score" data-count="[a-z-]+">(\d+)</p><p class="side__small num">conceded<br>scored <span data-count="[a-z-]+">(\d+)`)

// tallies returns the tallies on a page: conceded and scored of red, blue and yellow.
func tallies(body string) (all string) {
	for _, m := range figures.FindAllStringSubmatch(body, -1) {
		all += m[1] + "-" + m[2] + " "
	}
	return all
}

// The pages in each state of a game, as seen by each kind of reader.
func TestPages(t *testing.T) {
	r := newRig(t)
	r.page("-", "/", 200, "No leagues yet.", `<a href="/3fc/-/sign-in">Sign in</a>`)
	r.league()
	r.page("-", "/", 200, "League", "!Create league")
	r.page("other", "/", 200, "Create league", `name="leagueId" value="0`)
	r.page("-", "/leagues/l", 200, "Season", "!Grant access")
	r.page("boss", "/leagues/l", 200, "Offer the role", `action="/3fc/v1/leagues/l/sign-in-codes"`)

	for _, path := range []string{"/games/g", "/lg/sn/g", "/l/s/g"} {
		r.page("-", path, 200, "Not started", "No goals yet.", `data-stream="/3fc/-/stream?`, "page=game%2Fg")
	}
	r.want(201, "", "boss", "POST", "/v1/leagues/l/seasons", `{"seasonId":"s2","name":"Next","slug":"next"}`)
	for _, path := range []string{"/lg/next/g", "/lg/sn/none", "/lg/none/g", "/none/sn/g", "/games/none", "/seasons/none", "/join/AAAAAAAA"} {
		r.page("-", path, 404)
	}
	for _, path := range []string{"/games/g/score", "/games/g/teams", "/games/g/results", "/games/g/conflicts", "/seasons/s/admin", "/invites/AAAAAAAA"} {
		r.page("-", path, 303)
		if !strings.HasPrefix(path, "/invites") {
			r.page("other", path, 403)
			r.page("watcher", path, 403)
		}
	}
	r.page("keeper", "/games/g/conflicts", 403)
	r.page("boss", "/games/g/conflicts", 200, "Nothing in this game was refused.")
	r.page("boss", "/seasons/s/admin", 200, "Add match day", "Create game on 2026-07-04", "Save the red team")
	r.page("other", "/invites/AAAAAAAA", 404)
	invite := inviteOf(r.want(201, "", "boss", "POST", "/v1/leagues/l/organiser-invites", ""))
	r.page("other", "/invites/"+invite, 200, "/3fc/v1/invites/"+invite+"/accept")

	step := func(n int) string { return fmt.Sprintf(`data-step="%d" method="post"`, n) }
	open := func(n int, action string) string {
		return step(n) + ` action="/3fc/v1/games/g/` + action + `" data-queue="POST" data-here>`
	}
	r.page("keeper", "/games/g/score", 200, open(0, "thirds/1/start"), "Tap again to confirm", `data-scorer="r1"`, `data-scoring="red"`)
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	r.now = r.now.Add(7*time.Minute + time.Second)
	start, first := r.now.Add(-7*time.Minute-time.Second).UnixMilli(), r.goal(redGoal)
	r.now = r.now.Add(time.Second)
	second := r.goal(ownGoal)
	body := r.page("-", "/games/g", 200, "Live", fmt.Sprintf(`data-start="%d" data-length="20"`, start), "8&#39;",
		"Player r (Red) against Blue", "Own goal: Player y (Yellow)", "third 1, 07:01")
	if got := tallies(body); got != "0-1 1-0 1-0 " {
		t.Errorf("the page shows %s", got)
	}
	if strings.Index(body, second) > strings.Index(body, first) {
		t.Error("the latest goal is not listed first")
	}
	r.page("-", "/games/g/overlay", 200, "page-overlay", "Live", "!No goals yet")
	r.page("keeper", "/games/g/score", 200, open(1, "thirds/1/finish"), `name="expectedEventId" value="`+second, "Own goal: Player y (Yellow), third 1, 07:02")
	r.now = r.now.Add(15 * time.Minute)
	r.page("-", "/games/g", 200, "Stoppage", "20&#43;03")
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/finish", "")
	r.page("-", "/games/g", 200, "After third 1")
	r.page("keeper", "/games/g/score", 200, open(2, "thirds/2/start"))
	for _, n := range []string{"2", "3"} {
		r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/"+n+"/start", "")
		r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/"+n+"/finish", "")
	}
	r.page("-", "/games/g", 200, "All thirds played")
	r.page("keeper", "/games/g/score", 200, open(6, "finish"))
	r.page("-", "/seasons/s", 200, "No finished games yet.", "Red 0, Blue 1, Yellow 1")
	r.export()
	r.want(200, "", "keeper", "POST", "/v1/games/g/finish", "")
	r.page("-", "/games/g", 200, "Finished", "Red wins", "win")
	r.page("keeper", "/games/g/score", 200, "!data-goal", "!data-undo", "!data-step")
	r.page("boss", "/games/g/score", 200, "!data-goal", "data-undo")
	r.page("keeper", "/games/g/results", 200, "1. Red", "Own goal: Player y", "!Delete", "!Edit")
	r.page("keeper", "/games/g/goals/"+first, 200, "only an admin of the league can edit its goals", "!data-goal")
	r.page("boss", "/games/g/goals/"+first, 200, `data-goal="/3fc/v1/games/g/goals/`+first+`" data-method="PATCH" data-to="/3fc/-/games/g/results"`,
		`data-was-scoring="red" data-was-conceding="blue" data-was-scorer="r1"`)
	r.page("boss", "/games/g/goals/"+second, 200, `data-was-scoring="" data-was-conceding="yellow"`)
	r.page("boss", "/games/g/goals/none", 404)
	r.page("boss", "/games/g/results", 200, "Delete: Own goal: Player y (Yellow)")
	r.page("-", "/seasons/s", 200, "1. Red", "1. Player r", "Red wins", "!Points")
	r.page("-", "/lg/sn", 200, "page=season%2Fs")
	r.page("-", "/seasons/s/london", 200, "Points", "page=london%2Fs")
}

// An admin sees who has access, and deletes a game, its season and its league, each on its page and only when nothing is left in it. The
// page says what is deleted with it. Nobody else is offered any of this.
func TestAccessAndDeletionOnPages(t *testing.T) {
	r := newRig(t)
	r.league()
	deletes := func(path, to string) string {
		return fmt.Sprintf(`action="/3fc/v1%s" data-now data-method="DELETE" data-to="/3fc/-%s"`, path, to)
	}
	game, season, league := deletes("/games/g", "/seasons/s/admin"), deletes("/seasons/s", "/leagues/l"), deletes("/leagues/l", "/")
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	r.goal(ownGoal)
	r.page("boss", "/games/g/results", 200, game, "data-confirm", "Tap again: its goals (1), teams and join code are deleted with it.")
	r.page("keeper", "/games/g/results", 200, "!Delete the game")
	r.page("boss", "/seasons/s/admin", 200, "The season can be deleted when it has no games.", "!Delete the season")
	r.page("boss", "/leagues/l", 200, `action="/3fc/v1/leagues/l/access" data-now data-method="GET" data-show="access"`, "The league can be deleted when it has no seasons.", "!Delete the league")
	r.want(204, "", "boss", "DELETE", "/v1/games/g", "{}")
	r.page("boss", "/seasons/s/admin", 200, season, "data-confirm", "Tap again: its match days, and the names and colours of its teams, are deleted with it.", "!can be deleted when")
	r.want(204, "", "boss", "DELETE", "/v1/seasons/s", "{}")
	r.page("boss", "/leagues/l", 200, league, "data-confirm", "Tap again: its access list is deleted with it, and invitations to it no longer work.", "!can be deleted when")
	for _, who := range []string{"-", "watcher", "keeper"} {
		r.page(who, "/leagues/l", 200, "!Delete the league", "!Show who has access")
	}
	r.want(204, "", "boss", "DELETE", "/v1/leagues/l", "{}")
	r.page("boss", "/leagues/l", 404)
	r.page("boss", "/", 200, "No leagues yet.")
}

// What cannot be done now is disabled, with its reason.
func TestWhatCannotBeDoneNow(t *testing.T) {
	r := newRig(t)
	r.league()
	const score, teams = "/games/g/score", "/games/g/teams"
	off := func(why string) []string {
		return []string{`data-why>` + why + `</p>`, `data-scoring="red" disabled>`, `data-own="yellow" disabled>`}
	}
	r.page("keeper", score, 200, off("Start third 1 first.")...)
	r.page("keeper", teams, 200, "!has a goal or assist")
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	r.page("keeper", score, 200, `data-why hidden></p>`, `data-scoring="red">`)
	r.goal(redGoal)
	r.page("keeper", teams, 200, `data-what="Remove Player r from Red" disabled>Remove</button><small>has a goal or assist</small>`, `data-what="Remove Player b from Blue">`)
	r.now = r.now.Add(20 * time.Minute)
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/finish", "")
	r.page("keeper", score, 200, off("Start third 2 first.")...)
	for _, step := range []string{"2/start", "2/finish", "3/start", "3/finish"} {
		r.now = r.now.Add(20 * time.Minute)
		r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/"+step, "")
	}
	r.page("keeper", score, 200, off("All three thirds are over: no goal can be added.")...)
	r.page("keeper", "/games/g/results", 200, "!only an admin")
	r.export()
	r.want(200, "", "keeper", "POST", "/v1/games/g/finish", "")
	r.page("keeper", teams, 200, "The game is finished: only an admin of the league can change its teams.", "!Remove Player b from Blue")
	r.page("keeper", "/games/g/results", 200, "The game is finished: only an admin of the league can change its goals.")
	r.page("boss", teams, 200, "!only an admin", "Remove Player b from Blue")
}

// A page lists a goal by the time in its key, by which the phone that entered it finds it there before it has an answer.
func TestPageListsTaps(t *testing.T) {
	r := newRig(t)
	r.league()
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	r.page("keeper", "/games/g/score", 200, `data-taps=""`)
	r.goal(redGoal, "Idempotency-Key", "01M1RXWZPGVMCDXNGZBGCA50KR")
	const tap = `data-taps="06G73QKYT"` // 01M1RXWZPG is 1,788,616,802,000 ms, an eighth of it in nine digits of base 32
	r.page("keeper", "/games/g/score", 200, tap)
	r.page("keeper", "/games/g/results", 200, tap)
}

// refusing is a cloud that refused writes of games, by conflict id. It records the decisions.
type refusing struct {
	operator.Sync
	games   []string
	decided []string
}

func (f *refusing) Status(context.Context) (operator.SyncStatus, error) {
	st := operator.NoCloud(time.Time{})
	st.Configured, st.State = true, "in_step"
	return st, nil
}

func (f *refusing) Conflicts(ctx context.Context, _ conflict.Query) (all []conflict.View, next uint64, err error) {
	for i := range f.games {
		c, _ := f.Conflict(ctx, uint64(i+1))
		all = append(all, c)
	}
	return all, 0, nil
}

func (f *refusing) Conflict(_ context.Context, id uint64) (conflict.View, error) {
	game := f.games[id-1]
	key := attr.Item{"pk": attr.S("GAME#" + game), "sk": attr.S("GOAL#1")}
	goal := func(own bool) attr.Item {
		data := fmt.Sprintf(`{"eventId":"e","concedingTeamId":"yellow","scoringTeamId":"red","scorerPlayerId":"r1","ownGoal":%t}`, own)
		return attr.Item{"entityType": attr.S("goal"), "data": attr.S(data)}
	}
	once := attr.Item{"pk": attr.S("IDEMPOTENCY#a:POST:/v1/games/" + game + "/goals#k"), "sk": attr.S("METADATA")} // comes first, because the pages' requests have keys
	return conflict.View{Head: conflict.Head{ID: id, Text: "refused in " + game}, Key: once, Decided: []conflict.Write{{Key: once, Item: once}, {Key: key, Item: goal(false), Met: goal(true)}}}, nil
}

func (f *refusing) Decide(_ context.Context, id uint64, verb string) (conflict.View, error) {
	f.decided = append(f.decided, fmt.Sprint(id, " ", verb))
	return conflict.View{Head: conflict.Head{ID: id, State: conflict.State(verb)}}, nil
}

// A game's scorer page reports writes that the cloud refused. Admins see both versions and decide. Refused writes of other games are not
// shown.
func TestRefusedOfAGame(t *testing.T) {
	r := newRig(t)
	r.league()
	r.page("keeper", "/games/g/score", 200, "!The cloud refused")
	r.sync = &refusing{games: []string{"g", "x", "g"}}
	r.page("keeper", "/games/g/score", 200, "The cloud refused 2 entries of this game.", "Tell an admin of the league.")
	r.page("boss", "/games/g/score", 200, "/3fc/-/games/g/conflicts")
	r.page("boss", "/games/g/conflicts", 200, "refused in g", "!refused in x", "Entered here: Player r (Red) against Yellow", "In the cloud: Own goal: Player r (Yellow)",
		`action="/3fc/v1/games/g/conflicts/3/retry"`, `action="/3fc/v1/games/g/conflicts/1/discard"`)
}

// metElsewhere is a cloud that already had a league, a season and a game with the ids of ours.
type metElsewhere struct {
	operator.Sync
	asked, dismissed int
}

func (f *metElsewhere) Decide(_ context.Context, id uint64, verb string) (conflict.View, error) {
	f.dismissed++
	return conflict.View{Head: conflict.Head{ID: id, State: conflict.State(verb)}}, nil
}

func (f *metElsewhere) Conflicts(context.Context, conflict.Query) (all []conflict.View, next uint64, err error) {
	f.asked++
	return []conflict.View{{Head: conflict.Head{ID: 1}}}, 0, nil
}

func (f *metElsewhere) Conflict(_ context.Context, id uint64) (c conflict.View, err error) {
	c.ID = id
	row := func(pk, sk, entity, data string) attr.Item {
		return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk), "entityType": attr.S(entity), "data": attr.S(data)}
	}
	for _, it := range []attr.Item{
		row("IDEMPOTENCY#x", "METADATA", "idempotency", "{}"), row("LEAGUE#x", "METADATA", "league", `{"leagueId":"x","name":"Mine","createdByUserId":"boss@example.org"}`),
		row("LEAGUE#l", "SEASON#y", "season", `{"leagueId":"l","seasonId":"y","name":"Autumn"}`), row("SEASON#y", "METADATA", "season", `{"leagueId":"l","seasonId":"y","name":"Autumn"}`),
		row("SESSION#v", "METADATA", "session", `{"seasonId":"s","sessionId":"v","sessionDate":"2026-07-18"}`),
		row("GAME#z", "METADATA", "game", `{"gameId":"z","leagueId":"l","seasonId":"s","gameStartTs":"2026-07-05T10:00:00.000Z"}`),
	} {
		c.Decided = append(c.Decided, conflict.Write{Item: it, Met: it})
	}
	changed := c.Decided[1] // a league that existed before
	changed.Base, changed.Item = changed.Item, row("LEAGUE#w", "METADATA", "league", `{"leagueId":"w","name":"Old","createdByUserId":"boss@example.org"}`)
	fresh := conflict.Write{Item: row("LEAGUE#f", "METADATA", "league", `{"leagueId":"f","name":"Fresh","createdByUserId":"boss@example.org"}`)}
	c.Decided = append(c.Decided, changed, fresh) // withdrawn with the refused writes
	return c, nil
}

// The creator of a record whose id was already taken is told on the page that would list it.
func TestMadeElsewhereAlready(t *testing.T) {
	r := newRig(t)
	r.league()
	cloud := &metElsewhere{}
	r.sync = cloud
	for _, path := range []string{"/", "/leagues/l"} {
		r.page("-", path, 200, "!exists already")
	}
	if cloud.asked > 0 {
		t.Error("conflicts were read for a reader without a session")
	}
	league := "The league “Mine” was not created: a league with the ID x exists already at <a href=\"/3fc/-/leagues/x\">"
	r.page("boss", "/", 200, league, "!Autumn", "!Old", "!Fresh", `action="/3fc/v1/conflicts/1/discard" data-now data-to="/3fc/-/"`)
	r.page("other", "/", 200, "!exists already")
	if body := r.page("boss", "/leagues/l", 200, "The season “Autumn” was not created", "!Mine"); strings.Count(body, "Autumn") != 1 {
		t.Error("one season is reported twice")
	}
	r.page("other", "/leagues/l", 200, "!exists already")
	r.page("boss", "/seasons/s/admin", 200, "The game “2026-07-05T10:00:00.000Z” was not created", "The match day “2026-07-18” was not created: a match day with the ID v exists already.", "!Autumn", `data-to="/3fc/-/seasons/s/admin"`)
}

// A player joins with the code, without an account, and is then assigned to a team.
func TestJoinAndTeams(t *testing.T) {
	r := newRig(t)
	r.league()
	_, after, _ := strings.Cut(r.want(200, "", "boss", "GET", "/v1/games/g", ""), `"joinCode":"`)
	code := after[:8]
	r.page("-", "/join/"+strings.ToLower(code), 200, "Player b", `action="/3fc/v1/join/`+code+`"`, "<svg", "https://3fc.example/3fc/-/join/"+code)
	r.want(201, "", "-", "POST", "/v1/join/"+code, `{"nickname":"Zed"}`)
	r.page("-", "/join/"+code, 200, "Zed")
	r.page("keeper", "/games/g/teams", 200, code, "Add Zed to Yellow", "Remove Player r from Red", `data-queue="DELETE"`)
}

// The sign-in page has a form for each way to sign in, and leads back only to our own pages.
func TestSignInPage(t *testing.T) {
	r := newRig(t)
	r.in("boss")
	r.page("-", "/sign-in?to=/3fc/-/games/g/score", 200, `data-from="/3fc/-/games/g/score"`, "/3fc/v1/auth/code/complete")
	r.page("-", "/sign-in?to=https://evil.example/", 200, `data-from="/3fc/-/"`)
	r.page("-", "/sign-in?token=a.b", 200, `name="token" value="a.b"`)
	r.page("boss", "/sign-in", 200, "Sign out")
}

// An open page receives changes by its stream, without sign-in.
func TestGamePageIsLive(t *testing.T) {
	r := newRig(t)
	r.league()
	base, _ := web.Run(t, r.server)
	_, after, _ := strings.Cut(r.page("-", "/games/g", 200), `data-stream="`)
	address, _, _ := strings.Cut(after, `"`)
	s := web.Open(t, base+html.UnescapeString(address), nil)
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	r.goal(redGoal)
	s.Until(func(m web.Message) bool { return strings.Contains(m.Data, "Player r (Red) against Blue") })
}

// The gallery's scenes, which show every state of a game, equal the golden files.
func TestScenes(t *testing.T) {
	look, err := page.New("/3fc/-", files, nil)
	if err != nil {
		t.Fatal(err)
	}
	scenes, err := (&handlers{mount: "/3fc", look: look}).scenes()
	if err != nil || len(scenes) != 8 {
		t.Fatalf("%d scenes, %v", len(scenes), err)
	}
	for i := range scenes {
		var all strings.Builder
		for _, p := range scenes[i].View.Parts {
			all.WriteString(string(p.HTML) + "\n")
		}
		file := filepath.Join("testdata", scenes[i].Name+".golden.html")
		if *update {
			if err := os.WriteFile(file, []byte(all.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), all.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", scenes[i].Name, diff)
		}
	}
}

// Ids may contain the separators of URLs; links to them are escaped.
func TestIDsInAddresses(t *testing.T) {
	r := newRig(t)
	r.in("boss")
	const id, seg = "2026/27+ a?", "2026%2F27+%20a%3F"
	body := func(kind, more string) string { return fmt.Sprintf(`{"%sId":%q,%s}`, kind, id, more) }
	r.want(201, id, "boss", "POST", "/v1/leagues", body("league", `"name":"L"`))
	r.want(201, id, "boss", "POST", "/v1/leagues/"+seg+"/seasons", body("season", `"name":"S"`))
	r.want(201, id, "boss", "POST", "/v1/seasons/"+seg+"/sessions", body("session", `"sessionDate":"2026-07-04"`))
	r.want(201, id, "boss", "POST", "/v1/sessions/"+seg+"/games", body("game", `"gameStartTs":"2026-07-04T11:00:00Z"`))
	r.want(201, id, "boss", "POST", "/v1/games/"+seg+"/players", body("player", `"nickname":"P"`))
	for _, player := range []string{seg, "2026%2F27%2B%20a%3F"} {
		r.want(200, id, "boss", "PUT", "/v1/games/"+seg+"/roster/"+player, `{"teamId":"red"}`)
	}
	href := strings.ReplaceAll(seg, "+", "&#43;")
	r.page("boss", "/", 200, `/leagues/`+href+`"`)
	r.page("boss", "/leagues/"+seg, 200, `/seasons/`+href+`"`, `/seasons/`+href+`/admin"`, `/leagues/`+href+`/seasons"`, `/leagues/`+href+`/access"`)
	r.page("boss", "/games/"+seg+"/results", 200, `/v1/games/`+href+`" data-now data-method="DELETE" data-to="/3fc/-/seasons/`+href+`/admin"`)
	r.page("boss", "/seasons/"+seg, 200, `/games/`+href+`"`, `/seasons/`+href+`/london"`)
	r.page("boss", "/seasons/"+seg+"/admin", 200, `/seasons/`+href+`/sessions"`, `/sessions/`+href+`/games"`, `/seasons/`+href+`/teams/red"`)
	r.page("boss", "/games/"+seg, 200, `/games/`+href+`/teams"`, `/seasons/`+href+`"`)
	r.page("boss", "/games/"+seg+"/teams", 200, `/games/`+href+`/roster/`+href+`"`)
	r.page("boss", "/"+seg+"/"+seg+"/"+seg, 200, `/games/`+href+`/teams"`)
}
