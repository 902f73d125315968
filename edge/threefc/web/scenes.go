package web

import (
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/page"
)

// scenes renders a game's page and the scorer's page in each state, from fixed data.
func (h *handlers) scenes() ([]page.Scene, error) {
	return h.look.Scenes(func(kind string, decode func(into any) error) (any, error) {
		var s struct {
			Now time.Time
			ownPage
		}
		s.shownGame = &shownGame{}
		if err := decode(&s); err != nil {
			return nil, err
		}
		if s.FinishedAt != nil {
			s.Result = threefc.ResultOf(s.Teams, *s.FinishedAt)
		}
		if s.Clock = clockOf(&s.Board.Game, s.Now, 0); kind == "scorer" {
			return &s.ownPage, nil
		}
		return h.gameView(page.View{}, s.shownGame)
	})
}
