package pickemapp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
)

// fleet is two nodes with the application and one cloud, or one node with DynamoDB Local.
type fleet struct {
	*nodes.Fleet
	event string
}

// newFleet returns a fleet in a bubble. wrong is by how much each node's clock is wrong.
func newFleet(t *testing.T, wrong map[string]time.Duration) *fleet {
	t.Helper()
	return &fleet{Fleet: nodes.Two(t, nodes.Options{App: New, Wrong: wrong})}
}

// newLeague returns a fleet, and waits until both nodes have the user sam and an event with two matches.
func newLeague(t *testing.T) (f *fleet, matches []string) {
	t.Helper()
	f = newFleet(t, nil)
	return f, f.league(10 * 24 * time.Hour)
}

// league creates the user sam, and an event with two matches that starts after a duration.
func (f *fleet) league(in time.Duration) (matches []string) {
	f.T.Helper()
	at := f.Clock.Now().Add(in).UTC()
	f.event = at.Format(time.DateOnly) + "-gala"
	f.Want("a", "boss", "POST", "/pickem/admin/users", `{"userId":"sam","name":"Sam"}`)
	f.Want("a", "boss", "POST", "/pickem/admin/events", fmt.Sprintf(`{"date":%q,"startsAt":%q,"name":"Gala"}`, f.event[:10], at.Format(time.RFC3339)))
	for _, name := range []string{"First", "Main"} {
		var m struct{ ID string }
		body := fmt.Sprintf(`{"name":%q,"points":5,"teams":[{"members":["A"]},{"members":["B"]}]}`, name)
		if err := json.Unmarshal([]byte(f.Want("a", "boss", "POST", "/pickem/admin/events/"+f.event+"/matches", body)), &m); err != nil {
			f.T.Fatal(err)
		}
		matches = append(matches, m.ID)
	}
	f.Until("each node has the card", func() bool {
		if f.Base["b"] == "" {
			return true
		}
		_, answer := f.Ask("b", "sam", "GET", f.at(), "")
		return strings.Contains(answer, matches[0]) && strings.Contains(answer, matches[1]) // each arrives on its own
	})
	return matches
}

func (f *fleet) at() string { return "/pickem/app/events/" + f.event }

func (f *fleet) picks(node, match string, team int) {
	f.T.Helper()
	f.Want(node, "sam", "PUT", f.at()+"/predictions", fmt.Sprintf(`{"predictions":{%q:%d}}`, match, team))
}

func (f *fleet) sees(node, what, part string) {
	f.T.Helper()
	f.Until(what+" at "+node, func() bool {
		_, answer := f.Ask(node, "sam", "GET", f.at(), "")
		return strings.Contains(answer, part)
	})
}

// A pick made before the node is cut off counts. One made after it comes too late: it disappears, its user is told, and no person has to decide.
func TestLatePickIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := newLeague(t)
		f.picks("b", m[0], 1)
		f.sees("a", "the pick in time", fmt.Sprintf(`"predictions":{%q:1}`, m[0]))
		f.Cut("b")
		f.picks("b", m[1], 0)
		f.Pass(time.Second)
		f.Want("a", "boss", "PUT", "/pickem/admin/events/"+f.event+"/state", `{"state":"broadcast"}`)
		f.Until("the lock is in the cloud", func() bool {
			_, answer := f.Ask("a", "sam", "GET", f.at(), "")
			return strings.Contains(answer, `"rank":1`)
		})
		f.Heal("b")
		for _, node := range []string{"b", "a"} {
			f.sees(node, "not counted", `"notCounted":true`)
			f.sees(node, "the pick in time alone", fmt.Sprintf(`"predictions":{%q:1}}]`, m[0]))
		}
		f.Quiet()
	})
}

