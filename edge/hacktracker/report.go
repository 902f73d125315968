package hacktracker

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// GameState is a game as its at-bats leave it, with the score that people keep.
type GameState struct {
	GameID        string `json:"gameId"`
	Status        string `json:"status"`
	TeamScore     int    `json:"teamScore"`
	OpponentScore int    `json:"opponentScore"`
	State
}

// State replays a game to a member of its team.
func (s *Service) State(tx *store.Tx, user, game string) (GameState, error) {
	g, err := s.Game(tx, user, game)
	if err != nil {
		return GameState{}, err
	}
	all, err := s.atBats(tx, game)
	return GameState{g.ID, g.Status, g.TeamScore, g.OpponentScore, Replay(g.Lineup, all)}, err
}

// Box makes the box score of a game.
func (s *Service) Box(tx *store.Tx, user, game string) (Box, error) {
	g, err := s.Game(tx, user, game)
	if err != nil {
		return Box{}, err
	}
	roster, err := s.roster(tx, g.TeamID)
	if err != nil {
		return Box{}, err
	}
	all, err := s.atBats(tx, game)
	if err != nil {
		return Box{}, err
	}
	season := map[string]Line{}
	tally(season, all)
	games, err := s.gamesOf(tx, g.TeamID)
	if err != nil {
		return Box{}, err
	}
	for i := range games {
		if games[i].ID == g.ID || games[i].SeasonID != g.SeasonID {
			continue
		}
		other, err := s.atBats(tx, games[i].ID)
		if err != nil {
			return Box{}, err
		}
		tally(season, other)
	}
	return NewBox(&g, roster, all, season), nil
}

func tally(by map[string]Line, all []AtBat) {
	for i := range all {
		l := by[all[i].PlayerID]
		l.add(&all[i])
		by[all[i].PlayerID] = l
	}
}

// TeamStats is what a team has come to.
type TeamStats struct {
	TeamID   string `json:"teamId"`
	Name     string `json:"name"`
	SeasonID string `json:"seasonId,omitempty"`
	Record
	Batting Batting      `json:"batting"`
	Players []PlayerLine `json:"players"`
}

// PlayerLine is a player with what they have come to, in games that they batted in.
type PlayerLine struct {
	PlayerID string `json:"playerId"`
	Name     string `json:"name"`
	Number   *int   `json:"playerNumber,omitempty"`
	Games    int    `json:"G"`
	Batting
}

// TeamStats counts a team's games, of one season or of all.
func (s *Service) TeamStats(tx *store.Tx, user, team, season string) (out TeamStats, err error) {
	t, err := s.allow(tx, team, user, anyMember)
	if err != nil {
		return out, err
	}
	roster, err := s.roster(tx, team)
	if err != nil {
		return out, err
	}
	games, err := s.gamesOf(tx, team)
	if err != nil {
		return out, err
	}
	games = slices.DeleteFunc(games, func(g Game) bool { return season != "" && g.SeasonID != season })
	var total []AtBat
	by, played := map[string]Line{}, map[string]int{}
	for i := range games {
		all, err := s.atBats(tx, games[i].ID)
		if err != nil {
			return out, err
		}
		tally(by, all)
		here := map[string]bool{}
		for j := range all {
			here[all[j].PlayerID] = true
		}
		for player := range here {
			played[player]++
		}
		total = append(total, all...)
	}
	sum := Count(total)
	out = TeamStats{TeamID: t.ID, Name: t.Name, SeasonID: season, Record: NewRecord(games), Batting: sum.Batting(), Players: []PlayerLine{}}
	for i := range roster {
		l := by[roster[i].ID]
		delete(by, roster[i].ID)
		out.Players = append(out.Players, PlayerLine{roster[i].ID, roster[i].Name(), roster[i].Number, played[roster[i].ID], l.Batting()})
	}
	for player, l := range by { // who is gone from the roster
		out.Players = append(out.Players, PlayerLine{PlayerID: player, Games: played[player], Batting: l.Batting()})
	}
	slices.SortFunc(out.Players[len(roster):], func(a, b PlayerLine) int { return cmp.Compare(a.PlayerID, b.PlayerID) })
	return out, nil
}

