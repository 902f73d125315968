package hacktrackerapp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
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

// step is something that somebody does at a node, or that happens to one. Which is which of what there is by then.
type step struct {
	What  string
	At    string
	Which int
	Like  int
}

func drawSteps(rt *rapid.T) []step {
	what := rapid.SampledFrom([]string{
		"nothing", "cut", "cut both", "cut both", "heal", "heal both", "pass", "pass", "pass long",
		"score", "score", "score", "score", "score without a key", "again", "again", "correct", "correct", "undo", "undo",
		"run", "run", "run again", "lineup", "place", "number", "number", "name", "new player", "new player again", "no player",
		"start", "final", "no game", "new game", "link", "unlink", "role",
	})
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
		return step{
			what.Draw(rt, "what"), rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "at"),
			rapid.IntRange(0, 20).Draw(rt, "which"), rapid.IntRange(0, 20).Draw(rt, "like"),
		}
	}), 40, 120).Draw(rt, "steps")
}

// Scorers and managers work at two nodes that are cut off from their cloud and joined again, at random. In the end both nodes and the
// cloud have the same rows; boxes are a recount of the at-bats; of what somebody was told is done nothing is lost, unless a person is
// asked; and nobody is asked where the rules decide.
func TestNodesApart(t *testing.T) {
	nodes.Check(t, apartChecks, func(rt *rapid.T) {
		steps := drawSteps(rt)
		var wrong []string
		synctest.Test(t, func(t *testing.T) { wrong = newApart(t).play(steps) })
		if wrong != nil {
			rt.Fatalf("%s", strings.Join(wrong, "\n"))
		}
	})
}

// said is a value that somebody was told is written, and the newer ones that were written over it by who had seen it.
type said struct {
	value, by string
	over      bool
}

// apart is two nodes, what there is, and what was said to be done.
type apart struct {
	*nodes.Fleet
	team           string
	games, players []string
	plays          []play
	taps           map[string]map[string]bool // by game
	said           map[string][]said          // by row and attribute
	cut            map[string]bool
	n              int
	wrong          []string
	keyed          []string // bodies and keys of new players
	trace          []string
}

type play struct{ game, id, body string }

const prod = "hacktracker-prod"

func newApart(t *testing.T) *apart {
	f := nodes.Two(t, nodes.Options{App: New, Bubble: true})
	w := &apart{Fleet: f, taps: map[string]map[string]bool{}, said: map[string][]said{}, cut: map[string]bool{}}
	w.Pass(10 * time.Second)
	w.team = w.makes("a", "/teams", `{"name":"Bad News","teamType":"MANAGED"}`, "teamId", "")
	for _, name := range []string{"Abe", "Bob", "Cy", "Deb"} {
		w.players = append(w.players, w.makes("a", "/teams/"+w.team+"/players", fmt.Sprintf(`{"firstName":%q}`, name), "playerId", ""))
	}
	w.Want("a", "cleo", "GET", "/hacktracker/users/context", "")
	w.Want("a", "dan", "GET", "/hacktracker/users/context", "")
	for _, status := range []string{"IN_PROGRESS", "SCHEDULED", "SCHEDULED"} {
		w.games = append(w.games, w.makes("a", "/games", fmt.Sprintf(`{"teamId":%q,"status":%q,"lineup":%s}`, w.team, status, w.lineup(0)), "gameId", ""))
	}
	w.Pass(20 * time.Minute)
	if a, b := len(w.Rows("a", prod)), len(w.Rows("b", prod)); a != b || a < 10 {
		t.Fatalf("%d and %d rows to begin with", a, b)
	}
	return w
}

func (w *apart) lineup(turn int) string {
	var slots []string
	for i := range w.players[:3] {
		slots = append(slots, fmt.Sprintf(`{"playerId":%q,"battingOrder":%d}`, w.players[(i+turn)%3], i+1))
	}
	return "[" + strings.Join(slots, ",") + "]"
}

// asks reports whether a node has done what it was asked for.
func (w *apart) asks(at, method, path, body, key string) (answer string, ok bool) {
	w.T.Helper()
	var headers []string
	if key != "" {
		headers = []string{"Idempotency-Key", key}
	}
	status, answer := w.Ask(at, "ana", method, "/hacktracker"+path, body, headers...)
	w.trace = append(w.trace, fmt.Sprintf("%v %s %s %s %s %s: %d %.120s", w.Clock.Now().Format("04:05.000"), at, method, path, body, key, status, answer))
	if status >= http.StatusInternalServerError {
		w.bad("%s %s %s at %s: %d %s", method, path, body, at, status, answer)
	}
	w.Pass(10 * time.Millisecond)
	return answer, status < http.StatusBadRequest
}

