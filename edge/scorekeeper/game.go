package scorekeeper

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Game is a player's game of a day, as it is stored. GuessTimes and GuessKeys go beside Guesses; rows of the original have neither.
type Game struct {
	PK         string   `dynamodbav:"pk"`
	SK         string   `dynamodbav:"sk"`
	UserID     string   `dynamodbav:"user_id"`
	Date       string   `dynamodbav:"puzzle_date"`
	Guesses    []string `dynamodbav:"guesses"`
	Won        bool     `dynamodbav:"won"`
	CreatedAt  string   `dynamodbav:"created_at"`
	UpdatedAt  string   `dynamodbav:"updated_at"`
	GuessTimes []string `dynamodbav:"guess_times,omitempty"`
	GuessKeys  []string `dynamodbav:"guess_keys,omitempty"` // of each guess its Idempotency-Key; empty: it had none
	Dropped    []string `dynamodbav:"dropped,omitempty"`    // guesses of another node that did not count; the player has not seen it
}

// Over reports whether a game takes no more guesses.
func (g *Game) Over() bool { return g.Won || len(g.Guesses) >= MaxGuesses }

// at returns a guess's part of a list beside Guesses, which may be shorter.
func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// padded is a list beside Guesses that is as long as they are: the parts of rows of the original are empty.
func padded(list []string, n int) []string {
	for len(list) < n {
		list = append(list, "")
	}
	return list[:n]
}

// Move is a guess with its grades.
type Move []Letter

// Letter is one of a guess.
type Letter struct {
	Letter string `json:"letter"`
	Grade  Grade  `json:"grade"`
}

// Graded is a guess with its grades; empty where the answer is not known.
func Graded(guess, answer string) Move {
	m := make(Move, 0, Letters)
	for i, grade := range GradeGuess(guess, answer) {
		m = append(m, Letter{guess[i : i+1], grade})
	}
	return m
}

// View is a game as its player sees it.
type View struct {
	GameID  string   `json:"game_id"`
	UserID  string   `json:"user_id"`
	Moves   int      `json:"moves_qty"`
	Won     bool     `json:"won"`
	Graded  []Move   `json:"moves"`
	Answer  string   `json:"answer,omitempty"`  // of a lost game alone
	Dropped []string `json:"dropped,omitempty"` // guesses that did not count, since six from another node came first
}

// GameID is the id of a player's game of a day: the same at every node.
func GameID(user, date string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(user+"#"+date)).String()
}

// view shows the first n guesses of a game.
func (g *Game) view(answer string, n int) View {
	won := g.Won && n == len(g.Guesses)
	v := View{GameID: GameID(g.UserID, g.Date), UserID: g.UserID, Moves: n, Won: won, Graded: make([]Move, 0, n), Dropped: g.Dropped}
	for _, guess := range g.Guesses[:n] {
		v.Graded = append(v.Graded, Graded(guess, answer))
	}
	if n >= MaxGuesses && !won {
		v.Answer = answer
	}
	return v
}

// Guess is a word that a player guesses.
type Guess struct {
	User, Date, Word string
	Key              string    // Idempotency-Key; empty: none
	At               time.Time // the moment of the tap
}

func badRequest(text string) error { return fault.New(fault.Invalid, "bad_request", "%s", text) }

func badDate() error { return badRequest("Invalid date format. Expected YYYY-MM-DD") }

// NoPuzzle is the error for a day without an answer.
func NoPuzzle() error {
	return fault.New(fault.NotFound, "not_found", "No puzzle found for this date")
}

// CheckGuess looks at what a guess says by itself. The word is in lower case.
func (s *Service) CheckGuess(g *Guess) error {
	switch {
	case !isDay(g.Date):
		return badDate()
	case !isWord(g.Word) && len([]rune(g.Word)) != Letters:
		return badRequest("Guess must be exactly 5 letters")
	case !s.Words.Has(g.Word):
		return badRequest("Word not in dictionary")
	}
	return nil
}

