package threefc

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/table"
)

// Default and maximum length of a list of players.
const (
	usualPlayers = 20
	maxPlayers   = 50
)

// Roster lists the players of a game by team.
type Roster struct {
	Roster     []Rostered
	Unassigned []string
	Players    map[string]Player
}

// rosteredPlayers returns the players of a game who have a team, by id. If two nodes assigned a player, the later row counts.
func (p *plan) rosteredPlayers(game string) map[string]Rostered {
	in := map[string]Rostered{}
	for _, r := range list[Rostered](p, pkGame+game, skRoster) {
		if o, ok := in[r.PlayerID]; !ok || o.UpdatedAt < r.UpdatedAt {
			in[r.PlayerID] = r
		}
	}
	return in
}

// Player reads a player.
func (s *Service) Player(tx *store.Tx, id string) (*Player, error) {
	p := s.plan(tx)
	return requireRecord[Player](p, playerKey(id), "Player %s", id), p.Err()
}

// Roster reads the players of a game.
func (s *Service) Roster(tx *store.Tx, game string) (Roster, error) {
	p, r := s.plan(tx), Roster{Players: map[string]Player{}, Roster: []Rostered{}, Unassigned: []string{}}
	in, here := p.rosteredPlayers(game), list[gamePlayer](p, pkGame+game, pkPlayer)
	r.Roster = slices.AppendSeq(r.Roster, maps.Values(in))
	for i := range here {
		if _, ok := in[here[i].PlayerID]; !ok {
			r.Unassigned = append(r.Unassigned, here[i].PlayerID)
		}
	}
	for _, id := range slices.AppendSeq(slices.Clone(r.Unassigned), maps.Keys(in)) {
		player := readable[Player](p, playerKey(id))
		if player == nil { // created at another node, not synced yet, or cannot be read
			player = &Player{PlayerID: id, Nickname: id}
		}
		r.Players[id] = *player
	}
	byName := func(a, b string) int {
		return cmp.Or(strings.Compare(r.Players[a].Nickname, r.Players[b].Nickname), strings.Compare(a, b))
	}
	slices.SortFunc(r.Unassigned, byName)
	order := TeamIDs()
	slices.SortFunc(r.Roster, func(a, b Rostered) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.TeamID), slices.Index(order, b.TeamID)), byName(a.PlayerID, b.PlayerID))
	})
	return r, p.Err()
}

// Players lists the players of a game whose nicknames contain search, most recently changed first. Case is ignored.
func (s *Service) Players(tx *store.Tx, game, search string, limit int) ([]Player, error) {
	r, err := s.Roster(tx, game)
	all := []Player{}
	for _, p := range r.Players {
		if strings.Contains(strings.ToLower(p.Nickname), strings.ToLower(search)) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Player) int {
		return cmp.Or(strings.Compare(b.UpdatedAt, a.UpdatedAt), strings.Compare(a.PlayerID, b.PlayerID))
	})
	return all[:min(len(all), min(cmp.Or(limit, usualPlayers), maxPlayers))], err
}

// AddPlayer creates a player and adds him to a game. An id given by the caller must be new; without one, AddPlayer generates it.
func (s *Service) AddPlayer(tx *store.Tx, game, id, nickname string, ids *IDs) (Change, error) {
	p := s.plan(tx)
	g := must(p, s.game, game)
	p.tooMany(pkGame+game, pkPlayer, MaxPlayers, "players")
	if id != "" {
		p.free("player", playerKey(id))
	}
	at, when := s.stamp(tx), s.Now(tx)
	if ids.Seed != "" { // same id at every node, as in CreateGoal
		when = parseTime(g.CreatedAt)
	}
	id = cmp.Or(id, ids.New(when))
	add(p, playerKey(id), Player{PlayerID: id, Nickname: nickname, LeagueID: g.LeagueID, Stamps: at})
	add(p, gamePlayerKey(game, id), gamePlayer{GameID: game, PlayerID: id, Stamps: at})
	p.checkParent(gameKey(game), g.Stamps)
	return p.change("player", id)
}

// editable reads a game whose roster may change, and its current roster. Only an admin may change that of a finished game.
func (p *plan) editable(game string, admin bool) (*Game, map[string]Rostered) {
	g := must(p, p.game, game)
	p.Refuse(g.FinishedAt != nil && !admin, gameFinished())
	return g, p.rosteredPlayers(game)
}

// Assign moves a player into a team of a game and out of his current one.
func (s *Service) Assign(tx *store.Tx, game, player, team string, admin bool) (Change, error) {
	p := s.plan(tx)
	g, in := p.editable(game, admin)
	p.belongs(g, must(p, s.Player, player))
	at := s.stamp(tx)
	if in[player].TeamID == team {
		return p.change("player", player) // already in the team
	}
	p.removeFromTeams(game, player, team)
	put(p, rosterKey(game, team, player), Rostered{GameID: game, TeamID: team, PlayerID: player, Stamps: at}, table.If{})
	p.setPlayersTeam(game, player, team, at)
	p.checkParent(gameKey(game), g.Stamps)
	return p.change("player", player)
}

