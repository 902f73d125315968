package web

import (
	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi/page"
)

// scenes renders a game in each state, from fixed data.
func (h *handlers) scenes() ([]page.Scene, error) {
	return h.look.Scenes(func(_ string, decode func(into any) error) (any, error) {
		var s struct {
			Team   hacktracker.Team
			Game   hacktracker.Game
			Roster []hacktracker.Player
			AtBats []hacktracker.AtBat
			Waits  []string
			Cloud  page.CloudLine
		}
		err := decode(&s)
		p := newGame(s.Team, hacktracker.NewBox(&s.Game, s.Roster, s.AtBats, map[string]hacktracker.Line{}), s.Roster)
		p.Address, p.Waits, p.Cloud = "node.example"+h.look.At("/games/"+s.Game.ID), s.Waits, s.Cloud
		return p, err
	})
}
