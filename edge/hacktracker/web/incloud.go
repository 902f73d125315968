package web

import (
	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// gamesInCloud says which rows belong to a game, for the node's list of games that are not all in the cloud.
func (h *handlers) gamesInCloud() *operator.Games {
	return &operator.Games{
		Of: func(table string, key attr.Item) string {
			if table != h.scorebook.Table {
				return ""
			}
			return hacktracker.GameOf(key)
		},
		Name: func(tx *store.Tx, id string) (name, href string, err error) {
			b := h.scorebook.Open(tx, "")
			us, them := b.GameName(id)
			return us + " v " + them, h.look.At("/games/" + id), b.Err()
		},
	}
}
