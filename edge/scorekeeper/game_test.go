package scorekeeper

import (
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

const (
	day  = "2026-02-02"
	user = "auth0|123456"
	anon = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
)

// The checks are made in the order of the original.
func TestGuessRefused(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	r.answerIs("2026-02-05", "crane")
	r.plays("won", day, "crane", "manna")
	r.plays("lost", day, "crane", "slate", "moist", "proud", "brick", "fjord")
	for _, c := range []struct {
		user, date, word string
		kind             fault.Kind
		text             string
	}{
		{user, "2026-2-2", "xx", fault.Invalid, "Invalid date format. Expected YYYY-MM-DD"},
		{user, day, "four", fault.Invalid, "Guess must be exactly 5 letters"},
		{user, "2026-02-01", "qqqqq", fault.Invalid, "Word not in dictionary"},
		{user, day, "grün!", fault.Invalid, "Word not in dictionary"},
		{user, "2026-02-01", "crane", fault.NotFound, "No puzzle found for this date"},
		{user, "2026-02-05", "crane", fault.NotFound, "No puzzle found for this date"},
		{"won", day, "crane", fault.Invalid, "Game is already complete"},
		{"lost", day, "crane", fault.Invalid, "Game is already complete"},
	} {
		_, err := r.guess(c.user, c.date, c.word, "")
		if !fault.Is(err, c.kind) || err.Error() != c.text {
			t.Errorf("%s %s %s: %v, want %s", c.user, c.date, c.word, err, c.text)
		}
	}
	r.plays(user, day, "crane")
	if _, err := r.guess(user, day, "crane", ""); err == nil || err.Error() != "You already guessed that word" {
		t.Errorf("repeated: %v", err)
	}
}

// A row has the documented attributes, and besides them guess_times and guess_keys.
func TestGameRow(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	r.plays(user, day, "crane", "slate", "moist")
	got := read(r, func(tx *store.Tx) (attr.Item, error) { return tx.Get(tableName, GameKey(user, day)) })
	want := `{"created_at":{"S":"2026-02-02T10:30:00Z"},"guess_keys":{"L":[{"S":""},{"S":""},{"S":""}]},` +
		`"guess_times":{"L":[{"S":"2026-02-02T10:30:00Z"},{"S":"2026-02-02T10:31:00Z"},{"S":"2026-02-02T10:32:00Z"}]},` +
		`"guesses":{"L":[{"S":"crane"},{"S":"slate"},{"S":"moist"}]},"pk":{"S":"USER#auth0|123456#PUZZLE#2026-02-02"},` +
		`"puzzle_date":{"S":"2026-02-02"},"sk":{"S":"GAME_STATE"},"updated_at":{"S":"2026-02-02T10:32:00Z"},` +
		`"user_id":{"S":"auth0|123456"},"won":{"BOOL":false}}`
	if text := string(attr.AppendJSON(nil, got)); text != want {
		t.Errorf("row\n%s, want\n%s", text, want)
	}
}

// Only a player who has lost sees the answer.
func TestAnswerIsToldOnALossAlone(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	for i, w := range []string{"crane", "slate", "moist", "proud", "brick", "fjord"} {
		v := r.plays(user, day, w)
		if want := map[bool]string{true: "manna"}[i == 5]; v.Answer != want || v.Moves != i+1 || v.Won {
			t.Errorf("after %d guesses: %+v", i+1, v)
		}
	}
	if v := r.plays("u2", day, "manna"); v.Answer != "" || !v.Won || letters(grades(v.Graded[0])) != "CCCCC" {
		t.Errorf("won: %+v", v)
	}
}

func grades(m Move) (out []Grade) {
	for _, l := range m {
		out = append(out, l.Grade)
	}
	return out
}

// A guess repeated with its key gets the answer of the first one, even if the game has gone on.
func TestGuessOfTheSameKey(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	first, err := r.guess(user, day, "crane", "k1")
	if err != nil {
		t.Fatal(err)
	}
	r.plays(user, day, "slate", "manna")
	again, err := r.guess(user, day, "crane", "k1")
	if err != nil || again.Moves != 1 || again.Won || len(again.Graded) != 1 || again.GameID != first.GameID {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := r.guess(user, day, "moist", "k1"); !fault.Is(err, fault.Invalid) {
		t.Errorf("another word: %v", err)
	}
}

// Rows that cannot exist are not requested from the cloud.
func TestGameNeeds(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		user, date string
		want       int
	}{{user, day, 2}, {anon, day, 3}, {"", day, 1}, {user, "2026-2-2", 0}, {anon, "x", 0}} {
		if got := r.GameNeeds(c.user, c.date); len(got) != c.want {
			t.Errorf("%q on %s: %v", c.user, c.date, got)
		}
	}
}

// A skOldGame row is read, and the game goes on in a skGame row.
func TestOldRow(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	r.must(func(tx *store.Tx) error {
		item := key(gamesOf(user)+day, skOldGame)
		item["user_id"], item["puzzle_date"], item["won"] = attr.S(user), attr.S(day), attr.Bool(false)
		item["guesses"], item["created_at"], item["updated_at"] = texts([]string{"crane"}), attr.S("2026-02-02T08:00:00Z"), attr.S("2026-02-02T08:00:00Z")
		_, err := tx.Put(store.PutItem{Table: tableName, Item: item})
		return err
	})
	if v := r.plays(user, day, "slate"); v.Moves != 2 || v.Graded[0][0].Letter != "c" {
		t.Errorf("%+v", v)
	}
	r.plays(user, day, "moist")
	h := read(r, func(tx *store.Tx) (History, error) { return r.History(tx, user) })
	if h.Total != 1 || h.Games[0].Guesses != 3 || h.Games[0].CreatedAt != "2026-02-02T08:00:00Z" {
		t.Errorf("history: %+v", h)
	}
}

// A changed answer re-grades the guesses, whoever changed it.
func TestChangedAnswer(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	r.plays(user, day, "crane")
	grade := func() string {
		return letters(grades(read(r, func(tx *store.Tx) (View, error) { return r.Game(tx, user, day) }).Graded[0]))
	}
	if got := grade(); got != "wwcCw" {
		t.Errorf("manna: %s", got)
	}
	r.answerIs(day, "crane")
	if got := grade(); got != "CCCCC" {
		t.Errorf("crane: %s", got)
	}
	r.must(func(tx *store.Tx) error { // by another program
		item := AnswerKey(day)
		item["word"] = attr.S("slate")
		_, err := tx.Put(store.PutItem{Table: tableName, Item: item})
		return err
	})
	if got := grade(); got != "wwCwC" {
		t.Errorf("slate: %s", got)
	}
	r.must(func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: tableName, Key: AnswerKey(day)})
		return err
	})
	h := read(r, func(tx *store.Tx) (History, error) { return r.History(tx, user) })
	if len(h.Games[0].Graded) != 1 || len(h.Games[0].Graded[0]) != 0 {
		t.Errorf("without an answer: %+v", h.Games[0])
	}
}