// A node that is cut off and has locked an event by itself shows nobody's picks, even after a restart: users at other nodes may still be picking.
func TestLockThatTheCloudHasNotConfirmedShowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := newLeague(t)
		f.Want("a", "boss", "POST", "/pickem/admin/users", `{"userId":"max","name":"Max"}`)
		f.picks("a", m[0], 1)
		f.sees("b", "the pick", fmt.Sprintf(`%q:1`, m[0]))
		f.Until("b knows max", func() bool { status, _ := f.Ask("b", "max", "GET", f.at(), ""); return status == http.StatusOK })
		f.Cut("b")
		f.Want("b", "boss", "PUT", "/pickem/admin/events/"+f.event+"/state", `{"state":"broadcast"}`)
		hidden := func(when string) {
			t.Helper()
			for _, path := range []string{f.at(), f.at() + "/predictions.csv", "/pickem/app/users/sam", "/pickem/-/events/" + f.event} {
				if answer := f.Want("b", "max", "GET", path, ""); strings.Contains(answer, m[0]+`":1`) || strings.Contains(answer, "Sam,") || strings.Contains(answer, "Sam</") {
					t.Errorf("%s: %s: %s", when, path, answer)
				}
			}
		}
		hidden("cut off")
		f.Restart("b")
		hidden("started again")
		f.picks("a", m[1], 0)
		f.Heal("b")
		f.Until("the lock is in the cloud", func() bool { return strings.Contains(f.Want("b", "max", "GET", f.at(), ""), `"rank":1`) })
		f.Quiet()
	})
}

// Admins at two nodes that are cut off do not overwrite each other: the change of one stays, and a person decides about the other's. An event
// locked at the other node is not deleted: its deletion is refused along with the change of its match.
func TestAdminsApartDoNotOverwriteEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := newLeague(t)
		event := "/pickem/admin/events/" + f.event
		f.Until("b knows sam", func() bool { status, _ := f.Ask("b", "sam", "GET", f.at(), ""); return status == http.StatusOK })
		f.Cut("b")
		f.Want("a", "boss", "PATCH", "/pickem/admin/users/sam", `{"name":"Of a"}`)
		f.Pass(time.Second)
		f.Want("b", "boss", "PATCH", "/pickem/admin/users/sam", `{"active":false}`)
		f.Want("a", "boss", "PATCH", event+"/matches/"+m[0], `{"points":7}`)
		f.Pass(time.Second)
		f.Want("b", "boss", "PATCH", event+"/matches/"+m[0], `{"name":"Of b"}`)
		f.picks("a", m[0], 1)
		f.Want("a", "boss", "PUT", event+"/state", `{"state":"broadcast"}`)
		f.Pass(time.Second)
		f.Want("b", "boss", "DELETE", event, "")
		item := func(pk, sk string) attr.Item {
			return f.Cloud.Item("pickem-prod", attr.Item{"PK": attr.S(pk), "SK": attr.S(sk)})
		}
		f.Until("the lock is in the cloud", func() bool { return item("EVENT", "EVENT#"+f.event)["state"].Str() == "broadcast" })
		f.Heal("b")
		f.Until("a person is asked of what b has changed", func() bool { return strings.Count(f.Open("b"), `"state":"open"`) == 2 })
		user, match := item("USER#sam", "USER"), item("EVENT#"+f.event, "MATCH#"+m[0])
		if points, _ := match["points"].Int(); user["name"].Str() != "Of a" || user["active"].Equal(attr.Bool(false)) || match["name"].Str() != "First" || points != 7 {
			t.Errorf("%v, %v", user, match)
		}
		if item("EVENT", "EVENT#"+f.event) == nil {
			t.Error("a locked event is gone")
		}
	})
}

// A first pick that comes too late leaves no row in the cloud, but its user is still told.
func TestLateFirstPickIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := newLeague(t)
		f.Cut("b")
		f.picks("b", m[0], 1)
		f.picks("b", m[1], 1)
		f.Pass(time.Second)
		f.Want("a", "boss", "PUT", "/pickem/admin/events/"+f.event+"/state", `{"state":"broadcast"}`)
		f.Until("the lock is in the cloud", func() bool {
			return f.Cloud.Item("pickem-prod", attr.Item{"PK": attr.S("EVENT"), "SK": attr.S("EVENT#" + f.event)})["state"].Str() == "broadcast"
		})
		f.Heal("b")
		for _, node := range []string{"b", "a"} {
			f.sees(node, "not counted", `"prediction":null,"notCounted":true`)
		}
		f.Quiet()
	})
}

