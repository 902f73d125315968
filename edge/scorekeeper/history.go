package scorekeeper

import (
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

// graded is a game without its letters. Where the answer is gone there are no grades.
func (g *Game) graded(answer string) PlayedGame {
	p := PlayedGame{
		GameID: GameID(g.UserID, g.Date), Date: g.Date, Guesses: len(g.Guesses), Won: g.Won, InProgress: !g.Over(),
		Graded: make([][]Grade, 0, len(g.Guesses)), CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
	}
	for _, guess := range g.Guesses {
		p.Graded = append(p.Graded, GradeGuess(guess, answer))
	}
	return p
}

// games reads all games of a player, oldest day first. A day that has both kinds of row is read of the newer kind.
func (s *Service) games(tx *store.Tx, user string) (all []Game, err error) {
	for _, sk := range []string{skGame, skOldGame} {
		for item, err := range tx.ScanAll(s.scan(gamesOf(user), sk)) {
			var g Game
			if err != nil {
				return nil, err
			}
			if attr.Unmarshal(item, &g) == nil && !slices.ContainsFunc(all, func(o Game) bool { return o.Date == g.Date && o.SK != g.SK }) {
				all = append(all, g)
			}
		}
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
func (s *Service) Players(tx *store.Tx, date string) (n int, err error) {
	for item, err := range tx.ScanAll(s.scan(prefixUser, skGame)) {
		if err != nil {
			return n, err
		}
		if item["puzzle_date"].Str() == date {
			n++
		}
	}
	return n, nil
}

// History returns what a player has played.
func (s *Service) History(tx *store.Tx, user string) (History, error) {
	h := History{UserID: user, Games: []PlayedGame{}}
	all, err := s.games(tx, user)
	for i := len(all) - 1; i >= 0; i-- {
		g := &all[i]
		answer, err := s.word(tx, g.Date)
		if err != nil {
			return h, err
		}
		h.Games = append(h.Games, g.graded(answer))
		h.Total++
		if g.Won {
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
	won := map[string]bool{}
	for i := range games {
		g := &games[i]
		won[g.Date] = g.Won
		switch {
		case g.Won && len(g.Guesses) > 0 && len(g.Guesses) <= MaxGuesses: // others write these rows too
			out.Distribution[len(g.Guesses)-1]++
		case g.Over():
			out.Distribution[MaxGuesses]++
		}
	}
	for i := range puzzles {
		switch date := puzzles[i].Date; {
		case date > today:
		case won[date]:
			out.Now++
			out.Best = max(out.Best, out.Now)
		case date < today || isLost(games, date):
			out.Now = 0
		}
	}
	return out, err
}

func isLost(games []Game, date string) bool {
	return slices.ContainsFunc(games, func(g Game) bool { return g.Date == date && g.Over() && !g.Won })
}
