package threefc

import "github.com/touchline/touchline/store"

// Standings are a season's table, of its finished games.
func (s *Service) Standings(tx *store.Tx, season string, blissett bool) ([]Standing, error) {
	games, err := s.SeasonGames(tx, season)
	if err != nil {
		return nil, err
	}
	teams, err := s.SeasonTeams(tx, season)
	var results []*Result
	for i := range games {
		if games[i].Result != nil {
			results = append(results, games[i].Result)
		}
	}
	return StandingsOf(teams, results, blissett), err
}

// Leaders are a season's players, of its finished games.
func (s *Service) Leaders(tx *store.Tx, season string, perGame bool) ([]Leader, error) {
	games, err := s.SeasonGames(tx, season)
	by := map[string]*Leader{}
	of := func(id string) *Leader {
		if by[id] == nil {
			by[id] = &Leader{PlayerID: id}
		}
		return by[id]
	}
	for i := 0; err == nil && i < len(games); i++ {
		g := &games[i]
		if g.FinishedAt == nil {
			continue
		}
		var in map[string]Rostered
		in, err = s.rostered(tx, g.GameID)
		for id := range in {
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
	for id, l := range by {
		var name string
		if name, err = s.nickname(tx, id, err); err != nil {
			return nil, err
		}
		l.Nickname = name
		all = append(all, *l)
	}
	return LeadersOf(all, perGame), err
}

// nickname is how a player is shown; err is what went wrong before.
func (s *Service) nickname(tx *store.Tx, id string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	p, err := get[Player](tx, s, playerKey(id), entPlayer)
	if p == nil {
		return "?", err // of another node, not here yet
	}
	return p.Nickname, err
}

// Line is a goal as everybody may see it: players by their nicknames alone.
type Line struct {
	EventID string `json:"eventId"`
	Moment
	ScoringTeamID   *string  `json:"scoringTeamId"`
	ConcedingTeamID string   `json:"concedingTeamId"`
	OwnGoal         bool     `json:"ownGoal"`
	Scorer          string   `json:"scorer"`
	Assists         []string `json:"assists"`
}

// Timeline is a game's goals as everybody may see them.
func (s *Service) Timeline(tx *store.Tx, b *Board) ([]Line, error) {
	all := []Line{}
	for i := range b.Goals {
		g := &b.Goals[i]
		l := Line{EventID: g.EventID, Moment: g.Moment, ScoringTeamID: g.ScoringTeamID, ConcedingTeamID: g.ConcedingTeamID, OwnGoal: g.OwnGoal, Assists: []string{}}
		var err error
		l.Scorer, err = s.nickname(tx, g.ScorerPlayerID, nil)
		for _, id := range g.AssistPlayerIDs {
			var name string
			name, err = s.nickname(tx, id, err)
			l.Assists = append(l.Assists, name)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// named finds what has an id or else a slug.
func named[T any](all []T, text, what string, of func(*T) (id string, slug *string)) (by *T, err error) {
	for i := range all {
		id, slug := of(&all[i])
		if id == text {
			return &all[i], nil
		}
		if by == nil && text != "" && slug != nil && *slug == text {
			by = &all[i]
		}
	}
	if by == nil {
		err = notFound("", "%s %s was not found.", what, text)
	}
	return by, err
}

// LeagueNamed finds a league by its id or slug.
func (s *Service) LeagueNamed(tx *store.Tx, text string) (*League, error) {
	if l, err := get[League](tx, s, leagueKey(text), entLeague); l != nil || err != nil {
		return l, err
	}
	all, err := s.PublicLeagues(tx)
	if err != nil {
		return nil, err
	}
	return named(all, text, "League", func(l *League) (string, *string) { return l.LeagueID, l.Slug })
}

// SeasonNamed finds a season of a league by its id or slug.
func (s *Service) SeasonNamed(tx *store.Tx, league, text string) (*Season, error) {
	all, err := s.Seasons(tx, league)
	if err != nil {
		return nil, err
	}
	return named(all, text, "Season", func(s *Season) (string, *string) { return s.SeasonID, s.Slug })
}
