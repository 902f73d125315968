package hacktracker

import (
	"strings"

	"github.com/touchline/touchline/store"
)

// Scoring is what a journal record means to those who score a game.
type Scoring struct {
	Game      string // empty: nothing
	AtBat     bool   // a new at-bat
	Ended, On bool   // the game was finished, or goes on again
}

// ScoringOf returns what a record means, whichever node made it.
func (s *Service) ScoringOf(r *store.Record) (c Scoring) {
	game := GameOf(r.Key)
	if r.Table != s.Table || game == "" || r.New == nil {
		return c
	}
	switch sk := r.Key["SK"].Str(); {
	case strings.HasPrefix(sk, prefixAtBat):
		c.AtBat = r.Old == nil
	case sk == skMetadata:
		was, now := r.Old["status"].Str(), r.New["status"].Str()
		c.Ended, c.On = was != Final && now == Final, was == Final && now != Final
	}
	c.Game = game
	return c
}
