package web

import (
	"embed"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

//go:embed templates assets scenes.json
var files embed.FS

func (h *handlers) navLinks(who auth.Identity) []page.Link {
	links := []page.Link{{Href: h.look.At("/"), Text: "Today"}, {Href: h.look.At("/history"), Text: "History"}, {Href: h.look.At("/teams"), Text: "Teams"}}
	if who.Admin {
		links = append(links, page.Link{Href: h.look.At("/admin"), Text: "Puzzles"})
	}
	return links
}

// playView is a day's puzzle as its player sees it. Before the game is over it does not contain the word.
type playView struct {
	Date       string
	Latest     bool // the page is for today, whatever day that is for the reader
	Known      bool // the reader can have a game: a user, or a guest with a cookie
	Missing    bool // the day has no puzzle
	Unknown    bool // whether it has one cannot be known now: the node is cut off from its cloud
	Game       scorekeeper.View
	Streaks    scorekeeper.Streaks
	Guest      string // the session whose games the reader can add to the account; may be empty
	GuestGames int
}

// Learned returns the best grade known of each letter.
func (p *playView) Learned() map[string]scorekeeper.Grade {
	best, rank := map[string]scorekeeper.Grade{}, map[scorekeeper.Grade]int{scorekeeper.Wrong: 1, scorekeeper.Contained: 2, scorekeeper.Correct: 3}
	for _, l := range slices.Concat(p.Game.Graded...) {
		if rank[l.Grade] > rank[best[l.Letter]] {
			best[l.Letter] = l.Grade
		}
	}
	return best
}

// playPage serves everybody. A visitor without an ID has no game.
func (h *handlers) playPage(r *httpapi.Request) (httpapi.Response, error) {
	view := &playView{Date: r.Param("date"), Known: r.User != ""}
	day, err := readerDay(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	if view.Date == "" {
		view.Latest, view.Date = true, day.Format(scorekeeper.Day)
	}
	if err := r.Fetch(h.puzzle.GameNeeds(r.User, view.Date)...); err != nil {
		return httpapi.Response{}, err
	}
	err = r.View(func(tx *store.Tx) error {
		_, err := h.puzzle.Game(tx, r.User, view.Date)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		view.Unknown = ask.IsUnknown(err)
		view.Missing = !view.Unknown
		return r.Page("play", "Scorekeeper", func(*store.Tx) (any, error) { return view, nil })
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Page("play", "Scorekeeper", func(tx *store.Tx) (any, error) { return view, h.readGame(tx, r, view) })
}

// readGame reads the player's game into a view and, once it is over, the streaks. A guest's games are counted for a user who can add them.
func (h *handlers) readGame(tx *store.Tx, r *httpapi.Request, view *playView) (err error) {
	view.Game, err = h.puzzle.Game(tx, r.User, view.Date)
	if err != nil {
		return err
	}
	if view.Known && r.Identity().Scheme != auth.Anonymous {
		view.Guest = r.KnownGuest()
		view.GuestGames, err = h.puzzle.Games(tx, view.Guest)
	}
	if err != nil || !view.Game.Over() {
		return err
	}
	view.Streaks, err = h.puzzle.Streaks(tx, r.User, view.Date)
	return err
}

// readerDay returns the reader's date. The page's script sends it (parameter day) if it differs from the node's, which is in UTC.
func readerDay(r *httpapi.Request) (day time.Time, err error) {
	err = r.View(func(tx *store.Tx) error {
		day = tx.Now().UTC()
		claimed, err := time.Parse(scorekeeper.Day, r.URL.Query().Get("day"))
		if err == nil && claimed.Sub(day).Abs() < 48*time.Hour {
			day = claimed
		}
		return nil
	})
	return day, err
}

// calendar returns the days from one to another, beginning on the Monday of the first week.
func calendar(from, to time.Time) (days []string) {
	for from.Weekday() != time.Monday {
		from = from.AddDate(0, 0, -1)
	}
	for ; !from.After(to); from = from.AddDate(0, 0, 1) {
		days = append(days, from.Format(scorekeeper.Day))
	}
	return days
}

type historyView struct {
	Day     string // the reader's date
	History scorekeeper.History
	Streaks scorekeeper.Streaks
	Days    []string
	Played  map[string]*scorekeeper.PlayedGame // by day
}

func (h *handlers) historyPage(r *httpapi.Request) (httpapi.Response, error) {
	day, err := readerDay(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Page("history", "History", func(tx *store.Tx) (any, error) {
		history, err := h.puzzle.History(tx, r.User)
		view := historyView{Day: day.Format(scorekeeper.Day), History: history, Played: map[string]*scorekeeper.PlayedGame{}}
		if err != nil || len(history.Games) == 0 {
			return view, err
		}
		for i := range history.Games {
			view.Played[history.Games[i].Date] = &history.Games[i]
		}
		first, _ := time.Parse(scorekeeper.Day, history.Games[len(history.Games)-1].Date) // valid: History checks the dates it reads
		view.Days = calendar(first, day)
		view.Streaks, err = h.puzzle.Streaks(tx, r.User, view.Day)
		return view, err
	})
}

// scenes renders the play page in each of its states, from fixed data.
func (h *handlers) scenes() ([]page.Scene, error) {
	return h.look.Scenes(func(_ string, decode func(into any) error) (any, error) {
		var s struct {
			playView
			Guesses []string
			Answer  string
			Waits   string // a guess that is not sent yet, which on an open page a script shows
		}
		err := decode(&s)
		s.Game.Moves = len(s.Guesses)
		for _, guess := range s.Guesses {
			s.Game.Graded = append(s.Game.Graded, scorekeeper.NewMove(guess, s.Answer))
		}
		if s.Waits != "" {
			waits := scorekeeper.NewMove(s.Waits, s.Waits)
			for i := range waits {
				waits[i].Grade = "waits"
			}
			s.Game.Graded = append(s.Game.Graded, waits)
		}
		return &s.playView, err
	})
}
