package replay

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// kinds collects the JSON types seen at each path; elements of a list share the path "list[]".
type kinds map[string]map[string]bool

func (k kinds) walk(path string, v any) {
	if k[path] == nil {
		k[path] = map[string]bool{}
	}
	switch v := v.(type) {
	case map[string]any:
		k[path]["object"] = true
		for name, member := range v {
			k.walk(path+"."+name, member)
		}
	case []any:
		k[path]["list"] = true
		for i, e := range v {
			if i < 30 || i >= len(v)-30 { // the balls in the middle of a Test add nothing new
				k.walk(path+"[]", e)
			}
		}
	case string:
		k[path]["string"] = true
	case float64:
		k[path]["number"] = true
	case bool:
		k[path]["bool"] = true
	case nil:
		k[path]["null"] = true
	default:
		panic(fmt.Sprintf("%T", v))
	}
}

func (k kinds) add(t *testing.T, body []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	k.walk("", v)
}

// includesOfReal lists the parts of the real reply.
const includesOfReal = "league,season,localteam,visitorteam,batting,bowling,runs,lineup,balls,winnerteam,tosswon"

// Our replies have exactly the paths of a real one, with its JSON types. A path that is null in the real reply may have any
// type in ours. Ours is null only where the real one is, and where mayBeNull allows it.
func TestShapeOfReplies(t *testing.T) {
	real71344 := kinds{}
	src, err := os.ReadFile("testdata/reply-71344.json")
	if err != nil {
		t.Fatal(err)
	}
	real71344.add(t, src)
	for _, in := range looped() {
		d := newDesk(t, in.ID)
		ours := kinds{}
		for i := range 4 {
			w := d.get(d.m.moments[(len(d.m.moments)-2)*i/3].At,
				"/fixtures/"+in.ID+"?api_token=secret&include="+includesOfReal)
			ours.add(t, w.Body.Bytes())
		}
		compareKinds(t, in.ID, real71344, ours)
	}
}

func compareKinds(t *testing.T, id string, want, got kinds) {
	t.Helper()
	for path, types := range want {
		if got[path] == nil {
			t.Errorf("%s: %s is missing", id, path)
			continue
		}
		for kind := range got[path] {
			onlyNull := len(types) == 1 && types["null"]
			if kind != "null" && !types[kind] && !onlyNull {
				t.Errorf("%s: %s is a %s, in the real reply %v", id, path, kind, types)
			}
			if kind == "null" && !types["null"] && !mayBeNull(path) {
				t.Errorf("%s: %s is null, in the real reply %v", id, path, types)
			}
		}
	}
	for path := range got {
		if want[path] == nil && !unknownInside(want, path) {
			t.Errorf("%s: %s is not in the real reply", id, path)
		}
	}
}

// mayBeNull reports whether a path has a value in the middle of a T20 but none in other matches or at other times,
// according to the feed's description.
func mayBeNull(path string) bool {
	switch path {
	case ".data.note", ".data.toss_won_team_id", ".data.elected", ".data.tosswon", // before it is known
		".data.total_overs_played",               // multi-day
		".data.runs[].pp1",                       // multi-day, super overs
		".data.batting[].bowling_player_id",      // run out
		".data.tv_umpire_id", ".data.referee_id", // not everywhere
		".data.first_umpire_id", ".data.second_umpire_id": // nor recorded everywhere
		return true
	case ".data.balls[].bowler.bowlingstyle": // not in the records
		return true
	default:
		return false
	}
}

// unknownInside reports whether the real reply has null for a parent of path, so that its fields are not known.
func unknownInside(want kinds, path string) bool {
	for outer, types := range want {
		if len(types) == 1 && types["null"] && len(path) > len(outer) && path[:len(outer)] == outer {
			return true
		}
	}
	return false
}
