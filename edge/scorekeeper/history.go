package scorekeeper

import (
	"cmp"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// History is all that a player has played, newest day first. It has grades and no letters.
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

// games reads all games of a player, oldest day first. A day that has both kinds of row is read of the newer kind.
func (s *Service) games(tx *store.Tx, user string) (all []Game, err error) {
	for _, sk := range []string{skGame, skOldGame} {
		some, err := rows(s, tx, gamesOf(user), sk, func(row attr.Item) (Game, bool) {
			g, err := gameOf(row)
			return g, err == nil && isDay(g.Date) && !slices.ContainsFunc(all, func(o Game) bool { return o.Date == g.Date })
		})
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b Game) int { return strings.Compare(a.Date, b.Date) })
	return all, nil
}

// Games counts the games of a player.
func (s *Service) Games(tx *store.Tx, user string) (int, error) {
	all, err := s.games(tx, user)
	return len(all), err
}

// Players counts the games of a day.
func (s *Service) Players(tx *store.Tx, date string) (int, error) {
	all, err := rows(s, tx, prefixUser, skGame, func(row attr.Item) (struct{}, bool) {
		return struct{}{}, row["puzzle_date"].Str() == date
	})
	return len(all), err
}

// History returns what a player has played.
func (s *Service) History(tx *store.Tx, user string) (History, error) {
	h := History{UserID: user, Games: []PlayedGame{}}
	all, err := s.games(tx, user)
	for _, g := range slices.Backward(all) {
		answer, err := s.word(tx, g.Date)
		if err != nil {
			return h, err
		}
		p := PlayedGame{
			GameID: GameID(g.UserID, g.Date), Date: g.Date, Guesses: len(g.Guesses), Won: g.Won, InProgress: !g.Over(),
			Graded: [][]Grade{}, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
		}
		for _, guess := range g.Guesses {
			p.Graded = append(p.Graded, GradeGuess(guess, answer))
		}
		h.Games = append(h.Games, p)
		if h.Total++; g.Won {
			h.Won++
		}
	}
	return h, err
}

// Streaks are runs of solved days, and how many games took how many guesses.
type Streaks struct {
	Now          int                 `json:"streak"`
	Best         int                 `json:"best_streak"`
	Distribution [MaxGuesses + 1]int `json:"distribution"` // of one to six guesses; the last: lost
}

// Streaks counts over the days that had a puzzle: a day without one breaks no run, and neither does today while it is not over.
func (s *Service) Streaks(tx *store.Tx, user, today string) (out Streaks, err error) {
	puzzles, err := s.Puzzles(tx, "", "")
	if err != nil {
		return out, err
	}
	games, err := s.games(tx, user)
	of := map[string]Game{}
	for _, g := range games {
		of[g.Date] = g
		if moves := len(g.Guesses); g.Won && moves > 0 && moves <= MaxGuesses { // others write these rows too
			out.Distribution[moves-1]++
		} else if g.Over() {
			out.Distribution[MaxGuesses]++
		}
	}
	for _, p := range puzzles {
		switch g := of[p.Date]; {
		case p.Date > today:
		case g.Won:
			out.Now++
			out.Best = max(out.Best, out.Now)
		case p.Date < today || g.Over():
			out.Now = 0
		}
	}
	return out, err
}

// Score is a game as others may see it: rows of coloured squares, no letters.
type Score struct {
	GameID string   `json:"game_id"`
	UserID string   `json:"user_id"`
	Moves  int      `json:"moves_qty"`
	Won    bool     `json:"won"`
	Rows   []string `json:"score"`

	Name string `json:"-"` // on a board
	at   string
}

func (s *Service) score(tx *store.Tx, g *Game) (Score, error) {
	answer, err := s.word(tx, g.Date)
	out := Score{GameID: GameID(g.UserID, g.Date), UserID: g.UserID, Moves: len(g.Guesses), Won: g.Won, Rows: []string{}, at: g.UpdatedAt}
	for _, guess := range g.Guesses {
		out.Rows = append(out.Rows, Graded(guess, answer).Row())
	}
	return out, err
}

