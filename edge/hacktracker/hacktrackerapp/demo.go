package hacktrackerapp

import (
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const (
	demoPlayers   = 12
	demoOpponents = "Harbor Gulls,Mill Street Nine,Old Foundry,Sandlot Saints,Quarry Cats,Night Shift,Canal Comets"
	demoSeed      = 12
	demoInnings   = 7
	demoPace      = 15 * time.Second // between plate appearances of the live game
	demoYields    = 2 * time.Minute  // after a visitor's
)

// commands returns the application's only command, its demo.
func commands(*app.Shell) app.Commands {
	d := &demo{rnd: rand.New(rand.NewPCG(demoSeed, 0))}
	a := New()
	set, _ := a.Settings.(*Settings)
	return app.Commands{Demo: &app.Demo{
		App: a, Short: "Score softball: a team of twelve, six games played and one live",
		Long: "A softball scorebook on a node on this machine: an invented team of twelve with six finished games and one that is being\n" +
			"played, a plate appearance every 15 seconds. Ada owns the team, Bram manages it, Chidi scores. No cloud, no account.",
		Users: app.DemoUsers(demoPlayers),
		Fill: func(ctx context.Context, h *app.Host) ([]page.Tile, error) {
			d.Service = hacktracker.Service{Handle: hacktracker.Rows(set.Table)}
			err := d.fill(ctx, h)
			return []page.Tile{{Href: set.Mount + "/-/games/" + d.game, Title: "Watch the live game", Line: "Dockside Diggers, a plate appearance every 15 seconds"}}, err
		},
		Live: d.live,
	}}
}

// demo plays invented games of a team.
type demo struct {
	hacktracker.Service
	rnd         *rand.Rand
	owner, team string
	players     []string
	game        string // the game being played
	last        string // its last at-bat played by the demo
	inning      int
	bases       uint // occupied bases as bits, first base lowest
}

// body returns a request body with the given members.
func body(members map[string]any) hacktracker.Input {
	in := hacktracker.Input{}
	for name, v := range members {
		in[name], _ = json.Marshal(v) //nolint:errchkjson // of texts and numbers
	}
	return in
}

func (d *demo) fill(ctx context.Context, h *app.Host) error {
	return h.Store.Update(ctx, func(tx *store.Tx) error {
		users := app.DemoUsers(demoPlayers)
		d.owner = users[0].Subject
		b := d.Open(tx, d.owner)
		for i := range users {
			one := d.Open(tx, users[i].Subject)
			one.Enrol(users[i].Subject+"@example.org", users[i].Name)
			b.Fail(one.Err())
		}
		d.people(b, users)
		for i, opponent := range strings.Split(demoOpponents, ",") {
			weeks := 6 - i // before now
			d.play(b, opponent, tx.Now().Add(-90*time.Minute).AddDate(0, 0, -7*weeks), weeks == 0)
		}
		return b.Err()
	})
}

// people creates the team, its roster of twelve, and a team for Ada's own statistics.
func (d *demo) people(b *hacktracker.Book, users []devlogin.User) {
	b.Make(b.NewTeam("", body(map[string]any{"name": "Default", "teamType": "PERSONAL"})))
	d.team = b.Make(b.NewTeam("", body(map[string]any{"name": "Dockside Diggers", "teamType": "MANAGED"})))
	for _, own := range b.Roster(d.team, hacktracker.RosterQuery{}) {
		d.players = []string{b.ChangePlayer(d.team, own.ID, body(map[string]any{"playerNumber": 1})).ID}
	}
	for i := 1; i < len(users); i++ {
		id := b.Make(b.NewPlayer(d.team, "", body(map[string]any{"firstName": users[i].Name, "playerNumber": 3*i + 1})))
		if roles := []string{"manager", "scorekeeper", "player"}; i <= len(roles) {
			b.LinkPlayer(d.team, id, body(map[string]any{"userId": users[i].Subject, "role": roles[i-1]}))
			if member := b.Open(b.Tx, users[i].Subject); roles[i-1] != "player" { // the player's start page shows how they accept
				member.AcceptTeam(d.team)
				b.Fail(member.Err())
			}
		}
		d.players = append(d.players, id)
	}
}

// play creates a game and plays it, or half of it if live.
func (d *demo) play(b *hacktracker.Book, opponent string, at time.Time, live bool) {
	var lineup []hacktracker.Slot
	for i := range min(10, len(d.players)) {
		lineup = append(lineup, hacktracker.Slot{PlayerID: d.players[i], BattingOrder: i + 1})
	}
	d.game = b.Make(b.NewGame("", body(map[string]any{
		"teamId": d.team, "status": hacktracker.InProgress, "opponentName": opponent, "location": "Pier Field", "seasonId": "spring",
		"scheduledStart": at.UTC().Format(time.RFC3339), "lineup": lineup,
	})))
	innings := demoInnings
	if live {
		innings /= 2
	}
	for d.inning, d.bases = 1, 0; b.Err() == nil && d.inning <= innings; at = at.Add(90 * time.Second) {
		d.step(b, at)
	}
	if !live {
		b.ChangeGame(d.game, body(map[string]any{"status": hacktracker.Final}))
	}
}

// slowPitch gives the frequency of results per thousand plate appearances. The ball is pitched to be hit: few walks, few strikeouts.
var slowPitch = []struct {
	result, hit string
	of, bases   int
}{
	{"1B", "line_drive", 370, 1}, {"2B", "line_drive", 90, 2}, {"3B", "fly_ball", 15, 3}, {"HR", "fly_ball", 45, 4}, {"BB", "", 60, 0}, {"K", "", 10, 0},
	{"FO", "fly_ball", 140, 0}, {"GO", "ground_out", 120, 0}, {"PO", "pop_up", 55, 0}, {"LO", "line_drive", 35, 0}, {"E", "ground_out", 35, 1}, {"DP", "ground_out", 25, 0},
}

// step plays one plate appearance. Runners advance as far as the batter; on a walk only those who are forced.
func (d *demo) step(b *hacktracker.Book, at time.Time) {
	st := b.State(d.game)
	n, i := d.rnd.IntN(1000), 0
	for ; n >= slowPitch[i].of; i++ {
		n -= slowPitch[i].of
	}
	play := slowPitch[i]
	switch {
	case b.Err() != nil:
		return
	case play.bases > 0:
		d.bases = d.bases<<play.bases | 1<<(play.bases-1)
	case play.result == hacktracker.Walk:
		d.bases |= d.bases + 1
	}
	runs := bits.OnesCount(d.bases >> 3)
	d.bases &= 7
	scored := map[string]any{
		"playerId": st.Batter.PlayerID, "battingOrder": st.Batter.BattingOrder, "result": play.result, "inning": st.Inning, "outs": st.Outs, "rbis": runs,
	}
	if play.hit != "" {
		scored["hitType"] = play.hit
		scored["hitLocation"] = map[string]float64{"x": float64(100+d.rnd.IntN(801)) / 1000, "y": float64(50+d.rnd.IntN(651)) / 1000}
	}
	d.last = b.NewAtBat(d.game, "", at, nil, body(scored)).ID
	next := b.State(d.game)
	if d.inning = next.Inning; next.Inning > st.Inning {
		d.bases = 0
		next.OpponentScore += max(0, d.rnd.IntN(5)-1)
	}
	if runs > 0 || next.Inning > st.Inning {
		b.ChangeGame(d.game, body(map[string]any{"teamScore": st.TeamScore + runs, "opponentScore": next.OpponentScore}))
	}
}

// live plays the current game to its end.
func (d *demo) live(ctx context.Context, h *app.Host) error {
	for over := false; !over && h.Clock.Wait(ctx, h.Clock.Now().Add(demoPace), nil) == nil; {
		err := h.Store.Update(ctx, func(tx *store.Tx) (err error) {
			over, err = d.goOn(d.Open(tx, d.owner))
			return err
		})
		if ctx.Err() == nil && err != nil {
			return fmt.Errorf("the live game: %w", err)
		}
	}
	<-ctx.Done()
	return nil
}

// goOn plays on unless a visitor has taken over: by scoring, until demoYields after their last at-bat; by ending the game, until they
// start it again; by deleting it, for good.
func (d *demo) goOn(b *hacktracker.Book) (over bool, err error) {
	g, all := b.Game(d.game), b.AtBats(d.game)
	if fault.Is(b.Err(), fault.NotFound) {
		return true, nil
	}
	if n := len(all); n > 0 && all[n-1].ID != d.last {
		if d.bases = 0; all[n-1].CreatedAt > b.StampAfter(-demoYields) {
			return false, b.Err()
		}
	}
	if g.Status != hacktracker.InProgress {
		return false, b.Err()
	}
	d.step(b, b.Now())
	if over = d.inning > demoInnings; over {
		b.ChangeGame(d.game, body(map[string]any{"status": hacktracker.Final}))
	}
	return over, b.Err()
}
