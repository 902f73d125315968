package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Bounds of what an admin writes of leagues and teams.
const (
	maxName = 120
	maxCode = 16
	maxURL  = 512
)

// answerView reads what is kept and answers with it.
func answerView[T any](s *Server, c *gin.Context, read func(tx *store.Tx) (T, error)) error {
	var out T
	err := s.view(c.Request.Context(), func(tx *store.Tx) (err error) {
		out, err = read(tx)
		return err
	})
	if err != nil {
		return err
	}
	return writeJSON(c, out)
}

// answerUpdate changes what is kept and answers with what came of it.
func answerUpdate[T any](s *Server, c *gin.Context, change func(tx *store.Tx) (T, error)) error {
	var out T
	err := s.update(c, func(tx *store.Tx) (err error) {
		out, err = change(tx)
		return err
	})
	if err != nil {
		return err
	}
	return answerWith(c, http.StatusOK, out)
}

// listed makes a list of what a service gives in whole.
func listed[T any](all []T, err error) (list[T], error) { return newList(all, ""), err }

// feedID returns the id in the path, as the feed numbers leagues, teams and seasons.
func feedID(c *gin.Context) (string, error) {
	id := c.Param("id")
	if id == "" || len(id) > maxMatchID {
		return "", fault.New(fault.NotFound, "not_found", "There is nothing with this id.")
	}
	return id, nil
}

func (s *Server) getLeagues(c *gin.Context) error {
	return answerView(s, c, func(tx *store.Tx) (list[cricket.LeagueRecord], error) { return listed(cricket.Leagues{}.All(tx)) })
}

func (s *Server) getLeague(c *gin.Context) error {
	id, err := feedID(c)
	if err != nil {
		return err
	}
	return answerView(s, c, func(tx *store.Tx) (cricket.LeagueRecord, error) { return cricket.Leagues{}.Get(tx, id) })
}

// patchLeague: {name?, code?, imagePath?, active?, marquee?}.
func (s *Server) patchLeague(c *gin.Context) error {
	id, err := feedID(c)
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	p := cricket.LeaguePatch{
		Name: b.change("name", maxName), Code: b.change("code", maxCode), ImagePath: b.change("imagePath", maxURL),
		Active: b.truth("active"), Marquee: b.truth("marquee"),
	}
	if err := b.patch(p == cricket.LeaguePatch{}, p.Name); err != nil {
		return err
	}
	return answerUpdate(s, c, func(tx *store.Tx) (cricket.LeagueRecord, error) { return cricket.Leagues{}.Patch(tx, id, p) })
}

func (s *Server) deleteLeague(c *gin.Context) error {
	id, err := feedID(c)
	if err != nil {
		return err
	}
	return s.gone(c, func(tx *store.Tx) error { return cricket.Leagues{}.Delete(tx, id) })
}

func (s *Server) getTeams(c *gin.Context) error {
	return answerView(s, c, func(tx *store.Tx) (list[cricket.TeamRecord], error) { return listed(cricket.Teams{}.All(tx)) })
}

func (s *Server) getTeam(c *gin.Context) error {
	id, err := feedID(c)
	if err != nil {
		return err
	}
	return answerView(s, c, func(tx *store.Tx) (cricket.TeamRecord, error) { return cricket.Teams{}.Get(tx, id) })
}

// patchTeam: {name?, code?, imagePath?}.
func (s *Server) patchTeam(c *gin.Context) error {
	id, err := feedID(c)
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	p := cricket.TeamPatch{
		Name: b.change("name", maxName), Code: b.change("code", maxCode), ImagePath: b.change("imagePath", maxURL),
	}
	if err := b.patch(p == cricket.TeamPatch{}, p.Name); err != nil {
		return err
	}
	return answerUpdate(s, c, func(tx *store.Tx) (cricket.TeamRecord, error) { return cricket.Teams{}.Patch(tx, id, p) })
}

// getSeasonTeams lists the teams of a season; none for one that is not known, which has no row of its own.
func (s *Server) getSeasonTeams(c *gin.Context) error {
	id, err := feedID(c)
	if err != nil {
		return err
	}
	return answerView(s, c, func(tx *store.Tx) (list[cricket.TeamSeasonRecord], error) {
		return listed(cricket.TeamSeasons{}.Of(tx, id))
	})
}
