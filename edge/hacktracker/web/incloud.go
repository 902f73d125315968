package web

import (
	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// inCloud says whether all of a game is in the cloud.
func (r *call) inCloud(b *hacktracker.Book, game string) page.CloudLine {
	line, err := r.cloud.Line(b.Tx, b.Table, hacktracker.GameKey(game))
	b.Fail(err)
	return line
}

// gamesInCloud says which rows belong to a game, for the node's list of games that are not all in the cloud.
func (a *api) gamesInCloud() *operator.Games {
	return &operator.Games{
		Of: func(table string, key attr.Item) string {
			if table != a.Service.Table {
				return ""
			}
			return hacktracker.GameOf(key)
		},
		Name: func(tx *store.Tx, id string) (name, href string, err error) {
			b := a.Service.Open(tx, "")
			us, them := b.GameName(id)
			return us + " v " + them, a.look.At("/games/" + id), b.Err()
		},
	}
}
