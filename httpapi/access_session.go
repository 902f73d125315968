package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
)

const (
	sessionCookie = "touchline_session"
	guestLife     = 400 * 24 * 3600 // seconds: as long as browsers keep a cookie
)

// bySession identifies the caller by a session. The answer brings the next secret, when it is time and the answer is nobody
// else's: what is public may be kept by a proxy, and a stream's headers are gone before it is known how it ends.
func (s *Server) bySession(c *gin.Context, a Access) (auth.Identity, error) {
	if s.cfg.People == nil {
		return auth.Identity{}, errSignIn
	}
	cookie, err := s.cookie(c.Request, sessionCookie)
	if err != nil {
		return auth.Identity{}, err
	}
	id, next, err := s.cfg.People.Sessions.Find(c.Request.Context(), cookie, a != Public && !isStream(c.Request))
	if next != "" {
		s.setSession(c, next)
	}
	return id, err
}

// setSession keeps a session in the browser.
func (s *Server) setSession(c *gin.Context, cookie string) {
	s.setCookie(c, sessionCookie, cookie, "/", http.SameSiteLaxMode, int(s.cfg.People.Sessions.Life.Seconds()))
}

// knows is a person as the application knows them.
func (m *mounted) knows(s *Server, id auth.Identity) (auth.Identity, error) {
	if id.Subject == "" || id.Issuer == "" {
		return id, nil
	}
	if len(m.SignIn.Issuers) > 0 && s.cfg.People != nil && !s.cfg.People.Issuers.Named(id.Issuer, m.SignIn.Issuers) {
		if id.Key { // and somebody whom it does not know
			return auth.Identity{Scheme: auth.APIKey, Key: true, Admin: true}, nil
		}
		return auth.Identity{}, fault.New(fault.Unauthorized, "unauthorized", "%s does not accept sign-ins of that issuer: use one that it accepts.", m.Title)
	}
	if m.SignIn.Anonymous != "" && isGuest(strings.ToLower(id.Subject)) {
		id.Subject = id.Issuer + "|" + id.Subject
	}
	return id, nil
}

// own is who has signed in at the application itself.
func (m *mounted) own(c *gin.Context, a Access) (auth.Identity, error) {
	if a == Public {
		return auth.Identity{}, errSignIn
	}
	subject, err := m.SignIn.Own(c)
	if err == nil && subject == "" {
		err = errSignIn
	}
	return auth.Identity{Subject: subject, Scheme: auth.Session}, err
}

// guest is the anonymous id of a request; empty: none. It counts where any cookie does.
func (m *mounted) guest(s *Server, r *http.Request) string {
	if m.SignIn.Anonymous == "" {
		return ""
	}
	id, err := s.cookie(r, m.SignIn.Anonymous)
	if err != nil || !isGuest(id) {
		return ""
	}
	return id
}

// isGuest reports whether a text is an anonymous id: a UUID in its one form.
func isGuest(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// KnownGuest returns the anonymous id in the browser's cookie, even if somebody is signed in there; empty: it has none.
func KnownGuest(c *gin.Context) string { return appOf(c).guest(serverOf(c), c.Request) }

// GuestID returns the anonymous id in the browser's cookie, and sets a new one if it has none. It is for routes of an
// application with anonymous ids. A request from another site's page is not given one.
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
	s.setCookie(c, m.SignIn.Anonymous, id.String(), "/", http.SameSiteLaxMode, guestLife)
	return id.String(), nil
}
