package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/store"
)

// Own answers with a page for its reader alone, of the template kind + "-page". It has no stream, which all readers of a topic
// would share: refresh.js fetches its parts with data-refresh again. It works while the node cannot be reached if the
// application's pages do.
func Own(c *gin.Context, kind, title string, data any) error {
	m := appOf(c)
	f := m.Look.Own(kind, title)
	f.Nav, f.Offline = serverOf(c).nav(c), m.offline(c)
	body, err := m.Look.Framed(kind+"-page", data, f)
	return HTML(c, http.StatusOK, body, err)
}

// OwnView is Own with data that read returns.
func OwnView[T any](c *gin.Context, kind, title string, read func(tx *store.Tx) (T, error)) error {
	data, err := Read(c, read)
	if err != nil {
		return err
	}
	return Own(c, kind, title, data)
}

// Address returns the absolute address of a path at this node, as people reach it, for links.
func Address(c *gin.Context, path string) string { return serverOf(c).base(c.Request) + path }
