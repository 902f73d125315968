package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/session"
)

const (
	pathSessions = "/_/sessions"
	pathPeople   = "/_/people"
)

// peopleRoutes returns the routes where people sign in with a browser and see their sessions, and admins see everybody's.
func (s *Server) peopleRoutes() []Route {
	if s.cfg.People == nil {
		return nil
	}
	return []Route{
		{Method: "GET", Path: pathWith + ":issuer", Access: Public, Do: s.getSignInWith},
		{Method: "GET", Path: pathBack + ":issuer", Access: Public, Do: s.getSignInBack},
		{Method: "POST", Path: pathCode, Access: Public, Do: s.ownForm(s.postCode)},
		{Method: "GET", Path: pathSessions, Access: User, Do: s.getSessionsPage},
		{Method: "POST", Path: pathSessions, Access: User, Do: s.ownForm(s.postSessionsEnd)},
		{Method: "POST", Path: pathSessions + "/:id/end", Access: User, Do: s.ownForm(s.postSessionEnd)},
		{Method: "GET", Path: pathPeople, Access: NodeAdmin, Do: s.getPeoplePage},
		{Method: "POST", Path: pathPeople + "/code", Access: NodeAdmin, Do: s.ownForm(s.postPersonCode)},
		{Method: "GET", Path: "/_/api/sessions", Access: User, Do: s.getSessions},
		{Method: "DELETE", Path: "/_/api/sessions", Access: User, Do: s.deleteSessions},
		{Method: "DELETE", Path: "/_/api/sessions/:id", Access: User, Do: s.deleteSession},
		{Method: "GET", Path: "/_/api/people", Access: NodeAdmin, Do: s.getPeople},
		{Method: "POST", Path: "/_/api/sign-in-codes", Access: NodeAdmin, Do: s.postCodeFor},
	}
}

// sessions returns the caller's own sessions. Admins get everybody's with ?all, and the API key, which has none of its own, always.
func (s *Server) sessions(c *gin.Context) (list []session.Session, all bool, err error) {
	who, _ := Identity(c)
	of := &who
	if all = who.Admin && (c.Query("all") != "" || who.Subject == ""); all {
		of = nil
	}
	list, err = s.cfg.People.Sessions.SessionsOf(c.Request.Context(), of)
	for i := range list {
		list[i].Current = list[i].ID == who.Session
	}
	return list, all, err
}

func (s *Server) getSessions(c *gin.Context) error {
	list, _, err := s.sessions(c)
	return JSON(c, NewList(list, ""), err)
}

func (s *Server) deleteSession(c *gin.Context) error {
	who, _ := Identity(c)
	if err := s.cfg.People.Sessions.End(c.Request.Context(), c.Param("id"), who); err != nil {
		return err
	}
	return NoContent(c)
}

// deleteSessions ends all sessions of the caller.
func (s *Server) deleteSessions(c *gin.Context) error {
	if err := s.endAllSessions(c); err != nil {
		return err
	}
	return NoContent(c)
}

// postSessionsEnd ends all sessions of the caller from the page.
func (s *Server) postSessionsEnd(c *gin.Context) error {
	if err := s.endAllSessions(c); err != nil {
		return err
	}
	s.clearCookie(c, sessionCookie)
	return seeOther(c, pathSignIn)
}

func (s *Server) endAllSessions(c *gin.Context) error {
	if _, err := Subject(c); err != nil {
		return err
	}
	who, _ := Identity(c)
	if err := s.cfg.People.Sessions.EndAll(c.Request.Context(), who); err != nil {
		return err
	}
	ForgetPages(c)
	return nil
}

func (s *Server) getSessionsPage(c *gin.Context) error {
	list, all, err := s.sessions(c)
	if err != nil {
		return err
	}
	who, _ := Identity(c)
	body, err := s.pages.RenderStill("sessions", "Sessions", page.SessionsInput{All: all, Admin: who.Admin, Sessions: list}, s.nav(c))
	return HTML(c, http.StatusOK, body, err)
}

// postSessionEnd ends a session from the page.
func (s *Server) postSessionEnd(c *gin.Context) error {
	who, _ := Identity(c)
	if err := s.cfg.People.Sessions.End(c.Request.Context(), c.Param("id"), who); err != nil {
		return err
	}
	to := pathSessions
	if c.Query("all") != "" {
		to += "?all=1"
	}
	return seeOther(c, to)
}

func (s *Server) getPeople(c *gin.Context) error {
	list, err := s.cfg.People.Sessions.People(c.Request.Context())
	return JSON(c, NewList(list, ""), err)
}

func (s *Server) getPeoplePage(c *gin.Context) error { return s.peoplePage(c, page.PeopleInput{}) }

func (s *Server) peoplePage(c *gin.Context, in page.PeopleInput) error {
	list, err := s.cfg.People.Sessions.People(c.Request.Context())
	if err != nil {
		return err
	}
	in.People = list
	body, err := s.pages.RenderStill("people", "People", in, s.nav(c))
	return HTML(c, http.StatusOK, body, err)
}

// postPersonCode creates a sign-in code and shows it, once.
func (s *Server) postPersonCode(c *gin.Context) error {
	user := c.Request.PostFormValue("user")
	code, until, err := s.codeFor(c, user, c.Request.PostFormValue("issuer"))
	if err != nil {
		return err
	}
	return s.peoplePage(c, page.PeopleInput{Code: code[:4] + " " + code[4:], For: user, Until: until.Format(time.TimeOnly)})
}

// postCodeFor creates a sign-in code for an API client: {userId, issuer?}.
func (s *Server) postCodeFor(c *gin.Context) error {
	b := Body(c)
	user, issuer := b.Text("userId", 200), b.Text("issuer", 500)
	if err := b.Err(); err != nil {
		return err
	}
	code, until, err := s.codeFor(c, user, issuer)
	return Answer(c, http.StatusCreated, map[string]string{"code": code, "userId": user, "expiresAt": until.Format(time.RFC3339)}, err)
}

func (s *Server) codeFor(c *gin.Context, user, issuer string) (code string, until time.Time, err error) {
	code, until, err = s.cfg.People.Sessions.Code(c.Request.Context(), user, issuer)
	if err == nil {
		by, _ := Identity(c)
		s.log.Info("a sign-in code was created", "for", user, "by", nameOf(by), "until", until)
	}
	return code, until, err
}

// nameOf names the caller in the log.
func nameOf(id auth.Identity) string {
	if id.Subject == "" {
		return "the API key"
	}
	return id.Subject
}
