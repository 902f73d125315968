package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/remote"
)

// fakeSync is a synchronization whose answers the test sets.
type fakeSync struct {
	mu        sync.Mutex
	status    operator.SyncStatus
	conflicts []conflict.View
	waited    []uint64
	wait      func(ctx context.Context) (uint64, error)
	fail      error
}

func (f *fakeSync) Status(context.Context) (operator.SyncStatus, error) { return f.status, f.fail }

func (f *fakeSync) Conflicts(_ context.Context, ask conflict.Query) (out []conflict.View, next uint64, err error) {
	for _, c := range slices.Backward(f.conflicts) {
		if (ask.State == conflict.StateAny || c.State == ask.State) && (ask.Table == "" || c.Table == ask.Table) && (ask.Before == 0 || c.ID < ask.Before) {
			if len(out) == ask.Limit {
				return out, out[len(out)-1].ID, nil
			}
			c.Decided = nil
			out = append(out, c)
		}
	}
	return out, 0, f.fail
}

func (f *fakeSync) Conflict(_ context.Context, id uint64) (conflict.View, error) {
	for _, c := range f.conflicts {
		if c.ID == id {
			return c, f.fail
		}
	}
	return conflict.View{}, fault.New(fault.NotFound, "conflict_not_found", "There is no conflict %d.", id)
}

func (f *fakeSync) Decide(ctx context.Context, id uint64, verb string) (conflict.View, error) {
	c, err := f.Conflict(ctx, id)
	switch {
	case err != nil:
		return c, err
	case c.State != "open":
		return c, fault.New(fault.Conflict, "conflict_closed", "It was %s.", c.State)
	}
	c.State = map[string]conflict.State{"retry": "retried", "discard": "discarded"}[verb]
	f.conflicts[id-1] = c
	return c, nil
}

func (f *fakeSync) Wait(ctx context.Context, seq uint64) (uint64, error) {
	f.mu.Lock()
	f.waited = append(f.waited, seq)
	f.mu.Unlock()
	if f.wait == nil {
		return 0, nil
	}
	return f.wait(ctx)
}

func conflictsOf(n int) (out []conflict.View) {
	for i := range n {
		out = append(out, conflict.View{
			Head: conflict.Head{
				ID: uint64(i + 1), At: rigNow, Kind: "conflict", State: "open", Code: "condition_failed", Text: "The cloud's item does not satisfy the condition.",
			},
			Table: "cricket-match-follows", Key: attr.Item{"matchId": attr.S("7")}, WriteID: "n1.1.12", Policy: "intent", Writes: 1,
			Decided: []conflict.Write{{
				WriteID: "n1.1.12", Table: "cricket-match-follows", Key: attr.Item{"matchId": attr.S("7")}, At: rigNow, Op: "update",
				Update: "SET a = :a", Values: attr.Item{":a": attr.Int(1)}, Sent: 2, Met: attr.Item{"a": attr.Int(2)},
			}},
		})
	}
	return out
}

