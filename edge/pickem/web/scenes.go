package web

import (
	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi/page"
)

// scenes renders the pages in each of their states, from fixed data.
func (h *handlers) scenes() ([]page.Scene, error) {
	return h.look.Scenes(func(kind string, decode func(into any) error) (any, error) {
		if kind == "events" {
			return map[string]any{}, nil
		}
		var s struct {
			cardView
			Results []int // of the first matches
		}
		err := decode(&s)
		for i, team := range s.Results {
			s.Matches[i].Result = pickem.Result{Known: true, Team: team}
		}
		return &s.cardView, err
	})
}
