package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/session"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// bySession identifies the caller by a session. The secret is renewed only in answers that are private and complete: a proxy may cache
// a public one, and a stream's headers are sent before its outcome is known.
func (s *Server) bySession(c *gin.Context, a Access) (auth.Identity, error) {
	if s.cfg.People == nil {
		return auth.Identity{}, errSignIn
	}
	value, name, err := s.shownCookie(c.Request, sessionCookie)
	if err != nil {
		return auth.Identity{}, err
	}
	id, next, err := s.cfg.People.Sessions.Find(c.Request.Context(), session.Shown{
		Value: value, Name: name, Secure: s.byTLS(c.Request), Renew: a != Public && !isStream(c.Request),
	})
	if next != "" {
		s.setSession(c, next)
	}
	id.AdminOf = s.cfg.People.Issuers.AdminOf(id.Issuer)
	return id, err
}

// knows returns a person as the application knows them.
func (m *mounted) knows(s *Server, id auth.Identity) (auth.Identity, error) {
	if id.Subject == "" || id.Issuer == "" {
		return id, nil
	}
	if len(m.SignIn.Issuers) > 0 && s.cfg.People != nil && !s.cfg.People.Issuers.IsNamed(id.Issuer, m.SignIn.Issuers) {
		if id.Key { // without the unknown user
			return auth.Identity{Scheme: auth.APIKey, Key: true, Admin: true}, nil
		}
		return auth.Identity{}, fault.New(fault.Unauthorized, "unauthorized", "%s does not accept sign-ins of that issuer: use one that it accepts.", m.Title)
	}
	if m.SignIn.Anonymous != "" && isGuest(strings.ToLower(id.Subject)) {
		id.Subject = id.Issuer + "|" + id.Subject
	}
	return id, nil
}

// ownUser returns the user who signed in at the application itself.
func (m *mounted) ownUser(c *gin.Context, a Access) (auth.Identity, error) {
	if a == Public {
		return auth.Identity{}, errSignIn
	}
	subject, err := m.SignIn.Own(requestOf(c))
	if err == nil && subject == "" {
		err = errSignIn
	}
	return auth.Identity{Subject: subject, Scheme: auth.Session}, err
}

// guest returns the anonymous id of a request; empty: none. The same rules apply as for other cookies.
func (m *mounted) guest(s *Server, r *http.Request) string {
	if m.SignIn.Anonymous == "" {
		return ""
	}
	id, err := s.cookie(r, m.SignIn.Anonymous)
	if err != nil || !isGuest(id) || m.isRetired(s, r, id) {
		return ""
	}
	return id
}

// isRetired reports whether an anonymous id identifies nobody any more. If that cannot be read, it does not count: whoever uses the
// browser now may not be the one whose rows became an account's.
func (m *mounted) isRetired(s *Server, r *http.Request, id string) (retired bool) {
	if m.SignIn.Retired == nil {
		return false
	}
	err := s.cfg.Store.View(r.Context(), func(tx *store.Tx) (err error) {
		retired, err = m.SignIn.Retired(tx, id)
		return err
	})
	if err != nil {
		s.log.Error("cannot read whether an anonymous id is retired", "app", m.Name, "err", err)
	}
	return retired || err != nil
}

// isGuest reports whether a text is an anonymous id: a UUID in canonical form.
func isGuest(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// KnownGuest returns the anonymous id in the browser's cookie, even if a user is signed in; empty: none.
func KnownGuest(c *gin.Context) string { return appOf(c).guest(serverOf(c), c.Request) }

// GuestID returns the anonymous id in the browser's cookie, or sets a new one. It is for applications with anonymous ids. Requests from
// other sites' pages are refused.
func GuestID(c *gin.Context) (string, error) {
	s, m := serverOf(c), appOf(c)
	if err := s.ownPage(c.Request); err != nil {
		return "", err
	}
	if id := m.guest(s, c.Request); id != "" {
		return id, nil
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return "", err
	}
	s.setCookie(c, m.SignIn.Anonymous, id.String(), "/", http.SameSiteLaxMode, deviceLife)
	return id.String(), nil
}