func TestSyncRoutes(t *testing.T) {
	f := &fakeSync{conflicts: conflictsOf(3), status: operator.SyncStatus{
		Configured: true, Cloud: "eu-west-1", Mode: "observe", Status: replica.Status{
			At: rigNow, State: "offline", Since: rigNow, Waiting: 2,
			Tables: []replica.TableStatus{{Table: "cricket-match-follows", Waiting: 2}}, Workers: []replica.WorkerStatus{{Worker: 3, Parked: []replica.ParkStatus{{WriteID: "n1.1.12", Table: "t", Why: "a hold"}}}},
			Feed: []feed.Status{{Rule: "cricket-teams", Items: 9}}, Node: identity.Status{Node: "n1", Incarnation: 1}, Budget: flow.BudgetState{Level: flow.LevelOK}, Usage: remote.Usage{Requests: 12, WriteUnits: 7.5, ReadUnits: 3},
		}}}
	f.conflicts[1].State, f.conflicts[1].Table = "resolved", "cricket-user-devices"
	r := newAppRig(t, func(c *setup) { c.Sync = f })
	r.do([]deed{
		{as: "u1", ask: "GET /sync", status: 403},
		{as: "admin", ask: "GET /sync", status: 200, want: []string{`"state":"offline"`, `"waiting":2`, `"leases":[]`, `"usage":{"requests":12,"writeUnits":7.5,"readUnits":3}`, `"parked":[{"writeId":"n1.1.12"`, `"alarms":[]`}},
		{as: "key", ask: "GET /conflicts", status: 200, want: []string{`"items":[{"id":3`, `{"id":1`, `"cursor":null`}},
		{as: "key", ask: "GET /conflicts?limit=1", status: 200, want: []string{`"items":[{"id":3`, `"cursor":"3"`}},
		{as: "key", ask: "GET /conflicts?limit=1&cursor=3", status: 200, want: []string{`"items":[{"id":1`, `"cursor":null`}},
		{as: "key", ask: "GET /conflicts?state=resolved&table=cricket-user-devices", status: 200, want: []string{`"items":[{"id":2`}},
		{as: "key", ask: "GET /conflicts?state=lost", status: 400, want: []string{`"field":"state"`}},
		{as: "key", ask: "GET /conflicts?cursor=x", status: 400, want: []string{"bad_cursor"}},
		{as: "key", ask: "GET /conflicts/3", status: 200, want: []string{`"met":{"a":{"N":"2"}}`, `"sent":2`}},
		{as: "key", ask: "GET /conflicts/9", status: 404, want: []string{"conflict_not_found"}},
		{as: "key", ask: "GET /conflicts/x", status: 404, want: []string{"conflict_not_found"}},
		{as: "u1", ask: "POST /conflicts/3/retry", status: 403},
		{as: "admin", ask: "POST /conflicts/3/retry", status: 200, want: []string{`"state":"retried"`}},
		{as: "admin", ask: "POST /conflicts/3/discard", status: 409, want: []string{"conflict_closed"}},
		{as: "admin", ask: "POST /conflicts/1/discard", status: 200, want: []string{`"state":"discarded"`}},
	})
}

func TestWithoutACloud(t *testing.T) {
	r := newAppRig(t)
	r.do([]deed{
		{as: "admin", ask: "GET /sync", status: 200, want: []string{`"configured":false`, `"state":"none"`, `"tables":[]`}},
		{as: "admin", ask: "GET /conflicts", status: 200, want: []string{`"items":[]`}},
		{as: "admin", ask: "GET /conflicts/1", status: 404, want: []string{"no_cloud"}},
		{as: "admin", ask: "POST /conflicts/1/retry", status: 404, want: []string{"no_cloud"}},
	})
	w := r.prefer("POST /user/follow/7", "{}", "wait=5")
	if w.Code != http.StatusCreated || w.Header().Get("Preference-Applied") != "wait=5" || w.Header().Get(headerSeq) == "" {
		t.Errorf("%d %v: the commit here is all there is to wait for", w.Code, w.Header())
	}
}

