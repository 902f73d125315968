package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
)

type work = httpapi.Work

// request is a request with its subject and effects. User is the address of the signed-in user.
type request struct {
	*httpapi.Call
	api    *api
	signIn *threefc.SignIn // nil if nobody is signed in
	secret string          // of the session that a sign-in begins
	proof  func(tx *store.Tx) (string, error)
	of     threefc.Scope // subject of the route
	league string        // league of the subject, for routes that need a role
	given  string        // code in the path
	wants  []attr.Item   // rows to fetch before a write, which another node may have created
	madeBy string        // who made the entry that the user hands in; empty: the user

	ids  *threefc.IDs      // for the records that a write creates
	made map[string]string // ids of the created records
}

// need fetches rows that another node may have written.
func (r *request) need(keys ...attr.Item) error {
	return r.api.Ensure.Keys(r.Context, r.api.Service.Table, keys...)
}

// code reads the code in the path, and fetches the record that it leads to as the request's subject. An invalid code is not found.
func (r *request) code(what string, row func(code string) attr.Item, leads func(tx *store.Tx, code string) (threefc.Scope, error)) (err error) {
	var ok bool
	if r.given, ok = threefc.CodeOf(r.Param("code")); !ok {
		return fault.New(fault.NotFound, "", "%s was not found.", what)
	}
	if err = r.need(row(r.given)); err != nil {
		return err
	}
	if r.of, err = httpapi.Read(r.Context, func(tx *store.Tx) (threefc.Scope, error) { return leads(tx, r.given) }); err != nil {
		return err
	}
	return r.need(threefc.Partition(r.of))
}

func (r *request) joins() error { return r.code("Join code", threefc.JoinKey, r.api.Service.Joins) }

func (r *request) checkInvite() error {
	return r.code("Invite", threefc.InviteKey, r.api.Service.InvitedScope)
}

// signedIn identifies the user by the cookie.
func (r *request) signedIn() error {
	cookie, err := r.Request.Cookie(cookieName)
	if err != nil || !threefc.IsID(cookie.Value) {
		return fault.New(fault.Unauthorized, "unauthorized", "Valid session cookie required.")
	}
	if err := r.need(threefc.SessionKeys(cookie.Value)...); err != nil {
		return err
	}
	r.signIn, err = httpapi.Read(r.Context, func(tx *store.Tx) (*threefc.SignIn, error) { return r.api.Service.SignedIn(tx, cookie.Value) })
	if err == nil {
		r.User = r.signIn.Email
	}
	return err
}

// beginSession returns the secret for the cookie of the session that the request begins. A repeated request gets the same one.
func (r *request) beginSession(tx *store.Tx) (string, error) {
	if r.secret != "" {
		return r.secret, nil
	}
	proof, err := r.proof(tx)
	r.secret = threefc.SessionSecret(proof, r.ids.Seed)
	return r.secret, err
}

// checkRole fetches the route's subject up to its league, and refuses users without the required role there.
func (r *request) checkRole(who level) error {
	if err := r.fetch(); err != nil {
		return err
	}
	if who == mailed && r.signIn.ByCode {
		return threefc.NeedsMail()
	}
	role := roles[who]
	if role == "" {
		return nil
	}
	return httpapi.View(r.Context, func(tx *store.Tx) (err error) {
		if r.league, err = r.api.Service.LeagueOf(tx, r.of); err != nil {
			return err
		}
		return r.api.Service.AllowSession(tx, r.league, r.signIn, role)
	})
}

// fetch fetches the route's subject and its parents.
func (r *request) fetch() error {
	var keys []attr.Item
	for _, kind := range []string{"player", "league", "season", "session", "game"} {
		id := r.Param(kind)
		switch {
		case id == "":
			continue
		case !threefc.IsID(id):
			return fault.New(fault.NotFound, "", "There is nothing at this address.")
		}
		r.of = threefc.Scope{Kind: kind, ID: id}
		keys = append(keys, threefc.Partition(r.of))
	}
	return r.api.Ensure.Needs(r.Context, r.api.Service.Table, func(tx *store.Tx) ([]attr.Item, error) {
		above, err := r.api.Service.ParentsOf(tx, r.of)
		return slices.Concat(keys, above), err
	})
}

// isAdmin reports whether the user is an admin of the league.
func (r *request) isAdmin(tx *store.Tx) bool {
	return r.signIn != nil && r.api.Service.AllowSession(tx, r.league, r.signIn, threefc.RoleAdmin) == nil
}

// reads handles a read and answers with its result.
func reads(read func(tx *store.Tx, r *request) (any, error)) func(r *request) (work, error) {
	return func(r *request) (work, error) {
		return func(tx *store.Tx) (any, error) { return read(tx, r) }, nil
	}
}

// one answers with the route's subject.
func one[T any](read func(tx *store.Tx, id string) (T, error)) func(r *request) (work, error) {
	return reads(func(tx *store.Tx, r *request) (any, error) { return read(tx, r.of.ID) })
}

