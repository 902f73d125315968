package web

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// saying returns what a scorer's entry asks for, in words without anything of the entry but the names of rows that are here.
type saying func(r *request, g *shownGame, in *threefc.Roster) (string, error)

// sayings are the entries of scorers that can be handed in, by method and path.
func (a *api) sayings() map[string]saying {
	const game, goal = "/v1/games/:game", "/v1/games/:game/goals/:event"
	return map[string]saying{
		"POST " + game + "/goals": func(r *request, g *shownGame, in *threefc.Roster) (string, error) {
			scored, err := readNewGoal(r, r.Body())
			if err = cmp.Or(err, r.Body().Err()); err == nil {
				err = scored.Check()
			}
			return "Goal: " + g.scoredSaid(&scored, in), err
		},
		"PATCH " + goal: func(r *request, g *shownGame, in *threefc.Roster) (string, error) {
			change, err := readGoalPatch(r, r.Body())
			was, here := g.goalSaid(r.Param("event"), in)
			if err = cmp.Or(err, r.Body().Err()); err != nil || was == nil {
				return "Change of " + here, err
			}
			now := was.Scored
			change.applyTo(&now)
			return "Change of " + here + " to: " + g.scoredSaid(&now, in), now.Check()
		},
		"DELETE " + goal: func(r *request, g *shownGame, in *threefc.Roster) (string, error) {
			_, here := g.goalSaid(r.Param("event"), in)
			return "Deletion of " + here, nil
		},
		"POST " + game + "/goals/undo-last": func(r *request, g *shownGame, in *threefc.Roster) (string, error) {
			_, here := g.goalSaid(text(r.Body(), "expectedEventId"), in)
			return "Undo of " + here, r.Body().Err()
		},
		"POST " + game + "/thirds/:third/start":  thirdSaid("Start"),
		"POST " + game + "/thirds/:third/finish": thirdSaid("End"),
		"POST " + game + "/finish":               func(*request, *shownGame, *threefc.Roster) (string, error) { return "End of the game", nil },
	}
}

func thirdSaid(what string) saying {
	return func(r *request, _ *shownGame, _ *threefc.Roster) (string, error) {
		n, ok := threefc.ThirdOf(r.Param("third"))
		if !ok {
			return "", fault.New(fault.Invalid, "", "Third must be 1, 2, or 3.")
		}
		return fmt.Sprintf("%s of third %d", what, n), nil
	}
}

// describeEntry answers who may make the request with what it asks for, in which game.
func (a *api) describeEntry(ro route, say saying) httpapi.Handler {
	return a.Ensure.Route(a.Service.Table, ro.method, ro.path, httpapi.Public, func(c *httpapi.Call) (work, error) {
		r, err := a.enter(c, &ro, httpapi.Public)
		if err != nil {
			return nil, err
		}
		words, err := httpapi.Read(r.Context, func(tx *store.Tx) (string, error) {
			g, err := a.readShown(tx, r.of.ID)
			if err != nil {
				return "", err
			}
			in, err := a.Service.Roster(tx, r.of.ID)
			if err != nil {
				return "", err
			}
			words, err := say(r, g, &in)
			return words + ". " + g.Title + ", " + g.begins(), err
		})
		if err != nil {
			return nil, err
		}
		return nil, httpapi.AnswerDescription(r.Context, words)
	}).Do
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

// handedIn notes who made the entry that the request's user hands in: somebody with a role in the league, or the device.
func (r *request) handedIn() error {
	of, handed := httpapi.Handed(r.Context)
	if !handed {
		return nil
	}
	users, err := httpapi.Read(r.Context, func(tx *store.Tx) (users []string, err error) {
		all, _, err := r.api.Service.AccessList(tx, r.league, threefc.ListPage{Limit: wholeList})
		for i := range all {
			users = append(users, all[i].UserID)
		}
		return users, err
	})
	r.madeBy = of.MadeBy(users)
	return err
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
