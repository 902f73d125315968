package admin

import (
	"context"
	"net"
	"slices"
	"testing"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// fakeSync is a cloud with scripted answers.
type fakeSync struct {
	status    operator.SyncStatus
	conflicts []conflict.View
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

func (f *fakeSync) Wait(context.Context, uint64) (uint64, error) {
	return 0, nil
}

// The admin socket gives the same answers, as the command line reads them.
func TestAdminSocketTellsOfTheCloud(t *testing.T) {
	f := &fakeSync{conflicts: []conflict.View{
		{Head: conflict.Head{ID: 1, State: "open"}, Decided: []conflict.Write{{Met: attr.Item{"a": attr.Int(2)}}}}, {Head: conflict.Head{ID: 2, State: "open"}},
	}, status: operator.SyncStatus{Configured: true, Status: replica.Status{State: "in_step"}}}
	s, err := httpapi.New(httpapi.Config{Store: storetest.Open(t), Clock: clock.Real(), Sync: f})
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/s"
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, ln, s, Config{}) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	client := NewClient(path)
	if st, err := client.Sync(ctx); err != nil || st.State != "in_step" {
		t.Errorf("%+v %v", st, err)
	}
	page, err := client.Conflicts(ctx, conflict.Query{State: "open", Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != 2 || page.Cursor == nil || *page.Cursor != "2" {
		t.Errorf("%+v %v", page, err)
	}
	if c, err := client.Conflict(ctx, 1); err != nil || len(c.Decided) != 1 || !c.Decided[0].Met["a"].Equal(attr.Int(2)) {
		t.Errorf("%+v %v", c, err)
	}
	if c, err := client.Decide(ctx, 1, "retry"); err != nil || c.State != "retried" {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := client.Decide(ctx, 1, "retry"); !fault.Is(err, fault.Conflict) || err.Error() != "It was retried." {
		t.Errorf("a decided one was retried: %v", err)
	}
	if _, err := client.Conflict(ctx, 9); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}
