package replica

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// adoptNow adopts one image as a read would that began just now.
func (n *feedNode) adoptNow(t testing.TB, table string, key, item attr.Item) adoption {
	t.Helper()
	read := n.box.Reads.Start()
	defer read.End()
	im := image{table: table, key: key, item: item, read: read, began: n.serverNow(), epoch: n.identity.restores.epoch.Load()}
	out, err := n.adopt(context.Background(), []image{im}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// pendingMark is the mark of the one entry that waits on an item.
func (n *feedNode) pendingMark(t testing.TB, table string, key attr.Item) (mark attr.Value) {
	t.Helper()
	n.inView(t, func(tx *store.Tx) error {
		w := n.box.Begin(tx)
		it, err := w.Load(table, key)
		if err != nil {
			return err
		}
		entries, err := w.Entries(it)
		if err == nil && len(entries) > 0 {
			mark = entries[len(entries)-1].Mark()
		}
		return err
	})
	return mark
}

// unanswered has what waits on an item be sent, without an answer.
func (n *feedNode) unanswered(t testing.TB, table string, key attr.Item) {
	t.Helper()
	n.changeWaiting(t, table, key, func(e *intent.Entry) { e.Sent, e.Unsure = 1, true })
}

func with(it attr.Item, more attr.Item) attr.Item {
	out := maps.Clone(it)
	maps.Copy(out, more)
	return out
}

func TestAdopt(t *testing.T) {
	life := attr.Item{"_c": attr.S("b.1.5"), "_n": attr.Int(3)}
	tests := []struct {
		name  string
		do    func(t *testing.T, n *feedNode) // before
		image func(t *testing.T, n *feedNode) attr.Item
		want  attr.Item // what readers see of x
		waits int64     // writes
	}{
		{
			"a new item", nil,
			func(*testing.T, *feedNode) attr.Item { return with(team("x", 1), life) }, team("x", 1), 0,
		},
		{
			"what nobody here knows is kept", nil,
			func(*testing.T, *feedNode) attr.Item {
				return with(team("x", 1), attr.Item{"_z": attr.S("of a newer version"), "odd": attr.L(attr.Null())})
			},
			with(team("x", 1), attr.Item{"_z": attr.S("of a newer version"), "odd": attr.L(attr.Null())}), 0,
		},
		{
			"a sidecar that somebody has spoiled", nil,
			func(*testing.T, *feedNode) attr.Item {
				return with(team("x", 1), attr.Item{"_c": attr.Int(1), "_n": attr.S("x"), "_a_a": attr.Bool(true), "_u": attr.S(""), "_t": attr.L()})
			},
			team("x", 1), 0,
		},
		{
			"an item that goes",
			func(t *testing.T, n *feedNode) { n.adoptNow(t, "teams", teamKey("x"), team("x", 1)) },
			func(*testing.T, *feedNode) attr.Item { return nil }, nil, 0,
		},
		{
			"a row that the cloud never had stays",
			func(t *testing.T, n *feedNode) {
				n.inTx(t, func(tx *store.Tx) error {
					_, err := tx.Adopt("teams", teamKey("x"), team("x", 9)) // as from the time before there was a cloud
					return err
				})
			},
			func(*testing.T, *feedNode) attr.Item { return nil }, team("x", 9), 0,
		},
		{
			"what waits is applied to the new base",
			func(t *testing.T, n *feedNode) {
				n.adoptNow(t, "teams", teamKey("x"), with(team("x", 1), life))
				n.bump(t, "x")
			},
			func(*testing.T, *feedNode) attr.Item { return with(team("x", 10), life) }, team("x", 11), 1,
		},
		{
			"an entry whose mark the image carries is done",
			func(t *testing.T, n *feedNode) {
				n.adoptNow(t, "teams", teamKey("x"), with(team("x", 1), life))
				n.bump(t, "x")
				n.unanswered(t, "teams", teamKey("x"))
			},
			func(t *testing.T, n *feedNode) attr.Item {
				return with(with(team("x", 2), life), attr.Item{"_a_a": n.pendingMark(t, "teams", teamKey("x"))})
			},
			team("x", 2), 0,
		},
		{
			"the mark of an entry that was never sent proves that a copy is at work, not that it is done",
			func(t *testing.T, n *feedNode) {
				n.adoptNow(t, "teams", teamKey("x"), with(team("x", 1), life))
				n.bump(t, "x")
			},
			func(t *testing.T, n *feedNode) attr.Item {
				return with(with(team("x", 2), life), attr.Item{"_a_a": n.pendingMark(t, "teams", teamKey("x"))})
			},
			team("x", 3), 1,
		},
		{
			"a mark with other digits proves nothing",
			func(t *testing.T, n *feedNode) {
				n.adoptNow(t, "teams", teamKey("x"), with(team("x", 1), life))
				n.bump(t, "x")
				n.unanswered(t, "teams", teamKey("x"))
			},
			func(t *testing.T, n *feedNode) attr.Item {
				other, err := attr.Add(n.pendingMark(t, "teams", teamKey("x")), mustN(t, "0.000000001"))
				if err != nil {
					t.Fatal(err)
				}
				return with(with(team("x", 2), life), attr.Item{"_a_a": other})
			},
			team("x", 3), 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, n := opened(t, nil)
			if tt.do != nil {
				tt.do(t, n)
			}
			n.adoptNow(t, "teams", teamKey("x"), tt.image(t, n))
			n.sees(t, "x", tt.want)
			n.waits(t, tt.waits)
		})
	}
}

func mustN(t testing.TB, text string) attr.Value {
	t.Helper()
	v, err := attr.N(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// An adopted image is no write of the application: the journal says where it comes from.
func TestAdoptedOrigin(t *testing.T) {
	_, n := opened(t, nil)
	n.adoptNow(t, "teams", teamKey("x"), team("x", 1))
	records, err := n.st.Journal(t.Context(), n.st.Seq()-1, 10)
	if err != nil || len(records) != 1 || records[0].Origin != store.OriginCloud {
		t.Errorf("%v, %v", records, err)
	}
	seq := n.st.Seq()
	n.adoptNow(t, "teams", teamKey("x"), team("x", 1))
	if n.st.Seq() != seq {
		t.Error("an image that is the base already is journaled")
	}
}

// A base set since a read began makes what it found be read again, whichever looks newer; a tombstone counts as one.
func TestOvertakenRead(t *testing.T) {
	for _, meanwhile := range []attr.Item{team("x", 2), nil} {
		_, n := opened(t, nil)
		n.adoptNow(t, "teams", teamKey("x"), team("x", 1))
		read := n.box.Reads.Start()
		n.adoptNow(t, "teams", teamKey("x"), meanwhile)
		out, err := n.adopt(t.Context(), []image{
			{table: "teams", key: teamKey("x"), item: team("x", 7), read: read, began: n.serverNow()},
			{table: "teams", key: teamKey("y"), item: team("y", 7), read: read, began: n.serverNow()},
		}, nil)
		read.End()
		if err != nil || len(out.again) != 1 || out.taken != 1 {
			t.Errorf("%+v, %v", out, err)
		}
		n.sees(t, "x", meanwhile)
	}
}

// Rows that are no items of the table are left out, and those beside them taken.
func TestForeignRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		n.online(t)
		p := newPass(n.spec("teams"), attr.Value{}, nil)
		spec := *p.spec
		spec.Key.Partition.Type = store.KeyNumber // what the node takes the key for
		p.spec = &spec
		c.foreign(t, "teams", nil, team("x", 1))
		budget := 10
		if _, err := n.pass(t.Context(), p, &budget); err != nil {
			t.Fatal(err)
		}
		if n.feeds.refused != 1 {
			t.Errorf("%d rows refused", n.feeds.refused)
		}
		out := n.adoptNow(t, "teams", attr.Item{"id": attr.S("")}, team("", 1))
		if out.refused != 1 {
			t.Errorf("an empty key: %+v", out)
		}
		if out = n.adoptNow(t, "nowhere", teamKey("x"), team("x", 1)); out.taken != 0 {
			t.Errorf("a table that is not here: %+v", out)
		}
	})
}