// PlayerStats is what a player has come to, in all and by game.
type PlayerStats struct {
	PlayerID string     `json:"playerId"`
	TeamID   string     `json:"teamId"`
	Name     string     `json:"name"`
	Batting  Batting    `json:"batting"`
	Games    []GameLine `json:"games"`
	AtBats   []AtBat    `json:"atBats"` // in order: where the balls went
}

// GameLine is a game of a player.
type GameLine struct {
	GameID string `json:"gameId"`
	Batting
}

// PlayerStats counts a player's plate appearances: for members of the team, and for the user whom the player is linked to, also when
// the team is deleted. Without a team it is looked for among the caller's.
func (s *Service) PlayerStats(tx *store.Tx, user, player, team string) (out PlayerStats, err error) {
	p, err := s.reachable(tx, user, player, team)
	if err != nil {
		return out, err
	}
	all, err := s.atBatsOf(tx, &p)
	if err != nil {
		return out, err
	}
	total := Count(all)
	out = PlayerStats{PlayerID: p.ID, TeamID: p.TeamID, Name: p.Name(), Batting: total.Batting(), Games: []GameLine{}, AtBats: all}
	var order []string
	by := map[string]Line{}
	for i := range all {
		l, ok := by[all[i].GameID]
		if !ok {
			order = append(order, all[i].GameID)
		}
		l.add(&all[i])
		by[all[i].GameID] = l
	}
	for _, game := range order {
		l := by[game]
		out.Games = append(out.Games, GameLine{game, l.Batting()})
	}
	return out, nil
}

// reachable finds a player whose figures a user may see.
func (s *Service) reachable(tx *store.Tx, user, player, team string) (Player, error) {
	teams := []string{team}
	own, err := s.PlayersOf(tx, user)
	if err != nil {
		return Player{}, err
	}
	for i := range own {
		if own[i].ID == player && (team == "" || own[i].TeamID == team) {
			return own[i], nil
		}
	}
	if team == "" {
		if teams, err = s.teamIDs(tx, user); err != nil {
			return Player{}, err
		}
	}
	for _, t := range teams {
		p, err := s.player(tx, t, player)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err == nil && (p.UserID == nil || *p.UserID != user) {
			_, err = s.allow(tx, t, user, anyMember)
		}
		return p, err
	}
	known := false
	if err := s.each(tx, indexAtBats, prefixPlayer+player, prefixAtBat, func(attr.Item) { known = true }); err != nil {
		return Player{}, err
	}
	if known {
		return Player{}, forbidden("User is not a member of this team")
	}
	return Player{}, notFound("Player")
}

// teamIDs are the teams in which a user is or was a member.
func (s *Service) teamIDs(tx *store.Tx, user string) (ids []string, err error) {
	all, err := s.memberships(tx, user)
	for i := range all {
		ids = append(ids, all[i].TeamID)
	}
	return ids, err
}

// atBatsOf are a player's at-bats in order: those that the index has, and those of the team's games, since others write rows
// without its keys. At-bats of games that were deleted are none.
func (s *Service) atBatsOf(tx *store.Tx, p *Player) ([]AtBat, error) {
	found := map[[2]string]AtBat{}
	take := func(it attr.Item) {
		if a := atBatOf(it); a.PlayerID == p.ID {
			found[[2]string{a.GameID, a.sk}] = a
		}
	}
	if err := s.each(tx, indexAtBats, prefixPlayer+p.ID, prefixAtBat, take); err != nil {
		return nil, err
	}
	games, err := s.gamesOf(tx, p.TeamID)
	if err != nil {
		return nil, err
	}
	for i := range games {
		if err := s.each(tx, "", prefixGame+games[i].ID, prefixAtBat, take); err != nil {
			return nil, err
		}
	}
	there := map[string]bool{}
	out := make([]AtBat, 0, len(found))
	for k := range found {
		is, asked := there[k[0]]
		if !asked {
			it, err := tx.Get(s.Table, gameKey(k[0]))
			if err != nil {
				return nil, err
			}
			is = it != nil
			there[k[0]] = is
		}
		if is {
			out = append(out, found[k])
		}
	}
	Sort(out)
	return out, nil
}
