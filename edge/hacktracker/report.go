package hacktracker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/touchline/touchline/internal/fraction"
	"github.com/touchline/touchline/store/attr"
)

// GameState is the state of a game after its at-bats, with the score that people keep.
type GameState struct {
	GameID        string `json:"gameId"`
	Status        string `json:"status"`
	TeamScore     int    `json:"teamScore"`
	OpponentScore int    `json:"opponentScore"`
	State
}

// State replays a game for a member of its team.
func (b *Book) State(game string) GameState {
	g := b.Game(game)
	return GameState{g.ID, g.Status, g.TeamScore, g.OpponentScore, Replay(g.Lineup, b.AtBats(game))}
}

// Box returns the box score of a game.
func (b *Book) Box(game string) Box {
	g := b.Game(game)
	all, season := b.AtBats(game), map[string]Line{}
	for _, o := range b.gamesOf(g.TeamID) {
		if o.SeasonID == g.SeasonID {
			tally(season, b.AtBats(o.ID))
		}
	}
	return NewBox(&g, b.roster(g.TeamID), all, season)
}

// tally counts at-bats by player and returns who had any.
func tally(by map[string]Line, all []AtBat) (batted map[string]bool) {
	batted = map[string]bool{}
	for i := range all {
		player := all[i].PlayerID
		l := by[player]
		l.add(&all[i])
		by[player], batted[player] = l, true
	}
	return batted
}

// TeamStats holds a team's statistics.
type TeamStats struct {
	TeamID   string `json:"teamId"`
	Name     string `json:"name"`
	SeasonID string `json:"seasonId,omitempty"`
	Record
	Batting Batting      `json:"batting"`
	Players []PlayerLine `json:"players"`
	AtBats  []AtBat      `json:"-"` // at-bats of all these games
}

// PlayerLine holds a player's statistics in the games they batted in.
type PlayerLine struct {
	PlayerID string `json:"playerId"`
	Name     string `json:"name"`
	Number   *int   `json:"playerNumber,omitempty"`
	Games    int    `json:"G"`
	Batting
}

// TeamStats counts a team's games, of one season or of all.
func (b *Book) TeamStats(team, season string) (out TeamStats) {
	t, roster := b.allow(team, anyMember), b.roster(team)
	games := slices.DeleteFunc(b.gamesOf(team), func(g Game) bool { return season != "" && g.SeasonID != season })
	by, played := map[string]Line{}, map[string]int{}
	for i := range games {
		all := b.AtBats(games[i].ID)
		for player := range tally(by, all) {
			played[player]++
		}
		out.AtBats = append(out.AtBats, all...)
	}
	out.TeamID, out.Name, out.SeasonID, out.Record, out.Batting, out.Players = t.ID, t.Name, season, NewRecord(games), Count(out.AtBats).Batting(), []PlayerLine{}
	for i := range roster {
		p := &roster[i]
		out.Players = append(out.Players, PlayerLine{p.ID, p.Name(), p.Number, played[p.ID], by[p.ID].Batting()})
		delete(by, p.ID)
	}
	for _, player := range slices.Sorted(maps.Keys(by)) { // players no longer on the roster
		out.Players = append(out.Players, PlayerLine{PlayerID: player, Games: played[player], Batting: by[player].Batting()})
	}
	return out
}

// PlayerStats holds a player's statistics, in total and by game.
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

// PlayerStats counts a player's plate appearances, for members of the team and for the linked user, even after the team is deleted.
// Without a team it searches the caller's teams.
func (b *Book) PlayerStats(player, team string) (out PlayerStats) {
	p := b.reachable(player, team)
	all := b.atBatsOf(&p)
	out = PlayerStats{PlayerID: p.ID, TeamID: p.TeamID, Name: p.Name(), Batting: Count(all).Batting(), Games: []GameLine{}, AtBats: all}
	for i := range all {
		at := slices.IndexFunc(out.Games, func(g GameLine) bool { return g.GameID == all[i].GameID })
		if at < 0 {
			at, out.Games = len(out.Games), append(out.Games, GameLine{GameID: all[i].GameID})
		}
		g := &out.Games[at]
		g.add(&all[i])
		g.Batting = g.Line.Batting()
	}
	return out
}

// reachable finds a player whose statistics the user may see.
func (b *Book) reachable(player, team string) Player {
	for _, p := range b.Players() {
		if p.ID == player && (team == "" || p.TeamID == team) {
			return p
		}
	}
	in := []Membership{{TeamID: team}}
	if team == "" {
		in = b.memberships(b.user)
	}
	for _, m := range in {
		if it := b.readRow(playerKey(m.TeamID, player)); it != nil {
			b.allow(m.TeamID, anyMember)
			return playerOf(it)
		}
	}
	for _, in := range collect(b, indexAtBats, prefixPlayer+player, prefixAtBat, func(it attr.Item) string { return it["teamId"].Str() }) {
		if team == "" || team == in { // gone from its roster
			b.allow(in, anyMember)
			return Player{ID: player, TeamID: in}
		}
	}
	b.Fail(notFound("Player"))
	return Player{}
}

