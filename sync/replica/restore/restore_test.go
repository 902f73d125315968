package restore

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

// asking is a context that signals when it is first asked whether it has ended.
type asking struct {
	context.Context

	asked chan struct{}
	once  sync.Once
}

func (a *asking) Err() error {
	a.once.Do(func() { close(a.asked) })
	return a.Context.Err()
}

// Two concurrent changes of a table's book are both kept: the later one changes what the other has left, not what was there when it
// began.
func TestTableBookChangedByTwo(t *testing.T) {
	s, err := store.OpenMemory(store.Options{Node: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	n := &Tables{Store: s, Rand: func() uint64 { return 1 }}
	until := time.Unix(1_800_000_000, 0)
	ctx := &asking{Context: context.Background(), asked: make(chan struct{})}
	done := make(chan error, 1)
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		go func() { done <- n.changeBook(ctx, "teams", func(b *Book) { b.Until = until }) }()
		<-ctx.asked // it waits for its turn
		return n.changeBookIn(tx, "teams", func(b *Book) { b.Through = 7 })
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"in memory", "in the store"} {
		if b, _ := n.book("teams"); b.Through != 7 || !b.Until.Equal(until) {
			t.Errorf("%s: %+v", when, b)
		}
		if err := n.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A write from before the instant of a restore is also from before a restore of another table to the same or a later instant, but not
// necessarily from before one further back, whether or not both were noticed at the same time.
func TestBeforeOneRestoreAndAnother(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	point := now.Add(-time.Hour)
	tests := []struct {
		name    string
		other   Book // that the write was before
		this    Book
		noticed time.Time // of the restore that the write was before; zero: that of the other table
		want    bool
	}{
		{name: "the same instant", other: Book{RestoredAt: point}, this: Book{RestoredAt: point}, want: true},
		{name: "this one to later", other: Book{RestoredAt: point}, this: Book{RestoredAt: point.Add(time.Minute)}, want: true},
		{name: "this one further back", other: Book{RestoredAt: point}, this: Book{RestoredAt: point.Add(-time.Minute)}},
		{name: "the other made anew", other: Book{Recreated: true}, this: Book{RestoredAt: point}},
		{name: "this one made anew", other: Book{RestoredAt: point}, this: Book{Recreated: true}},
		{name: "a restore before both", other: Book{RestoredAt: point}, this: Book{RestoredAt: point}, noticed: now.Add(-time.Minute)},
		{
			name: "a restore of this one before, to earlier", other: Book{RestoredAt: point},
			this: Book{RestoredAt: point, Earlier: point.Add(-time.Minute)}, noticed: now.Add(-time.Minute), want: true,
		},
	}
	for _, tt := range tests {
		for _, later := range []time.Duration{0, 5 * time.Second} {
			n := &Tables{}
			tt.other.Noticed, tt.this.Noticed = now, now.Add(later)
			n.books = map[string]*Book{"follows": &tt.other, "teams": &tt.this}
			e := &intent.Entry{}
			e.Verify(true, now)
			if !tt.noticed.IsZero() {
				e.Verify(true, tt.noticed)
			}
			if got := n.keepsBefore(&tt.this, e); got != tt.want {
				t.Errorf("%s, noticed %v later: %v", tt.name, later, got)
			}
		}
	}
}
