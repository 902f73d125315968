package web

import (
	"net/http"

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
func (h *handlers) getPreferences(r *httpapi.Request) (httpapi.Response, error) {
	if err := h.ensureDevices(r); err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) { return h.devices().PreferenceOf(tx, r.User) })
}

// putPreferences takes {alerts?, quietFrom?, quietTo?, timeZone?}. What is not named has its default: no quiet hours.
func (h *handlers) putPreferences(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	p := phone.Preference{
		Alerts:    phone.AlertChoice(b.OneOf("alerts", phone.AlertChoices()...)),
		QuietFrom: b.Text("quietFrom", maxClockTime), QuietTo: b.Text("quietTo", maxClockTime), TimeZone: b.Text("timeZone", maxTimeZone),
	}
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if err := p.Check(); err != nil {
		return httpapi.Response{}, err
	}
	if err := h.ensureDevices(r); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) {
		if err := h.devices().SetPreference(tx, r.User, p); err != nil {
			return nil, err
		}
		return h.devices().PreferenceOf(tx, r.User)
	})
}
