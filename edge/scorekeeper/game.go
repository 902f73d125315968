package scorekeeper

import (
	"cmp"
	"errors"
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

// Game is the row of a player's game for a day. GuessTimes and GuessKeys run parallel to Guesses; rows of the original have neither.
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
	GuessKeys  []string `dynamodbav:"guess_keys,omitempty"` // the Idempotency-Key of each guess; empty if it had none
	Dropped    []string `dynamodbav:"dropped,omitempty"`    // words that did not count, and that the player has not been told of yet
}

// turn is one guess of a game.
type turn struct{ word, at, key string }

func (g *Game) add(t turn) {
	g.Guesses, g.GuessTimes, g.GuessKeys = append(g.Guesses, t.word), append(g.GuessTimes, t.at), append(g.GuessKeys, t.key)
}

// Over reports whether a game is finished, won or lost.
func (g *Game) Over() bool { return g.Won || len(g.Guesses) >= MaxGuesses }

// gameOf decodes a row; nil is a game without guesses. Missing times and keys are filled with empty strings, one for each guess.
func gameOf(row attr.Item) (g Game, err error) {
	err = table.Unmarshal(row, &g)
	for _, list := range []*[]string{&g.GuessTimes, &g.GuessKeys} {
		*list = append(*list, make([]string, max(0, len(g.Guesses)-len(*list)))...)[:len(g.Guesses)]
	}
	return g, err
}

// Move is a guess with its grades.
type Move []Letter

// Letter is one letter of a guess with its grade.
type Letter struct {
	Letter string `json:"letter"`
	Grade  Grade  `json:"grade"`
}

// NewMove returns a guess with its grades. It is empty if the answer is not known.
func NewMove(guess, answer string) Move {
	m := make(Move, 0, Letters)
	for i, grade := range GradeGuess(guess, answer) {
		m = append(m, Letter{guess[i : i+1], grade})
	}
	return m
}

// Row returns the grades of a guess as coloured squares, without letters, as people share them.
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
	Answer  string   `json:"answer,omitempty"`  // set only if the game is lost
	Dropped []string `json:"dropped,omitempty"` // words that did not count: see Merge
}

// GameID returns the ID of a player's game for a day, which is the same at every node.
func GameID(user, date string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(user+"#"+date)).String()
}

// view returns a game as it stood after its first n guesses.
func (g *Game) view(answer string, n int) View {
	won := g.Won && n == len(g.Guesses)
	v := View{GameID: GameID(g.UserID, g.Date), UserID: g.UserID, Moves: n, Won: won, Graded: make([]Move, 0, n), Dropped: g.Dropped}
	for _, guess := range g.Guesses[:n] {
		v.Graded = append(v.Graded, NewMove(guess, answer))
	}
	if n >= MaxGuesses && !won {
		v.Answer = answer
	}
	return v
}

// Over reports whether no further guess can be made.
func (v *View) Over() bool { return v.Won || v.Moves >= MaxGuesses }

// Share returns the text in which a player shares a finished game. It contains no letters.
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

// Guess is a request of a player to guess a word.
type Guess struct {
	User, Date, Word string
	Key              string // Idempotency-Key; empty if there is none
}

func badRequest(text string) error { return fault.New(fault.Invalid, "bad_request", "%s", text) }

func badDate() error { return badRequest("Invalid date format. Expected YYYY-MM-DD") }

func noPuzzle() error {
	return fault.New(fault.NotFound, "not_found", "No puzzle found for this date")
}

// CheckGuess checks the date and the word of a guess, without reading the store. The word must be in lower case.
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

// Guess plays a guess that CheckGuess accepted. A guess repeated with its Idempotency-Key gets the answer of the first one.
//
// The write is conditional on the whole list of guesses: if another node's guess reaches the cloud first, the cloud refuses this one and
// all that follow it. Merge then joins the two lists.
func (s *Service) Guess(tx *store.Tx, g Guess) (View, error) {
	p := s.plan(tx)
	answer, game := p.answer(g.Date), p.ownGame(g.User, g.Date)
	if p.Err() != nil {
		return View{}, p.Err()
	}
	if i := slices.Index(game.GuessKeys, g.Key); g.Key != "" && i >= 0 {
		if game.Guesses[i] != g.Word {
			return View{}, badRequest("This Idempotency-Key was already used for another guess")
		}
		return game.view(answer, i+1), nil
	}
	switch {
	case game.Over():
		return View{}, badRequest("Game is already complete")
	case slices.Contains(game.Guesses, g.Word):
		return View{}, badRequest("You already guessed that word")
	}
	was := game
	game.UpdatedAt = tx.Now().UTC().Format(stamp) // its arrival: time decides between players, whatever age their devices claim
	game.add(turn{g.Word, game.UpdatedAt, g.Key})
	game.Won = g.Word == answer
	p.storeGame(&game, &was)
	return game.view(answer, len(game.Guesses)), p.Err()
}

