package threefcapp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
)

const (
	randomBoss   = "boss@example.org"
	randomSecond = "second@example.org"
)

// step is the next move of a game at node At. X, Y and Z select its subject and details.
type step struct{ Do, At, X, Y, Z int }

func (s step) String() string {
	return fmt.Sprintf("%s at %d (%d %d %d)", moves[s.Do%len(moves)].name, s.At, s.X, s.Y, s.Z)
}

// act is a change that a node has acknowledged.
type act struct {
	at          int // index of the node
	kind        string
	game        string // or another parent: a session, season or league
	sub         string // the event, player, team, user or field
	value       string
	by          string
	key         string
	first, last uint64 // its journal records are those after first, up to last
	ids         map[string]string
}

func (a act) String() string {
	return fmt.Sprintf("%d: %s %s %s %q by %s key %q (%d, %d] %v", a.at, a.kind, a.game, a.sub, a.value, a.by, a.key, a.first, a.last, a.ids)
}

// world is a league kept at two nodes.
type world struct {
	*pair
	acts  []act // since both nodes last had the same rows
	asked []keyed
	keys  int
	count map[string]int
	log   []string
}

// keyed is a request with a key, which may be repeated at any node.
type keyed struct {
	q request
	a act
}

// moves lists the possible moves, each as often as its weight.
var moves = slices.Concat(
	move(5, "goal", (*world).goal), move(3, "repeat", (*world).repeat), move(2, "edit", (*world).edit), move(1, "delete", (*world).remove), move(1, "undo", (*world).undo),
	move(3, "third", (*world).third), move(2, "finish", (*world).finish), move(2, "assign", (*world).assign), move(1, "unassign", (*world).unassign),
	move(1, "join", (*world).join), move(1, "claim", (*world).claim), move(1, "team", (*world).team), move(1, "season team", (*world).seasonTeam), move(1, "patch", (*world).patch),
	move(1, "delete game", (*world).deleteGame), move(1, "create game", (*world).createGame), move(1, "grant", (*world).grant),
	move(3, "cut", (*world).cut), move(2, "heal", (*world).heal), move(3, "wait", (*world).wait),
)

type named struct {
	name string
	do   func(w *world, n *peer, s step)
}

func move(weight int, name string, do func(w *world, n *peer, s step)) []named {
	return slices.Repeat([]named{{name, do}}, weight)
}

func (w *world) cut(n *peer, _ step)  { n.Link.SetMode(simcloud.NoDNS) }
func (w *world) heal(n *peer, _ step) { n.Link.SetMode(simcloud.None) }
func (w *world) wait(_ *peer, s step) {
	w.Pass(time.Duration(s.X%4*s.Y+1) * time.Second)
}

func pick[T any](all []T, n int) (v T) {
	if len(all) > 0 {
		v = all[n%len(all)]
	}
	return v
}

// do sends a request and records the act if it was acknowledged.
func (w *world) do(n *peer, a act, q request) {
	a.at, a.key = slices.Index(w.nodes, n), q.key
	out, first, last, err := w.ask(n, q)
	w.log = append(w.log, fmt.Sprintf("%s %s: %v repeated %t %v", time.Now().Format("04:05"), a, out.IDs, out.Repeated, err))
	if err != nil {
		w.count["refused"]++
		return
	}
	if q.key != "" && !slices.ContainsFunc(w.asked, func(o keyed) bool { return o.q.key == q.key }) {
		w.asked = append(w.asked, keyed{q, a})
	}
	if out.Repeated || first == last {
		return
	}
	w.count[a.kind]++
	a.first, a.last, a.ids = first, last, out.IDs
	if a.sub == "" {
		a.sub = cmp.Or(out.IDs["event"], out.IDs["player"])
	}
	w.acts = append(w.acts, a)
}

// key returns a new Idempotency-Key or, for every third Z, none.
func (w *world) key(s step) string {
	if s.Z%3 == 0 {
		return ""
	}
	w.keys++
	return fmt.Sprint("k", w.keys)
}

