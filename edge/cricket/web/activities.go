package web

import (
	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// getActivities lists a user's Live Activities, including ended ones.
func getActivities(c *gin.Context) error {
	user, err := httpapi.Subject(c)
	if err != nil {
		return err
	}
	return answerList(func(tx *store.Tx) ([]phone.Session, error) { return phone.Activities{}.OfUser(tx, user) })(c)
}

// registerActivity stores the token of a Live Activity, the first one or a replacement: {MEMBER, deviceId?,
// startedAt?}. Repeating it changes nothing.
func (a *api) registerActivity(member string) func(c *gin.Context, user, match string) error {
	return func(c *gin.Context, user, match string) error {
		b := httpapi.Body(c)
		token, device, began := bind.Need(b, member, tokenMember(b)), b.Text("deviceId", bind.MaxID), b.Instant("startedAt")
		if err := b.Err(); err != nil {
			return err
		}
		if err := a.ensureUser(c, user, match); err != nil {
			return err
		}
		return httpapi.AnswerUpdate(c, func(tx *store.Tx) (phone.Session, error) {
			return phone.Activities{}.Register(tx, match, user, device, token, began)
		})
	}
}

// channelAnswer is the broadcast channel of a match.
type channelAnswer struct {
	MatchID   string `json:"matchId"`
	ChannelID string `json:"channelId"`
}

// maxChannelID bounds a channel id, which Apple makes: base64 of a few bytes.
const maxChannelID = 128

// getChannel returns the channel of a match, for an app that starts its own activity.
func (a *api) getChannel(c *gin.Context, match string) error {
	if _, err := a.Service.Match(c.Request.Context(), match); err != nil {
		return err
	}
	id, err := a.Channel(c.Request.Context(), match)
	if err == nil && id == "" {
		err = fault.New(fault.NotFound, "channel_not_found", "The match has no broadcast channel now.")
	}
	return httpapi.JSON(c, channelAnswer{match, id}, err)
}

// registerListener: {channelId, deviceId?}. The activity listens to the match's channel and has no token.
func (a *api) registerListener(c *gin.Context, user, match string) error {
	b := httpapi.Body(c)
	text := func(name string) string { return b.Text(name, maxChannelID) }
	channel, device := bind.Need(b, "channelId", text), b.Text("deviceId", bind.MaxID)
	if err := b.Err(); err != nil {
		return err
	}
	if id, err := a.Channel(c.Request.Context(), match); err != nil {
		return err
	} else if id != channel {
		return bind.Invalid("channelId", "is not the match's channel")
	}
	if err := a.ensureUser(c, user, match); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (phone.Session, error) {
		return phone.Activities{}.Listen(tx, match, user, device, channel)
	})
}

// deleteActivity ends the Live Activity on the device in the query, which counts as a dismissal, or all of the user's.
func (a *api) deleteActivity(c *gin.Context, user, match string) error {
	q := bind.Parameters(c.Request)
	device := q.Text("deviceId", bind.MaxID)
	return a.dismiss(c, q.Err(), user, match, device)
}

// postActivityDismissed: {deviceId?}.
func (a *api) postActivityDismissed(c *gin.Context, user, match string) error {
	b := httpapi.Body(c)
	device := b.Text("deviceId", bind.MaxID)
	return a.dismiss(c, b.Err(), user, match, device)
}

func (a *api) dismiss(c *gin.Context, wrong error, user, match, device string) error {
	if wrong != nil {
		return wrong
	}
	if err := a.ensureUser(c, user, match); err != nil {
		return err
	}
	return httpapi.Remove(c, func(tx *store.Tx) error { return phone.Activities{}.Dismiss(tx, match, user, device) })
}
