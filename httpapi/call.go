package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Call is a request to an application's route.
type Call struct {
	*gin.Context

	User   string                                  // the caller; empty if unknown, and for the API key
	Query  *bind.Query                             // query parameters
	Needs  func(tx *store.Tx) ([]attr.Item, error) // rows that another node may have written, to fetch before the work; nil: none
	Status int                                     // of the response to a change; 200 if not set
	Kind   string                                  // of the page to answer with, as for Own; empty: JSON
	Title  string                                  // of the page
	Same   bool                                    // the answer to a read is the same for everybody (AnswerPublic)

	body *bind.Body
}

// Work reads what a request asks for, or makes the change that it asks for, and returns the value to answer with. A change without a value
// is answered with 204.
type Work func(tx *store.Tx) (any, error)

// Route returns a route. do reads the input and returns the work to do if that is valid; nil, if do has answered itself. An error of do's
// own comes before those of query and body. e fetches the rows of table that the work needs.
func (e Ensure) Route(table, method, path string, a Access, do func(c *Call) (Work, error)) Route {
	return Route{Method: method, Path: path, Access: a, Stream: strings.HasSuffix(path, "/stream"), Do: func(g *gin.Context) error {
		who, _ := Identity(g)
		c := &Call{Context: g, User: who.Subject, Query: bind.Parameters(g.Request), Status: http.StatusOK}
		work, err := do(c)
		if err != nil || work == nil {
			return err
		}
		if err = c.Query.Err(); err == nil && c.body != nil {
			err = c.body.Err()
		}
		if err == nil && c.Needs != nil {
			err = e.Needs(g, table, c.Needs)
		}
		switch {
		case err != nil:
			return err
		case c.Kind != "":
			return OwnView(g, c.Kind, c.Title, work)
		case method == http.MethodGet && c.Same:
			return AnswerPublic(g, work)
		case method == http.MethodGet:
			return AnswerView(g, work)
		}
		out, err := Change(g, once(g, c.body, func() bool { return c.Status >= http.StatusBadRequest }, work))
		if err == nil && out == nil {
			return NoContent(g)
		}
		return Answer(g, c.Status, out, err)
	}}
}

// Body returns the request's JSON object, and reads it at the first call.
func (c *Call) Body() *bind.Body {
	if c.body == nil {
		c.body = Body(c.Context)
	}
	return c.body
}
