package threefc

import (
	"strings"

	"github.com/touchline/touchline/store"
)

// Scoring is what a journal record means to those who score a game.
type Scoring struct {
	Game      string // empty: nothing
	Goal      bool   // a new goal
	Ended, On bool   // the game was finished, or goes on again
}

// ScoringOf returns what a record means, whichever node made it.
func (s *Service) ScoringOf(r *store.Record) (c Scoring) {
	game := GameOf(r.Key)
	if r.Table != s.Table || game == "" || r.New == nil {
		return c
	}
	switch sk := r.Key["sk"].Str(); {
	case strings.HasPrefix(sk, skGoal):
		c.Goal = r.Old == nil
	case sk == skMeta:
		now, err := decode[Game](r.New)
		if err != nil {
			return c
		}
		var was Game
		if r.Old != nil {
			if was, err = decode[Game](r.Old); err != nil {
				return c
			}
		}
		c.Ended, c.On = was.FinishedAt == nil && now.FinishedAt != nil, was.FinishedAt != nil && now.FinishedAt == nil
	}
	c.Game = game
	return c
}
