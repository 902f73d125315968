package tables

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// What one request of each kind may have, in DynamoDB and so here.
const (
	batchGetMax   = 100
	BatchWriteMax = 25 // the writes of a store.BatchWrite
)

// MatchKey is the key of a match, in every table that has one row for each.
func MatchKey(id string) attr.Item { return attr.Item{"matchId": attr.S(id)} }

// MatchKeys are the keys of matches, each once and in order; an empty id is none.
func MatchKeys(ids []string) []attr.Item {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	keys := make([]attr.Item, 0, len(ids))
	for _, id := range ids {
		if id != "" {
			keys = append(keys, MatchKey(id))
		}
	}
	return keys
}

// OfMatch selects the rows of a match.
func OfMatch(table, matchID string) store.Query {
	return store.Query{
		Table: table, KeyCondition: "matchId = :m",
		Params: expr.Params{Values: attr.Item{":m": attr.S(matchID)}},
	}
}

// Decode returns what the items of a walk stand for. An item that is not as this version writes it is passed over:
// others write these tables too, and one bad row must not stop a match, or all of them.
func Decode[T any](items iter.Seq2[attr.Item, error]) (all []T, err error) {
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		var one T
		if attr.Unmarshal(item, &one) == nil {
			all = append(all, one)
		}
	}
	return all, nil
}

// Decoded is Decode of items that have been read.
func Decoded[T any](items []attr.Item) (all []T) {
	for _, item := range items {
		var one T
		if attr.Unmarshal(item, &one) == nil {
			all = append(all, one)
		}
	}
	return all
}

// One decodes a row; missing is the error where there is none. A row that is not as this version writes it is as
// good as none: others write these tables too.
func One[T any](tx *store.Tx, table string, key attr.Item, missing error) (row T, err error) {
	item, err := tx.Get(table, key)
	if err != nil {
		return row, err
	}
	if item == nil || attr.Unmarshal(item, &row) != nil {
		var none T
		return none, missing
	}
	return row, nil
}

// Get decodes a row; missing is what is returned where there is none, and may be nil. A row that cannot be decoded is an error:
// what is decided by it must not be decided as if it were not there.
func Get[T any](tx *store.Tx, table string, key attr.Item, missing error) (row T, err error) {
	item, err := tx.Get(table, key)
	switch {
	case err != nil:
		return row, err
	case item == nil:
		return row, missing
	default:
		return row, attr.Unmarshal(item, &row)
	}
}

// GetAll reads items by their keys, a hundred at a time, and asks again for what a batch had no room for. What is not
// there is left out.
func GetAll(tx *store.Tx, table string, keys []attr.Item) (items []attr.Item, err error) {
	for some := range slices.Chunk(keys, batchGetMax) {
		ask := store.BatchGet{table: {Keys: some}}
		for ask != nil {
			got, err := tx.BatchGet(ask)
			if err != nil {
				return nil, err
			}
			items = append(items, got.Items[table]...)
			ask = got.Unprocessed
		}
	}
	return items, nil
}

// Unless is the error of a write, but for that of a condition that does not hold any more: something else has overtaken it.
func Unless(err error) error {
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// Missing returns those of the keys that have no item here.
func Missing(tx *store.Tx, table string, keys []attr.Item) (out []attr.Item, err error) {
	for _, key := range keys {
		item, err := tx.Get(table, key)
		if err != nil {
			return nil, err
		}
		if item == nil {
			out = append(out, key)
		}
	}
	return out, nil
}

// PutAll writes items twenty-five at a time.
func PutAll(tx *store.Tx, table string, items []attr.Item) error {
	for some := range slices.Chunk(items, BatchWriteMax) {
		var puts []store.WriteRequest
		for _, item := range some {
			puts = append(puts, store.WriteRequest{Put: item})
		}
		if err := tx.BatchWrite(store.BatchWrite{table: puts}); err != nil {
			return err
		}
	}
	return nil
}

// SetAttributes writes the attributes of next that the row has otherwise, on the condition that the row is there.
// Attributes that next does not have stay, those of others among them. It reports whether anything was written.
func SetAttributes(tx *store.Tx, table string, key, old, next attr.Item) (changed bool, err error) {
	return GrowAttributes(tx, table, key, old, next, attr.Value{})
}

// GrowAttributes is SetAttributes that also adds names, a set of strings or none, to those that an admin has set. It
// says what is added and not what there is then, so that the names that two nodes give at once are both there in the
// end. Rows of earlier versions have a list, which grows as one.
func GrowAttributes(tx *store.Tx, table string, key, old, next attr.Item, names attr.Value) (changed bool, err error) {
	u := store.UpdateItem{Table: table, Key: key, Params: expr.Params{Names: map[string]string{}, Values: attr.Item{}}}
	var set []string
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if _, isKey := key[name]; isKey || attr.Equal(old[name], next[name]) {
			continue
		}
		p := fmt.Sprintf("a%d", len(u.Names))
		u.Names["#"+p], u.Values[":"+p] = name, next[name]
		set = append(set, "#"+p+" = :"+p)
	}
	add := ""
	switch {
	case names.IsZero():
	case old[AdminFields].Kind() == attr.KindL:
		if u.Values[":by"], err = attr.MarshalValue(names.Strs()); err != nil {
			return false, err
		}
		u.Names["#by"] = AdminFields
		set = append(set, "#by = list_append(#by, :by)")
	default:
		u.Names["#by"], u.Values[":by"] = AdminFields, names
		add = "#by :by"
	}
	if len(set) == 0 && add == "" {
		return false, nil
	}
	u.Update = expr.Clauses{Set: strings.Join(set, ", "), Add: add}.String()
	u.Condition, u.Names["#k"] = "attribute_exists(#k)", slices.Sorted(maps.Keys(key))[0]
	_, err = tx.Update(u)
	return err == nil, err
}

// AdminFields is the attribute with the names of the attributes that an admin has set.
const AdminFields = "adminFields"