// One item of a transaction shows its mark: all of it is read, and readers see all of it.
func TestTransactionShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(10*time.Second))
		for _, id := range []string{"x", "y"} {
			c.foreign(t, "teams", nil, team(id, 1))
		}
		n.online(t)
		n.round(t.Context(), n.feeds.loadRules(n.cfg.Poll)[0])
		n.together(t, oneMore("x"), oneMore("y"))
		lost := 0
		c.loseAnswers(func(op, _ string) bool {
			if op == "transact" {
				lost++
			}
			return op == "transact" && lost == 1
		})
		n.drained(t)
		n.cloudHas(t, teams{"x": 2, "y": 2})
		for _, id := range []string{"x", "y"} {
			n.sees(t, id, team(id, 2))
		}
		if lost == 0 {
			t.Error("no answer was lost")
		}
	})
}

func TestTombstones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		for _, id := range []string{"x", "y"} {
			n.adoptNow(t, "teams", teamKey(id), with(team(id, 1), attr.Item{"_c": attr.S("b.1.5")}))
			n.adoptNow(t, "teams", teamKey(id), nil)
		}
		n.adoptNow(t, "teams", teamKey("y"), team("y", 2)) // and is there again
		tomb := func(id string) (g outbox.Gone, there bool) {
			n.inView(t, func(tx *store.Tx) error {
				it, err := outbox.ItemOf(tx, n.spec("teams"), teamKey(id))
				if err != nil {
					return err
				}
				sh, err := outbox.RemoteOf(tx, it)
				if sh != nil {
					g, there = sh.Gone, true
				}
				return err
			})
			return g, there
		}
		if g, _ := tomb("x"); g.Life != "b.1.5" || g.At.IsZero() {
			t.Errorf("the tombstone is %+v", g)
		}
		letPass(tombstoneFor - time.Hour)
		n.forgetTombstones(t.Context())
		if g, _ := tomb("x"); g == (outbox.Gone{}) {
			t.Error("the tombstone is gone within the day")
		}
		letPass(2 * time.Hour)
		n.forgetTombstones(t.Context())
		if _, there := tomb("x"); there {
			t.Error("the tombstone is kept for ever")
		}
		if g, there := tomb("y"); !there || g != (outbox.Gone{}) || n.row(t, "teams", teamKey("y")) == nil {
			t.Errorf("of the item that is there again: %+v, %v", g, there)
		}
	})
}
