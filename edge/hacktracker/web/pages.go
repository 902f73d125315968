package web

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

//go:embed templates assets scenes.json
var files embed.FS

func (h *handlers) navLinks(auth.Identity) []page.Link {
	return []page.Link{{Href: h.look.At("/"), Text: "My teams"}}
}

// result is a result of a plate appearance: its id and its name.
type result struct{ ID, Word string }

// results lists the scorer's keys, six in a row, the most used nearest to the thumb.
var results = []result{
	{"FC", "fielder's choice"}, {"E", "reached on error"}, {"DP", "double play"}, {"TP", "triple play"}, {"SH", "sacrifice bunt"}, {"HBP", "hit by pitch"},
	{"FO", "fly out"}, {"GO", "ground out"}, {"LO", "line out"}, {"PO", "pop out"}, {"SF", "sacrifice fly"}, {"OUT", "out"},
	{"1B", "single"}, {"2B", "double"}, {"3B", "triple"}, {"HR", "home run"}, {"BB", "walk"}, {"K", "strikeout"},
}

func wordsOfID(id string) string {
	if i := slices.IndexFunc(results, func(r result) bool { return r.ID == id }); i >= 0 {
		return results[i].Word
	}
	if id == hacktracker.Sacrifice {
		return "sacrifice"
	}
	return id // written by another program
}

// book is the state from which the scorer's script continues while the node is unreachable.
type book struct {
	*hacktracker.Game
	Lineup  []slot   `json:"lineup"`
	Plays   []play   `json:"plays"`
	RunKeys []string `json:"runKeys"`
}

type slot struct {
	hacktracker.Slot
	Name string `json:"name"`
}

// play is an at-bat with the values that its page shows.
type play struct {
	*hacktracker.AtBat
	Name   string `json:"name"`
	Word   string `json:"-"`
	Played int    `json:"-"` // the derived inning
	Handed string `json:"-"` // who made it and who handed it in; empty: the device that made it sent it
	Misfit bool   `json:"-"` // its device sent other values
}

// gameView is the view of a game for spectators and scorers.
type gameView struct {
	Team       hacktracker.Team
	Box        hacktracker.Box
	Pill       page.Pill
	May        bool   // the reader may score the game
	On         string // runners on base
	Plays      []play // in order
	Doubles    []play // that may be one scored twice: the later of two, which can be taken back; the latest of them
	Unlisted   int    // how many more there are
	Undone     []play // that were taken back last
	Balls      []ball
	Bench      []hacktracker.Player
	Results    []result
	Up, Next   string
	WhyNoStart string   // why the game cannot be started now; empty: it can be
	Book, Last string   // JSON: the script's starting state, and the lineup of the previous game
	Address    string   // of the page
	Waits      []string // unsent plays: filled by the script, and in gallery scenes
	Cloud      page.CloudLine
	Scorers    scorersPart
}

func (h *handlers) gamePage(r *httpapi.Request) (httpapi.Response, error) {
	return h.showGame(r, "game", "Game", h.gameView)
}

func (h *handlers) overlayPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.showGame(r, "overlay", "Overlay", h.gameView)
}

// scorerPage is the page of a game for those who may score it.
func (h *handlers) scorerPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.showGame(r, "score", "Scorer", func(b *hacktracker.Book, r *httpapi.Request) gameView {
		view := h.gameView(b, r)
		b.Refuse(!view.May, mayNotScore())
		h.notePage(b, r)
		return view
	})
}

// lineupPage is the page of a game's lineup, for those who may score it.
func (h *handlers) lineupPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.showGame(r, "lineup", "Lineup", func(b *hacktracker.Book, r *httpapi.Request) gameView {
		view := h.gameView(b, r)
		b.Refuse(!view.May, mayNotScore())
		return view
	})
}

// showGame answers with a page of a game, which says whether all of it is in the cloud.
func (h *handlers) showGame(r *httpapi.Request, kind, title string, read func(b *hacktracker.Book, r *httpapi.Request) gameView) (httpapi.Response, error) {
	cloud, err := r.SyncStatus()
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Page(kind, title, func(tx *store.Tx) (any, error) {
		b := h.open(tx, r)
		view := read(b, r)
		if err := b.Err(); err != nil {
			return nil, err
		}
		var err error
		view.Cloud, err = cloud.Line(tx, h.scorebook.Table, hacktracker.GameKey(r.Param("game")))
		return view, err
	})
}

// gameView reads what pages show of the game in the path.
func (h *handlers) gameView(b *hacktracker.Book, r *httpapi.Request) gameView {
	box := b.Box(r.Param("game"))
	team := b.Team(box.Game.TeamID)
	roster := b.Roster(team.ID, hacktracker.RosterQuery{})
	if b.Err() != nil {
		return gameView{}
	}
	view := newGame(team, box, roster)
	sayHanded(b, view.Plays)
	view.Undone = undonePlays(b.UndonePlays(box.Game.ID), roster)
	if last := b.LastLineup(team.ID, box.Game.ID); last != nil {
		view.Last = encodeJSON(last)
	}
	view.Scorers = h.scorers(r, &box.Game)
	if view.WhyNoStart == "" && view.May && box.Game.Status != hacktracker.InProgress {
		live, _ := b.Coming(team.ID)
		view.WhyNoStart = whyNoOther(live)
	}
	view.Address = r.Address(h.look.At("/games/" + box.Game.ID))
	return view
}