// A word read by a transaction that began before the answer changed is not cached.
func TestCacheKeepsNothingOld(t *testing.T) {
	s := &Service{}
	s.DropChangedAnswers([]store.Record{{Seq: 7, Key: AnswerKey(day)}})
	known := func() bool { _, ok := s.cache.get(day); return ok }
	s.cache.cacheWord(day, "crane", 6)
	if known() {
		t.Error("an old word is cached")
	}
	s.cache.cacheWord(day, "slate", 7)
	if word, ok := s.cache.get(day); !ok || word != "slate" {
		t.Errorf("%q, %t", word, ok)
	}
	s.DropChangedAnswers([]store.Record{{Seq: 8, Key: GameKey(user, day)}})
	if !known() {
		t.Error("a changed game drops the cached answer")
	}
	s.ClearCache(8)
	if known() {
		t.Error("still cached after ClearCache")
	}
}

func TestSetAnswer(t *testing.T) {
	r := newRig(t)
	set := func(n NewAnswer) (p Puzzle, err error) {
		err = r.update(func(tx *store.Tx) (err error) {
			p, err = r.SetAnswer(tx, n)
			return err
		})
		return p, err
	}
	for _, c := range []struct {
		n    NewAnswer
		text string
	}{
		{NewAnswer{Date: "x", Word: "crane"}, "Invalid date format. Expected YYYY-MM-DD"},
		{NewAnswer{Date: day}, "Either provide a word or set set_random_unused_word to true"},
		{NewAnswer{Date: day, Word: "four"}, "Word must be exactly 5 letters"},
		{NewAnswer{Date: day, Word: "cr4ne"}, "Word must contain only letters (a-z)"},
		{NewAnswer{Date: day, Word: "qqqqq"}, "Word not in dictionary"},
	} {
		if _, err := set(c.n); !fault.Is(err, fault.Invalid) || err.Error() != c.text {
			t.Errorf("%+v: %v", c.n, err)
		}
	}
	if p, err := set(NewAnswer{Date: day, Word: "CRANE", TeamID: "t1"}); err != nil || p.Word != "crane" || p.TeamID != "t1" {
		t.Errorf("%+v, %v", p, err)
	}
	r.Words = &Dictionary{guesses: "crane\nslate\n", answers: "crane\nslate\n"}
	if p, err := set(NewAnswer{Date: "2026-02-03", Random: true}); err != nil || p.Word != "slate" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := set(NewAnswer{Date: "2026-02-04", Random: true}); err == nil || err.Error() != "No unused words available in the dictionary" {
		t.Errorf("none left: %v", err)
	}
	all := read(r, func(tx *store.Tx) ([]Puzzle, error) { return r.Puzzles(tx, "", "") })
	if len(all) != 2 || all[0].Date != day || all[1].Word != "slate" {
		t.Errorf("%+v", all)
	}
	for _, c := range [][2]string{{day, ""}, {"x", "y"}, {"2026-02-03", day}} {
		if _, err := tryRead(r, func(tx *store.Tx) ([]Puzzle, error) { return r.Puzzles(tx, c[0], c[1]) }); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestStreaks(t *testing.T) {
	r := newRig(t)
	r.now = r.now.AddDate(0, 1, 0)
	for _, d := range []string{"01", "02", "03", "05", "06", "07", "08"} { // the 4th has no puzzle
		r.answerIs("2026-02-"+d, "manna")
	}
	for _, d := range []string{"01", "03", "05", "06"} {
		r.plays(user, "2026-02-"+d, "crane", "manna")
	}
	for today, want := range map[string]int{"2026-02-06": 3, "2026-02-07": 3, "2026-02-08": 0} {
		if got := read(r, func(tx *store.Tx) (Streaks, error) { return r.Streaks(tx, user, today) }); got.Now != want || got.Best != 3 {
			t.Errorf("%s: %+v, want %d", today, got, want)
		}
	}
	r.plays(user, "2026-02-07", strings.Fields("crane slate moist proud brick fjord")...)
	got := read(r, func(tx *store.Tx) (Streaks, error) { return r.Streaks(tx, user, "2026-02-07") })
	if want := [MaxGuesses + 1]int{1: 4, 6: 1}; got.Now != 0 || got.Distribution != want {
		t.Errorf("after a loss: %+v", got)
	}
}

// A player's games do not include those of a player whose ID has theirs as a prefix.
func TestHistoryIsOnesOwn(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	r.plays("u1", day, "crane")
	r.plays("u12", day, "slate")
	h := read(r, func(tx *store.Tx) (History, error) { return r.History(tx, "u1") })
	if h.Total != 1 || h.Games[0].GameID != GameID("u1", day) || !h.Games[0].InProgress {
		t.Errorf("%+v", h)
	}
	if !slices.Equal(h.Games[0].Graded[0], GradeGuess("crane", "manna")) {
		t.Errorf("%v", h.Games[0].Graded)
	}
}
