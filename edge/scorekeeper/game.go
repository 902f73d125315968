package scorekeeper

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
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

// turn is a guess of a game.
type turn struct{ word, at, key string }

func (g *Game) add(t turn) {
	g.Guesses, g.GuessTimes, g.GuessKeys = append(g.Guesses, t.word), append(g.GuessTimes, t.at), append(g.GuessKeys, t.key)
}

// Over reports whether a game takes no more guesses.
func (g *Game) Over() bool { return g.Won || len(g.Guesses) >= MaxGuesses }

// gameOf reads a row; of one without times and keys these are empty, and without a row all is.
func gameOf(row attr.Item) (g Game, err error) {
	err = attr.Unmarshal(row, &g)
	for _, list := range []*[]string{&g.GuessTimes, &g.GuessKeys} {
		*list = append(*list, make([]string, max(0, len(g.Guesses)-len(*list)))...)[:len(g.Guesses)]
	}
	return g, err
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

// Row is a guess without its letters, as people share it.
func (m Move) Row() (row string) {
	for _, l := range m {
		row += map[Grade]string{Correct: "🟩", Contained: "🟨", Wrong: "⬛"}[l.Grade]
	}
	return row
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

// Share is what a player sends to others of a finished game of a day: no letters.
func (v *View) Share(date string) string {
	moves := "X"
	if v.Won {
		moves = strconv.Itoa(v.Moves)
	}
	lines := []string{fmt.Sprintf("Scorekeeper %s %s/%d", date, moves, MaxGuesses), ""}
	for _, m := range v.Graded {
		lines = append(lines, m.Row())
	}
	return strings.Join(lines, "\n")
}

// Guess is a word that a player guesses.
type Guess struct {
	User, Date, Word string
	Key              string    // Idempotency-Key; empty: none
	At               time.Time // the moment of the tap
	Late             error     // why that is too long ago; it may still be one that was taken before
}

func badRequest(text string) error { return fault.New(fault.Invalid, "bad_request", "%s", text) }

func badDate() error { return badRequest("Invalid date format. Expected YYYY-MM-DD") }

func noPuzzle() error {
	return fault.New(fault.NotFound, "not_found", "No puzzle found for this date")
}

// CheckGuess looks at what a guess says by itself. The word is in lower case.
func (s *Service) CheckGuess(g *Guess) error {
	switch {
	case !isDay(g.Date):
		return badDate()
	case len([]rune(g.Word)) != Letters:
		return badRequest("Guess must be exactly 5 letters")
	case !s.Words.Has(g.Word):
		return badRequest("Word not in dictionary")
	}
	return nil
}

// Guess plays a guess that CheckGuess has passed. One that is repeated with its key answers what the first one did.
//
// The condition of its write is on the whole list: where another node's guess came first in the cloud, this one is refused there, and
// with it all that were made behind it (see Merge).
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
		if game.Guesses[i] != g.Word {
			return View{}, badRequest("This Idempotency-Key was already used for another guess")
		}
		return game.view(answer, i+1), nil
	}
	switch {
	case g.Late != nil:
		return View{}, g.Late
	case game.Over():
		return View{}, badRequest("Game is already complete")
	case slices.Contains(game.Guesses, g.Word):
		return View{}, badRequest("You already guessed that word")
	}
	was := game
	game.add(turn{g.Word, g.At.UTC().Format(stamp), g.Key})
	game.Won, game.UpdatedAt = g.Word == answer, tx.Now().UTC().Format(stamp)
	return game.view(answer, len(game.Guesses)), s.keep(tx, &game, &was)
}

// Import has a player guess words of a day, a minute each from a moment on.
func (s *Service) Import(tx *store.Tx, user string, words []string, at time.Time) error {
	date := at.UTC().Format(Day)
	answer, err := s.answer(tx, date)
	g := Game{PK: gamesOf(user) + date, UserID: user, Date: date, CreatedAt: at.UTC().Format(stamp)}
	for _, w := range words {
		g.UpdatedAt = at.UTC().Format(stamp)
		g.add(turn{word: w, at: g.UpdatedAt})
		g.Won, at = w == answer, at.Add(time.Minute)
	}
	return cmp.Or(err, s.keep(tx, &g, &Game{}))
}

// keep writes a game that was another before.
func (s *Service) keep(tx *store.Tx, g, was *Game) error {
	w, err := s.write(g, was)
	if err == nil && w.Update != nil {
		_, err = tx.Update(*w.Update)
	} else if err == nil {
		_, err = tx.Put(*w.Put)
	}
	return err
}

