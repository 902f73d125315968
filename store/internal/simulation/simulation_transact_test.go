package simulation_test

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/store/storetest"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// doneToken is what the model remembers of a transaction with a token.
type doneToken struct {
	at    time.Time
	items []store.WriteItem
}

// planned is one action of a transaction and its expected effect.
type planned struct {
	item store.WriteItem
	key  attr.Item
	op   store.Op // 0: a check
	code string   // the expected cancellation reason
	now  attr.Item
}

const underFive = "attribute_not_exists(runs) OR runs < :max"

// plan draws an action on the item had, and its expected effect.
func (sim *simulation) plan(rt *rapid.T, had, key attr.Item) planned {
	p := planned{key: key, code: store.ReasonNone}
	runs, has := had["runs"].Int()
	over := has && runs >= 5
	switch rapid.IntRange(0, 3).Draw(rt, "action") {
	case 0:
		p.now = drawItem(rt, sim.now)
		maps.Copy(p.now, key)
		p.op, p.item.Put = store.OpPut, &store.PutItem{Table: "balls", Item: p.now, Condition: "attribute_not_exists(bowler)"}
		over = !had["bowler"].IsZero()
	case 1:
		p.op, p.item.Update = store.OpUpdate, &store.UpdateItem{
			Table: "balls", Key: key, Update: "SET runs = runs + :n", Condition: underFive, Params: storetest.Values(":n", 1, ":max", 5),
		}
		p.now = maps.Clone(had)
		if has {
			p.now["runs"] = attr.Int(runs + 1)
		} else {
			p.code = store.ReasonValidation
		}
	case 2:
		p.op, p.item.Delete = store.OpDelete, &store.DeleteItem{
			Table: "balls", Key: key, Condition: underFive, Params: storetest.Values(":max", 5),
		}
	default:
		p.item.Check = &store.ConditionCheck{Table: "balls", Key: key, Condition: underFive, Params: storetest.Values(":max", 5)}
	}
	if over {
		p.code = store.ReasonConditionFailed
	}
	return p
}

// transactWrite runs a TransactWrite on different items, sometimes with a token.
func (sim *simulation) transactWrite(rt *rapid.T, tx *store.Tx, m *model) {
	token := rapid.SampledFrom([]string{"", "", "t", "u"}).Draw(rt, "token")
	if done, ok := m.tokens[token]; ok && sim.now.Sub(done.at) < 10*time.Minute {
		sim.transactAgain(rt, tx, token, done)
		return
	}
	var plans []planned
	t := store.TransactWrite{Token: token}
	for _, key := range drawKeys(rt) {
		p := sim.plan(rt, m.items[modelKey(key)], key)
		if slices.ContainsFunc(plans, func(before planned) bool { return before.code == store.ReasonValidation }) {
			p.code = store.ReasonNone // no reasons are given after an invalid action
		}
		plans, t.Items = append(plans, p), append(t.Items, p.item)
	}
	err := tx.TransactWrite(t)
	if slices.ContainsFunc(plans, func(p planned) bool { return p.code != store.ReasonNone }) {
		sim.wantCanceled(rt, m, plans, err)
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	for _, p := range plans {
		if had := m.items[modelKey(p.key)]; p.op != 0 && (p.now != nil || had != nil) {
			m.wrote(rt, p.op, had, nil, p.now)
		}
	}
	if token != "" {
		m.tokens[token] = doneToken{at: sim.now, items: t.Items}
	}
}

// transactAgain repeats a token, with the same or another request.
func (sim *simulation) transactAgain(rt *rapid.T, tx *store.Tx, token string, done doneToken) {
	if rapid.Bool().Draw(rt, "same") {
		if err := tx.TransactWrite(store.TransactWrite{Token: token, Items: done.items}); err != nil {
			rt.Fatal(err)
		}
		return
	}
	other := store.WriteItem{Put: &store.PutItem{Table: "balls", Item: storetest.Ball("other", 1)}}
	err := tx.TransactWrite(store.TransactWrite{Token: token, Items: append(slices.Clone(done.items), other)})
	if !fault.Is(err, fault.Conflict) {
		rt.Fatalf("another request with the token: %v", err)
	}
}

func (sim *simulation) wantCanceled(rt *rapid.T, m *model, plans []planned, err error) {
	canceled, ok := errors.AsType[*store.TransactionCanceledError](err)
	if !ok || len(canceled.Reasons) != len(plans) {
		rt.Fatalf("got %v", err)
	}
	for i, r := range canceled.Reasons {
		if r.Code != plans[i].code {
			rt.Fatalf("reason %d is %s, want %s", i, r.Code, plans[i].code)
		}
		if r.Code == store.ReasonConditionFailed && !storetest.SameItem(r.Item, m.items[modelKey(plans[i].key)]) {
			rt.Fatalf("reason %d shows %s", i, storetest.Show(r.Item))
		}
	}
}

// batchWrite puts and deletes different items.
func (sim *simulation) batchWrite(rt *rapid.T, tx *store.Tx, m *model) {
	var requests []store.WriteRequest
	for _, key := range drawKeys(rt) {
		if rapid.Bool().Draw(rt, "delete") {
			requests = append(requests, store.WriteRequest{Delete: key})
			continue
		}
		it := drawItem(rt, sim.now)
		maps.Copy(it, key)
		requests = append(requests, store.WriteRequest{Put: it})
	}
	if err := tx.BatchWrite(store.BatchWrite{"balls": requests}); err != nil {
		rt.Fatal(err)
	}
	for _, r := range requests {
		if r.Put != nil {
			m.wrote(rt, store.OpPut, m.items[modelKey(r.Put)], nil, r.Put)
		} else if had := m.items[modelKey(r.Delete)]; had != nil {
			m.wrote(rt, store.OpDelete, had, nil, nil)
		}
	}
}

// drawKeys draws the keys of different items.
func drawKeys(rt *rapid.T) []attr.Item {
	return rapid.SliceOfNDistinct(rapid.Custom(drawKey), 1, 4, modelKey).Draw(rt, "keys")
}

// readMany compares TransactGet and BatchGet with the model.
func (sim *simulation) readMany(rt *rapid.T) {
	keys := drawKeys(rt)
	gets := make([]store.GetItem, len(keys))
	want := make([]attr.Item, len(keys))
	for i, key := range keys {
		gets[i] = store.GetItem{Table: "balls", Key: key}
		if seen := sim.visible(func(it attr.Item) bool { return modelKey(it) == modelKey(key) }); len(seen) > 0 {
			want[i] = seen[0]
		}
	}
	err := sim.s.View(sim.t.Context(), func(tx *store.Tx) error {
		got, err := tx.TransactGet(gets)
		if err == nil && !slices.EqualFunc(got, want, storetest.SameItem) {
			rt.Fatalf("TransactGet gave %v, want %v", got, want)
		}
		batch, err2 := tx.BatchGet(store.BatchGet{"balls": {Keys: keys}})
		want = slices.DeleteFunc(want, func(it attr.Item) bool { return it == nil })
		if err2 == nil && (batch.Unprocessed != nil || !slices.EqualFunc(batch.Items["balls"], want, storetest.SameItem)) {
			rt.Fatalf("BatchGet gave %v, want %v", batch, want)
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		rt.Fatal(err)
	}
}
