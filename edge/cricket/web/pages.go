package web

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/web/page"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	httppage "github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

const listLimit = 100 // matches on the list

// homePage shows the most likely match; if there are several, the list; if there is none, the empty page.
func (h *handlers) homePage(r *httpapi.Request) (httpapi.Response, error) {
	match, err := h.likelyMatch(r.Context())
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.TopicPage(match)
}

// likelyMatch returns the match that the first page shows: the featured one, the only live one, or the only one.
func (h *handlers) likelyMatch(ctx context.Context) (string, error) {
	if id := h.Featured(); id != "" {
		_, err := h.Service.Match(ctx, id)
		if err == nil {
			return id, nil
		}
		if !fault.Is(err, fault.NotFound) {
			return "", err
		}
	}
	found, err := h.Service.Live(ctx)
	if err == nil && len(found) == 0 {
		found, _, err = h.Service.Matches(ctx, matches.MatchFilter{Limit: 2})
	}
	if err != nil || len(found) != 1 {
		return "", err
	}
	return found[0].MatchID, nil
}

func (h *handlers) listPage(r *httpapi.Request) (httpapi.Response, error) { return r.TopicPage("") }

func (h *handlers) matchPage(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.TopicPage(match)
}

// oversPage shows the figures of every over, which the match page leaves out.
func (h *handlers) oversPage(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	in, err := h.input(r.Context(), page.NodeStatus{NodeStatus: r.Node()}, match)
	if err != nil {
		return httpapi.Response{}, err
	}
	body, err := h.pages.Overs(in)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.ReplyHTML(http.StatusOK, body)
}

// liveTiles returns the live matches for a list of applications.
func (h *handlers) liveTiles(ctx context.Context) (tiles []httppage.Tile, err error) {
	on, err := h.Service.Live(ctx)
	for i := range on {
		f := &on[i]
		tiles = append(tiles, httppage.Tile{Href: h.pages.At("/matches/" + f.MatchID), Title: scoreLine(f), Line: f.LeagueName + ", " + f.Status})
	}
	return tiles, err
}

// renderTopic renders the page of a match, or the list of matches for "".
func (h *handlers) renderTopic(ctx context.Context, node *operator.NodeStatus, match string, last httppage.View) (httppage.View, error) {
	st := page.NodeStatus{NodeStatus: *node, Status: h.nodeStatus(node)}
	if match != "" {
		in, err := h.input(ctx, st, match)
		if err != nil {
			return httppage.View{}, err
		}
		return h.pages.Match(in, last)
	}
	fixtures, _, err := h.Service.Matches(ctx, matches.MatchFilter{Limit: listLimit})
	if err != nil {
		return httppage.View{}, err
	}
	return h.pages.List(page.ListInput{Fixtures: fixtures, Node: st}, last)
}

// input reads the data of the match page. A match that was never polled has no display: one is made from the fixture.
func (h *handlers) input(ctx context.Context, node page.NodeStatus, id string) (page.Input, error) {
	in := page.Input{Node: node, Phones: h.Phones()}
	var err error
	if in.Fixture, err = h.Service.Match(ctx, id); err != nil {
		return page.Input{}, err
	}
	if in.Display, err = h.Service.Display(ctx, id); err != nil {
		if !fault.Is(err, fault.NotFound) {
			return page.Input{}, err
		}
		in.Display = displayOf(&in.Fixture)
	}
	if in.Card, err = h.Service.Card(ctx, id); err != nil {
		return page.Input{}, err
	}
	if h.Audience != nil {
		if in.Audience, err = h.Audience(ctx, id); err != nil {
			return page.Input{}, err
		}
	}
	in.Events, err = h.Service.Events(ctx, id)
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
