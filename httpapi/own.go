package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/page"
)

// Own answers with a page that is its reader's alone, of the template kind + "-page". It has no stream, which all readers of a topic
// share: its parts with data-refresh are asked for again (refresh.js). It works while the node is away where the application's pages do.
func Own(c *gin.Context, kind, title string, data any) error {
	m := appOf(c)
	f := page.Frame{Title: title, Body: kind, Styles: []string{"extra.css"}, Module: "refresh.js", Nav: serverOf(c).nav(c), Offline: m.offline(c)}
	body, err := m.Look.Framed(kind+"-page", data, f)
	return HTML(c, http.StatusOK, body, err)
}
