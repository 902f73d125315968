package web

import (
	"net/http"

	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/store"
)

// Bounds of an admin's values for leagues and teams.
const (
	maxName = 120
	maxCode = 16
	maxURL  = 512
)

// feedID returns the id in the path: the feed's number of a league, team or season.
func feedID(r *httpapi.Request) (string, error) {
	return pathID(r, "not_found", "There is nothing with this id.")
}

func (h *handlers) listLeagues(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		leagues, err := reference.Leagues{}.All(tx)
		return httpapi.NewList(leagues, ""), err
	})
}

func (h *handlers) getLeague(r *httpapi.Request) (httpapi.Response, error) {
	id, err := feedID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) { return reference.Leagues{}.Get(tx, id) })
}

// updateLeague takes {name?, code?, imagePath?, active?, marquee?}.
func (h *handlers) updateLeague(r *httpapi.Request) (httpapi.Response, error) {
	id, err := feedID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	b := r.Body()
	p := reference.LeaguePatch{
		Name: b.Change("name", maxName), Code: b.Change("code", maxCode), ImagePath: b.Change("imagePath", maxURL),
		Active: b.Bool("active"), Marquee: b.Bool("marquee"),
	}
	if err := b.Patch(p == reference.LeaguePatch{}, p.Name); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return reference.Leagues{}.Patch(tx, id, p) })
}

func (h *handlers) deleteLeague(r *httpapi.Request) (httpapi.Response, error) {
	id, err := feedID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusNoContent, func(tx *store.Tx) (any, error) { return nil, reference.Leagues{}.Delete(tx, id) })
}

func (h *handlers) listTeams(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		teams, err := reference.Teams{}.All(tx)
		return httpapi.NewList(teams, ""), err
	})
}

func (h *handlers) getTeam(r *httpapi.Request) (httpapi.Response, error) {
	id, err := feedID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) { return reference.Teams{}.Get(tx, id) })
}

// updateTeam takes {name?, code?, imagePath?}.
func (h *handlers) updateTeam(r *httpapi.Request) (httpapi.Response, error) {
	id, err := feedID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	b := r.Body()
	p := reference.TeamPatch{Name: b.Change("name", maxName), Code: b.Change("code", maxCode), ImagePath: b.Change("imagePath", maxURL)}
	if err := b.Patch(p == reference.TeamPatch{}, p.Name); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return reference.Teams{}.Patch(tx, id, p) })
}

// listSeasonTeams lists the teams of a season; an unknown season has none, because seasons have no rows.
func (h *handlers) listSeasonTeams(r *httpapi.Request) (httpapi.Response, error) {
	id, err := feedID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) {
		teams, err := reference.TeamSeasons{}.OfSeason(tx, id)
		return httpapi.NewList(teams, ""), err
	})
}
