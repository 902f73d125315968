package web

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

//go:embed templates assets scenes.json
var files embed.FS

// signInPath is the sign-in page, below the pages.
const signInPath = "/sign-in"

// addPages adds the pages to the application.
func (a *api) addPages(app *httpapi.App) (err error) {
	if a.look, err = page.New(a.mount+"/-", files, nil); err != nil {
		return err
	}
	app.Look, app.Scenes, app.View, app.Offline, app.Open = a.look, a.scenes, a.view, true, true
	app.SignIn = httpapi.SignIn{Own: a.reader, Session: a.sessionOf, Page: signInPath}
	app.Nav = func(auth.Identity) []page.Link { return []page.Link{{Href: a.look.At("/"), Text: "Leagues"}} }
	app.Live, app.Ensure, app.Games = a.live, a.ensureTopic, a.gamesInCloud()
	for _, p := range []struct {
		path string
		who  level
		do   func(r *request) (work, error)
	}{
		{"/", public, makes("leagues", "3FC", func(r *request, entity string, p *origin) bool {
			return entity == "league" && p.CreatedByUserID == r.User
		}, a.leaguesPage)},
		{signInPath, public, a.getSignInPage},
		{"/join/:code", public, a.getJoinPage},
		{"/invites/:code", session, a.getInvitePage},
		{"/leagues/:league", public, makes("league", "League", func(r *request, entity string, p *origin) bool {
			return entity == "season" && p.LeagueID == r.of.ID
		}, a.leaguePage)},
		{"/seasons/:season", public, shows(topicSeason, "")},
		{"/seasons/:season/london", public, shows(topicLondon, "")},
		{"/seasons/:season/games", public, a.seasonGamesPage},
		{"/seasons/:season/admin", admin, makes("seasonadmin", "Season", func(r *request, entity string, p *origin) bool {
			return p.SeasonID == r.of.ID && (entity == "session" || entity == "game")
		}, a.seasonAdminPage)},
		{"/games/:game", public, shows(topicGame, "")},
		{"/games/:game/overlay", public, shows(topicGame, "overlay")},
		{"/games/:game/teams", scorekeeper, ownPageOf("teams")},
		{"/games/:game/score", scorekeeper, ownPageOf("scorer")},
		{"/games/:game/results", scorekeeper, ownPageOf("results")},
		{"/games/:game/goals/:event", scorekeeper, ownPageOf("correct")},
		{"/games/:game/conflicts", admin, ownPageOf("conflicts")},
		{"/:in/:name", public, a.answerNamed},
		{"/:in/:name/:game", public, a.answerNamed},
	} {
		access := httpapi.Optional
		if p.who > public {
			access = httpapi.User
		}
		app.Pages = append(app.Pages, a.newRoute(route{"GET", p.path, p.who, p.do}, access))
	}
	app.Pages = append(app.Pages, a.newRoute(route{"POST", "/games/:game/scorers", scorekeeper, postScorers}, httpapi.User))
	return nil
}

// reader returns the address of the signed-in user, or "" if nobody is signed in.
func (a *api) reader(c *gin.Context) (string, error) {
	r := &request{Call: &httpapi.Call{Context: c}, api: a}
	if err := r.signedIn(); err != nil && !fault.Is(err, fault.Unauthorized) {
		return "", err
	}
	c.Set(keySignIn, r.signIn)
	return r.User, nil
}

// sessionOf returns whose session a request's cookie is, for the rate limit. A session by an admin's code counts apart from the user's own:
// that admin could else use up the user's rate.
func (a *api) sessionOf(tx *store.Tx, r *http.Request) (subject string, err error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil || !threefc.IsID(cookie.Value) {
		return "", nil //nolint:nilerr // no cookie: nobody
	}
	in, err := a.Service.SignedIn(tx, cookie.Value)
	switch {
	case fault.Is(err, fault.Unauthorized):
		return "", nil
	case err != nil:
		return "", err
	case in.ByCode:
		return in.Email + " by code", nil
	}
	return in.Email, nil
}

// The topics of pages, besides that of a game.
const (
	topicSeason = "season/"
	topicLondon = "london/" // a season under the London league's points
)

// ensureTopic fetches the rows that a page shows.
func (a *api) ensureTopic(ctx context.Context, topic string) error {
	of := threefc.Scope{Kind: "season"}
	kind, id, _ := strings.Cut(topic, "/")
	if of.ID = id; kind+"/" == topicGame {
		of.Kind = "game"
	}
	return a.Ensure.Rows(ctx, a.Service.Table, threefc.Partition(of))
}

// view renders the public pages. They name people only by nickname.
func (a *api) view(ctx context.Context, _ *operator.NodeStatus, topic string, last page.View) (v page.View, err error) {
	kind, id, _ := strings.Cut(topic, "/")
	err = ask.View(ctx, a.Read, func(tx *store.Tx) error {
		if kind+"/" == topicGame {
			g, err := a.readShown(tx, id)
			if err == nil {
				v, err = a.gameView(last, g)
			}
			return err
		}
		s, err := a.shownSeason(tx, id, kind+"/" == topicLondon)
		if err == nil {
			v, err = a.seasonView(last, s)
		}
		return err
	})
	return v, err
}

// shows answers with the page of a topic, or with parts of it in a frame of the given kind.
func shows(topic, kind string) func(r *request) (work, error) {
	return func(r *request) (work, error) { return nil, httpapi.PageAs(r.Context, topic+r.of.ID, kind) }
}

// answerNamed answers with the page found by the ids or slugs in the path.
func (a *api) answerNamed(r *request) (work, error) {
	topic, err := httpapi.Read(r.Context, func(tx *store.Tx) (string, error) {
		l, err := a.Service.LeagueNamed(tx, r.Param("in"))
		if err != nil {
			return "", err
		}
		s, err := a.Service.SeasonNamed(tx, l.LeagueID, r.Param("name"))
		if err != nil {
			return "", err
		}
		game := r.Param("game")
		if game == "" {
			return topicSeason + s.SeasonID, nil
		}
		b, err := a.Service.Board(tx, game)
		if err == nil && b.SeasonID != s.SeasonID {
			err = fault.New(fault.NotFound, "", "Game %s was not found.", game)
		}
		return topicGame + game, err
	})
	if err != nil {
		return nil, err
	}
	return nil, httpapi.Page(r.Context, topic)
}

// live returns tiles of the live games.
func (a *api) live(ctx context.Context) (tiles []page.Tile, err error) {
	err = a.Read(ctx, func(tx *store.Tx) error {
		open, err := a.Service.Open(tx, nil)
		for i := 0; err == nil && i < len(open); i++ {
			var g *shownGame
			id, is := strings.CutPrefix(open[i].Str(), "GAME#")
			if !is { // a player or a join code
				continue
			}
			if g, err = a.readShown(tx, id); err == nil {
				tiles = append(tiles, page.Tile{Href: a.look.At("/games/" + url.PathEscape(id)), Title: g.Line(), Line: g.Title})
			}
		}
		return err
	})
	slices.SortFunc(tiles, func(x, y page.Tile) int { return cmp.Compare(x.Title, y.Title) })
	return tiles, err
}
