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

func (a *api) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		a.newRoute("GET", "/", httpapi.Optional, a.getPlayPage),
		a.newRoute("GET", "/days/:date", httpapi.Optional, a.getPlayPage),
		a.route("GET", "/history", a.historyPage),
		a.route("GET", "/teams", a.teamsPage),
		a.route("GET", "/teams/:id", a.teamPage),
		a.route("GET", "/teams/:id/:when", a.teamPage),
		{Method: "GET", Path: "/admin", Access: httpapi.Admin, Do: a.getAdminPage},
		{Method: "GET", Path: "/admin/days/:date", Access: httpapi.Admin, Do: a.getDayPage},
	}
}

func (a *api) nav(who auth.Identity) []page.Link {
	links := []page.Link{{Href: a.look.At("/"), Text: "Today"}, {Href: a.look.At("/history"), Text: "History"}, {Href: a.look.At("/teams"), Text: "Teams"}}
	if who.Admin {
		links = append(links, page.Link{Href: a.look.At("/admin"), Text: "Puzzles"})
	}
	return links
}

// playPage is a day's puzzle as its player sees it. Before the game is over it does not contain the word.
type playPage struct {
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
func (p *playPage) Learned() map[string]scorekeeper.Grade {
	best, rank := map[string]scorekeeper.Grade{}, map[scorekeeper.Grade]int{scorekeeper.Wrong: 1, scorekeeper.Contained: 2, scorekeeper.Correct: 3}
	for _, l := range slices.Concat(p.Game.Graded...) {
		if rank[l.Grade] > rank[best[l.Letter]] {
			best[l.Letter] = l.Grade
		}
	}
	return best
}

// getPlayPage serves everybody. A visitor without an ID has no game.
func (a *api) getPlayPage(r *call) (work, error) {
	if r.User != "" {
		return ofPlayer(a.playPage)(r)
	}
	return a.playPage(r)
}

func (a *api) playPage(r *call) (work, error) {
	r.Kind, r.Title = "play", "Scorekeeper"
	p := &playPage{Date: r.Param("date"), Known: r.User != ""}
	day, err := today(r)
	if p.Latest = p.Date == ""; p.Latest {
		p.Date = day.Format(scorekeeper.Day)
	}
	if err == nil {
		err = a.Ensure.Needs(r.Context, a.Service.Table, a.game(r.User, p.Date))
	}
	if err != nil {
		return nil, err
	}
	game := func(tx *store.Tx) (scorekeeper.View, error) { return a.Service.Game(tx, r.User, p.Date) }
	if _, err = httpapi.Read(r.Context, game); fault.Is(err, fault.NotFound) {
		p.Unknown = ask.IsUnknown(err)
		p.Missing = !p.Unknown
		return func(*store.Tx) (any, error) { return p, nil }, nil
	}
	return func(tx *store.Tx) (_ any, err error) {
		p.Game, err = game(tx)
		if who, _ := httpapi.Identity(r.Context); err == nil && who.Scheme != auth.Anonymous && p.Known {
			p.Guest = httpapi.KnownGuest(r.Context)
			p.GuestGames, err = a.Service.Games(tx, p.Guest)
		}
		if err != nil || !p.Game.Over() {
			return p, err
		}
		p.Streaks, err = a.Service.Streaks(tx, r.User, p.Date)
		return p, err
	}, err
}

// today returns the reader's date. The page's script sends it (parameter day) if it differs from the node's, which is in UTC.
func today(r *call) (time.Time, error) {
	return httpapi.Read(r.Context, func(tx *store.Tx) (time.Time, error) {
		now := tx.Now().UTC()
		if day, err := time.Parse(scorekeeper.Day, r.Context.Query("day")); err == nil && day.Sub(now).Abs() < 48*time.Hour {
			return day, nil
		}
		return now, nil
	})
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

type historyPage struct {
	Day     string // the reader's date
	History scorekeeper.History
	Streaks scorekeeper.Streaks
	Days    []string
	Played  map[string]*scorekeeper.PlayedGame // by day
}

func (a *api) historyPage(r *call) (work, error) {
	r.Kind, r.Title, r.Needs = "history", "History", a.recent(r.User)
	day, err := today(r)
	return func(tx *store.Tx) (any, error) {
		history, err := a.Service.History(tx, r.User)
		p := historyPage{Day: day.Format(scorekeeper.Day), History: history, Played: map[string]*scorekeeper.PlayedGame{}}
		if err != nil || len(history.Games) == 0 {
			return p, err
		}
		for i := range history.Games {
			p.Played[history.Games[i].Date] = &history.Games[i]
		}
		first, _ := time.Parse(scorekeeper.Day, history.Games[len(history.Games)-1].Date) // valid: History checks the dates it reads
		p.Days = calendar(first, day)
		p.Streaks, err = a.Service.Streaks(tx, r.User, p.Day)
		return p, err
	}, err
}

// scenes renders the play page in each of its states, from fixed data.
func (a *api) scenes() ([]page.Scene, error) {
	return a.look.Scenes(func(_ string, decode func(into any) error) (any, error) {
		var s struct {
			playPage
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
		return &s.playPage, err
	})
}
