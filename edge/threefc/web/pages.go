package web

import (
	"cmp"
	"context"
	"embed"
	"net/url"
	"slices"
	"strings"

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
func (h *handlers) addPages(app *httpapi.App) (err error) {
	if h.look, err = page.New(h.mount+"/-", files, nil); err != nil {
		return err
	}
	app.Look, app.Scenes, app.View, app.Offline, app.Open = h.look, h.scenes, h.renderTopic, true, true
	app.Pages = h.pageRoutes()
	app.SignIn = httpapi.SignIn{Own: h.findReader, Session: h.sessionOf, Page: signInPath}
	app.Nav = func(auth.Identity) []page.Link { return []page.Link{{Href: h.look.At("/"), Text: "Leagues"}} }
	app.Live, app.Ensure, app.Games = h.liveTiles, h.ensureTopic, h.gamesInCloud()
	return nil
}

// The topics of pages, besides that of a game.
const (
	topicSeason = "season/"
	topicLondon = "london/" // a season under the London league's points
)

// ensureTopic fetches the rows that a page shows.
func (h *handlers) ensureTopic(ctx context.Context, topic string) error {
	of := threefc.Scope{Kind: "season"}
	kind, id, _ := strings.Cut(topic, "/")
	if of.ID = id; kind+"/" == topicGame {
		of.Kind = "game"
	}
	return h.Ensure.Rows(ctx, h.Service.Table, threefc.Partition(of))
}

// renderTopic renders the public pages. They name people only by nickname.
func (h *handlers) renderTopic(ctx context.Context, _ *operator.NodeStatus, topic string, last page.View) (v page.View, err error) {
	kind, id, _ := strings.Cut(topic, "/")
	err = ask.View(ctx, h.Read, func(tx *store.Tx) error {
		if kind+"/" == topicGame {
			g, err := h.readShown(tx, id)
			if err == nil {
				v, err = h.gameView(last, g)
			}
			return err
		}
		s, err := h.shownSeason(tx, id, kind+"/" == topicLondon)
		if err == nil {
			v, err = h.seasonView(last, s)
		}
		return err
	})
	return v, err
}

func (h *handlers) seasonPage(r *httpapi.Request) (httpapi.Response, error) {
	return r.TopicPage(topicSeason + r.Param("season"))
}

func (h *handlers) londonPage(r *httpapi.Request) (httpapi.Response, error) {
	return r.TopicPage(topicLondon + r.Param("season"))
}

func (h *handlers) gamePage(r *httpapi.Request) (httpapi.Response, error) {
	return r.TopicPage(topicGame + r.Param("game"))
}

// overlayPage shows parts of a game's page over a video.
func (h *handlers) overlayPage(r *httpapi.Request) (httpapi.Response, error) {
	return r.TopicPageAs(topicGame+r.Param("game"), "overlay")
}

// namedPage shows the season or the game that the ids or slugs in the path name.
func (h *handlers) namedPage(r *httpapi.Request) (httpapi.Response, error) {
	var topic string
	err := r.View(func(tx *store.Tx) (err error) {
		topic, err = h.topicNamed(tx, r)
		return err
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.TopicPage(topic)
}

func (h *handlers) topicNamed(tx *store.Tx, r *httpapi.Request) (string, error) {
	l, err := h.Service.LeagueNamed(tx, r.Param("in"))
	if err != nil {
		return "", err
	}
	s, err := h.Service.SeasonNamed(tx, l.LeagueID, r.Param("name"))
	if err != nil {
		return "", err
	}
	game := r.Param("game")
	if game == "" {
		return topicSeason + s.SeasonID, nil
	}
	b, err := h.Service.Board(tx, game)
	if err == nil && b.SeasonID != s.SeasonID {
		err = fault.New(fault.NotFound, "", "Game %s was not found.", game)
	}
	return topicGame + game, err
}

// liveTiles returns tiles of the live games.
func (h *handlers) liveTiles(ctx context.Context) (tiles []page.Tile, err error) {
	err = h.Read(ctx, func(tx *store.Tx) error {
		open, err := h.Service.Open(tx, nil)
		for i := 0; err == nil && i < len(open); i++ {
			var g *shownGame
			id, is := strings.CutPrefix(open[i].Str(), "GAME#")
			if !is { // a player or a join code
				continue
			}
			if g, err = h.readShown(tx, id); err == nil {
				tiles = append(tiles, page.Tile{Href: h.look.At("/games/" + url.PathEscape(id)), Title: g.Line(), Line: g.Title})
			}
		}
		return err
	})
	slices.SortFunc(tiles, func(x, y page.Tile) int { return cmp.Compare(x.Title, y.Title) })
	return tiles, err
}
