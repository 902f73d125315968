package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/page"
)

// Response is what a request is answered with. The zero value is 204 No Content.
type Response struct{ write Handler }

// Reply answers a change with status and v as JSON.
func Reply(status int, v any) (Response, error) {
	body, err := json.Marshal(v)
	return Response{write: func(c *gin.Context) error { return Answer(c, status, json.RawMessage(body), nil) }}, err
}

// ReplyTagged answers a read with v as JSON and its ETag, as Read does: for values that are not read in a transaction of the request.
func ReplyTagged(v any) (Response, error) {
	body, err := encode(v)
	return Response{write: func(c *gin.Context) error {
		writeTagged(c, jsonType, body)
		return nil
	}}, err
}

// ReplyHTML answers with a page that must not be cached.
func ReplyHTML(status int, body []byte) (Response, error) {
	return Response{write: func(c *gin.Context) error { return HTML(c, status, body, nil) }}, nil
}

// ReplyBarePage answers with a page of one part and no stream.
func ReplyBarePage(status int, view page.View) (Response, error) {
	return Response{write: func(c *gin.Context) error {
		body, err := appOf(c).Look.Bare(view, serverOf(c).nav(c))
		return HTML(c, status, body, err)
	}}, nil
}

// ReplySeeOther sends a browser to another path of the node.
func ReplySeeOther(path string) (Response, error) {
	return Response{write: func(c *gin.Context) error {
		c.Redirect(http.StatusSeeOther, path)
		return nil
	}}, nil
}

// ReplyText answers with a plain text.
func ReplyText(text string) (Response, error) {
	return Response{write: func(c *gin.Context) error {
		c.String(http.StatusOK, "%s", text)
		return nil
	}}, nil
}

// ReplyCSV answers with a table as a file download. Cells that a spreadsheet would run as a formula are marked as text.
func ReplyCSV(name string, rows [][]string) (Response, error) {
	return Response{write: func(c *gin.Context) error { return CSV(c, name, rows) }}, nil
}