// whyNoOther says why no other game of a team can be started.
func whyNoOther(live []hacktracker.Game) string {
	if len(live) == 0 {
		return ""
	}
	return "Finish the game against " + cmp.Or(live[0].Opponent, "Opponent") + " first."
}

func encodeJSON(v any) string {
	out, _ := json.Marshal(v) // only strings and integers
	return string(out)
}

// shownDoubles is how many plays that may have been scored twice a page lists. Scorers who see more have removed some first.
const shownDoubles = 10

// newGame builds the view of a game.
func newGame(team hacktracker.Team, box hacktracker.Box, roster []hacktracker.Player) gameView {
	g, st, all := &box.Game, &box.State, box.AtBats
	g.Opponent = cmp.Or(g.Opponent, "Opponent")
	p := gameView{
		Team: team, Pill: pills[g.Status], Results: results, Last: "[]",
		May: slices.Contains([]hacktracker.Role{hacktracker.Owner, hacktracker.Manager, hacktracker.Scorekeeper}, team.Role),
	}
	names := map[string]string{}
	for i := range roster {
		one := &roster[i]
		names[one.ID] = shirtAndName(one.Number, one.Name())
		if !slices.ContainsFunc(g.Lineup, func(s hacktracker.Slot) bool { return s.PlayerID == one.ID }) {
			p.Bench = append(p.Bench, *one)
		}
	}
	name := func(id string) string { return cmp.Or(names[id], "former player") }
	now := book{g, []slot{}, []play{}, g.RunKeys}
	lineup := g.Lineup
	if len(lineup) == 0 && team.Type == hacktracker.Personal && len(roster) > 0 { // its owner bats alone
		lineup = []hacktracker.Slot{{PlayerID: roster[0].ID, BattingOrder: 1}}
	}
	for _, s := range lineup {
		now.Lineup = append(now.Lineup, slot{s, name(s.PlayerID)})
	}
	for i := range all {
		at := &all[i]
		now.Plays = append(now.Plays, play{AtBat: at, Name: name(at.PlayerID), Word: wordsOfID(at.Result), Played: st.Innings[i], Misfit: slices.Contains(st.Mismatch, at.ID)})
	}
	if len(g.Lineup) == 0 && team.Type != hacktracker.Personal {
		p.WhyNoStart = "No lineup yet. Set it first."
	}
	p.Book = encodeJSON(now)
	if n := len(now.Lineup); n > 0 {
		up := func(i int) string { return now.Lineup[(len(all)+i)%n].Name }
		if p.Up = up(0); n > 1 {
			p.Next = up(1) + ", " + up(2)
		}
	}
	p.Unlisted = max(0, len(st.Doubles)-shownDoubles)
	for _, pair := range st.Doubles[p.Unlisted:] {
		p.Doubles = append(p.Doubles, now.Plays[slices.IndexFunc(all, func(at hacktracker.AtBat) bool { return at.ID == pair[1] })])
	}
	p.Box, p.Plays, p.On, p.Balls = box, now.Plays, bases(st.Bases, name), balls(all, name)
	return p
}

// undonePlays names plays that were taken back.
func undonePlays(all []hacktracker.AtBat, roster []hacktracker.Player) (out []play) {
	for i := range all {
		name := "former player"
		if j := slices.IndexFunc(roster, func(p hacktracker.Player) bool { return p.ID == all[i].PlayerID }); j >= 0 {
			name = shirtAndName(roster[j].Number, roster[j].Name())
		}
		out = append(out, play{AtBat: &all[i], Name: name, Word: wordsOfID(all[i].Result)})
	}
	return out
}

func shirtAndName(n *int, name string) string {
	return strings.TrimSpace(hacktracker.Shirt(n) + " " + name)
}

// pills maps the states of a game to their labels.
var pills = map[string]page.Pill{
	hacktracker.InProgress: {Class: "live", Icon: "dot", Text: "Live"}, hacktracker.Final: {Class: "over", Icon: "dot", Text: "Final"},
	hacktracker.Postponed: {Class: "pause", Icon: "clock", Text: "Postponed"}, hacktracker.Scheduled: {Class: "soon", Icon: "clock", Text: "Scheduled"},
}

// bases describes the runners on base, as far as they are known.
func bases(b *hacktracker.Bases, name func(string) string) string {
	if b == nil {
		return "unknown"
	}
	var out []string
	for i, who := range []string{b.First, b.Second, b.Third} {
		if who != "" {
			out = append(out, fmt.Sprintf("%d: %s", i+1, name(who)))
		}
	}
	return cmp.Or(strings.Join(out, ", "), "empty")
}
