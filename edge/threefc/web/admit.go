package web

import (
	"net/http"
	"slices"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// visit is what admit has found out about a request.
type visit struct {
	signIn *threefc.SignIn // nil if nobody is signed in
	of     threefc.Scope   // subject of the route
	league string          // of the subject, for routes that need a role there
	madeBy string          // who made the entry that the user hands in; empty: the user
}

// admitted returns what admit has found out about a request.
func admitted(r *httpapi.Request) *visit {
	v, _ := r.Admitted.(*visit)
	return v
}

// admit checks, in this order, the origin, the session and the user's role. The handler checks the body.
func (h *handlers) admit(r *httpapi.Request) error {
	if h.own.Check(r.Request) != nil {
		return fault.New(fault.Forbidden, "forbidden_origin", "State-changing requests must originate from an allowed app domain.")
	}
	v := &visit{}
	v.signIn, _ = r.Admitted.(*threefc.SignIn) // on a page, of its reader
	r.Admitted = v
	if r.Route.Access == httpapi.Public && r.Route.Role != public {
		var err error
		if v.signIn, err = h.findSession(r); err != nil {
			return err
		}
		r.User = v.signIn.Email
	}
	if err := h.checkRole(r, v); err != nil {
		return err
	}
	return h.findMaker(r, v)
}

// findSession returns the session that the request's cookie is of.
func (h *handlers) findSession(r *httpapi.Request) (in *threefc.SignIn, err error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil || !threefc.IsID(cookie.Value) {
		return nil, fault.New(fault.Unauthorized, "unauthorized", "Valid session cookie required.")
	}
	if err := r.Fetch(threefc.SessionKeys(cookie.Value)...); err != nil {
		return nil, err
	}
	err = r.View(func(tx *store.Tx) (err error) {
		in, err = h.Service.SignedIn(tx, cookie.Value)
		return err
	})
	return in, err
}

// findReader returns the address of the user who is signed in, for pages; empty if nobody is.
func (h *handlers) findReader(r *httpapi.Request) (string, error) {
	in, err := h.findSession(r)
	switch {
	case fault.Is(err, fault.Unauthorized):
		return "", nil
	case err != nil:
		return "", err
	}
	r.Admitted = in
	return in.Email, nil
}

// sessionOf returns whose session a request's cookie is, for the rate limit. A session by an admin's code counts apart from the user's own:
// that admin could else use up the user's rate.
func (h *handlers) sessionOf(tx *store.Tx, r *http.Request) (subject string, err error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil || !threefc.IsID(cookie.Value) {
		return "", nil //nolint:nilerr // no cookie: nobody
	}
	in, err := h.Service.SignedIn(tx, cookie.Value)
	switch {
	case fault.Is(err, fault.Unauthorized):
		return "", nil
	case err != nil:
		return "", err
	case in.ByCode:
		return in.Email + " by code", nil
	}
	return in.Email, nil
}

// checkRole fetches the route's subject up to its league, and refuses users without the route's role there.
func (h *handlers) checkRole(r *httpapi.Request, v *visit) error {
	if err := h.fetchSubject(r, v); err != nil {
		return err
	}
	switch r.Route.Role {
	case mailed:
		if v.signIn.ByCode {
			return threefc.NeedsMail()
		}
	case viewer, scorekeeper, admin:
		return r.View(func(tx *store.Tx) (err error) {
			if v.league, err = h.Service.LeagueOf(tx, v.of); err != nil {
				return err
			}
			return h.Service.AllowSession(tx, v.league, v.signIn, r.Route.Role)
		})
	}
	return nil
}

// fetchSubject finds the route's subject in the path, and fetches it and its parents.
func (h *handlers) fetchSubject(r *httpapi.Request, v *visit) error {
	var keys []attr.Item
	for _, kind := range []string{"player", "league", "season", "session", "game"} {
		id := r.Param(kind)
		switch {
		case id == "":
			continue
		case !threefc.IsID(id):
			return fault.New(fault.NotFound, "", "There is nothing at this address.")
		}
		v.of = threefc.Scope{Kind: kind, ID: id}
		keys = append(keys, threefc.Partition(v.of))
	}
	return r.FetchNeeds(func(tx *store.Tx) ([]attr.Item, error) {
		above, err := h.Service.ParentsOf(tx, v.of)
		return slices.Concat(keys, above), err
	})
}

// findMaker finds who made the entry that the request's user hands in: somebody with a role in the league, or the device.
func (h *handlers) findMaker(r *httpapi.Request, v *visit) error {
	of, handed := r.Handed()
	if !handed {
		return nil
	}
	var users []string
	err := r.View(func(tx *store.Tx) error {
		users = nil
		all, _, err := h.Service.AccessList(tx, v.league, threefc.ListPage{Limit: wholeList})
		for i := range all {
			users = append(users, all[i].UserID)
		}
		return err
	})
	v.madeBy = of.MadeBy(users)
	return err
}

// isAdmin reports whether the request's user is an admin of a league.
func (h *handlers) isAdmin(tx *store.Tx, r *httpapi.Request, league string) bool {
	in := admitted(r).signIn
	return in != nil && h.Service.AllowSession(tx, league, in, threefc.RoleAdmin) == nil
}
