package web

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
)

//go:embed templates assets scenes.json
var files embed.FS

func (a *api) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		a.shows("/", "home", "HackTracker", a.homePage),
		a.shows("/teams/:team", "team", "Team", a.statsPage),
		a.shows("/teams/:team/schedule", "team", "Schedule", a.schedulePage),
		a.shows("/teams/:team/roster", "team", "Roster", a.rosterPage),
		a.shows("/teams/:team/players/:player", "team", "Player", a.playerPage),
		a.showsGame("", "game", "Game", a.gamePage),
		a.showsGame("/score", "score", "Scorer", a.scorerPage),
		a.showsGame("/lineup", "lineup", "Lineup", a.scorerPage),
		a.showsGame("/overlay", "overlay", "Overlay", a.gamePage),
		a.route(http.MethodPost, "/games/:game/scorers", a.postScorers),
	}
}

// shows returns the route of a page that shows what read returns.
func (a *api) shows(path, kind, title string, read doing) httpapi.Route {
	return a.route(http.MethodGet, path, func(r *call) (httpapi.Work, error) {
		r.Kind, r.Title = kind, title
		return inTransaction(a, r, read), nil
	})
}

// showsGame is shows for a page of a game, which says whether all of it is in the cloud.
func (a *api) showsGame(path, kind, title string, read doing) httpapi.Route {
	return a.route(http.MethodGet, "/games/:game"+path, func(r *call) (_ httpapi.Work, err error) {
		r.Kind, r.Title = kind, title
		r.cloud, err = httpapi.SyncStatus(r.Context)
		return inTransaction(a, r, read), err
	})
}

func (a *api) nav(auth.Identity) []page.Link {
	return []page.Link{{Href: a.look.At("/"), Text: "My teams"}}
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

// gamePage is the view of a game for spectators and scorers.
type gamePage struct {
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

func (a *api) gamePage(b *hacktracker.Book, r *call) any {
	box := b.Box(r.id("game"))
	team := b.Team(box.Game.TeamID)
	roster := b.Roster(team.ID, hacktracker.RosterQuery{})
	if b.Err() != nil {
		return nil
	}
	p := newGame(team, box, roster)
	sayHanded(b, p.Plays)
	p.Undone = undonePlays(b.UndonePlays(box.Game.ID), roster)
	if last := b.LastLineup(team.ID, box.Game.ID); last != nil {
		p.Last = encodeJSON(last)
	}
	p.Cloud = r.inCloud(b, box.Game.ID)
	if p.May && r.Kind == "score" {
		a.hear(b, r, box.Game.ID)
	}
	p.Scorers = a.scorers(r, &box.Game)
	if p.WhyNoStart == "" && p.May && box.Game.Status != hacktracker.InProgress {
		live, _ := b.Coming(team.ID)
		p.WhyNoStart = whyNoOther(live)
	}
	p.Address = httpapi.Address(r.Context, a.look.At("/games/"+box.Game.ID))
	return p
}

// whyNoOther says why no other game of a team can be started.
func whyNoOther(live []hacktracker.Game) string {
	if len(live) == 0 {
		return ""
	}
	return "Finish the game against " + cmp.Or(live[0].Opponent, "Opponent") + " first."
}

// scorerPage is the page of a game for those who may score it.
func (a *api) scorerPage(b *hacktracker.Book, r *call) any {
	data := a.gamePage(b, r)
	if p, ok := data.(gamePage); ok && !p.May {
		b.Fail(mayNotScore())
	}
	return data
}

func encodeJSON(v any) string {
	out, _ := json.Marshal(v) // only strings and integers
	return string(out)
}

// shownDoubles is how many plays that may have been scored twice a page lists. Scorers who see more have removed some first.
const shownDoubles = 10

// newGame builds the view of a game.
func newGame(team hacktracker.Team, box hacktracker.Box, roster []hacktracker.Player) gamePage {
	g, st, all := &box.Game, &box.State, box.AtBats
	g.Opponent = cmp.Or(g.Opponent, "Opponent")
	p := gamePage{
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
