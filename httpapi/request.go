package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
)

// Request is a request to an application's route, as the route's handler gets it. A handler reads the input, then returns the response of Read,
// Write or another method, or an error:
//
//	func (h *handlers) putName(r *httpapi.Request) (httpapi.Response, error) {
//		name := r.Body().Text("name", 128)
//		return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.games.Rename(tx, r.Param("game"), name, r.User) })
//	}
//
// What is wrong with the query or the body need not be looked at: the methods that make a response refuse it before any work.
type Request struct {
	*http.Request

	Route *Route      // that the request came by
	User  string      // the caller; empty if unknown, and for the API key
	Query *bind.Query // query parameters

	// Admitted is what SignIn.Own and App.Admit have found out about the request, for the handler; nil: nothing.
	Admitted any

	gin  *gin.Context
	body *bind.Body
}

// withHandler returns a route that calls its Handle, if it has one.
func (m *mounted) withHandler(route Route) Route {
	if route.Handle != nil {
		route.Do = func(c *gin.Context) error { return m.handle(c, &route) }
	}
	return route
}

// handle answers a request to a route.
func (m *mounted) handle(c *gin.Context, route *Route) error {
	r, err := m.enter(c, route)
	if err != nil {
		return err
	}
	if route.Once {
		CountsOnce(c)
	}
	response, err := route.Handle(r)
	if err != nil {
		return err
	}
	if response.write == nil {
		return NoContent(c)
	}
	return response.write(c)
}

// say describes an entry that is handed in, and is not carried out.
func (m *mounted) say(c *gin.Context, route *Route) error {
	r, err := m.enter(c, route)
	if err != nil {
		return err
	}
	words, err := route.Say(r)
	if err == nil {
		err = r.InputErr()
	}
	if err != nil {
		return err
	}
	handingOf(c).words = words
	return NoContent(c)
}

// enter returns a request that the application admits, once the rows that it needs are here.
func (m *mounted) enter(c *gin.Context, route *Route) (*Request, error) {
	who, _ := Identity(c)
	r := requestOf(c)
	r.Route, r.User = route, who.Subject
	if m.Admit != nil {
		if err := m.Admit(r); err != nil {
			return nil, err
		}
	}
	if route.Needs == nil {
		return r, nil
	}
	return r, m.Rows.Needs(c, m.Table, func(tx *store.Tx) ([]attr.Item, error) { return route.Needs(tx, r) })
}

const keyRequest = "touchline.request"

// requestOf returns the Request of a request: SignIn.Own, App.Admit and the handler get the same one.
func requestOf(c *gin.Context) *Request {
	r, _ := c.Value(keyRequest).(*Request)
	if r == nil {
		r = &Request{Query: bind.Parameters(c.Request), gin: c}
		c.Set(keyRequest, r)
	}
	r.Request = c.Request // which may have got another context
	return r
}

// Param returns a parameter of the path; empty if the route has none of this name.
func (r *Request) Param(name string) string { return r.gin.Param(name) }

// Params returns the values of all parameters of the path.
func (r *Request) Params() (values []string) {
	for _, p := range r.gin.Params {
		values = append(values, p.Value)
	}
	return values
}

// Body returns the request's JSON object, and reads it at the first call.
func (r *Request) Body() *bind.Body {
	if r.body == nil {
		r.body = Body(r.gin)
	}
	return r.body
}

// RawBody returns the request's body, for routes that take no JSON object.
func (r *Request) RawBody() ([]byte, error) { return bind.Raw(r.gin) }

// InputErr reports what is wrong with the query and the body, as far as they were read.
func (r *Request) InputErr() error {
	if err := r.Query.Err(); err != nil {
		return err
	}
	if r.body == nil {
		return nil
	}
	return r.body.Err()
}

// Caller returns the user whose rows the request is about. The API key is not a user and gets an error.
func (r *Request) Caller() (string, error) { return Subject(r.gin) }

// Identity returns how the caller was identified; zero on public routes.
func (r *Request) Identity() auth.Identity {
	who, _ := Identity(r.gin)
	return who
}

// Key returns the Idempotency-Key; empty: there is none.
func (r *Request) Key() (string, error) { return IdempotencyKey(r.gin) }

// OccurredAt returns when the event that the request reports happened, given the time of the transaction.
func (r *Request) OccurredAt(now time.Time) (time.Time, error) { return OccurredAt(r.gin, now) }

// Handed returns whose entry is handed in; ok is false for an ordinary request.
func (r *Request) Handed() (of HandedIn, ok bool) { return Handed(r.gin) }

// OnceScope returns the scope of the request's Idempotency-Key, and those in which it may have been recorded before, as the function OnceScope does.
func (r *Request) OnceScope(own string) (scope string, former []string) { return OnceScope(r.gin, own) }

// GuestID returns the anonymous id in the browser's cookie, or sets a new one.
func (r *Request) GuestID() (string, error) { return GuestID(r.gin) }

// KnownGuest returns the anonymous id in the browser's cookie; empty: there is none.
func (r *Request) KnownGuest() string { return KnownGuest(r.gin) }

// Device returns the hash of the id of the device that sends the request; empty: it has none.
func (r *Request) Device() string { return Device(r.gin) }

// Waiting returns how many entries wait on the device, if it says so.
func (r *Request) Waiting() (n int, known bool) { return Waiting(r.gin) }

// Address returns the absolute URL of a path on this node, as people reach it.
func (r *Request) Address(path string) string { return Address(r.gin, path) }

// SyncStatus returns the state of the replication.
func (r *Request) SyncStatus() (operator.SyncStatus, error) { return SyncStatus(r.gin) }

// CheckLimit counts the request against a limit that Limit has made, and returns an error beyond it.
func (r *Request) CheckLimit(limit Handler) error { return limit(r.gin) }