// games returns the games that a node knows.
func (w *world) games(n *peer) (all []threefc.Board) {
	w.view(n, func(tx *store.Tx) (err error) {
		all, err = n.SeasonGames(tx, "s")
		return err
	})
	return all
}

func (w *world) game(n *peer, s step) *threefc.Board {
	all := w.games(n)
	if len(all) == 0 {
		return &threefc.Board{}
	}
	return &all[s.X/8%len(all)]
}

func of(game string) []threefc.Scope { return []threefc.Scope{{Kind: "game", ID: game}} }

type plan = func(n *peer, tx *store.Tx, ids *threefc.IDs) (threefc.Change, error)

// scorer sends a request about a game as its scorer.
func (w *world) scorer(n *peer, s step, a act, body string, do plan) {
	a.by = randomBoss
	if a.game == "" {
		return
	}
	q := request{key: w.key(s), path: a.kind + " " + a.game, body: body, of: of(a.game), plan: do}
	w.do(n, a, q)
}

// admin sends a request as one of the admins, who must still have the role.
func (w *world) admin(n *peer, s step, a act, scope threefc.Scope, do func(n *peer, tx *store.Tx, by string) (threefc.Change, error)) {
	if a.game == "" {
		return
	}
	a.by = pick([]string{randomBoss, randomSecond}, s.Y)
	q := request{key: w.key(s), path: a.by + " " + a.kind + " " + a.game, body: a.sub + a.value, of: []threefc.Scope{scope}}
	by := a.by
	q.plan = func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		if err := n.Allow(tx, "l", by, threefc.RoleAdmin); err != nil {
			return threefc.Change{}, err
		}
		return do(n, tx, by)
	}
	w.do(n, a, q)
}

func scored(s step) threefc.Scored {
	teams := threefc.TeamIDs()
	by, against := teams[s.Y%3], teams[s.Z%3]
	g := threefc.Scored{ConcedingTeamID: against, ScorerPlayerID: by[:1] + "1", AssistPlayerIDs: []string{}, OwnGoal: by == against}
	if by != against {
		g.ScoringTeamID = &by
	}
	return g
}

// words describes a goal's entered fields.
func words(g *threefc.Scored) string {
	by := "-"
	if g.ScoringTeamID != nil {
		by = *g.ScoringTeamID
	}
	return fmt.Sprint(by, " ", g.ConcedingTeamID, " ", g.ScorerPlayerID, " ", g.OwnGoal)
}

func (w *world) goal(n *peer, s step) {
	game, g, tap := w.game(n, s).GameID, scored(s), time.Now()
	w.scorer(n, s, act{kind: "goal", game: game}, words(&g), func(n *peer, tx *store.Tx, ids *threefc.IDs) (threefc.Change, error) {
		at := n.Now(tx)
		if s.X%2 == 0 { // the phone sends the time of the tap
			at = at.Add(-time.Since(tap))
		}
		return n.CreateGoal(tx, game, threefc.NewGoal{Scored: g, At: at, Actor: randomBoss}, ids)
	})
}

func (w *world) repeat(n *peer, s step) {
	if len(w.asked) > 0 {
		old := w.asked[len(w.asked)-1-min(s.X, len(w.asked)-1)]
		w.do(n, old.a, old.q)
	}
}

func (w *world) correct(n *peer, s step, value string, latest bool, do func(n *peer, tx *store.Tx, event string, who threefc.Corrector, ids *threefc.IDs) (threefc.Change, error)) {
	g := w.game(n, s)
	event := pick(g.Goals, s.Y).EventID
	if latest && len(g.Goals) > 0 {
		event = g.Goals[len(g.Goals)-1].EventID
	}
	if event == "" {
		return
	}
	who := threefc.Corrector{Actor: randomBoss, Admin: s.Z%2 == 0}
	w.scorer(n, s, act{kind: "correct", game: g.GameID, sub: event, value: value}, fmt.Sprint(event, value), func(n *peer, tx *store.Tx, ids *threefc.IDs) (threefc.Change, error) {
		return do(n, tx, event, who, ids)
	})
}

