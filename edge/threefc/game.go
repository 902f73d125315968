package threefc

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Lengths returns the allowed lengths of a third in minutes, the default first.
func Lengths() []int { return []int{usualLength, 25, 30} }

const usualLength = 20

// Board is a game with its goals and the tallies computed from them.
type Board struct {
	Game
	Teams []GameTeam // in the order of TeamIDs, with tallies
	Goals []Goal     // by game clock
}

// CreateGame creates a game in a session, with its entry in the session's index and its join code.
func (s *Service) CreateGame(tx *store.Tx, g Game) (Change, error) {
	p := s.plan(tx)
	session := must(p, s.Session, g.SessionID)
	p.tooMany(pkSession+g.SessionID, pkGame, MaxGames, "games")
	season := must(p, s.Season, session.SeasonID)
	g.LeagueID, g.SeasonID, g.Stamps = season.LeagueID, season.SeasonID, s.stamp(tx)
	g.JoinCode, g.Thirds = newCode(), []Third{}
	g.Status, g.ThirdLengthMinutes = cmp.Or(g.Status, Scheduled), cmp.Or(g.ThirdLengthMinutes, usualLength)
	made := g
	made.by = sign(gameKey(g.GameID), g)
	create(p, "game", made, gameKey(g.GameID))
	add(p, sessionGameKey(g.SessionID, g.GameStartTs, g.GameID), indexOf(&g))
	add(p, JoinKey(g.JoinCode), joinCode{JoinCode: g.JoinCode, GameID: g.GameID, Stamps: g.Stamps})
	p.begin(sessionMirror(g.SessionID), session.Stamps, g.CreatedAt)
	p.begin(seasonMirror(g.SeasonID), season.Stamps, g.CreatedAt) // refuses the season's deletion by a node that does not know of this game
	return p.change("game", g.GameID)
}

func indexOf(g *Game) sessionGame {
	return sessionGame{
		SessionID: g.SessionID, GameID: g.GameID, GameStartTs: g.GameStartTs, LeagueID: g.LeagueID, SeasonID: g.SeasonID, Stamps: g.Stamps,
	}
}

// game reads a game's row. A row of the original system's first version has no thirds and gets the default length.
func (s *Service) game(tx *store.Tx, id string) (*Game, error) {
	p := s.plan(tx)
	g := requireRecord[Game](p, gameKey(id), "Game %s", id)
	g.ThirdLengthMinutes = cmp.Or(g.ThirdLengthMinutes, usualLength)
	if g.Thirds == nil {
		g.Thirds = []Third{}
	}
	return g, p.Err()
}

// Board reads a game with its goals, and computes the result of a finished game.
func (s *Service) Board(tx *store.Tx, id string) (*Board, error) {
	p := s.plan(tx)
	b := &Board{Game: *must(p, s.game, id)}
	b.Goals = p.goals(&b.Game)
	b.Teams = p.gameTeams(&b.Game, b.Goals)
	b.Result = nil
	if b.FinishedAt != nil {
		b.Result = ResultOf(b.Teams, newest(*b.FinishedAt, b.Goals))
	}
	return b, p.Err()
}

// newest returns the latest of at and the goals' last changes.
func newest(at string, goals []Goal) string {
	for i := range goals {
		at = max(at, goals[i].UpdatedAt)
	}
	return at
}

// gameTeams returns the three teams of a game with their tallies. Names set for the game override the season's.
func (p *plan) gameTeams(g *Game, goals []Goal) []GameTeam {
	rows := list[GameTeam](p, pkGame+g.GameID, skTeam)
	usual, tallies := many(p, p.SeasonTeams, g.SeasonID), Tallies(goals)
	all := make([]GameTeam, 0, len(usual))
	for _, u := range usual {
		t := GameTeam{GameID: g.GameID, TeamID: u.TeamID, Name: u.Name, Color: u.Color, Stamps: Stamps{CreatedAt: g.CreatedAt, UpdatedAt: g.CreatedAt}}
		if i := slices.IndexFunc(rows, func(r GameTeam) bool { return r.TeamID == u.TeamID }); i >= 0 {
			t = rows[i]
		}
		t.Scored, t.Conceded = tallies[t.TeamID].Scored, tallies[t.TeamID].Conceded
		all = append(all, t)
	}
	return all
}

// entry is an entry in a session's index of its games.
type entry struct{ start, game string }

func (e entry) place() place { return place{e.start, e.game} }

