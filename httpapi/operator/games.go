package operator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/backlog"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Games says which rows of an application belong to a game, or to what corresponds to one there. By that the node says of each game whether
// all of it is in the cloud.
type Games struct {
	// Of returns the id of the game that a row belongs to; empty: to none.
	Of func(table string, key attr.Item) (id string)
	// Name returns a game's name for people, and the address of its page, as far as this node has it. fault.NotFound: it was deleted.
	Name func(tx *store.Tx, id string) (name, href string, err error)
}

// AppGames is the Games of one application.
type AppGames struct {
	App, Title string
	*Games
}

// Game is a game that is not all in the cloud. One without an id stands for everything that belongs to no game.
type Game struct {
	App   string `json:"app,omitempty"`
	Title string `json:"-"` // of the application
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Href  string `json:"-"`
	backlog.Unsent
	Why   string    `json:"why,omitempty"`  // the oldest write waits, in plain words
	Since time.Time `json:"since,omitzero"` // of Why, if a time belongs to it
}

// GamesShown is how many games the status names.
const GamesShown = 50

// UnsentGames is what is not in the cloud, by game.
type UnsentGames struct {
	Shown []Game `json:"shown"` // those that have waited longest first, and what belongs to no game at the end
	More  int    `json:"more"`  // games that are not named
	Cut   bool   `json:"cut"`   // so much waits that not all of it was counted
}

// ListGames reads which games are not all in the cloud. st is the state of the replication.
func ListGames(tx *store.Tx, apps []AppGames, st *SyncStatus) (out UnsentGames, err error) {
	const apart = "\n" // between application and id
	groups, err := backlog.All(tx, func(table string, key attr.Item) string {
		for _, a := range apps {
			if id := a.Of(table, key); id != "" {
				return a.App + apart + id
			}
		}
		return ""
	})
	if err != nil {
		return out, err
	}
	for name, unsent := range groups.By {
		app, id, _ := strings.Cut(name, apart)
		g := Game{App: app, ID: id, Unsent: *unsent}
		g.Why, g.Since = st.whyWaits(unsent)
		out.Shown = append(out.Shown, g)
	}
	slices.SortFunc(out.Shown, func(a, b Game) int {
		return cmp.Or(strings.Compare(noGame(&a), noGame(&b)), a.Oldest.Compare(b.Oldest), strings.Compare(a.App, b.App), strings.Compare(a.ID, b.ID))
	})
	out.Cut = groups.Cut
	out.More = max(0, len(out.Shown)-GamesShown)
	out.Shown = out.Shown[:len(out.Shown)-out.More]
	for i := range out.Shown {
		g := &out.Shown[i]
		at := slices.IndexFunc(apps, func(a AppGames) bool { return a.App == g.App })
		if at < 0 {
			continue // belongs to no game
		}
		g.Title = apps[at].Title
		g.Name, g.Href, err = apps[at].Name(tx, g.ID)
		if fault.Is(err, fault.NotFound) {
			g.Name, err = "deleted: "+g.ID, nil
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// noGame sorts what belongs to no game to the end.
func noGame(g *Game) string {
	if g.ID == "" {
		return "none"
	}
	return ""
}

// whyWaits says why the oldest write of a group waits, and since when that reason holds.
func (s *SyncStatus) whyWaits(u *backlog.Unsent) (why string, since time.Time) {
	if u.Writes == 0 {
		return "", since
	}
	switch s.State {
	case "stopped":
		return "nothing is sent: " + cmp.Or(s.Reason, "an operator has to act"), s.Since
	case "offline":
		return "the cloud cannot be reached", s.Since
	}
	for i := range s.Tables {
		if t := &s.Tables[i]; slices.Contains(u.Tables, t.Table) && t.Stopped != nil {
			return "nothing is sent to the table " + t.Table + ": " + t.Stopped.Why, t.Stopped.Since
		}
	}
	write := intent.WriteID(s.Node.Node, u.First.Seq)
	for i := range s.Workers {
		for j := range s.Workers[i].Parked {
			if p := &s.Workers[i].Parked[j]; p.WriteID == write {
				return p.Words(), since
			}
		}
	}
	for i := range s.Tables {
		if t := &s.Tables[i]; slices.Contains(u.Tables, t.Table) && t.HeldUpBy() != "" {
			return t.HeldUpBy(), since
		}
	}
	if u.Unanswered > 0 {
		return "sent, and not answered yet", since
	}
	return "on its way", since
}

// Line returns what a page says about a partition of the game that it shows, as of the transaction.
func (s *SyncStatus) Line(tx *store.Tx, table string, partition attr.Item) (page.CloudLine, error) {
	if !s.Configured {
		return page.CloudLine{}, nil
	}
	u, err := backlog.UnsentOf(tx, table, partition)
	l := page.CloudLine{Cloud: true, Writes: u.Writes, Oldest: u.Oldest, More: u.More}
	l.Why, l.Since = s.whyWaits(&u)
	for _, r := range u.Refused {
		l.Refused = append(l.Refused, r.Text)
	}
	return l, err
}

// lines returns what the Status page says about games that are not all in the cloud.
func (g *UnsentGames) lines(apps int, now time.Time) (lines []page.Counted) {
	for i := range g.Shown {
		one := &g.Shown[i]
		name := one.Name
		switch {
		case one.ID == "":
			name = "What belongs to no game"
		case apps > 1:
			name = one.Title + ": " + name
		}
		lines = append(lines, page.Counted{Text: name + ": " + one.words(now), Href: one.Href})
	}
	if g.More > 0 {
		lines = append(lines, page.Counted{Text: "and " + Count(g.More, "more game")})
	}
	if g.Cut {
		lines = append(lines, page.Counted{Text: "So much waits that only the oldest writes were counted: there may be more of each, and other games."})
	}
	return lines
}

// words says what is missing and why.
func (g *Game) words(now time.Time) string {
	var parts []string
	if g.Writes > 0 {
		text := Count(g.Writes, "write") + " not in the cloud"
		if !g.Oldest.IsZero() {
			text += ", the oldest from " + Clock(g.Oldest, now)
		}
		if text += ": " + g.Why; !g.Since.IsZero() {
			text += " since " + Clock(g.Since, now)
		}
		parts = append(parts, text)
	}
	for _, r := range g.Refused {
		parts = append(parts, fmt.Sprintf("refused: %s (conflict %d)", strings.TrimSuffix(r.Text, "."), r.Conflict))
	}
	if g.Unsent.More > 0 {
		parts = append(parts, Count(g.Unsent.More, "more write")+" refused")
	}
	return strings.Join(parts, "; ")
}
