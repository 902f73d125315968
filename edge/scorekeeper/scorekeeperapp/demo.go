package scorekeeperapp

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/store"
)

const (
	demoNames = "Olga Asha Ben Chloe Dev Emre Fern Goro" // nobody real is meant; the first is an admin too
	demoDays  = 60
	demoSeed  = 2026
)

// commands are the application's: its demo.
func commands(sh *app.Shell) app.Commands {
	a := New()
	set, _ := a.Settings.(*Settings)
	demo := node.Demo{
		App: a, Short: "Guess the word of the day, in a team of eight that has played for 60 days",
		Long: "A daily word puzzle on a node of this machine: guess as a guest without signing in, or as one of a team of eight invented players\n" +
			"who have played the 60 days before today. Olga sets the words. No cloud, no account.",
		Fill: func(ctx context.Context, h *app.Host) error { return fill(ctx, h, set.Table) },
	}
	for _, name := range strings.Fields(demoNames) {
		demo.Users = append(demo.Users, devlogin.User{Subject: "demo-" + strings.ToLower(name), Name: name})
	}
	demo.Users[0].Groups = []string{auth.DefaultAdminGroup}
	return app.Commands{Demo: demo.Command(sh.Version)}
}

// fill has a team play the days before today; today, and all but one of the two weeks from it on, have a word.
func fill(ctx context.Context, h *app.Host, table string) error {
	words, err := scorekeeper.NewDictionary("")
	if err != nil {
		return err
	}
	s, names := &scorekeeper.Service{Table: table, Words: words}, strings.Fields(demoNames)
	luck := rand.New(rand.NewPCG(demoSeed, 0)) //nolint:gosec // invented games, the same each time
	answers := words.Answers()
	luck.Shuffle(len(answers), func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
	return h.Store.Update(ctx, func(tx *store.Tx) error {
		team, err := s.CreateTeam(tx, "demo-olga", "Wizards")
		for i := 0; err == nil && i < len(names); i++ {
			user := "demo-" + strings.ToLower(names[i])
			if i > 0 {
				_, err = s.SetTeammate(tx, "demo-olga", team.ID, user, scorekeeper.RoleMember)
			}
			if err == nil {
				_, err = s.SetProfile(tx, user, names[i], "")
			}
		}
		for i := -demoDays; err == nil && i < 14; i++ {
			day, word := tx.Now().UTC().AddDate(0, 0, i), answers[i+demoDays]
			if i == 9 {
				continue // the gap that the admin's page marks
			}
			_, err = s.SetAnswer(tx, scorekeeper.NewAnswer{Date: day.Format(scorekeeper.Day), Word: word})
			for _, name := range names {
				if err == nil && i < 0 && luck.IntN(12) > 0 {
					err = s.Import(tx, "demo-"+strings.ToLower(name), play(luck, answers, word), day.Truncate(24*time.Hour).Add(time.Duration(7+luck.IntN(14))*time.Hour))
				}
			}
		}
		return err
	})
}

// play guesses as people do who look at the colours: words that may still be it, now and then one that may not.
func play(luck *rand.Rand, all []string, word string) (guesses []string) {
	may := slices.Clone(all)
	for len(guesses) < scorekeeper.MaxGuesses && !slices.Contains(guesses, word) {
		guess := may[luck.IntN(len(may))]
		if luck.IntN(5) == 0 {
			guess = all[luck.IntN(len(all))]
		}
		if slices.Contains(guesses, guess) {
			continue
		}
		guesses = append(guesses, guess)
		got := scorekeeper.GradeGuess(guess, word)
		may = slices.DeleteFunc(may, func(w string) bool { return !slices.Equal(scorekeeper.GradeGuess(guess, w), got) })
	}
	return guesses
}
