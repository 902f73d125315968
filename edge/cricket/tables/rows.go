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
	"github.com/touchline/touchline/store/table"
)

// Limits of one request, in DynamoDB and so here.
const (
	batchGetMax   = 100
	BatchWriteMax = 25 // of a store.BatchWrite
)

// MatchKey returns the key of a match in tables with one row per match.
func MatchKey(id string) attr.Item { return attr.Item{"matchId": attr.S(id)} }

// MatchKeys returns the sorted, distinct keys of matches, without empty ids.
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

// OfMatch returns a query for the rows of a match.
func OfMatch(table, matchID string) store.Query {
	return store.Query{
		Table: table, KeyCondition: "matchId = :m",
		Params: expr.Params{Values: attr.Item{":m": attr.S(matchID)}},
	}
}

// Decode decodes the rows of a table. It skips and notes one that cannot be decoded: other programs write these tables too, and one bad row must
// not stop a match, or all of them.
func Decode[T any](tx *store.Tx, name string, items iter.Seq2[attr.Item, error]) (all []T, err error) {
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		all = appendDecoded(tx, name, all, item)
	}
	return all, nil
}

// DecodeAll is Decode for a slice.
func DecodeAll[T any](tx *store.Tx, name string, items []attr.Item) (all []T) {
	for _, item := range items {
		all = appendDecoded(tx, name, all, item)
	}
	return all
}

func appendDecoded[T any](tx *store.Tx, name string, all []T, item attr.Item) []T {
	var one T
	if err := table.Unmarshal(item, &one); err != nil {
		tx.NoteUnreadable(name, item, err)
		return all
	}
	return append(all, one)
}

// Get decodes a row; missing is the error if there is none, and may be nil. A row that cannot be decoded is noted and is an error: a decision
// must not treat it as missing.
func Get[T any](tx *store.Tx, name string, key attr.Item, missing error) (row T, err error) {
	item, err := tx.Get(name, key)
	switch {
	case err != nil:
		return row, err
	case item == nil:
		return row, missing
	}
	return row, Unmarshal(tx, name, item, &row)
}

// Unmarshal decodes a row that is needed. If it cannot be decoded, it is noted and the error says so.
func Unmarshal(tx *store.Tx, name string, item attr.Item, into any) error {
	err := table.Unmarshal(item, into)
	if err == nil {
		return nil
	}
	tx.NoteUnreadable(name, item, err)
	return table.Unreadable("row of the table "+name, err)
}

// GetAll reads items by key, a hundred at a time, and repeats keys that a batch left unprocessed. Missing items are left out.
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

// Unless returns the error of a write, nil if only its condition failed: another write has overtaken it.
func Unless(err error) error {
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// Missing returns the keys without an item in this store.
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

// PutAll writes items in batches of twenty-five.
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

// SetAttributes writes the attributes of next that differ from the row's, if the row exists. Other attributes
// stay. It reports whether anything was written.
func SetAttributes(tx *store.Tx, table string, key, old, next attr.Item) (changed bool, err error) {
	return GrowAttributes(tx, table, key, old, next, attr.Value{})
}

// GrowAttributes is SetAttributes and also adds names, a set of strings or zero, to the names that an admin has set. It
// adds them instead of writing the whole set, so that additions of two nodes are both kept. Rows of earlier versions have a
// list, which grows likewise.
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
