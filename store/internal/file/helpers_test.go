package file_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/touchline/touchline/store/storetest"

	"github.com/touchline/touchline/store"
)

// wide leaves the given number of free pages in the file.
func wide(t testing.TB, s *store.Store, pages int) {
	t.Helper()
	size := os.Getpagesize()
	text := strings.Repeat("x", 60*size)
	count := pages/60 + 20
	for from := 0; from < count; from += 64 {
		storetest.Update(t, s, func(tx *store.Tx) error {
			for n := from; n < min(from+64, count); n++ {
				if _, err := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", fmt.Sprint(n), "text", text)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	storetest.Update(t, s, func(tx *store.Tx) error {
		for n := range count {
			if _, err := tx.Delete(store.DeleteItem{Table: "matches", Key: storetest.Item("match", fmt.Sprint(n))}); err != nil {
				return err
			}
		}
		return nil
	})
	for range 50 { // each commit trims a slice of the journal
		storetest.Put(t, s, "matches", storetest.Item("match", "last"))
	}
}