// entries returns the entries of a session's games, or of those of all sessions of a season, by start and id. They are read from the keys
// alone.
func (p *plan) entries(of Scope) (all []entry) {
	sessions := []string{of.ID}
	if of.Kind == "season" {
		sessions = nil
		for _, session := range many(p, p.Sessions, of.ID) {
			sessions = append(sessions, session.SessionID)
		}
	}
	for _, session := range sessions {
		q := p.QueryUnder(pkSession+session, pkGame)
		q.Projection = "sk"
		for it := range p.Rows(p.Tx.QueryAll(q)) {
			start, game, ok := strings.Cut(strings.TrimPrefix(it["sk"].Str(), pkGame), "#")
			if ok {
				all = append(all, entry{start, game})
			}
		}
	}
	slices.SortFunc(all, inOrder)
	return all
}

// boards reads the games of entries. It leaves out those that cannot be read.
func (p *plan) boards(entries []entry) []Board {
	all := []Board{}
	for _, e := range entries {
		switch b, err := p.Board(p.Tx, e.game); {
		case fault.Is(err, fault.NotFound), err == nil && b.GameStartTs != e.start: // another node will remove this entry
		case table.IsUnreadable(err): // noted
		case err != nil:
			p.Fail(err)
			return all
		default:
			all = append(all, *b)
		}
	}
	return all
}

// Games lists a page of the games of a session or a season by start and id.
func (s *Service) Games(tx *store.Tx, of Scope, page ListPage) (all []Board, next string, err error) {
	p := s.plan(tx)
	part, next := cut(page, p.entries(of))
	return p.boards(part), next, p.Err()
}

// LatestGames lists the games of a season that start last, by start and id, and whether there are earlier ones.
func (s *Service) LatestGames(tx *store.Tx, season string, most int) (all []Board, earlier bool, err error) {
	p := s.plan(tx)
	entries := p.entries(Scope{"season", season})
	first := max(0, len(entries)-most)
	return p.boards(entries[first:]), first > 0, p.Err()
}

// SeasonGames lists the games of a season by start and id.
func (s *Service) SeasonGames(tx *store.Tx, season string) ([]Board, error) {
	p := s.plan(tx)
	return p.boards(p.entries(Scope{"season", season})), p.Err()
}

// GamePatch holds changes to a game; nil leaves a field as it is.
type GamePatch struct {
	Status, GameStartTs *string //nolint:staticcheck // as the rows spell it
	ThirdLengthMinutes  *int
}

// PatchGame changes a game, and moves its entry in the session's index if the start changes.
func (s *Service) PatchGame(tx *store.Tx, id string, c GamePatch) (Change, error) {
	p := s.plan(tx)
	was := must(p, s.game, id)
	g := *was
	g.UpdatedAt = s.NowText(tx)
	if c.Status != nil {
		p.Refuse(g.FinishedAt != nil, gameFinished())
		p.Refuse(*c.Status == Scheduled && g.isStarted(), conflict("timer_status_locked", "A game that has started cannot return to scheduled."))
		g.Status = *c.Status
	}
	if c.ThirdLengthMinutes != nil && *c.ThirdLengthMinutes != g.ThirdLengthMinutes {
		p.Refuse(g.isStarted(), conflict("third_length_locked", "The length of thirds cannot change once a third has started."))
		g.ThirdLengthMinutes = *c.ThirdLengthMinutes
	}
	if c.GameStartTs != nil && *c.GameStartTs != g.GameStartTs {
		p.Write(p.Drop(sessionGameKey(g.SessionID, g.GameStartTs, id)))
		g.GameStartTs = *c.GameStartTs
		add(p, sessionGameKey(g.SessionID, g.GameStartTs, id), indexOf(&g))
	}
	replace(p, gameKey(id), was, g)
	return p.change("game", id)
}

// DeleteGame deletes a game and everything in it: its row and the pointers to it at once, the rest by ConsumeRecords. The session stays, even if it is
// empty then.
func (s *Service) DeleteGame(tx *store.Tx, user, id string) (Change, error) {
	p := s.plan(tx)
	g := must(p, s.game, id)
	p.remove(gameKey(id), g.Stamps)
	p.Write(p.Drop(sessionGameKey(g.SessionID, g.GameStartTs, id)))
	if g.JoinCode != "" {
		p.Write(p.Drop(JoinKey(g.JoinCode)))
	}
	p.stillAdmin(g.LeagueID, user)
	p.bury(pkGame+id, tombstone{GameID: id, SessionID: g.SessionID, GameStartTs: g.GameStartTs, JoinCode: g.JoinCode, Stamps: s.stamp(tx)})
	return p.change()
}

