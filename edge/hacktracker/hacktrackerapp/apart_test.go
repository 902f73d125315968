package hacktrackerapp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
)

// step is an action of a user at a node, or an event of the node. Which selects its subject among those that exist by then.
type step struct {
	What  string
	At    string
	Which int
	Like  int
}

func drawSteps(rt *rapid.T) []step {
	what := rapid.SampledFrom([]string{
		"nothing", "cut", "cut both", "cut both", "mute", "heal", "heal both", "pass", "pass", "pass long",
		"score", "score", "score", "score", "score without a key", "again", "again", "correct", "correct", "undo", "undo",
		"run", "run", "run again", "lineup", "place", "number", "number", "name", "new player", "new player again", "no player",
		"start", "start", "start", "final", "final", "no game", "new game", "link", "unlink", "role",
	})
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
		return step{
			what.Draw(rt, "what"), rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "at"),
			rapid.IntRange(0, 20).Draw(rt, "which"), rapid.IntRange(0, 20).Draw(rt, "like"),
		}
	}), 40, 120).Draw(rt, "steps")
}

// Scorers and managers work at two nodes that lose and regain their cloud at random. In the end both nodes and the cloud have the same rows,
// and box scores equal a recount of the at-bats. No acknowledged change is lost unless a person is asked, and no person is asked about
// anything that the rules decide.
// -rapid.checks and -rapid.seed select other scripts.
func TestNodesApart(t *testing.T) {
	nodes.Check(t, 3, func(rt *rapid.T) {
		steps := drawSteps(rt)
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = newApart(t).play(steps) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// apart is two nodes with the records that exist.
type apart struct {
	*nodes.Apart
	team           string
	games, players []string
	plays          []played
	taps           map[string]map[string]bool // by game
	keyed          []string                   // keys and bodies of new players
	started        map[string]string          // last start by game
	n              int
}

type played struct{ game, id, body string }

const prod = "hacktracker-prod"

func newApart(t *testing.T) *apart {
	w := &apart{Apart: nodes.NewApart(t, nodes.Options{App: New}, prod), taps: map[string]map[string]bool{}, started: map[string]string{}}
	w.newTeam()
	w.Want("a", "cleo", "GET", "/hacktracker/users/context", "")
	w.Want("a", "dan", "GET", "/hacktracker/users/context", "")
	w.Settle()
	return w
}

// newTeam creates a team with one game in progress and two scheduled.
func (w *apart) newTeam() {
	w.T.Helper()
	w.team = w.makes("a", "/teams", `{"name":"Bad News","teamType":"MANAGED"}`, "teamId", "")
	for _, name := range []string{"Abe", "Bob", "Cy", "Deb"} {
		w.players = append(w.players, w.makes("a", "/teams/"+w.team+"/players", fmt.Sprintf(`{"firstName":%q}`, name), "playerId", ""))
	}
	for _, status := range []string{"IN_PROGRESS", "SCHEDULED", "SCHEDULED"} {
		w.newGame("a", status, "")
	}
}

func (w *apart) makes(at, path, body, name, key string) string {
	w.T.Helper()
	return w.Makes(at, "ana", "/hacktracker"+path, body, key, name)
}

func (w *apart) does(at, method, path, body, row string, names ...string) {
	w.T.Helper()
	w.Does(at, "ana", method, "/hacktracker"+path, body, "", row, names...)
}

func (w *apart) lineup(turn int) string {
	var slots []string
	for i := range w.players[:3] {
		slots = append(slots, fmt.Sprintf(`{"playerId":%q,"battingOrder":%d}`, w.players[(i+turn)%3], w.n%96+i+1)) // all lineups differ
	}
	return "[" + strings.Join(slots, ",") + "]"
}

func (w *apart) newGame(at, status, key string) {
	w.T.Helper()
	if id := w.makes(at, "/games", fmt.Sprintf(`{"teamId":%q,"status":%q,"lineup":%s}`, w.team, status, w.lineup(0)), "gameId", key); id != "" {
		w.games = append(w.games, id)
		w.Says(at, "GAME#"+id+" METADATA", nil, "lineup", "status")
	}
}

func pick[T any](all []T, which int) (one T) {
	if len(all) > 0 {
		one = all[which%len(all)]
	}
	return one
}

func (w *apart) play(steps []step) string {
	for _, s := range steps {
		w.n++
		w.do(s)
	}
	w.judge()
	names := []string{w.team, "T"}
	for i, game := range w.games {
		names = append(names, game, fmt.Sprint("g", i))
	}
	for i, player := range w.players {
		names = append(names, player, fmt.Sprint("p", i))
	}
	for i, p := range w.plays {
		names = append(names, p.id, fmt.Sprint("x", i))
	}
	return w.Report(names...)
}

func (w *apart) do(s step) {
	at, game, player, one := s.At, pick(w.games, s.Which), pick(w.players, s.Which), pick(w.plays, s.Which)
	gameRow, playerPath := "GAME#"+game+" METADATA", "/teams/"+w.team+"/players/"+player
	playerRow := "TEAM#" + w.team + " PLAYER#" + player
	letters := string([]byte{byte('a' + w.n/26), byte('a' + w.n%26)})
	key := ulid.MustNew(ulid.Timestamp(w.Clock.Now()), strings.NewReader(fmt.Sprintf("%10d", w.n))).String()
	switch s.What {
	case "nothing":
	case "cut", "cut both", "mute", "heal", "heal both":
		w.SetFault(s.What, at)
	case "pass":
		w.Pass(time.Duration(s.Which) * time.Second)
	case "pass long":
		w.Pass(time.Duration(s.Which) * time.Minute)
	case "score", "score without a key":
		if s.What != "score" {
			key = ""
		}
		body := fmt.Sprintf(`{"playerId":%q,"result":%q,"inning":1,"outs":0,"battingOrder":%d,"rbis":%d,"hitLocation":{"x":0.5,"y":0.%03d}}`,
			pick(w.players[:3], s.Like), pick(strings.Fields("1B K HR BB FO DP SAC E"), s.Like), s.Like%3+1, s.Like%4, w.n)
		before := w.Rows(at, prod)
		if on := slices.DeleteFunc(slices.Clone(w.games), func(id string) bool { return before["GAME#"+id+" METADATA"]["status"].Str() != "IN_PROGRESS" }); s.Which%7 > 0 && len(on) > 0 {
			game = pick(on, s.Which)
		}
		if id := w.makes(at, "/games/"+game+"/atbats", body, "atBatId", key); id != "" {
			w.plays = append(w.plays, played{game, id, body})
			row := "GAME#" + game + " ATBAT#" + id
			w.Says(at, row, before, "hitLocation")
		}
	case "again":
		if one.id != "" {
			w.makes(at, "/games/"+one.game+"/atbats", one.body, "atBatId", one.id)
		}
	case "correct":
		if one.id != "" {
			w.does(at, "PUT", "/games/"+one.game+"/atbats/"+one.id, fmt.Sprintf(`{"result":%q,"hitLocation":{"x":0.25,"y":0.%03d}}`, pick(strings.Fields("1B K HR"), s.Like), w.n),
				"GAME#"+one.game+" ATBAT#"+one.id, "hitLocation")
		}
	case "undo":
		if one.id != "" {
			w.does(at, "DELETE", "/games/"+one.game+"/atbats/"+one.id, "", "GAME#"+one.game+" ATBAT#"+one.id, "hitLocation")
		}
	case "run", "run again":
		if s.What == "run again" {
			key = pick(slices.Sorted(maps.Keys(w.taps[game])), s.Like)
		}
		if key == "" {
			return
		}
		if w.makes(at, "/games/"+game+"/runs", `{"teamScore":1}`, "gameId", key) != "" {
			if w.taps[game] == nil {
				w.taps[game] = map[string]bool{}
			}
			w.taps[game][key] = true
		}
	case "lineup":
		w.does(at, "PATCH", "/games/"+game, `{"lineup":`+w.lineup(s.Like)+`}`, gameRow, "lineup")
	case "place":
		w.does(at, "PATCH", "/games/"+game, fmt.Sprintf(`{"location":"f%d","opponentScore":%d}`, w.n, w.n), gameRow, "location", "opponentScore")
	case "number":
		number := fmt.Sprint(s.Like % 3)
		if s.Like%5 == 4 {
			number = "null"
		}
		w.does(at, "PUT", playerPath, `{"playerNumber":`+number+`}`, playerRow, "playerNumber")
	case "name":
		w.does(at, "PUT", playerPath, fmt.Sprintf(`{"lastName":"L%s"}`, letters), playerRow, "lastName")
	case "new player", "new player again":
		body := fmt.Sprintf(`{"firstName":"N%s","playerNumber":%d}`, letters, s.Like%3)
		if s.What != "new player" {
			if key, body, _ = strings.Cut(pick(w.keyed, s.Which), " "); key == "" {
				return
			}
		}
		if id := w.makes(at, "/teams/"+w.team+"/players", body, "playerId", key); id != "" {
			w.keyed = append(w.keyed, key+" "+body)
			if !slices.Contains(w.players, id) {
				w.players = append(w.players, id)
				row := "TEAM#" + w.team + " PLAYER#" + id
				w.Says(at, row, nil, "firstName")
			}
		}
	case "no player":
		if s.Which%len(w.players) >= 3 {
			w.does(at, "DELETE", playerPath, "", playerRow, "firstName", "lastName", "playerNumber", "userId")
		}
	case "start":
		if w.Rows(at, prod)[gameRow]["status"].Str() != "IN_PROGRESS" {
			w.started[game] = w.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z")
		}
		w.does(at, "PATCH", "/games/"+game, `{"status":"IN_PROGRESS"}`, gameRow, "status")
	case "final":
		w.does(at, "PATCH", "/games/"+game, `{"status":"FINAL"}`, gameRow, "status")
	case "no game":
		if s.Like%4 == 0 {
			w.does(at, "DELETE", "/games/"+game, "", gameRow, "status", "location", "opponentScore", "lineup")
		}
	case "new game":
		w.newGame(at, pick([]string{"SCHEDULED", "IN_PROGRESS"}, s.Like), key)
	case "link":
		user, before := pick([]string{"cleo", "dan"}, s.Like), w.Rows(at, prod)
		if _, ok := w.Does(at, "ana", "POST", "/hacktracker"+playerPath+"/link", fmt.Sprintf(`{"userId":%q,"role":"scorekeeper"}`, user), "", playerRow, "userId"); ok {
			w.Says(at, "USER#"+user+" TEAM#"+w.team, before, "role") // a manager becomes a scorekeeper
		}
	case "unlink":
		w.does(at, "POST", playerPath+"/unlink", "", playerRow, "userId")
	case "role":
		user := pick([]string{"cleo", "dan"}, s.Like)
		w.does(at, "PUT", "/teams/"+w.team+"/members/"+user, fmt.Sprintf(`{"role":%q}`, pick([]string{"player", "manager", "scorekeeper"}, s.Which)), "USER#"+user+" TEAM#"+w.team, "role")
	default:
		w.T.Fatal(s.What)
	}
}

func (w *apart) judge() {
	cloud, asked := w.Joined(), ""
	for _, c := range w.Asked() {
		asked += c.String() + "\n"
		if !forPersons(&c, cloud) {
			w.Bad("a person was asked: %s", &c)
		}
	}
	w.Lost(cloud, asked, func(row, name, is string, said []string) bool {
		pk, _, _ := strings.Cut(row, " ")
		gone := strings.HasPrefix(row, "GAME#") && cloud[pk+" METADATA"] == nil && cloud[pk+" DELETED"] != nil
		refused := nodes.Shown(cloud[row], "numberRefused")                                                      // another node's player has it
		start := is != `{"S":"IN_PROGRESS"}` && cloud[row]["startRefused"].Str() != "" && !w.playedOn(pk, cloud) // another game was in progress
		return gone || name == "playerNumber" && slices.Contains(said, refused) || name == "status" && start
	})
	for game, taps := range w.taps {
		g := cloud["GAME#"+game+" METADATA"]
		if n, _ := g["teamScore"].Int(); g != nil && int(n) != len(taps) && !strings.Contains(asked, game) {
			w.Bad("%d runs for %d taps in %s", n, len(taps), game)
		}
	}
	for _, game := range w.games {
		w.box(game, cloud)
	}
}

// forPersons reports whether no rule decides about refused writes: at-bats of a game that was over by then, a number or a run followed by
// other writes, starts of several games, changes to deleted records, players linked meanwhile, and memberships.
func forPersons(c *nodes.Conflict, cloud map[string]attr.Item) bool {
	atBat := c.Decided[0]
	if g := cloud[atBat.Key.PK.S+" METADATA"]; strings.HasPrefix(atBat.Key.SK.S, "ATBAT#") && atBat.Op == "put" && g != nil {
		at, _ := atBat.Item["createdAt"]["S"].(string)
		return g["finalAt"].Str() < at
	}
	for _, one := range c.Decided { // changes to records that another node deleted
		gone := cloud[one.Key.PK.S+" METADATA"] == nil || cloud[one.Key.PK.S+" "+one.Key.SK.S] == nil && one.Op == "update"
		if gone && one.Op != "delete" && !strings.HasPrefix(one.Key.SK.S, "JERSEY#") {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(c.Decided, c.Tail), func(one nodes.Write) bool {
		number := strings.HasPrefix(one.Key.SK.S, "JERSEY#") && (len(c.Tail) > 0 || len(c.Decided) > 2) // a number given up for it, or later writes
		linked := strings.HasPrefix(one.Key.SK.S, "PLAYER#") && one.Op == "delete" && cloud[one.Key.PK.S+" "+one.Key.SK.S] != nil
		return linked || one.Op == "put" && (number || one.Key.SK.S == "DELETED" && len(c.Tail) > 0) || strings.HasPrefix(one.Key.PK.S, "USER#")
	}) || starts(c) > 1
}

// playedOn reports whether a game has an at-bat from after it was over and restarted, or was never over.
func (w *apart) playedOn(pk string, cloud map[string]attr.Item) bool {
	from := cloud[pk+" METADATA"]["finalAt"].Str()
	if from != "" {
		from = max(from, w.started[strings.TrimPrefix(pk, "GAME#")])
	}
	for k, it := range cloud {
		if strings.HasPrefix(k, pk+" ATBAT#") && it["createdAt"].Str() > from {
			return true
		}
	}
	return false
}

// starts counts the games for which the marker is put.
func starts(c *nodes.Conflict) int {
	games := map[any]bool{}
	for _, one := range slices.Concat(c.Decided, c.Tail) {
		if one.Op == "put" && one.Key.SK.S == "LIVE#GAME" {
			games[one.Item["gameId"]["S"]] = true
		}
	}
	return len(games)
}

// box compares a box score with a recount of the rows.
func (w *apart) box(game string, cloud map[string]attr.Item) {
	var n, rbi, hits int
	for k, it := range cloud {
		if strings.HasPrefix(k, "GAME#"+game+" ATBAT#") {
			n++
			r, _ := it["rbis"].Int()
			rbi += int(r)
			if slices.Contains([]string{"1B", "2B", "3B", "HR"}, it["result"].Str()) {
				hits++
			}
		}
	}
	if cloud["GAME#"+game+" METADATA"] == nil {
		if n > 0 && cloud["GAME#"+game+" DELETED"] != nil {
			w.Bad("%d at-bats of %s, which was deleted", n, game)
		}
		return
	}
	for _, at := range []string{"a", "b"} {
		var box struct{ Totals struct{ PA, RBI, H int } }
		w.Read(w.Want(at, "ana", "GET", "/hacktracker/games/"+game+"/boxscore", ""), &box)
		if box.Totals.PA != n || box.Totals.RBI != rbi || box.Totals.H != hits {
			w.Bad("box of %s at %s: %+v, want %d %d %d", game, at, box.Totals, n, rbi, hits)
		}
	}
}