func (w *world) edit(n *peer, s step) {
	now := scored(step{Y: s.Z, Z: s.Y})
	w.correct(n, s, words(&now), false, func(n *peer, tx *store.Tx, event string, who threefc.Corrector, ids *threefc.IDs) (threefc.Change, error) {
		return n.UpdateGoal(tx, w.gameOf(n, tx, event), event, who, func(g *threefc.Scored) { *g = now }, ids)
	})
}

// gameOf returns the game of a goal.
func (w *world) gameOf(n *peer, tx *store.Tx, event string) string {
	all, err := n.SeasonGames(tx, "s")
	w.must(err)
	for i := range all {
		for j := range all[i].Goals {
			if tap(all[i].Goals[j].EventID) == tap(event) {
				return all[i].GameID
			}
		}
	}
	return "none"
}

func (w *world) remove(n *peer, s step) {
	w.correct(n, s, "", false, func(n *peer, tx *store.Tx, event string, who threefc.Corrector, ids *threefc.IDs) (threefc.Change, error) {
		return n.DeleteGoal(tx, w.gameOf(n, tx, event), event, who, ids)
	})
}

func (w *world) undo(n *peer, s step) {
	w.correct(n, s, "", true, func(n *peer, tx *store.Tx, event string, who threefc.Corrector, ids *threefc.IDs) (threefc.Change, error) {
		return n.UndoLast(tx, w.gameOf(n, tx, event), event, who, ids)
	})
}

// third starts the next third or finishes the running one.
func (w *world) third(n *peer, s step) {
	b := w.game(n, s)
	t := b.Timer()
	no, do, what := 1, (*threefc.Service).StartThird, "start"
	for _, one := range t.Thirds {
		if one.FinishedAt != nil {
			no = one.Third.Third + 1
		}
	}
	if t.ActiveThird != nil {
		no, do, what = *t.ActiveThird, (*threefc.Service).FinishThird, "finish"
	}
	if no > 3 {
		return
	}
	w.scorer(n, s, act{kind: "third", game: b.GameID, sub: what + fmt.Sprint(no)}, what+fmt.Sprint(no), func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return do(n.Service, tx, b.GameID, no, n.Now(tx))
	})
}

func (w *world) finish(n *peer, s step) {
	game := w.game(n, s).GameID
	w.scorer(n, s, act{kind: "finish", game: game}, "", func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.FinishGame(tx, game)
	})
}

// player returns a player of a game.
func (w *world) player(n *peer, game string, s step) string {
	var all []threefc.Player
	w.view(n, func(tx *store.Tx) (err error) {
		all, err = n.Players(tx, game, "", 50)
		return err
	})
	slices.SortFunc(all, func(a, b threefc.Player) int { return strings.Compare(a.PlayerID, b.PlayerID) })
	return cmp.Or(pick(all, s.Y).PlayerID, "r1")
}

func (w *world) assign(n *peer, s step) {
	game := w.game(n, s).GameID
	player, team := w.player(n, game, s), threefc.TeamIDs()[s.Z%3]
	w.scorer(n, s, act{kind: "roster", game: game, sub: player, value: team}, player+team, func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.Assign(tx, game, player, team, true)
	})
}

func (w *world) unassign(n *peer, s step) {
	game := w.game(n, s).GameID
	player := w.player(n, game, s)
	w.scorer(n, s, act{kind: "roster", game: game, sub: player}, player, func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.Unassign(tx, game, player, true)
	})
}

func (w *world) join(n *peer, s step) {
	b := w.game(n, s)
	w.scorer(n, s, act{kind: "join", game: b.GameID}, "", func(n *peer, tx *store.Tx, ids *threefc.IDs) (threefc.Change, error) {
		return n.AddPlayer(tx, b.GameID, "", "Jo", ids)
	})
}

