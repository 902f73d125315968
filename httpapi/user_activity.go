package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/store"
)

// getActivities lists the Live Activities of a user, ended ones too.
func (s *Server) getActivities(c *gin.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	var all []cricket.Session
	err = s.view(c.Request.Context(), func(tx *store.Tx) (err error) {
		all, err = cricket.Activities{}.OfUser(tx, user)
		return err
	})
	if err != nil {
		return err
	}
	return writeJSON(c, newList(all, ""))
}

// postActivity: {updateToken, deviceId?, startedAt?}.
func (s *Server) postActivity(c *gin.Context) error { return s.registerActivity(c, "updateToken") }

// postActivityToken: {activityToken, deviceId?, startedAt?}.
func (s *Server) postActivityToken(c *gin.Context) error {
	return s.registerActivity(c, "activityToken")
}

// registerActivity takes the token of a Live Activity, the first or the next. The same one again changes nothing.
func (s *Server) registerActivity(c *gin.Context, member string) error {
	user, match, err := follower(c)
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	token, device, began := need(b, member, b.token), b.text("deviceId", maxID), b.instant("startedAt")
	if err := b.err(); err != nil {
		return err
	}
	if err := s.ensureUser(c, user, match); err != nil {
		return err
	}
	var session cricket.Session
	err = s.update(c, func(tx *store.Tx) (err error) {
		session, err = cricket.Activities{}.Register(tx, match, user, device, token, began)
		return err
	})
	if err != nil {
		return err
	}
	return answerWith(c, http.StatusOK, session)
}

// deleteActivity ends the Live Activity on the device of the query, which counts as its dismissal, or all of the user's.
func (s *Server) deleteActivity(c *gin.Context) error {
	p := queryParser{values: c.Request.URL.Query()}
	device := p.text("deviceId", maxID)
	if len(p.details) > 0 {
		return &invalidError{p.details}
	}
	return s.dismiss(c, device)
}

// postActivityDismissed: {deviceId?}.
func (s *Server) postActivityDismissed(c *gin.Context) error {
	b, err := readBody(c)
	if err != nil {
		return err
	}
	device := b.text("deviceId", maxID)
	if err := b.err(); err != nil {
		return err
	}
	return s.dismiss(c, device)
}

func (s *Server) dismiss(c *gin.Context, device string) error {
	user, match, err := follower(c)
	if err != nil {
		return err
	}
	if err := s.ensureUser(c, user, match); err != nil {
		return err
	}
	return s.gone(c, func(tx *store.Tx) error { return cricket.Activities{}.Dismiss(tx, match, user, device) })
}