// Guess plays a guess that CheckGuess has passed. One that is repeated with its key answers what the first one did.
func (s *Service) Guess(tx *store.Tx, g Guess) (View, error) {
	answer, err := s.answer(tx, g.Date)
	if err != nil {
		return View{}, err
	}
	game, err := s.game(tx, g.User, g.Date)
	if err != nil {
		return View{}, err
	}
	if i := slices.Index(game.GuessKeys, g.Key); g.Key != "" && i >= 0 {
		if at(game.Guesses, i) != g.Word {
			return View{}, badRequest("This Idempotency-Key stands for another guess")
		}
		return game.view(answer, i+1), nil
	}
	switch {
	case game.Over():
		return View{}, badRequest("Game is already complete")
	case slices.Contains(game.Guesses, g.Word):
		return View{}, badRequest("You already guessed that word")
	}
	seen := game.Guesses
	game.play(g, answer, tx.Now())
	if err := s.write(tx, &game, seen); err != nil {
		return View{}, err
	}
	return game.view(answer, len(game.Guesses)), nil
}

// Import has a player guess words of a day, a minute each from a moment on.
func (s *Service) Import(tx *store.Tx, user string, words []string, at time.Time) error {
	date := at.UTC().Format(Day)
	answer, err := s.answer(tx, date)
	if err != nil {
		return err
	}
	g := Game{PK: gamePK(user, date), SK: skGame, UserID: user, Date: date, CreatedAt: at.UTC().Format(stamp)}
	for _, w := range words {
		g.play(Guess{Word: w, At: at}, answer, at)
		at = at.Add(time.Minute)
	}
	return s.write(tx, &g, nil)
}

// play adds a guess to a game.
func (g *Game) play(guess Guess, answer string, now time.Time) {
	n := len(g.Guesses)
	g.GuessTimes = append(padded(g.GuessTimes, n), guess.At.UTC().Format(stamp))
	g.GuessKeys = append(padded(g.GuessKeys, n), guess.Key)
	g.Guesses = append(slices.Clone(g.Guesses), guess.Word)
	g.Won = guess.Word == answer
	g.UpdatedAt = now.UTC().Format(stamp)
}

// write keeps a game to which one guess was added. The condition is on the whole list: where another node's guess came first in the
// cloud, this one is refused there, and with it all that were made behind it (see Merge).
func (s *Service) write(tx *store.Tx, g *Game, seen []string) error {
	if len(seen) == 0 || g.SK == skOldGame {
		g.SK = skGame
		item, err := attr.Marshal(g)
		if err != nil {
			return err
		}
		_, err = tx.Put(store.PutItem{Table: s.Table, Item: item, Condition: "attribute_not_exists(pk)", NoOld: true})
		return err
	}
	_, err := tx.Update(store.UpdateItem{
		Table: s.Table, Key: key(g.PK, g.SK), Condition: "guesses = :seen AND won = :no",
		Update: "SET guesses = :guesses, guess_times = :times, guess_keys = :keys, won = :won, updated_at = :at",
		Params: expr.Params{Values: attr.Item{
			":seen": texts(seen), ":no": attr.Bool(false), ":guesses": texts(g.Guesses), ":times": texts(g.GuessTimes),
			":keys": texts(g.GuessKeys), ":won": attr.Bool(g.Won), ":at": attr.S(g.UpdatedAt),
		}},
	})
	return err
}

// texts is a list of strings.
func texts(list []string) attr.Value {
	all := make([]attr.Value, len(list))
	for i, t := range list {
		all[i] = attr.S(t)
	}
	return attr.L(all...)
}

// game reads a player's game of a day; one that was not begun has no guesses.
func (s *Service) game(tx *store.Tx, user, date string) (g Game, err error) {
	for _, sk := range []string{skGame, skOldGame} {
		if found, err := s.load(tx, key(gamePK(user, date), sk), &g); found || err != nil {
			return g, err
		}
	}
	now := tx.Now().UTC().Format(stamp)
	return Game{PK: gamePK(user, date), SK: skGame, UserID: user, Date: date, CreatedAt: now, UpdatedAt: now}, nil
}

// Game shows a player's game of a day, with guesses that did not count, once: Seen takes them away.
func (s *Service) Game(tx *store.Tx, user, date string) (View, error) {
	if !isDay(date) {
		return View{}, badDate()
	}
	answer, err := s.answer(tx, date)
	if err != nil {
		return View{}, err
	}
	g, err := s.game(tx, user, date)
	return g.view(answer, len(g.Guesses)), err
}

// Seen says that a player has been told which guesses did not count.
func (s *Service) Seen(tx *store.Tx, user, date string) error {
	_, err := tx.Update(store.UpdateItem{
		Table: s.Table, Key: GameKey(user, date), Update: "REMOVE dropped", Condition: "attribute_exists(dropped)",
	})
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
