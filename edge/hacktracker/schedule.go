package hacktracker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/touchline/touchline/store/table"
)

// Place is a game's place in the list of its team's games, by which the next page begins.
type Place struct {
	Start   string `json:"start"`
	Created string `json:"created"`
	ID      string `json:"id"`
}

// GamesPage is the part of a list of games that a request asks for.
type GamesPage struct {
	After *Place // that the page follows; nil: the first page
	Limit int
}

// compareGames orders games: latest first, those without a date last.
func compareGames(x, y Game) int {
	return cmp.Or(strings.Compare(y.ScheduledStart, x.ScheduledStart), strings.Compare(y.CreatedAt, x.CreatedAt), strings.Compare(x.ID, y.ID))
}

// schedule returns a team's games in order, with their status and times alone: the rest of their rows is not decoded.
func (b *Book) schedule(team string) []Game {
	q := b.entriesOf(team)
	q.Projection, q.Names = "PK, #status, scheduledStart, createdAt", map[string]string{"#status": "status"}
	all := table.Read(&b.Plan, b.Tx.QueryAll(q), gameOf)
	slices.SortFunc(all, compareGames)
	return all
}

// whole reads a game of a schedule; nil if its row is gone or misshapen.
func (b *Book) whole(of *Game) *Game {
	it := b.peek(gameKey(of.ID))
	if it == nil {
		return nil
	}
	g := gameOf(it)
	return &g
}

// GamesOf lists a team's games to one of its members, latest first, and returns the place of the page's last game if there are more. Misshapen
// games are left out.
func (b *Book) GamesOf(team string, page GamesPage) (games []Game, next *Place) {
	b.allow(team, anyMember)
	all := b.schedule(team)
	if after := page.After; after != nil {
		at, found := slices.BinarySearchFunc(all, Game{ID: after.ID, ScheduledStart: after.Start, CreatedAt: after.Created}, compareGames)
		if found {
			at++
		}
		all = all[at:]
	}
	if len(all) > page.Limit {
		all = all[:page.Limit]
		last := &all[page.Limit-1]
		next = &Place{last.ScheduledStart, last.CreatedAt, last.ID}
	}
	games = []Game{}
	for i := range all {
		if g := b.whole(&all[i]); g != nil {
			games = append(games, *g)
		}
	}
	return games, next
}

// Coming returns a team's games in progress, and the one scheduled next; nil if there is none.
func (b *Book) Coming(team string) (live []Game, next *Game) {
	b.allow(team, anyMember)
	all, now := b.schedule(team), b.StampAfter(0)
	for i := range all {
		switch g := &all[i]; {
		case g.Status == InProgress:
			if on := b.whole(g); on != nil {
				live = append(live, *on)
			}
		case g.Status == Scheduled && g.ScheduledStart > now:
			next = g
		}
	}
	if next != nil {
		next = b.whole(next)
	}
	return live, next
}

// LastLineup returns the line-up of the latest game of a team that has one, other than a given game.
func (b *Book) LastLineup(team, but string) []Slot {
	all := b.schedule(team)
	for i := range all {
		if all[i].ID == but {
			continue
		}
		if g := b.whole(&all[i]); g != nil && len(g.Lineup) > 0 {
			return g.Lineup
		}
	}
	return nil
}
