package cricketapp

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// pair is two nodes of one cloud that can each be cut off from it.
type pair struct {
	t     *testing.T
	items [2]*simItems
	nodes [2]*played
}

func newPair(t *testing.T) *pair {
	t.Helper()
	first, cloud := simulated(t)
	p := &pair{t: t, items: [2]*simItems{first, {Cloud: first.Cloud}}}
	for i, items := range p.items {
		c := *cloud
		c.Items = items
		items.down.Store(true)
		n, err := openPlayed(t.Context(), longDir(t), node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Cloud: &c}, DefaultSettings(), Outside{})
		if err != nil {
			t.Fatal(err)
		}
		p.nodes[i] = n
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = replicaOf(n).Run(ctx)
		}()
		t.Cleanup(func() {
			cancel()
			<-ended
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return p
}

func (p *pair) do(i int, f func(tx *store.Tx) error) (seq uint64) {
	p.t.Helper()
	if err := p.nodes[i].host.Store.Update(p.t.Context(), f); err != nil {
		p.t.Fatal(err)
	}
	return p.nodes[i].host.Store.Seq()
}

// join connects a node to its cloud and returns when nothing waits.
func (p *pair) join(i int) {
	p.t.Helper()
	p.items[i].down.Store(false)
	var st replica.Status
	wait.Until(p.t, fmt.Sprintf("node %d has sent everything", i), func() (sent bool) {
		var err error
		if st, err = replicaOf(p.nodes[i]).Status(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
		return st.Up && st.Waiting == 0
	}, func() any { return st })
}

// conflicts returns all conflict records of a node.
func (p *pair) conflicts(i int) []*conflict.Record {
	p.t.Helper()
	found, _, err := replicaOf(p.nodes[i]).Conflicts().List(p.t.Context(), conflict.Query{})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// Two admins change different fields of a league, each on a node that is cut off. Both changes hold, and both fields are marked as
// set by an admin, in rows of earlier versions too.
func TestAdminsOfTwoNodes(t *testing.T) {
	for name, earlier := range map[string]attr.Value{
		"none": {}, "list": attr.L(attr.S("active")), "set": must(attr.SS("active")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t)
				key := attr.Item{"leagueId": attr.S("3")}
				row := attr.Item{"leagueId": attr.S("3"), "name": attr.S("League"), "code": attr.S("L3"), "active": attr.Bool(true)}
				if !earlier.IsZero() {
					row["adminFields"] = earlier
				}
				p.do(0, func(tx *store.Tx) error {
					_, err := tx.Put(store.PutItem{Table: tables.Leagues, Item: row})
					return err
				})
				p.join(0)
				p.join(1)
				if err := replicaOf(p.nodes[1]).Ensure(t.Context(), tables.Leagues, key); err != nil {
					t.Fatal(err)
				}
				for i, patch := range []reference.LeaguePatch{{Name: new("The Shield")}, {Code: new("SH")}} {
					p.items[i].down.Store(true)
					p.do(i, func(tx *store.Tx) error {
						_, err := reference.Leagues{}.Patch(tx, "3", patch)
						return err
					})
				}
				p.join(0)
				p.join(1)
				var got reference.LeagueRecord
				if err := attr.Unmarshal(p.items[0].Item(tables.Leagues, key), &got); err != nil {
					t.Fatal(err)
				}
				want := []string{"code", "name"}
				if !earlier.IsZero() {
					want = []string{"active", "code", "name"}
				}
				slices.Sort(got.AdminFields)
				if got.Name != "The Shield" || got.Code != "SH" || !slices.Equal(got.AdminFields, want) {
					t.Errorf("the cloud has %+v", got)
				}
				if c := append(p.conflicts(0), p.conflicts(1)...); len(c) != 0 {
					t.Errorf("conflicts: %v", c)
				}
			})
		})
	}
}

func must(v attr.Value, err error) attr.Value {
	if err != nil {
		panic(err)
	}
	return v
}