// prefer sends a request with a preference, as u1 or on admin routes as an admin, and checks the answer against the document.
func (r *appRig) prefer(ask, body, prefer string) *httptest.ResponseRecorder {
	r.t.Helper()
	method, path, _ := strings.Cut(ask, " ")
	req := httptest.NewRequest(method, "/cricket"+path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer u1")
	if strings.HasPrefix(path, "/admin/") {
		req.Header.Set("Authorization", "Bearer admin")
	}
	if prefer != "" {
		req.Header.Set("Prefer", prefer)
	}
	w := httptest.NewRecorder()
	checked(r.t, r.server.Handler()).ServeHTTP(w, req)
	return w
}

func TestPreferWait(t *testing.T) {
	never := func(ctx context.Context) (uint64, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	for _, c := range []struct {
		name, ask, prefer string
		wait              func(context.Context) (uint64, error)
		status            int
		applied, body     string
		waits             bool
	}{
		{name: "not requested", ask: "POST /user/follow/7", status: 201},
		{name: "in the cloud", ask: "POST /user/follow/7", prefer: "wait=5", status: 201, applied: "wait=5", waits: true},
		{name: "not yet", ask: "POST /user/follow/7", prefer: "wait=0", wait: never, status: 202, applied: "wait=0", body: `"matchId":"7"`, waits: true},
		{name: "not yet, no body", ask: "DELETE /user/follow/9", prefer: "wait=0", wait: never, status: 202, applied: "wait=0", waits: true},
		{
			name: "refused", ask: "POST /user/follow/7", prefer: "wait=5", status: 409, waits: true, body: `"details":{"conflict":17}`,
			wait: func(context.Context) (uint64, error) { return 17, nil },
		},
		{
			name: "broken", ask: "POST /user/follow/7", prefer: "wait=5", status: 500, waits: true, body: "internal",
			wait: func(context.Context) (uint64, error) { return 0, fmt.Errorf("key=hunter2") },
		},
		{name: "nothing was written", ask: "POST /admin/cache/clear", prefer: "wait=5", status: 200, applied: "wait=5", wait: never},
		{name: "nonsense is ignored", ask: "POST /user/follow/7", prefer: "wait=soon", wait: never, status: 201},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeSync{wait: c.wait}
			r := newAppRig(t, func(cfg *setup) { cfg.Sync = f })
			if w := r.prefer("POST /user/follow/9", "{}", ""); w.Code != 201 {
				t.Fatal(w.Code, w.Body)
			}
			before := r.store.Seq()
			w := r.prefer(c.ask, "{}", c.prefer)
			if w.Code != c.status || w.Header().Get("Preference-Applied") != c.applied || !strings.Contains(w.Body.String(), c.body) {
				t.Errorf("%d %q %s, want %d %q %s", w.Code, w.Header().Get("Preference-Applied"), w.Body, c.status, c.applied, c.body)
			}
			if strings.Contains(w.Body.String(), "hunter2") {
				t.Error("a secret was shown")
			}
			seq := ""
			if now := r.store.Seq(); now != before {
				seq = fmt.Sprint(now)
			}
			if got := w.Header().Get(headerSeq); got != seq {
				t.Errorf("%s is %q, in the journal %q", headerSeq, got, seq)
			}
			if c.waits != (len(f.waited) == 1) || c.waits && fmt.Sprint(f.waited[0]) != seq {
				t.Errorf("waited for %v, wrote %s", f.waited, seq)
			}
		})
	}
}

func TestOperatorPageShowsTheCloud(t *testing.T) {
	f := &fakeSync{conflicts: conflictsOf(1), status: operator.SyncStatus{
		Configured: true, Cloud: "eu-west-1", Status: replica.Status{
			At: rigNow, State: "offline", Since: time.Now().Add(-time.Minute), Waiting: 2, Conflicts: conflict.Status{Open: 1, Kept: 1},
			Tables: []replica.TableStatus{{Table: "cricket-match-follows", Waiting: 2, Stopped: &flow.StoppedTable{Why: "access denied"}}, {Table: "slow", Pace: flow.Pace{Rate: 7.3, Throttled: 2}}, {Table: "slow-once", Pace: flow.Pace{Throttled: 9}}}, Alarms: []string{"Nothing of it is sent."},
		}}}
	r := newAppRig(t, func(c *setup) { c.Sync = f })
	req := httptest.NewRequest(http.MethodGet, "/_/hub", nil)
	req.Header.Set("X-Api-Key", "key")
	w := httptest.NewRecorder()
	r.server.Handler().ServeHTTP(w, req)
	if strings.Contains(w.Body.String(), "slow-once") {
		t.Error("a table that is no longer slowed down is on the operator page")
	}
	for _, want := range []string{
		"offline since ", "2 writes waiting", "access denied", "slowed down by the cloud to 7 a second", "Nothing of it is sent.", "did not accept 1 write", "does not satisfy the condition",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %q on the operator page", want)
		}
	}
}
