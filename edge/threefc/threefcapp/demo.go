package threefcapp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const (
	demoSeed    = 3
	demoGames   = 4 // finished games; one more is live
	demoLive    = "demo-game-5"
	demoPlayers = "Ari Bea Cato Dina Eli Faye Gus Hope Ivo"
	demoBoss    = "boss@example.org"
	demoPace    = 75 * time.Second // between goals of the live game
	demoLost    = 6 * time.Minute  // time the second scorer is disconnected
	demoThird   = 20 * time.Minute
)

// pathDemo is the route below the pages that signs in the demo's league admin. Unlike a sign-in link it does not expire.
const pathDemo = "/demo"

func newDemo() *app.Demo {
	d := &demo{rnd: rand.New(rand.NewPCG(demoSeed, 0))}
	a := New()
	set, _ := a.Settings.(*Settings)
	open := a.Open
	a.Open = func(ctx context.Context, h *app.Host) (*app.Instance, error) {
		in, err := open(ctx, h)
		if err == nil {
			in.API.Pages = append(in.API.Pages, httpapi.Route{Method: http.MethodGet, Path: pathDemo, Access: httpapi.Public, Do: signIn(h, set)})
		}
		return in, err
	}
	return &app.Demo{
		App: a, Short: "Three-sided football: four games played and one live with two scorers",
		Long: "A league of three-sided football on a node on this machine: four finished games and a live one with two scorers, one of whom\n" +
			"loses the node for six minutes: the goals of those minutes arrive late, but count at the time of each tap. No cloud, no account.",
		Users: app.DemoUsers(1),
		Fill: func(ctx context.Context, h *app.Host) ([]page.Tile, error) {
			d.Service = threefc.Service{Handle: threefc.Rows(set.Table), Skew: func() time.Duration { return d.ahead }}
			err := h.Store.Update(ctx, d.fill)
			return []page.Tile{
				{Href: set.Mount + "/-" + pathDemo, Title: "Keep the score", Line: "Signs you in as the league’s admin"},
				{Href: set.Mount + "/-/join/" + d.code, Title: "Join the live game", Line: "As a player, with the code " + d.code},
			}, err
		},
		Live: d.live, Told: d.reportScore,
	}
}

// signIn redirects to a new sign-in link for the league's admin, which leads to the live game.
func signIn(h *app.Host, set *Settings) httpapi.Handler {
	return httpapi.Leads(func(ctx context.Context) (string, error) {
		s, m := threefc.Service{Handle: threefc.Rows(set.Table)}, threefc.Magic{}
		err := h.Store.Update(ctx, func(tx *store.Tx) (err error) {
			m, err = s.StartMagic(tx, demoBoss)
			return err
		})
		q := url.Values{"token": {m.Token}, "to": {set.Mount + "/-/games/" + demoLive + "/score"}}
		return set.Mount + "/-/sign-in?" + q.Encode(), err
	})
}

// demo plays an invented season. Its games lie in the past: ahead is the offset of its clock from now.
type demo struct {
	threefc.Service
	rnd   *rand.Rand
	ahead time.Duration
	games int
	code  string // to join the live game

	tx  *store.Tx // current transaction
	err error     // first error in it
}

// playIn runs play in a transaction and returns its first error.
func (d *demo) playIn(tx *store.Tx, play func()) error {
	d.tx, d.err = tx, nil
	play()
	return d.err
}

// do applies a change.
func (d *demo) do(c threefc.Change, err error) {
	if err == nil && d.err == nil && len(c.Writes) > 0 {
		err = d.tx.TransactWrite(store.TransactWrite{Items: c.Writes})
	}
	d.err = cmp.Or(d.err, err)
}

func (d *demo) fill(tx *store.Tx) error {
	return d.playIn(tx, func() {
		d.ahead = -demoGames * 7 * 24 * time.Hour
		d.do(d.CreateLeague(tx, demoBoss, threefc.League{LeagueID: "demo", Name: "Demo League"}))
		d.do(d.CreateSeason(tx, threefc.Season{LeagueID: "demo", SeasonID: "demo-season", Name: "This year"}))
		for range demoGames {
			at := d.ahead
			d.play()
			d.ahead = at + 7*24*time.Hour
		}
		d.ahead = 0
		b, err := d.Board(tx, d.kickOff())
		if d.err = cmp.Or(d.err, err); d.err == nil {
			d.code = b.JoinCode
		}
	})
}

