package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/store"
)

// Own answers with a page for its reader alone, from the template kind + "-page". All readers of a topic share its stream, so such a
// page has none: refresh.js reloads the parts marked data-refresh. If the application's pages work offline, so does this one.
func Own(c *gin.Context, kind, title string, data any) error {
	body, err := framed(c, kind, title, data, "")
	return HTML(c, http.StatusOK, body, err)
}

func framed(c *gin.Context, kind, title string, data any, version string) ([]byte, error) {
	s, m := serverOf(c), appOf(c)
	f := m.Look.Own(kind, title)
	f.Nav, f.Offline, f.Node, f.Version = s.nav(c), m.offline(c), s.cfg.Store.Node(), version
	return m.Look.Framed(kind+"-page", data, f)
}

// OwnView is Own with the data that read returns. It renders the page within the transaction, so that few large pages are made at a time.
func OwnView[T any](c *gin.Context, kind, title string, read func(tx *store.Tx) (T, error)) error {
	body, err := Read(c, func(tx *store.Tx) ([]byte, error) {
		data, err := read(tx)
		if err != nil {
			return nil, err
		}
		version := versionAt(tx.Seq())
		c.Header(headerVersion, version)
		return framed(c, kind, title, data, version)
	})
	return HTML(c, http.StatusOK, body, err)
}

// Address returns the absolute URL of a path on this node, as people reach it.
func Address(c *gin.Context, path string) string { return serverOf(c).base(c.Request) + path }
