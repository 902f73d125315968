package web

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/web/page"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	httppage "github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

const listLimit = 100 // matches on the list

// getHome shows the most likely match; if there are several, the list; if there is none, the empty page.
func (a *api) getHome(c *gin.Context) error {
	id, err := a.home(c.Request.Context())
	if err != nil {
		return err
	}
	return httpapi.Page(c, id)
}

// home returns that match: the featured one, the only live one, or the only one.
func (a *api) home(ctx context.Context) (string, error) {
	if id := a.Featured(); id != "" {
		_, err := a.Service.Match(ctx, id)
		if err == nil {
			return id, nil
		}
		if !fault.Is(err, fault.NotFound) {
			return "", err
		}
	}
	found, err := a.Service.Live(ctx)
	if err == nil && len(found) == 0 {
		found, _, err = a.Service.Matches(ctx, matches.MatchFilter{Limit: 2})
	}
	if err != nil || len(found) != 1 {
		return "", err
	}
	return found[0].MatchID, nil
}

func getListPage(c *gin.Context) error { return httpapi.Page(c, "") }

// getOversPage shows the figures of every over, which the match page leaves out.
func (a *api) getOversPage(c *gin.Context, id string) error {
	in, err := a.input(c.Request.Context(), page.NodeStatus{NodeStatus: httpapi.Node(c)}, id)
	if err != nil {
		return err
	}
	body, err := a.pages.Overs(in)
	return httpapi.HTML(c, http.StatusOK, body, err)
}

// live returns the live matches for a list of applications.
func (a *api) live(ctx context.Context) (tiles []httppage.Tile, err error) {
	on, err := a.Service.Live(ctx)
	for i := range on {
		f := &on[i]
		tiles = append(tiles, httppage.Tile{Href: a.pages.At("/matches/" + f.MatchID), Title: scoreLine(f), Line: f.LeagueName + ", " + f.Status})
	}
	return tiles, err
}

// view renders the page of a match, or the list of matches for "".
func (a *api) view(ctx context.Context, node *operator.NodeStatus, match string, last httppage.View) (httppage.View, error) {
	st := page.NodeStatus{NodeStatus: *node, Status: a.nodeStatus(node)}
	if match != "" {
		in, err := a.input(ctx, st, match)
		if err != nil {
			return httppage.View{}, err
		}
		return a.pages.Match(in, last)
	}
	fixtures, _, err := a.Service.Matches(ctx, matches.MatchFilter{Limit: listLimit})
	if err != nil {
		return httppage.View{}, err
	}
	return a.pages.List(page.ListInput{Fixtures: fixtures, Node: st}, last)
}

// input reads the data of the match page. A match that was never polled has no display: one is made from the fixture.
func (a *api) input(ctx context.Context, node page.NodeStatus, id string) (page.Input, error) {
	in := page.Input{Node: node, Phones: a.Phones()}
	var err error
	if in.Fixture, err = a.Service.Match(ctx, id); err != nil {
		return page.Input{}, err
	}
	if in.Display, err = a.Service.Display(ctx, id); err != nil {
		if !fault.Is(err, fault.NotFound) {
			return page.Input{}, err
		}
		in.Display = displayOf(&in.Fixture)
	}
	if in.Card, err = a.Service.Card(ctx, id); err != nil {
		return page.Input{}, err
	}
	if a.Audience != nil {
		if in.Audience, err = a.Audience(ctx, id); err != nil {
			return page.Input{}, err
		}
	}
	in.Events, err = a.Service.Events(ctx, id)
	return in, err
}

func displayOf(f *matches.Fixture) cricket.Display {
	d := cricket.Display{
		MatchID: f.MatchID, League: f.LeagueName, Phase: f.Phase, Status: f.Status, Note: f.Note, Result: f.Result,
		UpdatedAt: f.LiveUpdatedAt,
	}
	if d.Phase == "" {
		d.Phase = cricket.PhasePrematch
	}
	for _, t := range f.Teams {
		d.Teams = append(d.Teams, cricket.TeamScore{ID: t.ID, Name: t.Name, Code: t.Code, Overs: "0.0"})
	}
	return d
}
