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
	"github.com/touchline/touchline/store"
)

// sayEntry says what an entry of a scorer asks for, in which game, in words without anything of the entry but numbers and the names of rows that
// are here.
func (h *handlers) sayEntry(r *httpapi.Request, say func(b *hacktracker.Book, g *hacktracker.Game) string) (words string, err error) {
	err = r.View(func(tx *store.Tx) error {
		b := h.open(tx, r)
		g := b.Game(r.Param("game"))
		b.Refuse(!b.MayScore(g.ID), mayNotScore())
		if err := b.Err(); err != nil {
			return err
		}
		words = say(b, &g) + ". Against " + cmp.Or(g.Opponent, "Opponent")
		return b.Err()
	})
	return words, err
}

func mayNotScore() error {
	return fault.New(fault.Forbidden, "forbidden", "Only a team's owner, managers and scorekeepers can score its games.")
}

// sayAtBat describes a plate appearance.
func (h *handlers) sayAtBat(r *httpapi.Request) (string, error) {
	return h.sayEntry(r, func(b *hacktracker.Book, g *hacktracker.Game) string { return atBatSaid(b, bodyMembers(r), g) })
}

func atBatSaid(b *hacktracker.Book, in hacktracker.Input, g *hacktracker.Game) string {
	var player, word string
	readMember(b, in, "playerId", &player)
	readMember(b, in, "result", &word)
	inning, outs := countOf(b, in, "inning"), countOf(b, in, "outs")
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

// sayRuns describes runs of the two sides.
func (h *handlers) sayRuns(r *httpapi.Request) (string, error) {
	return h.sayEntry(r, func(b *hacktracker.Book, g *hacktracker.Game) string { return runsSaid(b, bodyMembers(r), g) })
}

func runsSaid(b *hacktracker.Book, in hacktracker.Input, g *hacktracker.Game) string {
	var said []string
	for _, side := range []struct{ name, of string }{{"teamScore", b.Team(g.TeamID).Name}, {"opponentScore", cmp.Or(g.Opponent, "Opponent")}} {
		if _, ok := in[side.name]; ok {
			said = append(said, counted(countOf(b, in, side.name), "run")+" for "+side.of)
		}
	}
	b.Refuse(len(said) == 0, hacktracker.Invalid("There are no runs in it"))
	return strings.Join(said, ", ")
}

func readMember(b *hacktracker.Book, in hacktracker.Input, name string, v any) {
	b.Refuse(json.Unmarshal(in[name], v) != nil, hacktracker.Invalid("%s is missing or wrong", name))
}

// countOf reads a small number.
func countOf(b *hacktracker.Book, in hacktracker.Input, name string) (n uint8) {
	readMember(b, in, name, &n)
	return n
}

func counted(n uint8, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// scorersOf returns the users who may have made an entry of a game, as far as rows here name them.
func scorersOf(b *hacktracker.Book, r *httpapi.Request) []string {
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
