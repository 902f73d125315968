package scorekeeper

import (
	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi/page"
)

// scenes shows the page of a day in its states, from fixed data.
func (a *api) scenes() (out []page.Scene, err error) {
	for _, s := range []struct {
		name, what string
		guesses    []string
		change     func(p *playPage)
	}{
		{"empty", "A new puzzle", nil, nil},
		{"three", "Three guesses", []string{"crane", "moist", "slate"}, nil},
		{"solved", "Solved", []string{"crane", "manna"}, func(p *playPage) { p.Game.Won, p.Streaks.Now, p.Streaks.Best = true, 3, 12 }},
		{"lost", "Lost", []string{"crane", "slate", "moist", "proud", "brick", "vexed"}, func(p *playPage) { p.Game.Answer = "manna" }},
		{"no-puzzle", "A day without a puzzle", nil, func(p *playPage) { p.Missing = true }},
		{"offline", "A guess that waits", []string{"crane"}, func(p *playPage) { p.waits("slate") }},
		{"dropped", "A guess that did not count", []string{"crane", "moist"}, func(p *playPage) { p.Game.Dropped = []string{"brick"} }},
	} {
		p := playPage{Mount: a.mount, Date: "2100-03-04", Known: true}
		game := scorekeeper.View{Moves: len(s.guesses)}
		for _, guess := range s.guesses {
			game.Graded = append(game.Graded, scorekeeper.Graded(guess, "manna"))
		}
		p.show(game)
		if s.change != nil {
			s.change(&p)
			if p.Over = p.Over || p.Game.Won; p.Over {
				p.Share = scorekeeper.ShareText(&scorekeeper.Score{Date: p.Date, Moves: game.Moves, Won: p.Game.Won, Rows: []string{"🟩🟩🟩🟩🟩"}})
			}
		}
		scene, err := a.look.Scene(s.name, s.what, "play", p)
		if err != nil {
			return nil, err
		}
		out = append(out, scene)
	}
	return out, nil
}

// waits shows a guess that was not sent, as the script does.
func (p *playPage) waits(word string) {
	for i := range p.Rows[p.Game.Moves] {
		p.Rows[p.Game.Moves][i] = scorekeeper.Letter{Letter: word[i : i+1], Grade: "waits"}
	}
}
