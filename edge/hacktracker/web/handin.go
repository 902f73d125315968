package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
)

// saying returns what an entry asks for, in words without anything of the entry but numbers and the names of rows that are here.
type saying = func(b *hacktracker.Book, r *call, g *hacktracker.Game) string

// handedIn makes a route one whose requests can be handed in, by those who may score the game.
func (a *api) handedIn(say saying, rt httpapi.Route) httpapi.Route {
	rt.Describe = a.route(rt.Method, rt.Path, func(r *call) (httpapi.Work, error) {
		words, err := httpapi.Read(r.Context, inTransaction(a, r, func(b *hacktracker.Book, r *call) string {
			g := b.Game(r.Param("game"))
			if b.Refuse(!b.MayScore(g.ID), mayNotScore()); b.Err() != nil {
				return ""
			}
			return say(b, r, &g) + ". Against " + cmp.Or(g.Opponent, "Opponent")
		}))
		if err != nil {
			return nil, err
		}
		return nil, httpapi.AnswerDescription(r.Context, words)
	}).Do
	return rt
}

// refuseHandIn refuses to take changes from a file: they have no row by which they count once.
func refuseHandIn(rt httpapi.Route) httpapi.Route {
	rt.NotHandedIn = "A change, or the start or end of a game, cannot be handed in: make it on the game's page."
	return rt
}

func mayNotScore() error {
	return fault.New(fault.Forbidden, "forbidden", "Only a team's owner, managers and scorekeepers can score its games.")
}

// atBatSaid describes a plate appearance.
func atBatSaid(b *hacktracker.Book, r *call, g *hacktracker.Game) string {
	var player, word string
	readMember(b, r, "playerId", &player)
	readMember(b, r, "result", &word)
	inning, outs := countOf(b, r, "inning"), countOf(b, r, "outs")
	known := word == hacktracker.Sacrifice || slices.ContainsFunc(results, func(one result) bool { return one.ID == word })
	b.Refuse(!known, hacktracker.Invalid("The result is not one of a plate appearance"))
	name := "A player who is not in the team"
	roster := b.Roster(g.TeamID, hacktracker.RosterQuery{})
	if j := slices.IndexFunc(roster, func(p hacktracker.Player) bool { return p.ID == player }); j >= 0 {
		name = shirtAndName(roster[j].Number, roster[j].Name())
	}
	if b.Err() != nil {
		return ""
	}
	return fmt.Sprintf("%s: %s, inning %d, %s", name, wordsOfID(word), inning, counted(outs, "out"))
}

// runsSaid describes runs of the two sides.
func runsSaid(b *hacktracker.Book, r *call, g *hacktracker.Game) string {
	var said []string
	for _, side := range []struct{ name, of string }{{"teamScore", b.Team(g.TeamID).Name}, {"opponentScore", cmp.Or(g.Opponent, "Opponent")}} {
		if _, ok := r.in[side.name]; ok {
			said = append(said, counted(countOf(b, r, side.name), "run")+" for "+side.of)
		}
	}
	b.Refuse(len(said) == 0, hacktracker.Invalid("There are no runs in it"))
	return strings.Join(said, ", ")
}

func readMember(b *hacktracker.Book, r *call, name string, v any) {
	b.Refuse(json.Unmarshal(r.in[name], v) != nil, hacktracker.Invalid("%s is missing or wrong", name))
}

// countOf reads a small number.
func countOf(b *hacktracker.Book, r *call, name string) (n uint8) {
	readMember(b, r, name, &n)
	return n
}

func counted(n uint8, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// scorersOf returns the users who may have made an entry of a game, as far as rows here name them.
func scorersOf(b *hacktracker.Book, r *call) []string {
	users := []string{r.User}
	g := b.Game(r.Param("game"))
	team := b.Team(g.TeamID)
	users = append(users, team.OwnerID)
	for _, p := range b.Roster(g.TeamID, hacktracker.RosterQuery{}) {
		if p.UserID != nil {
			users = append(users, *p.UserID)
		}
	}
	return users
}

// sayHanded has plays say who made them and who handed them in.
func sayHanded(b *hacktracker.Book, plays []play) {
	for i := range plays {
		if p := &plays[i]; p.HandedInBy != "" {
			p.Handed = fmt.Sprintf("made by %s, handed in by %s", makerName(b, p.MadeBy), cmp.Or(b.FirstName(p.HandedInBy), "a former user"))
		}
	}
}

func makerName(b *hacktracker.Book, made string) string {
	if hash, is := strings.CutPrefix(made, httpapi.DeviceScope); is {
		return "device " + hash[:min(8, len(hash))]
	}
	return cmp.Or(b.FirstName(made), "a former user")
}
