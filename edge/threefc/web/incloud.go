package web

import (
	"net/url"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// gamesInCloud says which rows belong to a game, for the node's list of games that are not all in the cloud.
func (a *api) gamesInCloud() *operator.Games {
	return &operator.Games{
		Of: func(table string, key attr.Item) string {
			if table != a.Service.Table {
				return ""
			}
			return threefc.GameOf(key)
		},
		Name: func(tx *store.Tx, id string) (name, href string, err error) {
			g, err := a.readShown(tx, id)
			if err != nil {
				return "", "", err
			}
			return g.Title + ", " + g.Line(), a.look.At("/games/" + url.PathEscape(id) + "/results"), nil
		},
	}
}
