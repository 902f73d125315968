package store_test

import (
	"strconv"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// An update that only removes and deletes leaves no item where there is none: no row, no record, no image. Its condition is
// judged all the same.
func TestRemovingFromNoItemLeavesNone(t *testing.T) {
	s := storetest.Open(t, balls(), matches())
	letters, err := attr.SS("a", "b")
	if err != nil {
		t.Fatal(err)
	}
	params := store.UpdateItem{}
	params.Values = attr.Item{":s": letters}
	updates := []store.UpdateItem{
		{Update: "REMOVE runs"},
		{Update: "REMOVE runs, bowler"},
		{Update: "REMOVE a.b"},
		{Update: "REMOVE a[0], c[1].d"},
		{Update: "DELETE tags :s", Params: params.Params},
		{Update: "DELETE a.b :s REMOVE c", Params: params.Params},
		{Update: "REMOVE runs", Condition: "attribute_not_exists(runs)"},
	}
	seq := s.Seq()
	for i, u := range updates {
		u.Table, u.Key = "balls", ball("final", 1)
		update(t, s, func(tx *store.Tx) error {
			images, err := tx.Update(u)
			if images.Old != nil || images.New != nil || images.NewSize != 0 || images.Updated().New != nil {
				t.Errorf("%s: the images are %+v", u.Update, images)
			}
			return err
		})
		update(t, s, func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{{Update: &u}}, Token: "removing" + strconv.Itoa(i)})
		})
	}
	refused := store.UpdateItem{Table: "balls", Key: ball("final", 1), Update: "REMOVE runs", Condition: "attribute_exists(runs)"}
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Update(refused)
		return err
	})
	if _, ok := err.(*store.ConditionFailedError); !ok { //nolint:errorlint // the store gives it as it is
		t.Errorf("a condition that does not hold: %v", err)
	}
	if s.Seq() != seq {
		t.Errorf("%d journal records of updates that changed nothing", s.Seq()-seq)
	}
	update(t, s, func(tx *store.Tx) error {
		got, err := tx.Get("balls", ball("final", 1))
		if got != nil {
			t.Errorf("the item is %v", got)
		}
		return err
	})
	for _, creates := range []string{"", "SET tags = :s", "ADD tags :s", "REMOVE a SET tags = :s"} {
		u := store.UpdateItem{Table: "balls", Key: ball("final", 2), Update: creates}
		if creates != "" {
			u.Params = params.Params
		}
		update(t, s, func(tx *store.Tx) error {
			images, err := tx.Update(u)
			if images.New == nil {
				t.Errorf("%q creates no item", creates)
			}
			return err
		})
		update(t, s, func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: ball("final", 2)})
			return err
		})
	}
}