// removeFromTeams removes a player from all teams but one. A program that does not maintain gamePlayer.TeamID may have left him in several.
func (p *plan) removeFromTeams(game, player, but string) {
	for _, team := range TeamIDs() {
		k := rosterKey(game, team, player)
		if team != but && optional[Rostered](p, k) != nil {
			p.Write(p.Drop(k))
		}
	}
}

// setPlayersTeam compares and sets the team in the player's gamePlayer row.
func (p *plan) setPlayersTeam(game, player, team string, at Stamps) {
	was := optional[gamePlayer](p, gamePlayerKey(game, player))
	replace(p, gamePlayerKey(game, player), was, gamePlayer{GameID: game, PlayerID: player, TeamID: team, Stamps: at})
}

// Unassign takes a player out of his team. It refuses a player with goals or assists in the game.
func (s *Service) Unassign(tx *store.Tx, game, player string, admin bool) (Change, error) {
	p := s.plan(tx)
	g, in := p.editable(game, admin)
	if in[player].TeamID == "" {
		p.LookFor(gamePlayerKey(game, player)) // it names the team, and may be in the cloud
		p.Fail(notFound("", "This player is not in a team of this game."))
	}
	p.refuseScorer(g, player)
	p.removeFromTeams(game, player, "")
	p.setPlayersTeam(game, player, "", s.stamp(tx))
	p.checkParent(gameKey(game), g.Stamps)
	return p.change()
}

// refuseScorer refuses to take a player with goals or assists out of a game.
func (p *plan) refuseScorer(g *Game, player string) {
	p.Refuse(slices.ContainsFunc(p.goals(g), func(o Goal) bool {
		return o.ScorerPlayerID == player || slices.Contains(o.AssistPlayerIDs, player)
	}), conflict("player_has_goals", "%s has goals or assists in this game: edit or delete those first.", p.nickname(player)))
}

// belongs refuses a player of another league in the words for one who does not exist: others need not learn whom a league has. A player
// whose row names no league belongs to those in whose games they are and, in none, to any.
func (p *plan) belongs(g *Game, player *Player) {
	id := player.PlayerID
	if p.Err() != nil || player.LeagueID == g.LeagueID || p.takesPart(g.GameID, id) {
		return
	}
	p.LookFor(gamePlayerKey(g.GameID, id)) // it may be in the cloud
	foreign := player.LeagueID != "" || !p.playsElsewhere(g, id) && p.playsAnywhere(id)
	p.Refuse(foreign, notFound("", "Player %s was not found.", id))
}

// takesPart reports whether a player is in a game. The first version of the original system had rosters only.
func (p *plan) takesPart(game, player string) bool {
	if p.Get(gamePlayerKey(game, player)) != nil {
		return true
	}
	return slices.ContainsFunc(TeamIDs(), func(team string) bool { return p.Get(rosterKey(game, team, player)) != nil })
}

// playsAnywhere reports whether a player is in a game.
func (p *plan) playsAnywhere(player string) bool {
	for range scan[gamePlayer](p, pkGame, pkPlayer+player) {
		return true
	}
	return false
}

// playsIn reports whether a player is in a game of a league.
func (p *plan) playsIn(league, player string) bool {
	return slices.ContainsFunc(p.gamesOfLeague(league), func(game string) bool { return readable[gamePlayer](p, gamePlayerKey(game, player)) != nil })
}

// playsElsewhere reports whether a player is in another game of a game's league.
func (p *plan) playsElsewhere(g *Game, player string) bool {
	for _, season := range many(p, p.Seasons, g.LeagueID) {
		for _, session := range many(p, p.Sessions, season.SeasonID) {
			for it := range p.Rows(p.Tx.QueryAll(p.QueryUnder(pkSession+session.SessionID, pkGame))) {
				game := gameOfEntry(it["sk"].Str())
				if game == g.GameID || !p.takesPart(game, player) {
					continue
				}
				if other := readable[Game](p, gameKey(game)); other != nil && other.LeagueID == g.LeagueID {
					return true
				}
			}
		}
	}
	return false
}

// RemovePlayer removes a player from a game, such as somebody who joined by its code under a name that must not stay. It refuses a player
// with goals or assists in the game. The player's name goes too, unless another game of the league has the player or a user has claimed them.
func (s *Service) RemovePlayer(tx *store.Tx, game, player string) (Change, error) {
	p := s.plan(tx)
	g := must(p, s.game, game)
	was := optional[gamePlayer](p, gamePlayerKey(game, player))
	if p.Err() == nil && !p.takesPart(game, player) {
		p.LookFor(gamePlayerKey(game, player)) // it may be in the cloud
		p.Fail(notFound("", "This player is not in this game."))
	}
	p.refuseScorer(g, player)
	p.removeFromTeams(game, player, "")
	if was != nil {
		p.remove(gamePlayerKey(game, player), was.Stamps)
	}
	if named := optional[Player](p, playerKey(player)); named != nil && named.ClaimedByUserID == nil && !p.playsElsewhere(g, player) {
		p.remove(playerKey(player), named.Stamps)
	}
	p.checkParent(gameKey(game), g.Stamps)
	return p.change()
}
