package web

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/store"
)

// entryGame is the game that an entry is about, which somebody hands in.
type entryGame struct {
	*shownGame
	roster threefc.Roster
}

// readEntryGame reads the game in the path.
func (h *handlers) readEntryGame(r *httpapi.Request) (g entryGame, err error) {
	err = r.View(func(tx *store.Tx) (err error) {
		if g.shownGame, err = h.readShown(tx, r.Param("game")); err != nil {
			return err
		}
		g.roster, err = h.Service.Roster(tx, r.Param("game"))
		return err
	})
	return g, err
}

// entryWords returns what an entry asks for, in which game. The words have nothing of the entry but the names of rows that are here.
func (g entryGame) entryWords(words string) string { return words + ". " + g.Title + ", " + g.begins() }

func (h *handlers) sayNewGoal(r *httpapi.Request) (string, error) {
	g, err := h.readEntryGame(r)
	if err != nil {
		return "", err
	}
	scored := readNewGoal(r.Body())
	if err := r.InputErr(); err != nil {
		return "", err
	}
	return g.entryWords("Goal: " + g.scoredSaid(&scored, &g.roster)), scored.Check()
}

func (h *handlers) sayGoalChange(r *httpapi.Request) (string, error) {
	g, err := h.readEntryGame(r)
	if err != nil {
		return "", err
	}
	change, err := readGoalPatch(r.Body())
	if err != nil {
		return "", err
	}
	if err := r.InputErr(); err != nil {
		return "", err
	}
	was, here := g.goalSaid(r.Param("event"), &g.roster)
	if was == nil {
		return g.entryWords("Change of " + here), nil
	}
	now := was.Scored
	change.applyTo(&now)
	return g.entryWords("Change of " + here + " to: " + g.scoredSaid(&now, &g.roster)), now.Check()
}

func (h *handlers) sayGoalDeletion(r *httpapi.Request) (string, error) {
	g, err := h.readEntryGame(r)
	if err != nil {
		return "", err
	}
	_, here := g.goalSaid(r.Param("event"), &g.roster)
	return g.entryWords("Deletion of " + here), nil
}

func (h *handlers) sayGoalUndo(r *httpapi.Request) (string, error) {
	g, err := h.readEntryGame(r)
	if err != nil {
		return "", err
	}
	_, here := g.goalSaid(text(r.Body(), "expectedEventId"), &g.roster)
	return g.entryWords("Undo of " + here), r.InputErr()
}

func (h *handlers) sayThirdStart(r *httpapi.Request) (string, error) {
	g, err := h.readEntryGame(r)
	if err != nil {
		return "", err
	}
	third, err := readThird(r)
	return g.entryWords(fmt.Sprintf("Start of third %d", third)), err
}

func (h *handlers) sayThirdEnd(r *httpapi.Request) (string, error) {
	g, err := h.readEntryGame(r)
	if err != nil {
		return "", err
	}
	third, err := readThird(r)
	return g.entryWords(fmt.Sprintf("End of third %d", third)), err
}

func (h *handlers) sayGameEnd(r *httpapi.Request) (string, error) {
	g, err := h.readEntryGame(r)
	if err != nil {
		return "", err
	}
	return g.entryWords("End of the game"), nil
}

// begins says when the game begins, by which two games of a season are told apart.
func (g *shownGame) begins() string {
	at, err := time.Parse(time.RFC3339, g.GameStartTs)
	if err != nil {
		return "a game"
	}
	return at.UTC().Format("Mon 2 Jan 15:04 UTC")
}

// scoredSaid describes a goal in words.
func (g *shownGame) scoredSaid(s *threefc.Scored, in *threefc.Roster) string {
	if in.Players[s.ScorerPlayerID].Nickname == "" {
		return "by somebody who is not in this game, against " + g.team(s.ConcedingTeamID)
	}
	return g.factsSaid(&threefc.GoalFacts{Scored: *s}, in)
}

// goalSaid returns a goal of the game, and describes it in words; nil: it is not there.
func (g *shownGame) goalSaid(event string, in *threefc.Roster) (*threefc.Goal, string) {
	goal, err := g.goal(event)
	if err != nil {
		return nil, "a goal that is not in the game now"
	}
	return goal, fmt.Sprintf("the goal of third %d, %s, by %s", goal.Third, goal.DisplayTime, g.scoredSaid(&goal.Scored, in))
}

// addHanded adds what was handed in.
func (p *ownPage) addHanded(s *threefc.Service, tx *store.Tx) error {
	all, err := s.HandedIn(tx, p.GameID)
	for i := range all {
		a := &all[i]
		said := p.factsSaid(cmp.Or(a.After, a.Before), &p.Roster)
		p.Handed = append(p.Handed, fmt.Sprintf("%s: %s. Made by %s, handed in by %s.", changeNames[a.Action], said, makerName(a.MadeBy), personName(a.ActorUserID)))
	}
	return err
}

// changeNames are the names of changes to goals, as the audit has them.
var changeNames = map[string]string{"goal_created": "Goal", "goal_updated": "Goal changed", "goal_deleted": "Goal deleted", "goal_undo_last": "Goal undone"}

// personName returns the part of somebody's address before the @.
func personName(user string) string {
	name, _, _ := strings.Cut(user, "@")
	return name
}

func makerName(made string) string {
	if hash, is := strings.CutPrefix(made, httpapi.DeviceScope); is {
		return "device " + hash[:min(8, len(hash))]
	}
	return personName(made)
}