func (w *world) claim(n *peer, s step) {
	b := w.game(n, s)
	player, user := w.player(n, b.GameID, s), pick([]string{randomBoss, randomSecond}, s.Z)
	w.scorer(n, s, act{kind: "claim", game: b.GameID, sub: player, value: user}, player+user, func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.Claim(tx, user, player)
	})
}

func (w *world) team(n *peer, s step) {
	game, team := w.game(n, s).GameID, threefc.TeamIDs()[s.Z%3]
	name := fmt.Sprint("Team ", s.Y)
	w.admin(n, s, act{kind: "team", game: game, sub: team, value: name}, threefc.Scope{Kind: "game", ID: game}, func(n *peer, tx *store.Tx, _ string) (threefc.Change, error) {
		return n.PutGameTeam(tx, game, team, threefc.TeamName{Name: name})
	})
}

func (w *world) seasonTeam(n *peer, s step) {
	team, name := threefc.TeamIDs()[s.Z%3], fmt.Sprint("Season ", s.Y)
	w.admin(n, s, act{kind: "season team", game: "s", sub: team, value: name}, threefc.Scope{Kind: "season", ID: "s"}, func(n *peer, tx *store.Tx, _ string) (threefc.Change, error) {
		return n.PutSeasonTeam(tx, "s", team, threefc.TeamName{Name: name})
	})
}

func (w *world) patch(n *peer, s step) {
	var c threefc.GamePatch
	game, what := w.game(n, s).GameID, []string{"start", "length", "status"}[s.Z%3]
	start, length, status := fmt.Sprintf("2026-07-04T1%d:00:00.000Z", s.Y%10), 20+s.Y%3*5, pick([]string{threefc.Scheduled, threefc.Live}, s.Y)
	switch what {
	case "start":
		c.GameStartTs = &start
	case "length":
		c.ThirdLengthMinutes = &length
	default:
		c.Status = &status
	}
	w.admin(n, s, act{kind: "patch", game: game, sub: what, value: fmt.Sprint(start, length, status)}, threefc.Scope{Kind: "game", ID: game}, func(n *peer, tx *store.Tx, _ string) (threefc.Change, error) {
		return n.PatchGame(tx, game, c)
	})
}

func (w *world) deleteGame(n *peer, s step) {
	if s.Z%4 > 0 {
		return
	}
	b := w.game(n, s)
	w.admin(n, s, act{kind: "delete", game: b.GameID, sub: b.SessionID}, threefc.Scope{Kind: "game", ID: b.GameID}, func(n *peer, tx *store.Tx, by string) (threefc.Change, error) {
		return n.DeleteGame(tx, by, b.GameID)
	})
}

// createGame creates a game, or the session for it if that does not exist.
func (w *world) createGame(n *peer, s step) {
	day, game := pick([]string{"d", "e"}, s.X), pick([]string{"i", "j", "k"}, s.Y)
	w.fetch(context.Background(), n, threefc.Scope{Kind: "session", ID: day}, threefc.Scope{Kind: "game", ID: game})
	there := false
	w.view(n, func(tx *store.Tx) error {
		_, err := n.Session(tx, day)
		there = err == nil
		return nil
	})
	if !there {
		w.admin(n, s, act{kind: "session", game: day}, threefc.Scope{Kind: "season", ID: "s"}, func(n *peer, tx *store.Tx, _ string) (threefc.Change, error) {
			return n.CreateSession(tx, threefc.Session{SeasonID: "s", SessionID: day, SessionDate: "2026-07-04"})
		})
		return
	}
	w.admin(n, s, act{kind: "create", game: game, sub: day}, threefc.Scope{Kind: "session", ID: day}, func(n *peer, tx *store.Tx, _ string) (threefc.Change, error) {
		return n.CreateGame(tx, threefc.Game{SessionID: day, GameID: game, GameStartTs: "2026-07-04T10:00:00.000Z"})
	})
}

