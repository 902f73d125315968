package web

import (
	"net/url"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// gamesInCloud says which rows belong to a game, for the node's list of games that are not all in the cloud.
func (h *handlers) gamesInCloud() *operator.Games {
	return &operator.Games{
		Of: func(table string, key attr.Item) string {
			if table != h.Service.Table {
				return ""
			}
			return threefc.GameOf(key)
		},
		Name: func(tx *store.Tx, id string) (name, href string, err error) {
			g, err := h.readShown(tx, id)
			if err != nil {
				return "", "", err
			}
			return g.Title + ", " + g.Line(), h.look.At("/games/" + url.PathEscape(id) + "/results"), nil
		},
	}
}
