package scorekeeper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/touchline/touchline/store"
)

// Score is a game as others may see it: rows of coloured squares, no letters.
type Score struct {
	GameID string   `json:"game_id"`
	UserID string   `json:"user_id"`
	Moves  int      `json:"moves_qty"`
	Won    bool     `json:"won"`
	Rows   []string `json:"score"`

	Date string `json:"-"`
	Name string `json:"-"` // on a board
	at   string
}

func (s *Service) score(tx *store.Tx, g *Game) (Score, error) {
	answer, err := s.word(tx, g.Date)
	out := Score{
		GameID: GameID(g.UserID, g.Date), UserID: g.UserID, Moves: len(g.Guesses), Won: g.Won, Rows: []string{}, Date: g.Date, at: g.UpdatedAt,
	}
	for _, guess := range g.Guesses {
		out.Rows = append(out.Rows, Row(GradeGuess(guess, answer)))
	}
	return out, err
}

// Scores returns the games of a player from one day to another, as others may see them: the finished ones, to who is in a team
// with them. by is who asks.
func (s *Service) Scores(tx *store.Tx, by, user, from, to string) ([]Score, error) {
	if by != user {
		if common, err := s.common(tx, by, user); err != nil || !common {
			return nil, cmp.Or(err, noUser())
		}
	}
	games, err := s.games(tx, user)
	all := []Score{}
	for i := range games {
		g := &games[i]
		if g.Date < from || g.Date > to || by != user && !g.Over() {
			continue
		}
		one, err := s.score(tx, g)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, err
}

func (s *Service) common(tx *store.Tx, a, b string) (bool, error) {
	of, err := s.TeamsOf(tx, a)
	if err != nil {
		return false, err
	}
	others, err := s.TeamsOf(tx, b)
	return slices.ContainsFunc(of, func(t string) bool { return slices.Contains(others, t) }), err
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
	b := Board{ID: uuid.NewSHA1(uuid.NameSpaceOID, []byte(t.ID+"#"+date)).String(), TeamID: t.ID, Date: date, Scores: []Score{}}
	for i := range t.Members {
		m := &t.Members[i]
		g, err := s.game(tx, m.UserID, date)
		if err != nil {
			return b, err
		}
		if len(g.Guesses) == 0 {
			continue
		}
		b.Participants++
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
		return cmp.Or(boolOrder(x.Won, y.Won), cmp.Compare(x.Moves, y.Moves), strings.Compare(x.at, y.at), strings.Compare(x.Name, y.Name))
	})
	return b, nil
}

func boolOrder(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// Boards returns previews of a team's boards, for each day of a range that had a puzzle.
func (s *Service) Boards(tx *store.Tx, by, team, from, to string) ([]Board, error) {
	t, err := s.Team(tx, team, by)
	if err != nil {
		return nil, err
	}
	puzzles, err := s.Puzzles(tx, from, to)
	all := []Board{}
	for i := range puzzles {
		if !begun(puzzles[i].Date, tx.Now()) {
			continue
		}
		b, err := s.board(tx, &t, puzzles[i].Date)
		if err != nil {
			return nil, err
		}
		b.Scores = nil
		all = append(all, b)
	}
	return all, err
}

// ShareText is what a player sends to others of a finished game: no letters.
func ShareText(sc *Score) string {
	moves := "X"
	if sc.Won {
		moves = fmt.Sprint(sc.Moves)
	}
	return fmt.Sprintf("Scorekeeper %s %s/%d\n\n%s", sc.Date, moves, MaxGuesses, strings.Join(sc.Rows, "\n"))
}