// A user follows a match on two nodes. The session that the second node wants exists already, so no person has to decide. A token
// that the second node got meanwhile is kept.
func TestFollowOnTwoNodes(t *testing.T) {
	for name, token := range map[string]string{"no token": "", "token on the second": fakeToken} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t)
				var seq uint64
				for i := range p.nodes {
					p.do(i, func(tx *store.Tx) error {
						f := matches.Fixture{MatchID: "7", StartTime: time.Now(), Phase: "in_play", Type: "ODI", Status: "1st Innings"}
						if err := putFixture(tx, f); err != nil {
							return err
						}
						_, err := phone.Activities{}.Ensure(tx, "7", "asha", "phone", time.Now().Add(time.Hour).Unix())
						return err
					})
				}
				if token != "" {
					p.do(1, func(tx *store.Tx) error {
						_, err := phone.Activities{}.Register(tx, "7", "asha", "phone", token, time.Time{})
						return err
					})
				}
				seq = p.nodes[1].host.Store.Seq()
				p.join(0)
				p.join(1)
				for _, c := range append(p.conflicts(0), p.conflicts(1)...) {
					if c.Decided[0].Entry.Table == tables.LiveActivities && c.State == conflict.StateOpen {
						t.Errorf("a person is asked: %s: %s %s; %q met %v tail %d", c, c.Text, c.Note, c.Decided[0].Entry.Condition, c.Decided[0].Met, len(c.Tail))
					}
				}
				if refused, err := p.nodes[1].WaitSettled(t.Context(), seq); refused != 0 || err != nil {
					t.Errorf("the request ended in conflict %d, %v", refused, err)
				}
				key := attr.Item{"matchId": attr.S("7"), "userId#deviceId": attr.S(tables.SessionKey("asha", "phone"))}
				if there := p.items[0].Item(tables.LiveActivities, key); there["updateToken"].Str() != token || there["userId"].Str() != "asha" {
					t.Errorf("the cloud has %v", there)
				}
			})
		})
	}
}

// Only the write of Activities.Ensure is merged, and only if the session exists and at most one plain update follows. Everything
// else is left to a person.
func TestMergeSession(t *testing.T) {
	wish := sessionWish(t)
	pending, ended := attr.Item{"status": attr.S("pending")}, attr.Item{"status": attr.S("ended")}
	update := *wish
	update.Condition = ""
	guarded := *wish
	guarded.Condition = "#s = :ended"
	folded := *wish
	folded.Folds = []uint64{2}
	remove := update
	remove.Op = store.OpDelete
	for name, tt := range map[string]struct {
		c      conflict.MergeCase
		writes int
		ok     bool
	}{
		"there":      {mergeCase(wish, pending), 0, true},
		"ended":      {mergeCase(wish, ended), 0, false},
		"none":       {mergeCase(wish, nil), 0, false},
		"other wish": {mergeCase(&guarded, pending), 0, false},
		"token":      {mergeCase(wish, pending, &update), 1, true},
		"folded":     {mergeCase(&folded, pending), 1, true},
		"claim":      {mergeCase(wish, pending, &guarded), 0, false},
		"two":        {mergeCase(wish, pending, &update, &update), 0, false},
		"delete":     {mergeCase(wish, pending, &remove), 0, false},
	} {
		if writes, ok := mergeSession(tt.c); ok != tt.ok || len(writes) != tt.writes {
			t.Errorf("%s: %d writes, %t", name, len(writes), ok)
		}
	}
}

func mergeCase(e *intent.Entry, remote attr.Item, tail ...*intent.Entry) conflict.MergeCase {
	return conflict.MergeCase{Entries: []*intent.Entry{e}, Items: []conflict.MergeItem{{Remote: remote}}, Tail: tail}
}

// sessionWish returns the write of Activities.Ensure.
func sessionWish(t *testing.T) *intent.Entry {
	t.Helper()
	const condition = "attribute_not_exists(matchId) OR #s = :ended"
	p := expr.Params{Names: map[string]string{"#s": "status"}, Values: attr.Item{":ended": attr.S("ended"), ":status": attr.S("pending")}}
	if !(phone.Activities{}).IsSatisfied(condition, p, attr.Item{"status": attr.S("active")}) {
		t.Fatal("the condition has changed")
	}
	return &intent.Entry{Write: intent.Write{Op: store.OpUpdate, Table: tables.LiveActivities, Condition: condition, Update: "SET #s = :status", Params: p}}
}

// fakeToken has the form of an update token.
var fakeToken = strings.Repeat("ab", 32)

// replicaOf returns the replica that keeps a node and its cloud in step.
func replicaOf(n *played) *replica.Replica { return n.host.Sync.(*replica.Replica) }
