package simulation_test

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// copiedCreate is a create that is in a snapshot's queue and that the lost timeline has brought into the cloud. When the snapshot's copy
// arrives, the life that it began there has ended, and another one has begun.
type copiedCreate struct {
	foreign   bool // a foreign writer has ended it
	asks      bool // the copy has asked for the life that the first one began
	movedThen bool // a row of the lost timeline records the move
	moved     bool // a row of this timeline does
}

// A create that waited in a snapshot, and that the lost timeline had brought into the cloud, applies again if a foreign writer has ended
// its life, also on a life that another node has begun since: only the row left by an earlier move would identify it.
func TestOrderOfACopiedCreateThatMoves(t *testing.T) {
	for name, c := range map[string]struct {
		copiedCreate
		broken bool
	}{
		"its life was ended by a foreign writer": {copiedCreate{foreign: true, asks: true, moved: true}, false},
		"by a node, which leaves a tombstone":    {copiedCreate{asks: true, moved: true}, true},
		"it has not asked for that life":         {copiedCreate{foreign: true, moved: true}, true},
		"no row of the move":                     {copiedCreate{foreign: true, asks: true}, true},
		"a row of the lost timeline":             {copiedCreate{foreign: true, asks: true, movedThen: true}, true},
		"a row of both timelines, known by then": {copiedCreate{foreign: true, asks: true, movedThen: true, moved: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sim{plain: true}
			s.net = simcloud.NewNetwork(nil, nil, 1)
			s.book = newBook(s)
			c.play(s.book)
			if s.broken() != c.broken {
				t.Errorf("violated: %v", s.failed)
			}
		})
	}
}

func (c copiedCreate) play(b *book) {
	const (
		create = uint64(5)<<40 + 95
		later  = uint64(8)<<40 + 39
		other  = "n0.6.6597069766699"
	)
	life := intent.WriteID("n3", create)
	mark := fmt.Sprintf("n3 %d.356998438", create)
	b.issued["n3.456"], b.issued["n0.576"] = true, true
	b.acknowledge(&act{node: "n3", seq: create, table: "items", key: pk("i3"), op: store.OpPut, id: "n3.456"})
	image := func(id, life string) attr.Item {
		return attr.Item{"pk": attr.S("i3"), "v": attr.S(id), intent.AttrLife: attr.S(life)}
	}
	effect := func(by, mark string, op store.Op, was, is attr.Item) {
		b.effect(&simcloud.Effect{N: b.latest + 1, Table: "items", Key: pk("i3"), Op: op, Old: was, New: is, By: by, Mark: mark})
	}
	learns := func() {
		b.effect(&simcloud.Effect{N: b.latest + 1, Table: simSync, Key: attr.Item{intent.SyncKey: attr.S(intent.MovedID(life))}, Op: store.OpPut, By: "n3"})
	}
	effect("n3", mark, store.OpPut, nil, image("n3.456", life))
	if c.foreign {
		effect("foreign", "", store.OpDelete, image("n3.456", life), nil)
	} else {
		effect("n0", "", store.OpDelete, image("n3.456", life), nil)
	}
	effect("n3", fmt.Sprintf("n3 %d.679257797", later), store.OpDelete, image("n0.576", "~n0.5.1"), nil)
	effect("n0", "", store.OpUpdate, nil, image("n0.576", other))
	if c.movedThen {
		learns()
	}
	b.putBack("n3", disk{acts: map[*act]bool{b.acts[0]: true}})
	if c.asks {
		b.sends(mark, &intent.Call{
			Op: store.OpPut, Table: "items", Key: pk("i3"), Item: image("n3.456", life), Condition: "attribute_not_exists(#p)",
			Params: expr.Params{Names: map[string]string{"#p": "pk"}},
		})
	}
	if c.moved {
		learns()
	}
	effect("n3", mark, store.OpPut, image("n0.576", other), image("n3.456", other))
}
