package web

import (
	"net/http"
	"strings"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (h *handlers) devices() phone.Devices { return phone.Devices{Multi: h.MultiDevice} }

// getDevice returns the user's device; of several the most recently seen.
func (h *handlers) getDevice(r *httpapi.Request) (httpapi.Response, error) {
	if err := h.ensureDevices(r); err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) { return h.devices().Latest(tx, r.User) })
}

// registerDevice takes {deviceToken, platform, deviceId?, pushToStartToken?, osVersion?, appVersion?, environment?, frequentUpdates?}. 201 for a new
// token, otherwise 200.
func (h *handlers) registerDevice(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	platform := func(name string) string { return b.OneOf(name, "ios") }
	d := phone.Device{
		UserID: r.User, DeviceToken: requiredToken(b, "deviceToken"), Platform: bind.Need(b, "platform", platform),
		DeviceID: b.Text("deviceId", bind.MaxID), PushToStartToken: readToken(b, "pushToStartToken"),
		OSVersion: b.Text("osVersion", 32), AppVersion: b.Text("appVersion", 32),
		Environment:     b.OneOf("environment", phone.EnvironmentDevelopment, phone.EnvironmentProduction),
		FrequentUpdates: b.Bool("frequentUpdates"),
	}
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if err := h.ensureDevices(r); err != nil {
		return httpapi.Response{}, err
	}
	status := http.StatusOK
	err := r.Update(func(tx *store.Tx) error {
		known, err := h.devices().OfUser(tx, r.User)
		if err != nil {
			return err
		}
		status = http.StatusCreated
		for i := range known {
			if known[i].DeviceToken == d.DeviceToken {
				status = http.StatusOK
			}
		}
		d, err = h.devices().Register(tx, d)
		return err
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Reply(status, d)
}

// postDevices is registerDevice under the name that older apps use.
func (h *handlers) postDevices(r *httpapi.Request) (httpapi.Response, error) {
	return h.registerDevice(r)
}

// putPushToStart takes {deviceToken, pushToStartToken}.
func (h *handlers) putPushToStart(r *httpapi.Request) (httpapi.Response, error) {
	device, token := requiredToken(r.Body(), "deviceToken"), requiredToken(r.Body(), "pushToStartToken")
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if err := h.ensureDevices(r); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) {
		return h.devices().SetPushToStart(tx, r.User, device, token)
	})
}

// postPushToStartToken is putPushToStart under the name that older apps use.
func (h *handlers) postPushToStartToken(r *httpapi.Request) (httpapi.Response, error) {
	return h.putPushToStart(r)
}

// forgetDevice deletes the device whose token is in the query.
func (h *handlers) forgetDevice(r *httpapi.Request) (httpapi.Response, error) {
	token := r.Query.Text("deviceToken", maxToken)
	if token == "" && r.Query.Err() == nil {
		r.Query.Bad("deviceToken", "is required")
	}
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	return h.deleteToken(r, token)
}

// deleteDevices deletes the device whose token is in the path, as older apps do.
func (h *handlers) deleteDevices(r *httpapi.Request) (httpapi.Response, error) {
	return h.deleteToken(r, r.Param("deviceToken"))
}

func (h *handlers) deleteToken(r *httpapi.Request, token string) (httpapi.Response, error) {
	if len(token) > maxToken {
		return httpapi.Response{}, fault.New(fault.NotFound, "device_not_found", "The device is not registered.")
	}
	if err := h.ensureDevices(r); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusNoContent, func(tx *store.Tx) (any, error) {
		return nil, h.devices().Delete(tx, r.User, strings.ToLower(token))
	})
}
