package threefc

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
)

// request is one that may do what it asks for.
type request struct {
	*gin.Context
	api    *api
	signIn *threefc.SignIn // nil: nobody has signed in, or for a page
	user   string          // the address of who has; empty: nobody has
	of     threefc.Scope   // what the route is about
	league string          // in which that lies, of a route for a role
	given  string          // the code of the path
	wants  []attr.Item     // what has to be here before a write: what another node may have made

	status int               // of the answer, where it is not the route's usual one
	ids    *threefc.IDs      // for what a write makes
	made   map[string]string // what it has made
}

// need has rows here that another node may have written.
func (r *request) need(keys ...attr.Item) error {
	return r.api.Ensure.Keys(r.Context, r.api.Service.Table, keys...)
}

// code reads the code of the path, and has here what it leads to, which the request is about; what cannot be a code is not found.
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

func (r *request) invited() error { return r.code("Invite", threefc.InviteKey, r.api.Service.Invited) }

// signedIn finds out who is asking, by the cookie.
func (r *request) signedIn() error {
	cookie, err := r.Request.Cookie(cookieName)
	if err != nil || !threefc.IsID(cookie.Value) {
		return fault.New(fault.Unauthorized, "unauthorized", "Valid session cookie required.")
	}
	if err := r.need(threefc.SignInKey(cookie.Value)); err != nil {
		return err
	}
	r.signIn, err = httpapi.Read(r.Context, func(tx *store.Tx) (*threefc.SignIn, error) { return r.api.Service.SignedIn(tx, cookie.Value) })
	if err == nil {
		r.user = r.signIn.Email
	}
	return err
}

// allowed has what a route is about here, up to its league, and refuses who has not the role there.
func (r *request) allowed(who level) error {
	if err := r.fetch(); err != nil {
		return err
	}
	role := roles[who]
	if role == "" {
		return nil
	}
	return httpapi.View(r.Context, func(tx *store.Tx) (err error) {
		if r.league, err = r.api.Service.LeagueOf(tx, r.of); err != nil {
			return err
		}
		return r.api.Service.Allow(tx, r.league, r.user, role)
	})
}

// fetch has what a route is about here, and what that lies in.
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
		above, err := r.api.Service.Above(tx, r.of)
		return slices.Concat(keys, above), err
	})
}

// isAdmin reports whether who asks is an admin of the league.
func (r *request) isAdmin(tx *store.Tx) bool {
	return r.api.Service.Allow(tx, r.league, r.user, threefc.RoleAdmin) == nil
}

// reads answers with what is read.
func reads(read func(tx *store.Tx, r *request) (any, error)) func(r *request) error {
	return func(r *request) error {
		return httpapi.AnswerView(r.Context, func(tx *store.Tx) (any, error) { return read(tx, r) })
	}
}

// one answers with what the route is about.
func one[T any](read func(tx *store.Tx, id string) (T, error)) func(r *request) error {
	return reads(func(tx *store.Tx, r *request) (any, error) { return read(tx, r.of.ID) })
}

// lists answers with a list of what the route is about, under its name.
func lists[T any](name string, read func(tx *store.Tx, id string) ([]T, error)) func(r *request) error {
	return reads(func(tx *store.Tx, r *request) (any, error) {
		all, err := read(tx, r.of.ID)
		return listed(name, all), err
	})
}

// listed is a list under its name, empty where there is nothing.
func listed[T any](name string, all []T) map[string]any {
	if all == nil {
		all = []T{}
	}
	return map[string]any{name: all}
}

// writes does what a request asks for, once for each Idempotency-Key. read understands the body, of which T is all; show is what is
// answered, nil: nothing.
func writes[T any](status int, read func(r *request, b *bind.Body) (T, error), plan func(tx *store.Tx, r *request, in T) (threefc.Change, error), show func(tx *store.Tx, r *request) (any, error)) func(r *request) error {
	return func(r *request) error {
		b := httpapi.Body(r.Context)
		in, err := read(r, b)
		if err = cmp.Or(err, b.Err()); err == nil {
			err = r.need(r.wants...)
		}
		if err != nil {
			return err
		}
		row, err := r.once(in)
		if err != nil {
			return err
		}
		seed := *r.ids
		do := func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error) {
			ids := seed
			r.ids = &ids
			c, err := plan(tx, r, in)
			return idempotency.Outcome{Status: cmp.Or(r.status, status), IDs: c.IDs}, c.Writes, err
		}
		out, err := httpapi.UpdateOnce(r.Context, row, do)
		if row != nil && fault.Is(err, fault.Conflict) && r.need(row.Key) == nil { // another node may have answered it
			out, err = httpapi.UpdateOnce(r.Context, row, do)
		}
		if err != nil {
			return err
		}
		if show == nil {
			return httpapi.NoContent(r.Context)
		}
		r.made = out.IDs
		answer, err := httpapi.Read(r.Context, func(tx *store.Tx) (any, error) { return show(tx, r) })
		return httpapi.Answer(r.Context, out.Status, answer, err)
	}
}

// once is the row of a request's key; nil: it has none. The ids of what is made come of the key.
func (r *request) once(in any) (*idempotency.Row, error) {
	r.ids = &threefc.IDs{}
	key, err := httpapi.IdempotencyKey(r.Context)
	if err != nil || key == "" {
		return nil, err
	}
	scope := r.user + ":" + r.Request.Method + ":" + strings.TrimPrefix(r.Request.URL.Path, r.api.mount)
	hash, err := idempotency.Hash(scope, in)
	if err != nil {
		return nil, err
	}
	r.ids.Seed, r.ids.Hash = scope+"\n"+key, hash
	more, err := threefc.OnceMore(scope, key, hash)
	return &idempotency.Row{Table: r.api.Service.Table, Key: threefc.OnceKey(scope, key), Hash: hash, Node: r.api.Node, More: more}, err
}

// nothing reads a body that must be empty, or an object without members.
func nothing(*request, *bind.Body) (any, error) { return nil, nil } //nolint:nilnil // nothing

// plain is a plan that needs to know nothing but what was sent.
func plain[T any](do func(tx *store.Tx, in T) (threefc.Change, error)) func(tx *store.Tx, r *request, in T) (threefc.Change, error) {
	return func(tx *store.Tx, _ *request, in T) (threefc.Change, error) { return do(tx, in) }
}

// made answers with what a write has made.
func made[T any](kind string, read func(tx *store.Tx, id string) (T, error)) func(tx *store.Tx, r *request) (any, error) {
	return func(tx *store.Tx, r *request) (any, error) { return read(tx, r.made[kind]) }
}

// removes deletes what the route is about.
func removes(do func(tx *store.Tx, user, id string) (threefc.Change, error)) func(r *request) error {
	return writes(http.StatusNoContent, nothing, func(tx *store.Tx, r *request, _ any) (threefc.Change, error) { return do(tx, r.user, r.of.ID) }, nil)
}