// PutGameTeam names a team of a game.
func (s *Service) PutGameTeam(tx *store.Tx, game, team string, n TeamName) (Change, error) {
	p := s.plan(tx)
	b := must(p, s.Board, game)
	if p.Refuse(b.FinishedAt != nil, gameFinished()); p.Err() != nil {
		return Change{}, p.Err()
	}
	was := optional[GameTeam](p, gameTeamKey(game, team))
	t := b.Teams[slices.Index(TeamIDs(), team)]
	t.Stamps, t.Name, t.Color = s.stamp(tx), n.Name, cmp.Or(n.Color, t.Color)
	if was != nil { // what is counted into it is not this request's
		t.Scored, t.Conceded = was.Scored, was.Conceded
	} else {
		t.by = sign(gameTeamKey(game, team), t)
	}
	replace(p, gameTeamKey(game, team), was, t)
	p.checkParent(gameKey(game), b.Stamps)
	return p.change("team", team)
}

// lateStart is how far a tap may precede the start of its third. The tap then counts as the third's first second.
const lateStart = 2 * time.Minute

// StartThird starts a third at the instant of the tap, which must fit the recorded end of the third before.
func (s *Service) StartThird(tx *store.Tx, game string, n int, at time.Time) (Change, error) {
	return s.timer(tx, game, func(g *Game) error {
		if last := g.third(n - 1); last != nil && last.FinishedAt != nil && at.Before(parseTime(*last.FinishedAt).Add(-lateStart)) {
			return tooLate()
		}
		return g.start(n, stampOf(at))
	})
}

// FinishThird ends a third at the instant of the tap.
func (s *Service) FinishThird(tx *store.Tx, game string, n int, at time.Time) (Change, error) {
	return s.timer(tx, game, func(g *Game) error {
		at := stampOf(at)
		if t := g.third(n); t != nil && t.StartedAt != nil {
			if parseTime(at).Before(parseTime(*t.StartedAt).Add(-lateStart)) {
				return tooLate()
			}
			at = max(at, *t.StartedAt) // clocks may differ or be corrected
		}
		return g.finish(n, at)
	})
}

func (s *Service) timer(tx *store.Tx, game string, do func(g *Game) error) (Change, error) {
	p := s.plan(tx)
	was := must(p, s.game, game)
	g := *was
	g.UpdatedAt = s.NowText(tx)
	p.Fail(do(&g))
	replace(p, gameKey(game), was, g)
	return p.change("game", game)
}

// FinishGame ends a game. It leaves a finished game unchanged.
func (s *Service) FinishGame(tx *store.Tx, game string) (Change, error) {
	b, err := s.Board(tx, game)
	if err != nil || b.FinishedAt != nil {
		return Change{IDs: map[string]string{"game": game}}, err
	}
	p := s.plan(tx)
	timer := b.Timer().Status
	p.Refuse(timer == timerRunning, conflict("third_running", "A third is still running."))
	p.Refuse(timer != timerComplete, conflict("thirds_incomplete", "All three thirds must be finished first."))
	rows := list[GameTeam](p, pkGame+game, skTeam)
	p.Refuse(len(rows) < len(TeamIDs()), conflict("teams_not_ready", "All three teams must be in the game first."))
	was := b.Game
	was.Result = nil
	g := was
	at := s.NowText(tx)
	g.Status, g.FinishedAt, g.UpdatedAt = Finished, &at, at
	g.Result = ResultOf(b.Teams, newest(at, b.Goals))
	g.by = sign(gameKey(game), g)
	replace(p, gameKey(game), &was, g)
	for _, id := range TeamIDs() {
		p.Write(p.Check(gameTeamKey(game, id), table.IfTrue("attribute_exists(pk)", nil)))
	}
	return p.change("game", game)
}

// finishedMark occurs in the data of finished games only.
const finishedMark = `"result":{`

// openAt checks that a game is the one that was read, and was not finished, at any node, before the goal with an id was tapped.
func (p *plan) openAt(game attr.Item, event string) {
	values := attr.Item{":made": game["createdAt"], ":finished": attr.S(finishedMark), ":tapped": attr.S(stampOf(tappedAt(event)))}
	open := " AND (NOT contains(#data, :finished) OR " + attrFinished + " > :tapped)"
	if isFinished(game) && game[attrFinished].IsZero() { // a row of the original says it in its data alone
		delete(values, ":tapped")
		open, values[":finished"] = " AND #data = :finished", game["data"]
	}
	p.Write(p.Check(p.KeyOf(game), table.IfTrue(theOne+open, values)))
}

func isFinished(game attr.Item) bool {
	g, err := decode[Game](game)
	return err == nil && g.FinishedAt != nil
}

// stillOpen checks that a game still is the one that was read, and is not finished at any node.
func (p *plan) stillOpen(g *Game) {
	values := attr.Item{":made": attr.S(g.CreatedAt), ":finished": attr.S(finishedMark)}
	p.Write(p.Check(gameKey(g.GameID), table.IfTrue(theOne+" AND NOT contains(#data, :finished)", values)))
}
