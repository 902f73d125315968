package httpapi

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// userID returns whose rows a request is about. The API key is nobody's.
func userID(c *gin.Context) (string, error) {
	who, ok := identityOf(c)
	if !ok || who.Subject == "" {
		return "", fault.New(fault.Forbidden, "no_user", "The API key belongs to no user: sign in as one.")
	}
	return who.Subject, nil
}

// update changes what is kept, and waits for the cloud where the client prefers that.
func (s *Server) update(c *gin.Context, do func(tx *store.Tx) error) error {
	if s.cfg.Store == nil {
		return noStore()
	}
	return s.write(c, do)
}

// view reads what is kept.
func (s *Server) view(ctx context.Context, do func(tx *store.Tx) error) error {
	if s.cfg.Store == nil {
		return noStore()
	}
	return s.cfg.Store.View(ctx, do)
}

func noStore() error {
	return fault.New(fault.Unavailable, "no_store", "This node stores no user data.")
}

// follower is who follows what.
func follower(c *gin.Context) (user, match string, err error) {
	if user, err = userID(c); err != nil {
		return "", "", err
	}
	match, err = matchID(c)
	return user, match, err
}

// followed answers a follow. Of a match that is on it has the display as well, so that an app need not ask again.
type followed struct {
	cricket.Follow
	DisplayState *cricket.Display `json:"displayState,omitempty"`
}

// postFollow: {teamId?}. 201 the first time, 200 again.
func (s *Server) postFollow(c *gin.Context) error {
	user, match, err := follower(c)
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	return s.follow(c, b, user, match)
}

// postFollowMatch: {matchId, teamId?}. A deviceId is taken and not needed: all devices of a user follow.
func (s *Server) postFollowMatch(c *gin.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	match := need(b, "matchId", b.id)
	b.text("deviceId", maxID)
	return s.follow(c, b, user, match)
}

func (s *Server) follow(c *gin.Context, b *body, user, match string) error {
	team := b.team("teamId")
	if err := b.err(); err != nil {
		return err
	}
	if err := s.ensureUser(c, user, match); err != nil {
		return err
	}
	if err := s.playing(c.Request.Context(), match, team); err != nil {
		return err
	}
	var out followed
	var created bool
	err := s.update(c, func(tx *store.Tx) (err error) {
		out.Follow, created, err = cricket.Follows{}.Add(tx, match, user, team)
		return err
	})
	if err != nil {
		return err
	}
	if out.DisplayState, err = s.displayIfOn(c.Request.Context(), match); err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return answerWith(c, status, out)
}

// playing sees that a team is one of the match's.
func (s *Server) playing(ctx context.Context, match string, team int64) error {
	fx, err := s.cfg.Cricket.Match(ctx, match)
	if err != nil || team == 0 || len(fx.Teams) == 0 {
		return err
	}
	for _, t := range fx.Teams {
		if t.ID == team {
			return nil
		}
	}
	return &invalidError{[]detail{{"teamId", "is not a team of this match"}}}
}

// displayIfOn returns the display of a match that is on; nil for others.
func (s *Server) displayIfOn(ctx context.Context, match string) (*cricket.Display, error) {
	d, err := s.cfg.Cricket.Display(ctx, match)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil //nolint:nilnil // nothing has been read of it yet, which is no error
	case err != nil:
		return nil, err
	}
	switch d.Phase {
	case cricket.PhasePrematch, cricket.PhaseCompleted, cricket.PhaseAbandoned:
		return nil, nil //nolint:nilnil // not on
	default:
		return &d, nil
	}
}

func (s *Server) getFollow(c *gin.Context) error {
	user, match, err := follower(c)
	if err != nil {
		return err
	}
	if err := s.ensureUser(c, user, match); err != nil {
		return err
	}
	var f cricket.Follow
	err = s.view(c.Request.Context(), func(tx *store.Tx) (err error) {
		f, err = cricket.Follows{}.Get(tx, match, user)
		return err
	})
	if err != nil {
		return err
	}
	return writeJSON(c, f)
}

// patchFollow: {teamId}.
func (s *Server) patchFollow(c *gin.Context) error {
	user, match, err := follower(c)
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	team := need(b, "teamId", b.team)
	if err := b.err(); err != nil {
		return err
	}
	if err := s.ensureUser(c, user, match); err != nil {
		return err
	}
	if err := s.playing(c.Request.Context(), match, team); err != nil {
		return err
	}
	var f cricket.Follow
	err = s.update(c, func(tx *store.Tx) (err error) {
		f, err = cricket.Follows{}.SetTeam(tx, match, user, team)
		return err
	})
	if err != nil {
		return err
	}
	return answerWith(c, http.StatusOK, f)
}

func (s *Server) deleteFollow(c *gin.Context) error {
	user, match, err := follower(c)
	if err != nil {
		return err
	}
	if err := s.ensureUser(c, user, match); err != nil {
		return err
	}
	return s.gone(c, func(tx *store.Tx) error { return cricket.Follows{}.Remove(tx, match, user) })
}

// gone answers 204 where do gives no error.
func (s *Server) gone(c *gin.Context, do func(tx *store.Tx) error) error {
	if err := s.update(c, do); err != nil {
		return err
	}
	return noContent(c)
}
