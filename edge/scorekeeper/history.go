package scorekeeper

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// History lists all games of a player, newest day first. It contains grades but no letters.
type History struct {
	UserID string       `json:"user_id"`
	Total  int          `json:"total_games"`
	Won    int          `json:"games_won"`
	Games  []PlayedGame `json:"games"`
}

// PlayedGame is one game of a history.
type PlayedGame struct {
	GameID     string    `json:"game_id"`
	Date       string    `json:"puzzle_date"`
	Guesses    int       `json:"guesses_count"`
	Won        bool      `json:"won"`
	InProgress bool      `json:"in_progress"`
	Graded     [][]Grade `json:"graded_guesses"`
	CreatedAt  string    `json:"created_at"`
	UpdatedAt  string    `json:"updated_at"`
}

// games reads all games of a player, oldest day first. If a day has a row of both kinds, the skGame row is used.
func (p *plan) games(user string) (all []Game) {
	for _, sk := range []string{skGame, skOldGame} {
		all = append(all, rows(p, gamesOf(user), sk, func(row attr.Item) (Game, bool) {
			g, err := gameOf(row)
			if err == nil && !isDay(g.Date) {
				err = errors.New("attribute puzzle_date is not a day such as 2026-02-02")
			}
			if err != nil {
				p.Skip(row, err)
			}
			return g, err == nil && !slices.ContainsFunc(all, func(o Game) bool { return o.Date == g.Date })
		})...)
	}
	slices.SortFunc(all, func(a, b Game) int { return strings.Compare(a.Date, b.Date) })
	return all
}

// Games returns the number of a player's games.
func (s *Service) Games(tx *store.Tx, user string) (int, error) {
	p := s.plan(tx)
	return len(p.games(user)), p.Err()
}

// Players returns the number of games of a day.
func (s *Service) Players(tx *store.Tx, date string) (int, error) {
	p := s.plan(tx)
	return len(rows(p, prefixUser, skGame, func(row attr.Item) (struct{}, bool) {
		return struct{}{}, row["puzzle_date"].Str() == date
	})), p.Err()
}

// History returns a player's history.
func (s *Service) History(tx *store.Tx, user string) (History, error) {
	p, h := s.plan(tx), History{UserID: user, Games: []PlayedGame{}}
	for _, g := range slices.Backward(p.games(user)) {
		answer := p.word(g.Date)
		played := PlayedGame{
			GameID: GameID(g.UserID, g.Date), Date: g.Date, Guesses: len(g.Guesses), Won: g.Won, InProgress: !g.Over(),
			Graded: [][]Grade{}, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
		}
		for _, guess := range g.Guesses {
			played.Graded = append(played.Graded, GradeGuess(guess, answer))
		}
		h.Games = append(h.Games, played)
		if h.Total++; g.Won {
			h.Won++
		}
	}
	return h, p.Err()
}

// Streaks counts a player's runs of solved days, and games by number of guesses.
type Streaks struct {
	Now          int                 `json:"streak"`
	Best         int                 `json:"best_streak"`
	Distribution [MaxGuesses + 1]int `json:"distribution"` // games won with one to six guesses; the last element counts games lost
}

// Streaks returns a player's streaks up to today. A day without a puzzle does not end a run; neither does today's game until it is lost.
func (s *Service) Streaks(tx *store.Tx, user, today string) (out Streaks, err error) {
	p, byDate := s.plan(tx), map[string]Game{}
	puzzles, err := s.Puzzles(tx, "", "")
	p.Fail(err)
	for _, g := range p.games(user) {
		byDate[g.Date] = g
		if moves := len(g.Guesses); g.Won && moves > 0 && moves <= MaxGuesses { // other programs write these rows too
			out.Distribution[moves-1]++
		} else if g.Over() {
			out.Distribution[MaxGuesses]++
		}
	}
	for _, of := range puzzles {
		switch g := byDate[of.Date]; {
		case of.Date > today:
		case g.Won:
			out.Now++
			out.Best = max(out.Best, out.Now)
		case of.Date < today || g.Over():
			out.Now = 0
		}
	}
	return out, p.Err()
}

// Score is a game as other players may see it: rows of coloured squares, without letters.
type Score struct {
	GameID string   `json:"game_id"`
	UserID string   `json:"user_id"`
	Moves  int      `json:"moves_qty"`
	Won    bool     `json:"won"`
	Rows   []string `json:"score"`

	Name string `json:"-"` // display name; set on a board only
	at   string // when the game was last updated
}

func (p *plan) score(g *Game) Score {
	answer := p.word(g.Date)
	out := Score{GameID: GameID(g.UserID, g.Date), UserID: g.UserID, Moves: len(g.Guesses), Won: g.Won, Rows: []string{}, at: g.UpdatedAt}
	for _, guess := range g.Guesses {
		out.Rows = append(out.Rows, NewMove(guess, answer).Row())
	}
	return out
}