// CheckOwnPage refuses a request that a browser sent on behalf of another origin's page.
func (r *Request) CheckOwnPage() error { return serverOf(r.gin).ownPage(r.Request) }

// CheckReady returns an error while the node is not ready, for applications with a readiness route of their own.
func (r *Request) CheckReady() error { return serverOf(r.gin).checkReady(r.Context()) }

// Node returns the node's own status.
func (r *Request) Node() operator.NodeStatus { return serverOf(r.gin).nodeStatus() }

// NodeState returns the node's state, including what each application reports.
func (r *Request) NodeState() (operator.State, error) {
	return serverOf(r.gin).operatorState(r.Context())
}

// ClearCache drops all cached pages and stream snapshots of the application.
func (r *Request) ClearCache() {
	m := appOf(r.gin)
	m.views.clear()
	m.snapshots.clear()
}

// CachedCounts returns how many pages and stream snapshots of the application are cached.
func (r *Request) CachedCounts() (pages, snapshots int) {
	m := appOf(r.gin)
	return m.views.count(), m.snapshots.count()
}

// LogError adds an error to the request's line in the access log, for a handler that answers with something else than the error.
func (r *Request) LogError(err error) { _ = r.gin.Error(err) }

// SetHeader sets a header of the response.
func (r *Request) SetHeader(name, value string) { r.gin.Header(name, value) }

// Fetch fetches rows of the application's table that another node may have written. On a node without a cloud it does nothing.
func (r *Request) Fetch(keys ...attr.Item) error {
	m := appOf(r.gin)
	return m.Rows.Keys(r.gin, m.Table, keys...)
}

// FetchNeeds is Fetch for rows that depend on others, or on the input: needs names them as Route.Needs does.
func (r *Request) FetchNeeds(needs func(tx *store.Tx) ([]attr.Item, error)) error {
	if err := r.InputErr(); err != nil {
		return err
	}
	m := appOf(r.gin)
	return m.Rows.Needs(r.gin, m.Table, needs)
}

// View runs do in a read transaction, as the function View does.
func (r *Request) View(do func(tx *store.Tx) error) error { return View(r.gin, do) }

// Update runs do in a write transaction, as the function Update does.
func (r *Request) Update(do func(tx *store.Tx) error) error { return Update(r.gin, do) }

// Read answers with the value that read returns, as JSON.
func (r *Request) Read(read func(tx *store.Tx) (any, error)) (Response, error) {
	if err := r.InputErr(); err != nil {
		return Response{}, err
	}
	body, err := encodedView(r.gin, read)
	return Response{write: func(c *gin.Context) error {
		writeTagged(c, jsonType, body)
		return nil
	}}, err
}

// Write makes a change, and answers with status and the value that change returns, as JSON; without a value, with 204. It makes the change of an entry
// of a page once, as long as the node knows that, and answers a repetition with 204.
func (r *Request) Write(status int, change func(tx *store.Tx) (any, error)) (Response, error) {
	if err := r.InputErr(); err != nil {
		return Response{}, err
	}
	out, err := Change(r.gin, once(r.gin, r.body, func() bool { return status >= http.StatusBadRequest }, change))
	switch {
	case err != nil:
		return Response{}, err
	case out == nil:
		return Response{}, nil
	}
	return Reply(status, out)
}

// WriteOnce makes a change once per Idempotency-Key, as UpdateOnce does: row is that of the key, nil if there is none. It answers with what show
// returns, given the ids of the records that the first request with the key created. A repetition by another user, with the same device, is answered
// with 204: what the first one made may be that user's own.
func (r *Request) WriteOnce(
	row *idempotency.Row,
	change func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error),
	show func(tx *store.Tx, ids map[string]string) (any, error),
) (Response, error) {
	if err := r.InputErr(); err != nil {
		return Response{}, err
	}
	out, err := UpdateOnce(r.gin, row, change)
	if err != nil {
		return Response{}, err
	}
	if out.Status == http.StatusNoContent || out.Repeated && row != nil && !row.IsBy(out) {
		return Response{}, nil
	}
	answer, err := Read(r.gin, func(tx *store.Tx) (any, error) { return show(tx, out.IDs) })
	if err != nil {
		return Response{}, err
	}
	return Reply(out.Status, answer)
}

// Page answers with a page for its reader alone: the template kind + "-page" with the data that read returns.
func (r *Request) Page(kind, title string, read func(tx *store.Tx) (any, error)) (Response, error) {
	if err := r.InputErr(); err != nil {
		return Response{}, err
	}
	body, err := renderView(r.gin, kind, title, read)
	return Response{write: func(c *gin.Context) error { return HTML(c, http.StatusOK, body, nil) }}, err
}

// TopicPage answers with the page of a topic, which then follows its stream.
func (r *Request) TopicPage(topic string) (Response, error) { return r.TopicPageAs(topic, "") }

// TopicPageAs is TopicPage in another layout, as the function PageAs says.
func (r *Request) TopicPageAs(topic, kind string) (Response, error) {
	return Response{write: func(c *gin.Context) error { return PageAs(c, topic, kind) }}, r.InputErr()
}

// Stream answers with a topic's changes as server-sent events; kind is a metrics label.
func (r *Request) Stream(kind, topic string) (Response, error) {
	return Response{write: func(c *gin.Context) error { return Stream(c, kind, topic) }}, r.InputErr()
}

// StreamOf is Stream for a reader who receives only some of the topic's frames, as the function StreamOf says.
func (r *Request) StreamOf(kind, topic string, concerns func(tx *store.Tx) ([]string, error)) (Response, error) {
	return Response{write: func(c *gin.Context) error { return StreamOf(c, kind, topic, concerns) }}, r.InputErr()
}
