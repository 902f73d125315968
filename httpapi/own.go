package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/store"
)

// Own answers with a page that is its reader's alone, of the template kind + "-page". It has no stream, which all readers of a topic
// share: its parts with data-refresh are asked for again (refresh.js). It works while the node is away where the application's pages do.
func Own(c *gin.Context, kind, title string, data any) error {
	m := appOf(c)
	f := m.Look.Own(kind, title)
	f.Nav, f.Offline = serverOf(c).nav(c), m.offline(c)
	body, err := m.Look.Framed(kind+"-page", data, f)
	return HTML(c, http.StatusOK, body, err)
}

// OwnView answers with such a page of what is read.
func OwnView[T any](c *gin.Context, kind, title string, read func(tx *store.Tx) (T, error)) error {
	data, err := Read(c, read)
	if err != nil {
		return err
	}
	return Own(c, kind, title, data)
}

// Address is that of a path at this node, as people reach it: for others to follow.
func Address(c *gin.Context, path string) string { return serverOf(c).base(c.Request) + path }
