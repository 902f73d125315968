package web

import (
	"net/http"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// listActivities lists a user's Live Activities, including ended ones.
func (h *handlers) listActivities(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		sessions, err := phone.Activities{}.OfUser(tx, r.User)
		return httpapi.NewList(sessions, ""), err
	})
}

// registerActivity takes {updateToken, deviceId?, startedAt?}.
func (h *handlers) registerActivity(r *httpapi.Request) (httpapi.Response, error) {
	return h.storeToken(r, "updateToken")
}

// postActivityToken is registerActivity under the names that older apps use: {activityToken, deviceId?, startedAt?}.
func (h *handlers) postActivityToken(r *httpapi.Request) (httpapi.Response, error) {
	return h.storeToken(r, "activityToken")
}

// storeToken stores the token of a Live Activity, the first one or a replacement: {MEMBER, deviceId?, startedAt?}. Repeating it changes nothing.
func (h *handlers) storeToken(r *httpapi.Request, member string) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	b := r.Body()
	token, device, began := requiredToken(b, member), b.Text("deviceId", bind.MaxID), b.Instant("startedAt")
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if err := h.ensureFollower(r, match); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) {
		return phone.Activities{}.Register(tx, match, r.User, device, token, began)
	})
}

// channelAnswer is the broadcast channel of a match.
type channelAnswer struct {
	MatchID   string `json:"matchId"`
	ChannelID string `json:"channelId"`
}

// maxChannelID bounds a channel id, which Apple makes: base64 of a few bytes.
const maxChannelID = 128

// getChannel returns the channel of a match, for an app that starts its own activity.
func (h *handlers) getChannel(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	if _, err := h.Service.Match(r.Context(), match); err != nil {
		return httpapi.Response{}, err
	}
	channel, err := h.Channel(r.Context(), match)
	if err != nil {
		return httpapi.Response{}, err
	}
	if channel == "" {
		return httpapi.Response{}, fault.New(fault.NotFound, "channel_not_found", "The match has no broadcast channel now.")
	}
	return httpapi.ReplyTagged(channelAnswer{match, channel})
}

// registerListener takes {channelId, deviceId?}. The activity listens to the match's channel and has no token.
func (h *handlers) registerListener(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	b := r.Body()
	channel := bind.Need(b, "channelId", func(name string) string { return b.Text(name, maxChannelID) })
	device := b.Text("deviceId", bind.MaxID)
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	current, err := h.Channel(r.Context(), match)
	if err != nil {
		return httpapi.Response{}, err
	}
	if current != channel {
		return httpapi.Response{}, bind.Invalid("channelId", "is not the match's channel")
	}
	if err := h.ensureFollower(r, match); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) {
		return phone.Activities{}.Listen(tx, match, r.User, device, channel)
	})
}

// endActivity ends the Live Activity on the device in the query, which counts as a dismissal, or all of the user's.
func (h *handlers) endActivity(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.dismissActivity(r, match, r.Query.Text("deviceId", bind.MaxID))
}

// postActivityDismissed takes {deviceId?}.
func (h *handlers) postActivityDismissed(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.dismissActivity(r, match, r.Body().Text("deviceId", bind.MaxID))
}

func (h *handlers) dismissActivity(r *httpapi.Request, match, device string) (httpapi.Response, error) {
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if err := h.ensureFollower(r, match); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusNoContent, func(tx *store.Tx) (any, error) {
		return nil, phone.Activities{}.Dismiss(tx, match, r.User, device)
	})
}