// Scores returns the games of user between two days. Another player, by, must share a team with user, and gets only the finished games. If
// they share none, the error is NotFound.
func (s *Service) Scores(tx *store.Tx, by, user, from, to string) ([]Score, error) {
	p := s.plan(tx)
	if by != user {
		known, err := s.Concerns(tx, by)
		p.Fail(err)
		p.Refuse(!IsUser(user) || !slices.Contains(known, user), notFound("User"))
	}
	games := slices.DeleteFunc(p.games(user), func(g Game) bool { return g.Date < from || g.Date > to || by != user && !g.Over() })
	all := make([]Score, len(games))
	for i := range games {
		all[i] = p.score(&games[i])
	}
	return all, p.Err()
}

// Board shows how a team did on a day.
type Board struct {
	ID           string  `json:"scoreboard_id"`
	TeamID       string  `json:"team_id"`
	Date         string  `json:"puzzle_date_iso_day"`
	Participants int     `json:"participants_qty"` // members who have guessed, finished or not
	Scores       []Score `json:"score,omitempty"`  // finished games: solved before lost, then by guesses, time and name
}

// Board returns a team's board for a day. Only members may see it.
func (s *Service) Board(tx *store.Tx, by, team, date string) (Board, error) {
	p := s.plan(tx)
	t := p.teamFor(team, by)
	return p.board(&t, date), p.Err()
}

func (p *plan) board(t *Team, date string) Board {
	b := Board{ID: GameID(t.ID, date), TeamID: t.ID, Date: date, Scores: []Score{}}
	joined := t.Joined()
	for i := range joined {
		m := &joined[i]
		g := p.game(m.UserID, date)
		if len(g.Guesses) > 0 {
			b.Participants++
		}
		if !g.Over() {
			continue
		}
		score := p.score(&g)
		score.Name = m.Name
		b.Scores = append(b.Scores, score)
	}
	slices.SortFunc(b.Scores, func(x, y Score) int {
		behind := map[bool]int{false: 1}
		return cmp.Or(behind[x.Won]-behind[y.Won], cmp.Compare(x.Moves, y.Moves), strings.Compare(x.at, y.at), strings.Compare(x.Name, y.Name))
	})
	return b
}

// BoardsOf returns which boards a journal record changes: those of a day, or those of a team that a player joins or leaves. subject is the
// player or the partition that the record is about: readers whose Concerns include it are notified. ok is false if no board changes.
func BoardsOf(r *store.Record) (subject string, which map[string]string, ok bool) {
	if user, day, played := playedBy(r.Key); played {
		return user, map[string]string{"puzzle_date_iso_day": day}, r.New != nil
	}
	subject, sk := r.Key["pk"].Str(), r.Key["sk"].Str()
	team, joins := strings.CutPrefix(sk, prefixTeam)
	if !joins {
		team = strings.TrimPrefix(subject, prefixTeam)
	}
	return subject, map[string]string{"team_id": team}, joins || strings.HasPrefix(sk, prefixMember)
}

// Concerns lists the subjects (see BoardsOf) that a player is notified of: their own partition, and the partitions and members of their
// teams who are shown. A deleted team counts as having no members, though the row of one that another node added meanwhile may remain.
func (s *Service) Concerns(tx *store.Tx, user string) ([]string, error) {
	p, all := s.plan(tx), []string{prefixUser + user}
	for _, team := range p.teamsOf(user) {
		if p.load(teamKey(team), &Team{}) {
			all = append(append(all, prefixTeam+team), p.visibleMembers(team, user)...)
		}
	}
	return all, p.Err()
}

// visibleMembers lists the members of a team whose games one of them sees: their own, and those of members who have accepted.
func (p *plan) visibleMembers(team, to string) []string {
	return collectUnder(p, prefixTeam+team, prefixMember, func(user string, row attr.Item) (string, bool) {
		var m Member
		return user, p.decode(row, &m) && (user == to || !m.Offered())
	})
}

// Boards returns boards without scores of the days of a range that had a puzzle, at most limit of them after skip; total counts all such days.
func (s *Service) Boards(tx *store.Tx, by, team, from, to string, skip, limit int) (all []Board, total int, err error) {
	p := s.plan(tx)
	t := p.teamFor(team, by)
	puzzles, err := s.Puzzles(tx, from, to)
	p.Fail(err)
	puzzles = slices.DeleteFunc(puzzles, func(p Puzzle) bool { return !hasBegun(p.Date, tx.Now()) })
	all, total = []Board{}, len(puzzles)
	for _, of := range puzzles[min(skip, total):min(skip+limit, total)] {
		b := p.board(&t, of.Date)
		b.Scores = nil
		all = append(all, b)
	}
	return all, total, p.Err()
}