// atBatsOf returns a player's at-bats in order: those of the team's games, since other programs write rows without the index keys, and
// those in the index. It leaves out at-bats of deleted games.
func (b *Book) atBatsOf(p *Player) []AtBat {
	games := collect(b, indexAtBats, prefixPlayer+p.ID, prefixAtBat, GameOf)
	for _, g := range b.gamesOf(p.TeamID) {
		games = append(games, g.ID)
	}
	slices.Sort(games)
	out := []AtBat{}
	for _, game := range slices.Compact(games) {
		if b.Get(gameKey(game)) != nil {
			out = append(out, collect(b, "", prefixGame+game, prefixAtBat, atBatOf)...)
		}
	}
	out = slices.DeleteFunc(out, func(a AtBat) bool { return a.PlayerID != p.ID })
	Sort(out)
	return out
}

// Box is the box score of a game. Runs of individual players are not recorded.
type Box struct {
	Game      Game      `json:"game"`
	Batters   []BoxLine `json:"batters"`
	LineScore []int     `json:"lineScore"` // runs batted in, by inning
	Totals    Batting   `json:"totals"`
	Differ    bool      `json:"runsDiffer"` // the runs batted in differ from the team's score
	State     State     `json:"state"`
	AtBats    []AtBat   `json:"-"` // in order
}

// BoxLine is a batter of a box score.
type BoxLine struct {
	Slot
	Name       string `json:"name"`
	Number     *int   `json:"playerNumber,omitempty"`
	Substitute bool   `json:"substitute"` // bats in place of the slot above
	R          *int   `json:"R"`
	Line
	AVG    fraction.Fraction `json:"AVG"`
	Season fraction.Fraction `json:"seasonAVG"`
}

// NewBox builds the box score of a game from its at-bats. season holds each player's line for the season.
func NewBox(g *Game, roster []Player, all []AtBat, season map[string]Line) Box {
	st := Replay(g.Lineup, all)
	box := Box{Game: *g, Batters: []BoxLine{}, LineScore: []int{}, State: st, AtBats: all}
	at := map[string]int{}
	add := func(s Slot, substitute bool) {
		at[s.PlayerID] = len(box.Batters)
		box.Batters = append(box.Batters, BoxLine{Slot: s, Substitute: substitute})
	}
	for _, s := range g.Lineup {
		add(s, false)
	}
	for i := range all {
		a := &all[i]
		if _, ok := at[a.PlayerID]; !ok {
			add(Slot{a.PlayerID, a.BattingOrder}, len(g.Lineup) > 0)
		}
		box.Batters[at[a.PlayerID]].add(a)
		for len(box.LineScore) < st.Innings[i] {
			box.LineScore = append(box.LineScore, 0)
		}
		box.LineScore[st.Innings[i]-1] += a.RBIs
	}
	for i := range box.Batters {
		b := &box.Batters[i]
		b.AVG, b.Season = b.Line.AVG(), season[b.PlayerID].AVG()
		if at := slices.IndexFunc(roster, func(p Player) bool { return p.ID == b.PlayerID }); at >= 0 { // else gone from it
			b.Name, b.Number = roster[at].Name(), roster[at].Number
		}
	}
	// A batter without a place in the order (0, which wraps around) sorts last.
	slices.SortStableFunc(box.Batters, func(a, b BoxLine) int { return cmp.Compare(uint(a.BattingOrder-1), uint(b.BattingOrder-1)) })
	box.Totals = Count(all).Batting()
	box.Differ = box.Totals.RBI != g.TeamScore
	return box
}

// Record is a team's record of wins, losses and ties.
type Record struct {
	Wins        int      `json:"wins"`
	Losses      int      `json:"losses"`
	Ties        int      `json:"ties"`
	RunsFor     int      `json:"runsFor"`
	RunsAgainst int      `json:"runsAgainst"`
	LastFive    []string `json:"lastFive"` // W, L or T, the newest first
}

// NewRecord counts games that are final and have scores; games are given newest first.
func NewRecord(games []Game) Record {
	r := Record{LastFive: []string{}}
	for i := range games {
		g := &games[i]
		if g.Status != Final || !g.scored {
			continue
		}
		r.RunsFor += g.TeamScore
		r.RunsAgainst += g.OpponentScore
		at := 1 + cmp.Compare(g.TeamScore, g.OpponentScore)
		*[]*int{&r.Losses, &r.Ties, &r.Wins}[at]++
		r.LastFive = append(r.LastFive, "LTW"[at:at+1])
	}
	r.LastFive = r.LastFive[:min(5, len(r.LastFive))]
	return r
}
