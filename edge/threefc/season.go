package threefc

import "github.com/touchline/touchline/store"

// Standings computes a season's table from its finished games.
func (s *Service) Standings(tx *store.Tx, season string, blissett bool) ([]Standing, error) {
	p := s.plan(tx)
	games, teams := many(p, s.SeasonGames, season), many(p, s.SeasonTeams, season)
	var results []*Result
	for i := range games {
		if games[i].Result != nil {
			results = append(results, games[i].Result)
		}
	}
	return StandingsOf(teams, results, blissett), p.Err()
}

// Leaders ranks a season's players by its finished games.
func (s *Service) Leaders(tx *store.Tx, season string, perGame bool) ([]Leader, error) {
	p := s.plan(tx)
	games := many(p, s.SeasonGames, season)
	by := map[string]*Leader{}
	of := func(id string) *Leader {
		if by[id] == nil {
			by[id] = &Leader{PlayerID: id, Nickname: p.nickname(id)}
		}
		return by[id]
	}
	for i := range games {
		g := &games[i]
		if g.FinishedAt == nil {
			continue
		}
		for id := range p.rosteredPlayers(g.GameID) {
			of(id).Games++
		}
		for n := range g.Goals {
			goal := &g.Goals[n]
			if goal.OwnGoal {
				of(goal.ScorerPlayerID).OwnGoals++
			} else {
				of(goal.ScorerPlayerID).Goals++
			}
			for _, id := range goal.AssistPlayerIDs {
				of(id).Assists++
			}
		}
	}
	all := make([]Leader, 0, len(by))
	for _, l := range by {
		all = append(all, *l)
	}
	return LeadersOf(all, perGame), p.Err()
}

// nickname returns the name to show for a player.
func (p *plan) nickname(id string) string {
	if player := readable[Player](p, playerKey(id)); player != nil {
		return player.Nickname
	}
	return "?" // created at another node, not synced yet, or cannot be read
}

// Line is a goal in its public form, which names players only by nickname.
type Line struct {
	EventID string `json:"eventId"`
	Moment
	ScoringTeamID   *string  `json:"scoringTeamId"`
	ConcedingTeamID string   `json:"concedingTeamId"`
	OwnGoal         bool     `json:"ownGoal"`
	Scorer          string   `json:"scorer"`
	Assists         []string `json:"assists"`
	Late            bool     `json:"late,omitempty"` // it arrived after the finish
}

// Timeline returns a game's goals in their public form.
func (s *Service) Timeline(tx *store.Tx, b *Board) ([]Line, error) {
	p := s.plan(tx)
	all := []Line{}
	for i := range b.Goals {
		g := &b.Goals[i]
		l := Line{
			EventID: g.EventID, Moment: g.Moment, ScoringTeamID: g.ScoringTeamID, ConcedingTeamID: g.ConcedingTeamID, OwnGoal: g.OwnGoal,
			Scorer: p.nickname(g.ScorerPlayerID), Assists: []string{}, Late: g.Late,
		}
		for _, id := range g.AssistPlayerIDs {
			l.Assists = append(l.Assists, p.nickname(id))
		}
		all = append(all, l)
	}
	return all, p.Err()
}

// findNamed finds a record by id or slug. The oldest match wins, so that a newer record cannot take over an existing address.
func findNamed[T any, P stamped[T]](all []T, text, what string, of func(*T) (id string, slug *string)) (by *T, err error) {
	for i := range all {
		id, slug := of(&all[i])
		is := id == text || text != "" && slug != nil && *slug == text
		if is && (by == nil || P(&all[i]).stamps().CreatedAt < P(by).stamps().CreatedAt) {
			by = &all[i]
		}
	}
	if by == nil {
		err = notFound("", "%s %s was not found.", what, text)
	}
	return by, err
}

// SeasonNamed finds a season of a league by its id or slug.
func (s *Service) SeasonNamed(tx *store.Tx, league, text string) (*Season, error) {
	all, err := s.Seasons(tx, league)
	if err != nil {
		return nil, err
	}
	return findNamed(all, text, "Season", func(s *Season) (string, *string) { return s.SeasonID, s.Slug })
}
