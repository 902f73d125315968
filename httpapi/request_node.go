package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// Client returns a key for the client's address, as the function Client does.
func (r *Request) Client() string { return Client(r.gin) }

// SetCookie sets a cookie of the application.
func (r *Request) SetCookie(cookie *http.Cookie) { http.SetCookie(r.gin.Writer, cookie) }

// ForgetPages has the browser forget the pages that it keeps, since its user signs out.
func (r *Request) ForgetPages() { ForgetPages(r.gin) }

// Conflicts lists refused writes, newest first. Without a cloud there are none.
func (r *Request) Conflicts(q conflict.Query) ([]conflict.View, error) { return Conflicts(r.gin, q) }

// Conflict returns one conflict with its writes.
func (r *Request) Conflict(id uint64) (conflict.View, error) { return Conflict(r.gin, id) }

// Decide applies a decision, "retry" or "discard", to a conflict. The handler must have checked that the caller may decide.
func (r *Request) Decide(id uint64, verb string) (conflict.View, error) {
	return Decide(r.gin, id, verb)
}

// ReadPublic is Read for an answer that is the same for everybody, and kept until something is committed: it depends on nothing but the address
// and the store.
func (r *Request) ReadPublic(read func(tx *store.Tx) (any, error)) (Response, error) {
	return Response{write: func(c *gin.Context) error { return AnswerPublic(c, read) }}, r.InputErr()
}

// PageWith is Page with data that the handler has already. The page has no version.
func (r *Request) PageWith(kind, title string, data any) (Response, error) {
	return Response{write: func(c *gin.Context) error { return AnswerOwnPage(c, kind, title, data) }}, r.InputErr()
}