func (w *apart) makes(at, path, body, name, key string) string {
	w.T.Helper()
	answer, ok := w.asks(at, "POST", path, body, key)
	if !ok {
		return ""
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		w.T.Fatal(err)
	}
	return fmt.Sprint(m[name])
}

func (w *apart) bad(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// says notes that somebody at a node was told of a value; "" is that the row is gone. It is over those that the node has shown.
func (w *apart) says(at, row, name, value string, before map[string]attr.Item) {
	reg := row + " " + name
	is := shown(before[row], name)
	for i := range w.said[reg] {
		if s := &w.said[reg][i]; s.by == at || s.value == is {
			s.over = true
		}
	}
	w.said[reg] = append(w.said[reg], said{value: value, by: at})
}

func shown(it attr.Item, name string) string {
	if it[name].IsZero() {
		return ""
	}
	return string(attr.AppendValueJSON(nil, it[name]))
}

// does something, and notes of each attribute of a row what it has come to.
func (w *apart) does(at, method, path, body, key, row string, names ...string) (answer string, ok bool) {
	w.T.Helper()
	before := w.Rows(at, prod)
	if answer, ok = w.asks(at, method, path, body, key); !ok {
		return answer, ok
	}
	after := w.Rows(at, prod)
	for _, name := range names {
		w.says(at, row, name, shown(after[row], name), before)
	}
	return answer, true
}

func pick[T any](all []T, which int) (one T) {
	if len(all) > 0 {
		one = all[which%len(all)]
	}
	return one
}

func (w *apart) play(steps []step) []string {
	for _, s := range steps {
		w.n++
		w.do(s)
	}
	w.Heal()
	w.Pass(40 * time.Minute)
	w.judge()
	if w.wrong != nil {
		w.wrong = append(w.wrong, w.trace...)
	}
	short := []string{w.team, "T"}
	for i, game := range w.games {
		short = append(short, game, fmt.Sprint("g", i))
	}
	for i, player := range w.players {
		short = append(short, player, fmt.Sprint("p", i))
	}
	for i, p := range w.plays {
		short = append(short, p.id, fmt.Sprint("x", i))
	}
	for i := range w.wrong {
		w.wrong[i] = strings.NewReplacer(short...).Replace(w.wrong[i])
	}
	return w.wrong
}

func (w *apart) do(s step) {
	at, game, player, one := s.At, pick(w.games, s.Which), pick(w.players, s.Which), pick(w.plays, s.Which)
	gameRow, playerPath := "GAME#"+game+" METADATA", "/teams/"+w.team+"/players/"+player
	playerRow := "TEAM#" + w.team + " PLAYER#" + player
	letters := string([]byte{byte('a' + w.n/26), byte('a' + w.n%26)})
	key := ulid.MustNew(ulid.Timestamp(w.Clock.Now()), strings.NewReader(fmt.Sprintf("%10d", w.n))).String()
	switch s.What {
	case "nothing":
	case "cut", "cut both", "heal", "heal both":
		what, both := strings.CutSuffix(s.What, " both")
		var names []string
		if !both {
			names = []string{at}
		}
		w.trace = append(w.trace, what+" "+strings.Join(names, ""))
		if what == "cut" {
			w.Cut(names...)
		} else {
			w.Heal(names...)
		}
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
		game = pick(w.games, s.Which%5/3) // mostly the first
		before := w.Rows(at, prod)
		if id := w.makes(at, "/games/"+game+"/atbats", body, "atBatId", key); id != "" {
			w.plays = append(w.plays, play{game, id, body})
			row := "GAME#" + game + " ATBAT#" + id
			w.says(at, row, "hitLocation", shown(w.Rows(at, prod)[row], "hitLocation"), before)
		}
	case "again":
		if one.id != "" {
			w.asks(at, "POST", "/games/"+one.game+"/atbats", one.body, one.id)
		}
	case "correct":
		if one.id != "" {
			w.does(at, "PUT", "/games/"+one.game+"/atbats/"+one.id, fmt.Sprintf(`{"result":%q,"hitLocation":{"x":0.25,"y":0.%03d}}`, pick(strings.Fields("1B K HR"), s.Like), w.n),
				"", "GAME#"+one.game+" ATBAT#"+one.id, "hitLocation")
		}
	case "undo":
		if one.id != "" {
			w.does(at, "DELETE", "/games/"+one.game+"/atbats/"+one.id, "", "", "GAME#"+one.game+" ATBAT#"+one.id, "hitLocation")
		}
	case "run", "run again":
		if s.What == "run again" {
			key = pick(slices.Sorted(maps.Keys(w.taps[game])), s.Like)
		}
		if key == "" {
			return
		}
		if _, ok := w.asks(at, "POST", "/games/"+game+"/runs", `{"teamScore":1}`, key); ok {
			if w.taps[game] == nil {
				w.taps[game] = map[string]bool{}
			}
			w.taps[game][key] = true
		}
	case "lineup":
		w.does(at, "PATCH", "/games/"+game, `{"lineup":`+w.lineup(s.Like)+`}`, "", gameRow, "lineup")
	case "place":
		w.does(at, "PATCH", "/games/"+game, fmt.Sprintf(`{"location":"f%d","opponentScore":%d}`, w.n, w.n), "", gameRow, "location", "opponentScore")
	case "number":
		number := fmt.Sprint(s.Like % 3)
		if s.Like%5 == 4 {
			number = "null"
		}
		w.does(at, "PUT", playerPath, `{"playerNumber":`+number+`}`, "", playerRow, "playerNumber")
	case "name":
		w.does(at, "PUT", playerPath, fmt.Sprintf(`{"lastName":"L%s"}`, letters), "", playerRow, "lastName")
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
				w.says(at, row, "firstName", shown(w.Rows(at, prod)[row], "firstName"), nil)
			}
		}
	case "no player":
		if s.Which%len(w.players) >= 3 {
			w.does(at, "DELETE", playerPath, "", "", playerRow, "firstName", "lastName", "playerNumber")
		}
	case "start":
		w.does(at, "PATCH", "/games/"+game, `{"status":"IN_PROGRESS"}`, "", gameRow, "status")
	case "final":
		w.does(at, "PATCH", "/games/"+game, `{"status":"FINAL"}`, "", gameRow, "status")
	case "no game":
		if s.Like%4 == 0 {
			w.does(at, "DELETE", "/games/"+game, "", "", gameRow, "status", "location", "opponentScore", "lineup")
		}
	case "new game":
		status := pick([]string{"SCHEDULED", "IN_PROGRESS"}, s.Like)
		if id := w.makes(at, "/games", fmt.Sprintf(`{"teamId":%q,"status":%q,"lineup":%s}`, w.team, status, w.lineup(0)), "gameId", key); id != "" {
			w.games = append(w.games, id)
			row := "GAME#" + id + " METADATA"
			w.says(at, row, "lineup", shown(w.Rows(at, prod)[row], "lineup"), nil)
		}
	case "link":
		w.does(at, "POST", playerPath+"/link", fmt.Sprintf(`{"userId":%q,"role":"scorekeeper"}`, pick([]string{"cleo", "dan"}, s.Like)), "", playerRow, "userId")
	case "unlink":
		w.does(at, "POST", playerPath+"/unlink", "", "", playerRow, "userId")
	case "role":
		user := pick([]string{"cleo", "dan"}, s.Like)
		w.does(at, "PUT", "/teams/"+w.team+"/members/"+user, fmt.Sprintf(`{"role":%q}`, pick([]string{"player", "manager", "scorekeeper"}, s.Which)), "", "USER#"+user+" TEAM#"+w.team, "role")
	default:
		w.T.Fatal(s.What)
	}
}

