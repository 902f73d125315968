package web

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// followed is the answer to a follow. For a live match it includes the display, to save the app a request.
type followed struct {
	phone.Follow
	DisplayState *cricket.Display `json:"displayState,omitempty"`
}

func (a *api) getFollow(c *gin.Context, user, match string) error {
	if err := a.ensureUser(c, user, match); err != nil {
		return err
	}
	return httpapi.AnswerView(c, func(tx *store.Tx) (phone.Follow, error) { return phone.Follows{}.Get(tx, match, user) })
}

// postFollow: {teamId?}. 201 the first time, then 200.
func (a *api) postFollow(c *gin.Context, user, match string) error {
	return a.follow(c, httpapi.Body(c), user, match)
}

// postFollowMatch: {matchId, teamId?}. A deviceId is accepted and ignored: all devices of a user follow.
func (a *api) postFollowMatch(c *gin.Context, user string) error {
	b := httpapi.Body(c)
	match := bind.Need(b, "matchId", matchMember(b))
	b.Text("deviceId", bind.MaxID)
	return a.follow(c, b, user, match)
}

func (a *api) follow(c *gin.Context, b *bind.Body, user, match string) error {
	team := teamMember(b)("teamId")
	if err := a.mayFollow(c, b, user, match, team); err != nil {
		return err
	}
	var out followed
	var created bool
	err := httpapi.Update(c, func(tx *store.Tx) (err error) {
		out.Follow, created, err = phone.Follows{}.Add(tx, match, user, team)
		return err
	})
	if err != nil {
		return err
	}
	if out.DisplayState, err = a.displayIfOn(c.Request.Context(), match); err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return httpapi.Answer(c, status, out, nil)
}

// patchFollow: {teamId}.
func (a *api) patchFollow(c *gin.Context, user, match string) error {
	b := httpapi.Body(c)
	team := bind.Need(b, "teamId", teamMember(b))
	if err := a.mayFollow(c, b, user, match, team); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (phone.Follow, error) {
		return phone.Follows{}.SetTeam(tx, match, user, team)
	})
}

func (a *api) deleteFollow(c *gin.Context, user, match string) error {
	if err := a.ensureUser(c, user, match); err != nil {
		return err
	}
	return httpapi.Remove(c, func(tx *store.Tx) error { return phone.Follows{}.Remove(tx, match, user) })
}

// mayFollow checks that the body is valid, and that the team plays in the match.
func (a *api) mayFollow(c *gin.Context, b *bind.Body, user, match string, team int64) error {
	if err := b.Err(); err != nil {
		return err
	}
	if err := a.ensureUser(c, user, match); err != nil {
		return err
	}
	fx, err := a.Service.Match(c.Request.Context(), match)
	if err != nil || team == 0 || len(fx.Teams) == 0 {
		return err
	}
	for _, t := range fx.Teams {
		if t.ID == team {
			return nil
		}
	}
	return bind.Invalid("teamId", "is not a team of this match")
}

// displayIfOn returns the display of a live match, nil for others.
func (a *api) displayIfOn(ctx context.Context, match string) (*cricket.Display, error) {
	d, err := a.Service.Display(ctx, match)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil //nolint:nilnil // not polled yet, which is not an error
	case err != nil:
		return nil, err
	}
	if !d.Phase.InPlay() {
		return nil, nil //nolint:nilnil // not live
	}
	return &d, nil
}