// Scores returns the games of a player from one day to another, as others may see them: the finished ones, to who is in a team
// with them. by is who asks.
func (s *Service) Scores(tx *store.Tx, by, user, from, to string) ([]Score, error) {
	if by != user {
		if of, err := s.Concerns(tx, by); err != nil || !IsUser(user) || !slices.Contains(of, user) {
			return nil, cmp.Or(err, notFound("User"))
		}
	}
	games, err := s.games(tx, user)
	games = slices.DeleteFunc(games, func(g Game) bool { return g.Date < from || g.Date > to || by != user && !g.Over() })
	all := make([]Score, len(games))
	for i := range games {
		if all[i], err = s.score(tx, &games[i]); err != nil {
			return nil, err
		}
	}
	return all, err
}

// Board is how a team did on a day.
type Board struct {
	ID           string  `json:"scoreboard_id"`
	TeamID       string  `json:"team_id"`
	Date         string  `json:"puzzle_date_iso_day"`
	Participants int     `json:"participants_qty"` // who has guessed, finished or not
	Scores       []Score `json:"score,omitempty"`  // of finished games: solved ones first, fewer guesses, sooner, by name
}

// Board returns a team's board of a day to one of its members.
func (s *Service) Board(tx *store.Tx, by, team, date string) (Board, error) {
	t, err := s.Team(tx, team, by)
	if err != nil {
		return Board{}, err
	}
	return s.board(tx, &t, date)
}

func (s *Service) board(tx *store.Tx, t *Team, date string) (Board, error) {
	b := Board{ID: GameID(t.ID, date), TeamID: t.ID, Date: date, Scores: []Score{}}
	for i := range t.Members {
		m := &t.Members[i]
		g, err := s.game(tx, m.UserID, date)
		if err != nil {
			return b, err
		}
		if len(g.Guesses) > 0 {
			b.Participants++
		}
		if !g.Over() {
			continue
		}
		one, err := s.score(tx, &g)
		if err != nil {
			return b, err
		}
		one.Name = m.Name
		b.Scores = append(b.Scores, one)
	}
	slices.SortFunc(b.Scores, func(x, y Score) int {
		behind := map[bool]int{false: 1}
		return cmp.Or(behind[x.Won]-behind[y.Won], cmp.Compare(x.Moves, y.Moves), strings.Compare(x.at, y.at), strings.Compare(x.Name, y.Name))
	})
	return b, nil
}

// BoardsOf is which boards a journal record changes: those of a day, or of a team that somebody joins or leaves. of is who learns of it, as
// Concerns lists them; ok is false for a record that changes none.
func BoardsOf(r *store.Record) (of string, which map[string]string, ok bool) {
	if user, day, played := playedBy(r.Key); played {
		return user, map[string]string{"puzzle_date_iso_day": day}, r.New != nil
	}
	of, sk := r.Key["pk"].Str(), r.Key["sk"].Str()
	team, joins := strings.CutPrefix(sk, prefixTeam)
	if !joins {
		team = strings.TrimPrefix(of, prefixTeam)
	}
	return of, map[string]string{"team_id": team}, joins || strings.HasPrefix(sk, prefixMember)
}

// Concerns lists what a player learns of: the teams that they join and leave, who else does in these, and what their members play. A team
// that is deleted has none, though a member stays whom another node has added meanwhile.
func (s *Service) Concerns(tx *store.Tx, user string) ([]string, error) {
	all := []string{prefixUser + user}
	teams, err := s.TeamsOf(tx, user)
	for _, team := range teams {
		there, bad := s.load(tx, teamKey(team), &Team{})
		members, failed := under(s, tx, prefixTeam+team, prefixMember, name)
		if err = cmp.Or(err, bad, failed); there {
			all = append(append(all, prefixTeam+team), members...)
		}
	}
	return all, err
}

// Boards returns previews of a team's boards of the days of a range that had a puzzle: so many behind the first ones, and of how many days.
func (s *Service) Boards(tx *store.Tx, by, team, from, to string, behind, most int) (all []Board, of int, err error) {
	t, err := s.Team(tx, team, by)
	if err != nil {
		return nil, 0, err
	}
	puzzles, err := s.Puzzles(tx, from, to)
	puzzles = slices.DeleteFunc(puzzles, func(p Puzzle) bool { return !begun(p.Date, tx.Now()) })
	all, of = []Board{}, len(puzzles)
	for _, p := range puzzles[min(behind, of):min(behind+most, of)] {
		b, err := s.board(tx, &t, p.Date)
		if err != nil {
			return nil, of, err
		}
		b.Scores = nil
		all = append(all, b)
	}
	return all, of, err
}
