package pickemapp

import (
	"context"
	_ "embed" // events of 2024
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// demoEvents are five real events of 2024, with their cards, champions, winners and sources. The names of matches and their points are made up.
// A match is a row for pickem.ParseMatch, followed by the index of the winning team.
//
//go:embed demo/events.json
var demoEvents []byte

type demoEvent struct {
	Date     string
	StartsAt time.Time
	Name     string
	Matches  [][]string
}

const (
	demoPlayers = 12 // the first is also the league's admin
	demoSeed    = 2024
	demoStart   = 70 * time.Minute // until the next event starts; it locks an hour earlier, in ten minutes
)

// commands returns the application's commands: its demo.
func commands(*app.Shell) app.Commands {
	a := New()
	set, _ := a.Settings.(*Settings)
	demo := app.Demo{
		App: a, Short: "Predict winners: twelve players, five events of 2024, a lock in ten minutes",
		Long: "A prediction league on a node on this machine: twelve invented players, cards and results of five events of 2024, and one more\n" +
			"event whose card locks in ten minutes. Ada, an admin, enters the results and scores the events. No cloud, no account.",
		Users: app.DemoUsers(demoPlayers),
		Fill: func(ctx context.Context, h *app.Host) ([]page.Tile, error) {
			s := season{picks: rand.New(rand.NewPCG(demoSeed, 0))} // the same invented picks each time
			s.Service = pickem.Service{Store: h.Store, Handle: pickem.Rows(set.Table), Index: set.Index, Skew: func() time.Duration { return s.at.Sub(h.Clock.Wall()) }}
			next, err := s.fill(ctx, h.Clock.Wall().Add(demoStart))
			return []page.Tile{{Href: set.Mount + "/-/events/" + next, Title: "Pick the winners", Line: "Picks lock ten minutes from now"}}, err
		},
	}
	return app.Commands{Demo: &demo}
}

// season plays a league, with its clock set to the time of each event.
type season struct {
	pickem.Service
	at    time.Time
	picks *rand.Rand
}

// fill creates the players, the events with their results, and the next event, for which all but the first player have picked. It returns
// the ID of that event.
func (s *season) fill(ctx context.Context, next time.Time) (id string, err error) {
	var events []demoEvent
	if err := json.Unmarshal(demoEvents, &events); err != nil {
		return "", fmt.Errorf("read the demo's events: %w", err)
	}
	users := app.DemoUsers(demoPlayers)
	if err := s.Store.Update(ctx, func(tx *store.Tx) (err error) {
		for _, u := range users {
			_, inviteErr := s.Invite(tx, u.Subject, u.Name)
			err = errors.Join(err, inviteErr)
		}
		return err
	}); err != nil {
		return "", err
	}
	for i := range events {
		if _, err := s.play(ctx, &events[i], users, true); err != nil {
			return "", err
		}
	}
	again := events[0]
	again.Name, again.StartsAt, again.Date = "Rematch of Revolution", next.UTC(), next.UTC().Format(pickem.Day)
	return s.play(ctx, &again, users[1:], false)
}

// play creates an event and the users' picks, a day before it, and if it has ended sets its results and scores it.
func (s *season) play(ctx context.Context, e *demoEvent, users []devlogin.User, ended bool) (id string, err error) {
	s.at = e.StartsAt.Add(-24 * time.Hour)
	err = s.Store.Update(ctx, func(tx *store.Tx) error {
		card, results, err := s.card(tx, e)
		if id = card.ID; err != nil {
			return err
		}
		for i := range users {
			if _, err := s.Predict(tx, users[i].Subject, id, s.guess(card.Matches, results, i)); err != nil {
				return err
			}
		}
		if !ended {
			return nil
		}
		if _, err = s.SetState(tx, id, pickem.Broadcast); err == nil {
			_, err = s.SetResults(tx, id, results)
		}
		return err
	})
	if err == nil && ended {
		_, err = s.Score(ctx, id)
	}
	return id, err
}

// card creates an event with its matches, and returns their results.
func (s *season) card(tx *store.Tx, e *demoEvent) (card pickem.Card, results map[string]*int, err error) {
	results = map[string]*int{}
	if card, err = s.CreateEvent(tx, pickem.NewEvent{Date: e.Date, Name: e.Name, StartsAt: e.StartsAt}); err != nil {
		return card, nil, err
	}
	for _, row := range e.Matches {
		var m pickem.Match
		d, err := pickem.ParseMatch(row)
		if err == nil {
			m, err = s.AddMatch(tx, card.ID, "", d)
		}
		winner, winnerErr := strconv.Atoi(row[len(row)-1])
		if err = errors.Join(err, winnerErr); err != nil {
			return card, nil, err
		}
		results[m.ID] = &winner
		card.Matches = append(card.Matches, m)
	}
	return card, results, nil
}

// guess returns a player's picks. Each is the result or, more often for players later in the list, a random team.
func (s *season) guess(matches []pickem.Match, results map[string]*int, player int) map[string]*int {
	picks := map[string]*int{}
	for i := range matches {
		pick := *results[matches[i].ID]
		if s.picks.IntN(20) < player+4 {
			pick = s.picks.IntN(len(matches[i].Teams))
		}
		picks[matches[i].ID] = &pick
	}
	return picks
}
