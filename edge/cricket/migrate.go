package cricket

import (
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// MovePushState moves what the pushing remembers out of DisplayStateCache, where it lay at first, into TablePushState.
func MovePushState(tx *store.Tx) error {
	var rows []attr.Item
	for item, err := range tx.ScanAll(store.Scan{Table: TableDisplay}) {
		if err != nil {
			return err
		}
		if key := item["cacheKey"].Str(); key == ProviderKey || strings.HasPrefix(key, PushKey("")) {
			rows = append(rows, item)
		}
	}
	for _, item := range rows {
		key := item["cacheKey"]
		if _, err := tx.Delete(store.DeleteItem{Table: TableDisplay, Key: attr.Item{"cacheKey": key}}); err != nil {
			return err
		}
		delete(item, "cacheKey")
		item["stateKey"] = key
		if _, err := tx.Put(store.PutItem{Table: TablePushState, Item: item}); err != nil {
			return err
		}
	}
	return nil
}

// SessionExpiry is how long a session of a match is kept where nobody says: as long as a follow of it.
func SessionExpiry(fx *Fixture) time.Time { return followExpiry(fx) }

// TokenOf normalises a token of Apple's; false where the text is none.
func TokenOf(text string) (token string, ok bool) {
	text = strings.TrimSpace(text)
	return strings.ToLower(text), validToken("token", text) == nil
}