// lists answers with a list that belongs to the route's subject, under name.
func lists[T any](name string, read func(tx *store.Tx, id string) ([]T, error)) func(r *request) (work, error) {
	return reads(func(tx *store.Tx, r *request) (any, error) {
		all, err := read(tx, r.of.ID)
		return wrapList(name, all), err
	})
}

// listsPage answers with a page of a list that belongs to the route's subject, under name.
func listsPage[T any](name string, read func(tx *store.Tx, id string, page threefc.ListPage) ([]T, string, error)) func(r *request) (work, error) {
	return func(r *request) (work, error) {
		page := r.listPage(wholeList)
		return func(tx *store.Tx) (any, error) {
			all, next, err := read(tx, r.of.ID, page)
			return addCursor(wrapList(name, all), next), err
		}, nil
	}
}

// wrapList wraps a list under its name; nil becomes empty.
func wrapList[T any](name string, all []T) map[string]any {
	if all == nil {
		all = []T{}
	}
	return map[string]any{name: all}
}

// writes handles a write, once per Idempotency-Key. read decodes the whole body into T, by which a repeated request is recognized. show
// returns the response body; a 204 has none.
func writes[T any](status int, read func(r *request, b *bind.Body) (T, error), plan func(tx *store.Tx, r *request, in T) (threefc.Change, error), show func(tx *store.Tx, r *request) (any, error)) func(r *request) (work, error) {
	return func(r *request) (work, error) {
		r.Status = status
		in, err := read(r, r.Body())
		if err = cmp.Or(err, r.Body().Err()); err == nil {
			err = r.need(r.wants...)
		}
		if err != nil {
			return nil, err
		}
		row, err := r.onceRow(in)
		if err != nil {
			return nil, err
		}
		seed := *r.ids
		return nil, httpapi.AnswerOnce(r.Context, row, func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error) {
			ids := seed
			r.ids = &ids
			c, err := plan(tx, r, in)
			return idempotency.Outcome{Status: r.Status, IDs: c.IDs, At: c.At}, c.Writes, err
		}, func(tx *store.Tx, ids map[string]string) (any, error) {
			r.made = ids
			return show(tx, r)
		})
	}
}

// onceRow returns the row of the request's Idempotency-Key, or nil if it has none. The ids of created records derive from the key.
func (r *request) onceRow(in any) (*idempotency.Row, error) {
	r.ids = &threefc.IDs{}
	key, err := httpapi.IdempotencyKey(r.Context)
	if err != nil || key == "" {
		return nil, err
	}
	route := r.Request.Method + ":" + strings.TrimPrefix(r.Request.URL.Path, r.api.mount)
	scope, former := r.User+":"+route, []string(nil)
	if r.User != "" {
		scope, former = httpapi.OnceScope(r.Context, scope)
	}
	row := &idempotency.Row{Table: r.api.Service.Table, Key: threefc.OnceKey(scope, key), Node: r.api.Node}
	if row.Hash, err = idempotency.Hash(operationIn(scope, route), in); err != nil {
		return nil, err
	}
	for _, other := range former {
		hash, err := idempotency.Hash(operationIn(other, route), in)
		if err != nil {
			return nil, err
		}
		row.Former = append(row.Former, idempotency.Former{Key: threefc.OnceKey(other, key), Hash: hash})
	}
	if scope != r.User+":"+route { // the scope of an API client names its user already
		row.User = r.User
	}
	row.MadeBy = r.madeBy
	r.ids.Seed, r.ids.Hash = operationIn(scope, route)+"\n"+key, row.Hash
	row.More, err = threefc.OnceMore(scope, key, row.Hash)
	return row, err
}

// operationIn returns what is asked for in a scope: that of a device does not name the route.
func operationIn(scope, route string) string {
	if strings.HasPrefix(scope, httpapi.DeviceScope) && !strings.HasSuffix(scope, route) {
		return scope + ":" + route
	}
	return scope
}

// nothing reads a body that must be empty or an object without members.
func nothing(*request, *bind.Body) (any, error) { return nil, nil } //nolint:nilnil // nothing

// plain adapts a plan that needs only the body.
func plain[T any](do func(tx *store.Tx, in T) (threefc.Change, error)) func(tx *store.Tx, r *request, in T) (threefc.Change, error) {
	return func(tx *store.Tx, _ *request, in T) (threefc.Change, error) { return do(tx, in) }
}

// answerCreated answers with the record that a write created.
func answerCreated[T any](kind string, read func(tx *store.Tx, id string) (T, error)) func(tx *store.Tx, r *request) (any, error) {
	return func(tx *store.Tx, r *request) (any, error) { return read(tx, r.made[kind]) }
}

// removes handles a deletion of the route's subject.
func removes(do func(tx *store.Tx, user, id string) (threefc.Change, error)) func(r *request) (work, error) {
	return writes(http.StatusNoContent, nothing, func(tx *store.Tx, r *request, _ any) (threefc.Change, error) { return do(tx, r.User, r.of.ID) }, nil)
}
