package web

import (
	"github.com/gin-gonic/gin"

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
func feedID(c *gin.Context) (string, error) {
	return pathID(c, "not_found", "There is nothing with this id.")
}

// answerList answers with a whole list.
func answerList[T any](all func(tx *store.Tx) ([]T, error)) httpapi.Handler {
	return func(c *gin.Context) error {
		return httpapi.AnswerView(c, func(tx *store.Tx) (httpapi.List[T], error) {
			items, err := all(tx)
			return httpapi.NewList(items, ""), err
		})
	}
}

// read answers with the record whose id is in the path.
func read[T any](get func(tx *store.Tx, id string) (T, error)) httpapi.Handler {
	return func(c *gin.Context) error {
		id, err := feedID(c)
		if err != nil {
			return err
		}
		return httpapi.AnswerView(c, func(tx *store.Tx) (T, error) { return get(tx, id) })
	}
}

// seasonTeams returns the teams of a season; an unknown season has none, because seasons have no rows.
func seasonTeams(tx *store.Tx, id string) (httpapi.List[reference.TeamSeasonRecord], error) {
	items, err := reference.TeamSeasons{}.OfSeason(tx, id)
	return httpapi.NewList(items, ""), err
}

// patchLeague: {name?, code?, imagePath?, active?, marquee?}.
func patchLeague(c *gin.Context) error {
	id, err := feedID(c)
	if err != nil {
		return err
	}
	b := httpapi.Body(c)
	p := reference.LeaguePatch{
		Name: b.Change("name", maxName), Code: b.Change("code", maxCode), ImagePath: b.Change("imagePath", maxURL),
		Active: b.Bool("active"), Marquee: b.Bool("marquee"),
	}
	if err := b.Patch(p == reference.LeaguePatch{}, p.Name); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (reference.LeagueRecord, error) { return reference.Leagues{}.Patch(tx, id, p) })
}

func deleteLeague(c *gin.Context) error {
	id, err := feedID(c)
	if err != nil {
		return err
	}
	return httpapi.Remove(c, func(tx *store.Tx) error { return reference.Leagues{}.Delete(tx, id) })
}

// patchTeam: {name?, code?, imagePath?}.
func patchTeam(c *gin.Context) error {
	id, err := feedID(c)
	if err != nil {
		return err
	}
	b := httpapi.Body(c)
	p := reference.TeamPatch{Name: b.Change("name", maxName), Code: b.Change("code", maxCode), ImagePath: b.Change("imagePath", maxURL)}
	if err := b.Patch(p == reference.TeamPatch{}, p.Name); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (reference.TeamRecord, error) { return reference.Teams{}.Patch(tx, id, p) })
}
