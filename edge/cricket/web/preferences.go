package web

import (
	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/store"
)

// Bounds of the members of a preference.
const (
	maxClockTime = 5
	maxTimeZone  = 64
)

// getPreferences returns which alerts reach the user without a Live Activity, and the quiet hours.
func (a *api) getPreferences(c *gin.Context, user string) error {
	if err := a.ensureUser(c, user, ""); err != nil {
		return err
	}
	return httpapi.AnswerView(c, func(tx *store.Tx) (phone.Preference, error) { return a.devices().PreferenceOf(tx, user) })
}

// putPreferences: {alerts?, quietFrom?, quietTo?, timeZone?}. What is not named has its default: no quiet hours.
func (a *api) putPreferences(c *gin.Context, user string) error {
	b := httpapi.Body(c)
	p := phone.Preference{
		Alerts:    phone.AlertChoice(b.OneOf("alerts", phone.AlertChoices()...)),
		QuietFrom: b.Text("quietFrom", maxClockTime), QuietTo: b.Text("quietTo", maxClockTime), TimeZone: b.Text("timeZone", maxTimeZone),
	}
	if err := b.Err(); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	if err := a.ensureUser(c, user, ""); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (phone.Preference, error) {
		if err := a.devices().SetPreference(tx, user, p); err != nil {
			return phone.Preference{}, err
		}
		return a.devices().PreferenceOf(tx, user)
	})
}
