package web

import (
	"context"
	"net/http"

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

func (h *handlers) getFollow(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	if err := h.ensureFollower(r, match); err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) { return phone.Follows{}.Get(tx, match, r.User) })
}

// followMatch takes {teamId?}. 201 the first time, then 200.
func (h *handlers) followMatch(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.addFollow(r, match)
}

// postFollowMatch takes {matchId, teamId?}. A deviceId is accepted and ignored: all devices of a user follow.
func (h *handlers) postFollowMatch(r *httpapi.Request) (httpapi.Response, error) {
	match := requiredMatch(r.Body(), "matchId")
	r.Body().Text("deviceId", bind.MaxID)
	return h.addFollow(r, match)
}

// addFollow makes the caller follow a match, and the team that the body names.
func (h *handlers) addFollow(r *httpapi.Request, match string) (httpapi.Response, error) {
	team := readTeam(r.Body(), "teamId")
	if err := h.checkFollow(r, match, team); err != nil {
		return httpapi.Response{}, err
	}
	var out followed
	status := http.StatusOK
	err := r.Update(func(tx *store.Tx) error {
		follow, created, err := phone.Follows{}.Add(tx, match, r.User, team)
		out.Follow, status = follow, http.StatusOK
		if created {
			status = http.StatusCreated
		}
		return err
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	out.DisplayState, err = h.displayIfOn(r.Context(), match)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Reply(status, out)
}

// updateFollow takes {teamId}.
func (h *handlers) updateFollow(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	team := bind.Need(r.Body(), "teamId", func(name string) int64 { return readTeam(r.Body(), name) })
	if err := h.checkFollow(r, match, team); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) {
		return phone.Follows{}.SetTeam(tx, match, r.User, team)
	})
}

// patchFollowMatchTeam is updateFollow under the name that older apps use.
func (h *handlers) patchFollowMatchTeam(r *httpapi.Request) (httpapi.Response, error) {
	return h.updateFollow(r)
}

func (h *handlers) unfollowMatch(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	if err := h.ensureFollower(r, match); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusNoContent, func(tx *store.Tx) (any, error) { return nil, phone.Follows{}.Remove(tx, match, r.User) })
}

// deleteFollowMatch is unfollowMatch under the name that older apps use.
func (h *handlers) deleteFollowMatch(r *httpapi.Request) (httpapi.Response, error) {
	return h.unfollowMatch(r)
}

// checkFollow checks that the request is valid, and that the team plays in the match.
func (h *handlers) checkFollow(r *httpapi.Request, match string, team int64) error {
	if err := r.InputErr(); err != nil {
		return err
	}
	if err := h.ensureFollower(r, match); err != nil {
		return err
	}
	fx, err := h.Service.Match(r.Context(), match)
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
func (h *handlers) displayIfOn(ctx context.Context, match string) (*cricket.Display, error) {
	d, err := h.Service.Display(ctx, match)
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