func (w *apart) judge() {
	cloud := w.Rows("", prod)
	for _, at := range []string{"a", "b"} {
		var st struct{ Waiting int }
		if err := json.Unmarshal([]byte(w.Want(at, nodes.Boss, "GET", "/_/api/sync", "")), &st); err != nil || st.Waiting > 0 {
			w.bad("%d writes wait at %s", st.Waiting, at)
		}
		rows := w.Rows(at, prod)
		for k := range cloud {
			if !attr.EqualItems(rows[k], cloud[k]) {
				w.bad("%s has %s %s, the cloud %s", at, k, attr.AppendJSON(nil, rows[k]), attr.AppendJSON(nil, cloud[k]))
			}
		}
		for k := range rows {
			if cloud[k] == nil {
				w.bad("%s has %s, the cloud nothing", at, k)
			}
		}
	}
	asked := w.asked(cloud)
	for reg, all := range w.said {
		parts := strings.SplitN(reg, " ", 3)
		row, name := parts[0]+" "+parts[1], parts[2]
		is := shown(cloud[row], name)
		kept := slices.ContainsFunc(all, func(s said) bool { return !s.over && s.value == is })
		gone := strings.HasPrefix(row, "GAME#") && cloud[parts[0]+" METADATA"] == nil && cloud[parts[0]+" DELETED"] != nil
		if name == "playerNumber" && is == "" { // another node's player has got it
			is = shown(cloud[row], "numberRefused")
			kept = slices.ContainsFunc(all, func(s said) bool { return !s.over && s.value == is })
		}
		if !kept && !gone && !strings.Contains(asked, parts[1]) && !strings.Contains(asked, parts[0]) {
			w.bad("of %s %s %v is %q", row, name, all, is)
		}
	}
	for game, taps := range w.taps {
		g := cloud["GAME#"+game+" METADATA"]
		if n, _ := g["teamScore"].Int(); g != nil && int(n) != len(taps) && !strings.Contains(asked, game) {
			w.bad("%d runs of %d taps of %s", n, len(taps), game)
		}
	}
	for _, game := range w.games {
		w.box(game, cloud)
	}
}