func (w *world) grant(n *peer, s step) {
	user := pick([]string{randomBoss, randomSecond, "third@example.org"}, s.X)
	role := pick([]string{threefc.RoleAdmin, threefc.RoleScorekeeper, threefc.RoleAdmin}, s.Z)
	w.admin(n, s, act{kind: "grant", game: "l", sub: user, value: role}, threefc.Scope{Kind: "league", ID: "l"}, func(n *peer, tx *store.Tx, by string) (threefc.Change, error) {
		return n.Grant(tx, "l", by, user, role)
	})
}

// begin creates the league with two games: one in its first third, one in its last.
func (w *world) begin() {
	n := w.nodes[0]
	do := func(plan plan) {
		_, _, _, err := w.ask(n, request{plan: plan})
		w.must(err)
	}
	do(func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.CreateLeague(tx, randomBoss, threefc.League{LeagueID: "l", Name: "League"})
	})
	do(func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.CreateSeason(tx, threefc.Season{LeagueID: "l", SeasonID: "s", Name: "Season"})
	})
	do(func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.Grant(tx, "l", randomBoss, randomSecond, threefc.RoleAdmin)
	})
	do(func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.AcceptRole(tx, "l", randomSecond)
	})
	for i, day := range []string{"d", "e"} {
		game := []string{"g", "h"}[i]
		do(func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
			return n.CreateSession(tx, threefc.Session{SeasonID: "s", SessionID: day, SessionDate: "2026-07-04"})
		})
		do(func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
			return n.CreateGame(tx, threefc.Game{SessionID: day, GameID: game, GameStartTs: "2026-07-04T10:00:00.000Z"})
		})
		for _, team := range threefc.TeamIDs() {
			if player := team[:1] + "1"; i == 0 {
				do(func(n *peer, tx *store.Tx, ids *threefc.IDs) (threefc.Change, error) {
					return n.AddPlayer(tx, game, player, "Player", ids)
				})
			}
			do(func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
				return n.Assign(tx, game, team[:1]+"1", team, true)
			})
		}
		for third := 1; third <= 1+2*i; third++ { // h is in its last third
			do(func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
				return n.StartThird(tx, game, third, n.Now(tx))
			})
			if third <= 2*i {
				do(func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
					return n.FinishThird(tx, game, third, n.Now(tx))
				})
			}
		}
	}
}

// play plays steps in a new league. The world's err is the first failure.
func play(t *testing.T, steps []step) (w *world) {
	synctest.Test(t, func(t *testing.T) {
		w = &world{pair: newPair(t), count: map[string]int{}}
		w.begin()
		w.Pass(70 * time.Second)
		for _, s := range steps {
			if w.err != nil {
				break
			}
			n := w.nodes[s.At]
			w.must(n.CatchUp())
			w.log = append(w.log, s.String())
			moves[s.Do%len(moves)].do(w, n, s)
			w.Pass(time.Second)
		}
		if w.err == nil {
			w.Meet()
		}
		if w.err == nil {
			w.judge()
		}
	})
	return w
}

// steps draws from least to most steps.
func steps(least, most int) *rapid.Generator[[]step] {
	numbers := make([]int, 24*len(moves))
	for i := range numbers {
		numbers[i] = i
	}
	each := rapid.SampledFrom(numbers) // all equally likely
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		of := func(name string, below int) int { return each.Draw(t, name) % below }
		return step{of("do", len(moves)), of("at", 2), of("x", 24), of("y", 24), of("z", 24)}
	}), least, most)
}

// look fails the test with the world's first failure, if any.
func look(t rapid.TB, w *world) {
	t.Helper()
	if w.err != nil {
		t.Fatalf("%v\n%s", w.err, strings.Join(w.log, "\n"))
	}
}

// Whatever scorers and admins do at two nodes that lose and regain the cloud, in the end both nodes and the cloud have the same, consistent
// rows. Nothing acknowledged is lost without asking a person, and no person is asked about anything that the rules decide.
// TestTwoNodesForLong plays longer.
func TestTwoNodesAtRandom(t *testing.T) {
	for seed := range 4 {
		look(t, play(t, steps(20, 40).Example(seed)))
	}
}
