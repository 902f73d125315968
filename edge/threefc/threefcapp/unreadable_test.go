package threefcapp

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// lags returns how long each of some goals takes from one node to the other, sorted, in a table with rows of another program. It checks that the
// nodes name as many of them as unreadable.
func lags(t *testing.T, foreign ...attr.Item) (all []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		const live = "g1"
		f := newPairOfNodes(t)
		f.game("l1", live)
		for _, it := range foreign {
			if err := (simcloud.Foreign{Cloud: f.Cloud, Name: "another program"}).Put("3fc-prod-app", it); err != nil {
				t.Fatal(err)
			}
		}
		f.Pass(20 * time.Minute)
		goals := func() (n int) {
			f.View("b", func(tx *store.Tx) error {
				page, err := tx.Query(threefc.Rows("3fc-prod-app").QueryUnder("GAME#"+live, "GOAL#"))
				n = len(page.Items)
				return err
			})
			return n
		}
		for range 20 {
			before, at := goals(), time.Now()
			f.want(201, "a", "POST", "/v1/games/"+live+"/goals", goalBy("red", "blue", "red"+live))
			for goals() == before {
				if f.Pass(100 * time.Millisecond); time.Since(at) > 5*time.Minute {
					t.Fatal("a goal does not arrive")
				}
			}
			all = append(all, time.Since(at))
			f.Pass(7 * time.Second)
		}
		for _, at := range []string{"a", "b"} {
			if page := f.Want(at, "boss", "GET", "/_/hub", ""); len(foreign) > 0 && !strings.Contains(page, "attribute data is not a JSON object") {
				t.Errorf("%s does not name the unreadable rows", at)
			}
		}
	})
	slices.Sort(all)
	return all
}

// Goals reach the other node as fast in a table with rows that cannot be decoded, of the live game and of others, as in one without.
func TestUnreadableRowsDoNotSlowLiveSync(t *testing.T) {
	bad := func(pk, sk, entity string) attr.Item {
		return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk), "entityType": attr.S(entity), "data": attr.S("[]")}
	}
	without := lags(t)
	with := lags(t, bad("GAME#g1", "PLAYER#x", "gamePlayer"), bad("GAME#g2", "METADATA", "game"), bad("LEAGUE#l1", "SEASON#x", "season"))
	middle, last := len(with)/2, len(with)-1
	t.Logf("a goal takes %v, at most %v; with unreadable rows %v, at most %v", without[middle], without[last], with[middle], with[last])
	if with[middle] > without[middle]*3/2 || with[last] > without[last]*3/2 {
		t.Errorf("with unreadable rows a goal takes %v, at most %v; without them %v, at most %v", with[middle], with[last], without[middle], without[last])
	}
}