// write is one of what a conflict tells of.
type write struct {
	Op   string
	Key  struct{ PK, SK struct{ S string } }
	At   time.Time
	Item map[string]map[string]any
}

// asked is what persons are asked of: rows that were written, by node.
func (w *apart) asked(cloud map[string]attr.Item) (all string) {
	for _, at := range []string{"a", "b"} {
		var list struct{ Items []struct{ ID uint64 } }
		w.read(w.Open(at), &list)
		for _, c := range list.Items {
			var one struct {
				Code, Note    string
				Decided, Tail []write
			}
			w.read(w.Want(at, nodes.Boss, "GET", fmt.Sprint("/_/api/conflicts/", c.ID), ""), &one)
			line := at + " " + one.Code + " " + one.Note
			for i, wr := range slices.Concat(one.Decided, one.Tail) {
				if i == len(one.Decided) {
					line += "; behind it"
				}
				line += " " + wr.Op + " " + wr.Key.PK.S + " " + wr.Key.SK.S
			}
			all += line + "\n"
			if !w.forPersons(one.Decided, one.Tail, cloud) {
				w.bad("asked: %s", line)
			}
		}
	}
	return all
}

// forPersons reports whether no rule says what becomes of writes that were refused: at-bats of a game that was over by then, a start
// or a number with something behind it, what is deleted, and memberships.
func (w *apart) forPersons(all, tail []write, cloud map[string]attr.Item) bool {
	atBat := func(wr write) bool { return strings.HasPrefix(wr.Key.SK.S, "ATBAT#") }
	first := all[0]
	for _, wr := range all { // what somebody has changed of what another has deleted
		row := wr.Key.SK.S
		gone := cloud[wr.Key.PK.S+" METADATA"] == nil || cloud[wr.Key.PK.S+" "+wr.Key.SK.S] == nil && wr.Op == "update"
		if gone && wr.Op != "delete" && !strings.HasPrefix(row, "JERSEY#") {
			return true
		}
	}
	if g := cloud[first.Key.PK.S+" METADATA"]; atBat(first) && first.Op == "put" && g != nil {
		return g["finalAt"].Str() < first.Item["createdAt"]["S"].(string)
	}
	return slices.ContainsFunc(slices.Concat(all, tail), func(wr write) bool {
		number := strings.HasPrefix(wr.Key.SK.S, "JERSEY#") && len(tail) > 0
		return wr.Op == "put" && (number || wr.Key.SK.S == "LIVE#GAME") || strings.HasPrefix(wr.Key.PK.S, "USER#")
	})
}

func (w *apart) read(answer string, into any) {
	w.T.Helper()
	if err := json.Unmarshal([]byte(answer), into); err != nil {
		w.T.Fatal(err)
	}
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
			w.bad("%d at-bats of %s, which was deleted", n, game)
		}
		return
	}
	for _, at := range []string{"a", "b"} {
		var box struct{ Totals struct{ PA, RBI, H int } }
		if err := json.Unmarshal([]byte(w.Want(at, "ana", "GET", "/hacktracker/games/"+game+"/boxscore", "")), &box); err != nil {
			w.T.Fatal(err)
		}
		if box.Totals.PA != n || box.Totals.RBI != rbi || box.Totals.H != hits {
			w.bad("box of %s at %s: %+v, want %d %d %d", game, at, box.Totals, n, rbi, hits)
		}
	}
}