// Two devices at two nodes that are cut off do not erase each other's first picks. Both nodes lock, which makes one lock. An admin sees the picks
// in the conflict only once the event is locked.
func TestPicksAtTwoNodesAreJoinedAndHiddenFromAdmins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := newLeague(t)
		f.Cut()
		f.picks("a", m[0], 1)
		f.Pass(time.Second)
		f.picks("b", m[1], 0)
		f.Heal()
		for _, node := range []string{"a", "b"} {
			f.sees(node, "both picks", fmt.Sprintf(`%q:1`, m[0]))
			f.sees(node, "both picks", fmt.Sprintf(`%q:0`, m[1]))
		}
		f.hidden(true)
		f.Cut()
		for _, node := range []string{"a", "b"} {
			f.Want(node, "boss", "PUT", "/pickem/admin/events/"+f.event+"/state", `{"state":"broadcast"}`)
			f.Pass(time.Second)
		}
		f.Heal()
		for _, node := range []string{"a", "b"} {
			f.sees(node, "the lock", `"rank":1`)
		}
		f.Quiet()
		f.hidden(false)
	})
}

// hidden checks that picks in the conflicts that the merge has resolved are hidden from an admin, or that they are not.
func (f *fleet) hidden(want bool) {
	f.T.Helper()
	seen := 0
	for node := range f.Base {
		var list struct {
			Items []struct {
				ID  uint64
				Key map[string]map[string]string
			}
		}
		if err := json.Unmarshal([]byte(f.Want(node, "boss", "GET", "/_/api/conflicts?state=resolved", "")), &list); err != nil {
			f.T.Fatal(err)
		}
		for _, c := range list.Items {
			if c.Key["PK"]["S"] != "USER#sam" {
				continue
			}
			seen++
			if one := f.Want(node, "boss", "GET", fmt.Sprint("/_/api/conflicts/", c.ID), ""); strings.Contains(one, "predictions") == want {
				f.T.Errorf("want picks hidden %t at %s: %s", want, node, one)
			}
		}
	}
	if seen == 0 {
		f.T.Error("there was no conflict of picks")
	}
}

// A node is cut off over the lock. A pick that it had sent before counts. One that it accepted in time but could not send within a minute after
// the lock is never sent: its user is told, and no person has to decide.
func TestNodeCutOffOverTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, nil)
		m := f.league(66 * time.Minute)
		f.picks("b", m[0], 1)
		f.sees("a", "the pick before the cut", fmt.Sprintf(`"predictions":{%q:1}`, m[0]))
		f.Cut("b")
		f.picks("b", m[1], 0)
		f.sees("a", "the lock", `"rank":1`)
		f.sees("b", "its own lock", `"state":"broadcast"`)
		if status, answer := f.Ask("b", "sam", "PUT", f.at()+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, m[1])); status != http.StatusConflict {
			t.Errorf("cut off, after the lock: %d %s", status, answer)
		}
		f.Pass(2 * time.Minute) // well after the minute in which picks may be sent
		f.Heal("b")
		for _, node := range []string{"b", "a"} {
			f.sees(node, "not counted", `"notCounted":true`)
			f.sees(node, "the pick in time alone", fmt.Sprintf(`"predictions":{%q:1}}]`, m[0]))
		}
		if all := f.Want("b", "boss", "GET", "/_/api/conflicts?state=resolved", ""); !strings.Contains(all, `"late"`) {
			t.Errorf("the late pick was sent: %s", all)
		}
		f.Quiet()
	})
}

// A node whose clock is an hour wrong takes picks until the lock, and none after it, by the cloud's clock.
func TestClockAnHourWrong(t *testing.T) {
	for name, by := range map[string]time.Duration{"early": -time.Hour, "late": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, map[string]time.Duration{"b": by})
				lock := f.Clock.Now().Add(6 * time.Minute)
				m := f.league(66 * time.Minute)
				f.picks("b", m[0], 1)
				f.sees("a", "the pick in time", fmt.Sprintf(`"predictions":{%q:1}`, m[0]))
				f.Pass(lock.Sub(f.Clock.Now()) - time.Second)
				f.picks("b", m[1], 0)
				f.Pass(2 * time.Second)
				if status, answer := f.Ask("b", "sam", "PUT", f.at()+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, m[1])); status != http.StatusConflict {
					t.Errorf("a pick after the lock: %d %s", status, answer)
				}
				for _, node := range []string{"a", "b"} {
					f.sees(node, "the lock", `"rank":1`)
					f.sees(node, "the pick a second before it", fmt.Sprintf(`%q:0`, m[1]))
				}
				f.Quiet()
			})
		})
	}
}
