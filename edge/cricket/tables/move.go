package tables

import (
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// MovePushState moves push state out of DisplayStateCache, where earlier versions kept it, into PushState.
func MovePushState(tx *store.Tx) error {
	var rows []attr.Item
	for item, err := range tx.ScanAll(store.Scan{Table: Display}) {
		if err != nil {
			return err
		}
		if key := item["cacheKey"].Str(); key == ProviderKey || strings.HasPrefix(key, PushKey("")) {
			rows = append(rows, item)
		}
	}
	for _, item := range rows {
		key := item["cacheKey"]
		if _, err := tx.Delete(store.DeleteItem{Table: Display, Key: attr.Item{"cacheKey": key}}); err != nil {
			return err
		}
		delete(item, "cacheKey")
		item["stateKey"] = key
		if _, err := tx.Put(store.PutItem{Table: PushState, Item: item}); err != nil {
			return err
		}
	}
	return nil
}