// kickOff creates a session with one game, three players a team, and starts the game.
func (d *demo) kickOff() (game string) {
	d.games++
	day, game := fmt.Sprint("demo-day-", d.games), fmt.Sprint("demo-game-", d.games)
	now := d.Now(d.tx)
	d.do(d.CreateSession(d.tx, threefc.Session{SeasonID: "demo-season", SessionID: day, SessionDate: now.Format(time.DateOnly)}))
	d.do(d.CreateGame(d.tx, threefc.Game{SessionID: day, GameID: game, GameStartTs: d.NowText(d.tx)}))
	for i, name := range strings.Fields(demoPlayers) {
		id := "demo-" + strings.ToLower(name)
		if d.games == 1 {
			d.do(d.AddPlayer(d.tx, game, id, name, &threefc.IDs{}))
		}
		d.do(d.Assign(d.tx, game, id, threefc.TeamIDs()[i%3], false))
	}
	d.do(d.StartThird(d.tx, game, 1, now))
	return game
}

// play plays a game to its end.
func (d *demo) play() {
	game := d.kickOff()
	for n := 1; n <= 3; n++ {
		if n > 1 {
			d.do(d.StartThird(d.tx, game, n, d.Now(d.tx)))
		}
		for range 2 + d.rnd.IntN(3) {
			d.ahead += time.Duration(60+d.rnd.IntN(200)) * time.Second
			d.goal(game, d.Now(d.tx))
		}
		d.do(d.FinishThird(d.tx, game, n, d.Now(d.tx)))
		d.ahead += 2 * time.Minute
	}
	d.err = cmp.Or(d.err, d.Export(d.tx, game))
	d.do(d.FinishGame(d.tx, game))
}

// goal records a random goal, now and then an own goal.
func (d *demo) goal(game string, at time.Time) {
	teams := threefc.TeamIDs()
	by, against := d.rnd.IntN(3), d.rnd.IntN(3)
	players := strings.Fields(demoPlayers)
	g := threefc.Scored{
		ConcedingTeamID: teams[against], ScorerPlayerID: "demo-" + strings.ToLower(players[3*d.rnd.IntN(3)+by]),
		OwnGoal: by == against, AssistPlayerIDs: []string{},
	}
	if by != against {
		g.ScoringTeamID = &teams[by]
	}
	d.do(d.CreateGoal(d.tx, game, threefc.NewGoal{Scored: g, At: at, Actor: demoBoss}, &threefc.IDs{}))
}

// live plays the last game with two scorers in turn. The second is offline for the first six minutes: their goals are kept and then
// sent together, with the times of their taps.
func (d *demo) live(ctx context.Context, h *app.Host) error {
	begin := h.Clock.Wall()
	var kept []time.Time
	for n := 1; ; n++ {
		if err := h.Clock.Wait(ctx, h.Clock.Now().Add(demoPace), nil); err != nil {
			return nil //nolint:nilerr // the node ends
		}
		now := h.Clock.Wall()
		taps := []time.Time{now}
		if n%2 == 0 {
			kept = append(kept, now)
			if now.Sub(begin) <= demoLost {
				continue
			}
			taps, kept = kept, nil
		}
		if now.Sub(begin) > demoThird { // left for people to finish
			return nil
		}
		err := h.Store.Update(ctx, func(tx *store.Tx) error {
			return d.playIn(tx, func() {
				for _, at := range taps {
					d.goal(demoLive, at)
				}
			})
		})
		switch {
		case err == nil, fault.Is(err, fault.Invalid): // people changed the teams
		case ctx.Err() != nil, fault.Is(err, fault.Conflict), fault.Is(err, fault.NotFound): // people keep the score themselves
			return nil //nolint:nilerr // nothing left to do
		default:
			h.Log.Warn("the demo could not record a goal", "err", err)
		}
	}
}

// reportScore reports the score of the live game, and how many of its goals arrived late.
func (d *demo) reportScore(ctx context.Context, h *app.Host) (text string, err error) {
	err = h.Store.View(ctx, func(tx *store.Tx) error {
		b, err := d.Board(tx, demoLive)
		if err != nil {
			return err
		}
		late := 0
		for i := range b.Goals {
			made, err := time.Parse(time.RFC3339, b.Goals[i].CreatedAt)
			began, bad := time.Parse(time.RFC3339, *b.Thirds[0].StartedAt)
			if err = errors.Join(err, bad); err != nil {
				return err
			}
			if made.Sub(began)-time.Duration(b.Goals[i].ElapsedSeconds)*time.Second > demoPace {
				late++
			}
		}
		for _, t := range b.Teams {
			text += fmt.Sprintf("%s has conceded %d and scored %d.\n", t.Name, t.Conceded, t.Scored)
		}
		text += fmt.Sprintf("%d goals in %d minutes, %d of them sent late by a scorer who had lost the connection.\n", len(b.Goals), int(demoThird.Minutes()), late)
		return nil
	})
	return text, err
}