// write is the write of a game that was another before. One that begins, or goes on from a row of the original's earlier version, is a new row.
// What did not count is added to what the player was not told yet, whoever has noted that meanwhile.
func (s *Service) write(g, was *Game) (store.WriteItem, error) {
	if len(was.Guesses) == 0 || was.SK != skGame {
		g.SK = skGame
		row, err := attr.Marshal(g)
		return s.create(row), err
	}
	update := "SET guesses = :guesses, guess_times = :times, guess_keys = :keys, won = :won, updated_at = :at"
	only := table.When("guesses = :seen AND won = :was", attr.Item{
		":seen": texts(was.Guesses), ":was": attr.Bool(was.Won), ":guesses": texts(g.Guesses), ":times": texts(g.GuessTimes),
		":keys": texts(g.GuessKeys), ":won": attr.Bool(g.Won), ":at": attr.S(g.UpdatedAt),
	})
	if g.CreatedAt != was.CreatedAt {
		update += ", created_at = :begun"
		only.Values[":begun"] = attr.S(g.CreatedAt)
	}
	if more := g.Dropped[len(was.Dropped):]; len(more) > 0 {
		update += ", dropped = list_append(if_not_exists(dropped, :none), :more)"
		only.Values[":none"], only.Values[":more"] = attr.L(), texts(more)
	}
	return table.Update(s.Table, key(g.PK, g.SK), update, only), nil
}

// texts is a list of strings.
func texts(list []string) attr.Value {
	all := make([]attr.Value, len(list))
	for i, t := range list {
		all[i] = attr.S(t)
	}
	return attr.L(all...)
}

// reader reads the row of a key; nil: there is none.
type reader func(key attr.Item) (attr.Item, error)

func (s *Service) reader(tx *store.Tx) reader {
	return func(k attr.Item) (attr.Item, error) { return tx.Get(s.Table, k) }
}

// gameIn reads a player's game of a day; one that was not begun has no guesses, and neither has a row that others have written in
// another shape.
func gameIn(read reader, user, date string) (Game, error) {
	for _, sk := range []string{skGame, skOldGame} {
		row, err := read(key(gamesOf(user)+date, sk))
		if g, bad := gameOf(row); err != nil || row != nil && bad == nil {
			return g, err
		}
	}
	return Game{PK: gamesOf(user) + date, SK: skGame, UserID: user, Date: date}, nil
}

func (s *Service) game(tx *store.Tx, user, date string) (Game, error) {
	g, err := gameIn(s.reader(tx), user, date)
	g.CreatedAt = cmp.Or(g.CreatedAt, tx.Now().UTC().Format(stamp))
	return g, err
}

// GameNeeds are the rows behind a player's game of a day that another node may have written. Of a session that is also what became of
// it. Nobody has no game, and what is no day has nothing.
func (s *Service) GameNeeds(user, date string) (keys []attr.Item) {
	if !isDay(date) {
		return nil
	}
	if user != "" {
		keys = append(keys, GameKey(user, date))
	}
	if IsSession(user) {
		keys = append(keys, ownRows(user))
	}
	if _, known := s.cache.get(date); !known {
		keys = append(keys, AnswerKey(date))
	}
	return keys
}

// near is how many days around today the answers are read of, and what somebody has played is asked for.
const near = 7

// NearDays are the partitions of the answers around today, also as others set them.
func NearDays(tx *store.Tx, _ []string) (days []attr.Value, err error) {
	for i := -near; i <= near; i++ {
		days = append(days, AnswerKey(tx.Now().UTC().AddDate(0, 0, i).Format(Day))["pk"])
	}
	return days, nil
}

// RecentNeeds are the games of a player that another node may have written of late, the latest first.
func (s *Service) RecentNeeds(tx *store.Tx, user string) (all []attr.Item, err error) {
	for ago := -1; ago <= near; ago++ {
		all = append(all, GameKey(user, tx.Now().UTC().AddDate(0, 0, -ago).Format(Day)))
	}
	return all, nil
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

// Seen says that a player has been told which guesses did not count: those, and none that another node has noted since.
func (s *Service) Seen(tx *store.Tx, user, date string, told []string) error {
	w := table.Update(s.Table, GameKey(user, date), "REMOVE dropped", table.When("dropped = :told", attr.Item{":told": texts(told)}))
	_, err := tx.Update(*w.Update)
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
