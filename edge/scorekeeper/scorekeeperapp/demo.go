package scorekeeperapp

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

const (
	demoPlayers = 8
	demoDays    = 60
	demoSeed    = 2026
)

// commands returns the application's commands: its demo.
func commands(*app.Shell) app.Commands {
	a := New()
	set, _ := a.Settings.(*Settings)
	return app.Commands{Demo: &app.Demo{
		App: a, Short: "Guess the word of the day, in a team of eight that has played for 60 days",
		Long: "A daily word puzzle on a node on this machine: guess as a guest without signing in, or as one of a team of eight invented players\n" +
			"who have played the 60 days before today. Ada sets the words. No cloud, no account.",
		Users: app.DemoUsers(demoPlayers),
		Fill: func(ctx context.Context, h *app.Host) ([]page.Tile, error) {
			begin := []page.Tile{{Href: set.Mount + "/-/", Title: "Guess today’s word", Line: "Six guesses, the same word for everybody"}}
			return begin, fill(ctx, h, set.Table)
		},
	}}
}

// demo generates the 60 days.
type demo struct {
	*scorekeeper.Service
	luck    *rand.Rand
	answers []string
}

// fill creates a team and its games for the days before today. Today and the 13 days after it, except for one, get a word.
func fill(ctx context.Context, h *app.Host, table string) error {
	words, err := scorekeeper.NewDictionary("")
	if err != nil {
		return err
	}
	d := demo{&scorekeeper.Service{Handle: scorekeeper.Rows(table), Words: words}, rand.New(rand.NewPCG(demoSeed, 0)), words.Answers()}
	d.luck.Shuffle(len(d.answers), func(i, j int) { d.answers[i], d.answers[j] = d.answers[j], d.answers[i] })
	err = h.Store.Update(ctx, d.team)
	for i := -demoDays; err == nil && i < 14; i++ {
		if i == 9 {
			continue // a gap for the admin page to mark
		}
		err = h.Store.Update(ctx, func(tx *store.Tx) error {
			return d.day(tx, tx.Now().UTC().AddDate(0, 0, i).Truncate(24*time.Hour), d.answers[i+demoDays], i < 0)
		})
	}
	return err
}

func (d *demo) team(tx *store.Tx) error {
	users := app.DemoUsers(demoPlayers)
	team, err := d.CreateTeam(tx, users[0].Subject, "Wizards")
	for i, u := range users {
		if i > 0 && err == nil {
			if _, err = d.SetTeammate(tx, users[0].Subject, team.ID, u.Subject, scorekeeper.RoleMember); err == nil {
				_, err = d.AcceptTeam(tx, u.Subject, team.ID)
			}
		}
		if err == nil {
			_, err = d.SetProfile(tx, u.Subject, &u.Name, nil)
		}
	}
	return err
}

// day sets the word of a day. If the day is over, most of the team plays it, each at a random hour.
func (d *demo) day(tx *store.Tx, day time.Time, word string, over bool) error {
	_, err := d.SetAnswer(tx, scorekeeper.NewAnswer{Date: day.Format(scorekeeper.Day), Word: word})
	for _, u := range app.DemoUsers(demoPlayers) {
		if at := time.Duration(7+d.luck.IntN(14)) * time.Hour; err == nil && over && d.luck.IntN(12) > 0 {
			err = d.Import(tx, u.Subject, play(d.luck, d.answers, word), day.Add(at))
		}
	}
	return err
}

// play guesses as people do: mostly words that still fit the colours, now and then one that does not.
func play(luck *rand.Rand, all []string, word string) (guesses []string) {
	fitting := slices.Clone(all)
	for len(guesses) < scorekeeper.MaxGuesses && !slices.Contains(guesses, word) {
		guess := fitting[luck.IntN(len(fitting))]
		if luck.IntN(5) == 0 {
			guess = all[luck.IntN(len(all))]
		}
		if slices.Contains(guesses, guess) {
			continue
		}
		guesses = append(guesses, guess)
		got := scorekeeper.GradeGuess(guess, word)
		fitting = slices.DeleteFunc(fitting, func(w string) bool { return !slices.Equal(scorekeeper.GradeGuess(guess, w), got) })
	}
	return guesses
}