// Import creates a player's game from words that were guessed one minute apart, the first of them at the given time.
func (s *Service) Import(tx *store.Tx, user string, words []string, at time.Time) error {
	date := at.UTC().Format(Day)
	p := s.plan(tx)
	answer := p.answer(date)
	g := Game{PK: gamesOf(user) + date, UserID: user, Date: date, CreatedAt: at.UTC().Format(stamp)}
	for _, w := range words {
		g.UpdatedAt = at.UTC().Format(stamp)
		g.add(turn{word: w, at: g.UpdatedAt})
		g.Won, at = w == answer, at.Add(time.Minute)
	}
	p.storeGame(&g, &Game{})
	return p.Err()
}

// storeGame stores a game over was, the version that was read.
func (p *plan) storeGame(g, was *Game) {
	w, err := p.write(g, was)
	p.Fail(err)
	p.Commit(w)
}

// write returns the write that replaces was, the version that was read, by g. A game that begins, or goes on from a skOldGame row, is a new
// row. Newly dropped words are appended to the list in the row, to which another node may have added some meanwhile.
func (s *Service) write(g, was *Game) (store.WriteItem, error) {
	if len(was.Guesses) == 0 || was.SK != skGame {
		g.SK = skGame
		row, err := attr.Marshal(g)
		return s.Create(row), err
	}
	update := "SET guesses = :guesses, guess_times = :times, guess_keys = :keys, won = :won, updated_at = :at"
	only := table.IfTrue("guesses = :seen AND won = :was", attr.Item{
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
	return s.Update(key(g.PK, g.SK), update, only), nil
}

// texts returns a list attribute of strings.
func texts(list []string) attr.Value {
	all := make([]attr.Value, len(list))
	for i, t := range list {
		all[i] = attr.S(t)
	}
	return attr.L(all...)
}

// reader returns the row with a key, or nil if there is none.
type reader func(key attr.Item) (attr.Item, error)

func (s *Service) reader(tx *store.Tx) reader {
	return func(k attr.Item) (attr.Item, error) { return tx.Get(s.Table, k) }
}

// gameIn reads a player's game for a day. It has no guesses if the player has not begun, or if the row was written by another program in
// a form that cannot be decoded.
func gameIn(read reader, user, date string) (Game, error) {
	for _, sk := range []string{skGame, skOldGame} {
		row, err := read(key(gamesOf(user)+date, sk))
		if g, malformed := gameOf(row); err != nil || row != nil && malformed == nil {
			return g, err
		}
	}
	return Game{PK: gamesOf(user) + date, SK: skGame, UserID: user, Date: date}, nil
}

// game reads a player's game for a day. Rows that cannot be decoded are skipped.
func (p *plan) game(user, date string) Game {
	g, err := gameIn(func(k attr.Item) (attr.Item, error) {
		row := p.Get(k)
		if _, malformed := gameOf(row); row != nil && malformed != nil {
			p.Skip(row, malformed)
		}
		return row, p.Err()
	}, user, date)
	p.Fail(err)
	g.CreatedAt = cmp.Or(g.CreatedAt, p.Tx.Now().UTC().Format(stamp))
	return g
}

// ownGame is game for the player: a row that cannot be decoded is an error.
func (p *plan) ownGame(user, date string) Game {
	unreadable := p.Tx.Unreadable()
	g := p.game(user, date)
	p.Refuse(p.Tx.Unreadable() > unreadable, table.Unreadable("game", errors.New("its row cannot be decoded")))
	return g
}

// GameNeeds lists the rows behind a player's game for a day that another node may have written: the game, the answer and, for a session,
// its conversion marker. user may be empty: a visitor without an ID has no game. An invalid date needs no rows.
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

// near is how many days from today NearDays and RecentNeeds reach.
const near = 7

// NearDays lists the partitions of the answers around today, which a node reads from the cloud at intervals.
func NearDays(tx *store.Tx, _ []string) (days []attr.Value, err error) {
	for i := -near; i <= near; i++ {
		days = append(days, AnswerKey(tx.Now().UTC().AddDate(0, 0, i).Format(Day))["pk"])
	}
	return days, nil
}

// RecentNeeds lists a player's games of the last days, newest first, which another node may have written.
func (s *Service) RecentNeeds(tx *store.Tx, user string) (all []attr.Item, err error) {
	for ago := -1; ago <= near; ago++ {
		all = append(all, GameKey(user, tx.Now().UTC().AddDate(0, 0, -ago).Format(Day)))
	}
	return all, nil
}

// Game returns a player's game for a day, with the words that did not count. Call RecordSeenDrops once the player has been told of them.
func (s *Service) Game(tx *store.Tx, user, date string) (View, error) {
	p := s.plan(tx)
	p.Refuse(!isDay(date), badDate())
	answer, g := p.answer(date), p.ownGame(user, date)
	return g.view(answer, len(g.Guesses)), p.Err()
}

// RecordSeenDrops records that a player has been told of dropped words. If another node has added some since, the list stays, to be shown again.
func (s *Service) RecordSeenDrops(tx *store.Tx, user, date string, told []string) error {
	w := s.Update(GameKey(user, date), "REMOVE dropped", table.IfTrue("dropped = :told", attr.Item{":told": texts(told)}))
	_, err := tx.Update(*w.Update)
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
