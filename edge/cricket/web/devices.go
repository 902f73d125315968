package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (a *api) devices() phone.Devices { return phone.Devices{Multi: a.MultiDevice} }

// getDevice returns the user's device; of several the most recently seen.
func (a *api) getDevice(c *gin.Context, user string) error {
	if err := a.ensureUser(c, user, ""); err != nil {
		return err
	}
	return httpapi.AnswerView(c, func(tx *store.Tx) (phone.Device, error) { return a.devices().Latest(tx, user) })
}

// postDevice: {deviceToken, platform, deviceId?, pushToStartToken?, osVersion?, appVersion?, environment?, frequentUpdates?}. 201 for a new token, otherwise 200.
func (a *api) postDevice(c *gin.Context, user string) error {
	b := httpapi.Body(c)
	platform := func(name string) string { return b.OneOf(name, "ios") }
	d := phone.Device{
		UserID: user, DeviceToken: bind.Need(b, "deviceToken", tokenMember(b)), Platform: bind.Need(b, "platform", platform),
		DeviceID: b.Text("deviceId", bind.MaxID), PushToStartToken: tokenMember(b)("pushToStartToken"),
		OSVersion: b.Text("osVersion", 32), AppVersion: b.Text("appVersion", 32),
		Environment:     b.OneOf("environment", phone.EnvironmentDevelopment, phone.EnvironmentProduction),
		FrequentUpdates: b.Bool("frequentUpdates"),
	}
	if err := b.Err(); err != nil {
		return err
	}
	if err := a.ensureUser(c, user, ""); err != nil {
		return err
	}
	status := http.StatusOK
	err := httpapi.Update(c, func(tx *store.Tx) error {
		known, err := a.devices().OfUser(tx, user)
		if err != nil {
			return err
		}
		status = http.StatusCreated
		for i := range known {
			if known[i].DeviceToken == d.DeviceToken {
				status = http.StatusOK
			}
		}
		d, err = a.devices().Register(tx, d)
		return err
	})
	return httpapi.Answer(c, status, d, err)
}

// putPushToStart: {deviceToken, pushToStartToken}.
func (a *api) putPushToStart(c *gin.Context, user string) error {
	b := httpapi.Body(c)
	device, token := bind.Need(b, "deviceToken", tokenMember(b)), bind.Need(b, "pushToStartToken", tokenMember(b))
	if err := b.Err(); err != nil {
		return err
	}
	if err := a.ensureUser(c, user, ""); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (phone.Device, error) {
		return a.devices().SetPushToStart(tx, user, device, token)
	})
}

// deleteDevice deletes the device whose token is in the path.
func (a *api) deleteDevice(c *gin.Context, user string) error {
	return a.forgetDevice(c, user, c.Param("deviceToken"))
}

// deleteUserDevice deletes the device whose token is in the query.
func (a *api) deleteUserDevice(c *gin.Context, user string) error {
	q := bind.Parameters(c.Request)
	token := q.Text("deviceToken", maxToken)
	if token == "" && q.Err() == nil {
		q.Bad("deviceToken", "is required")
	}
	if err := q.Err(); err != nil {
		return err
	}
	return a.forgetDevice(c, user, token)
}

func (a *api) forgetDevice(c *gin.Context, user, token string) error {
	if len(token) > maxToken {
		return fault.New(fault.NotFound, "device_not_found", "The device is not registered.")
	}
	if err := a.ensureUser(c, user, ""); err != nil {
		return err
	}
	return httpapi.Remove(c, func(tx *store.Tx) error { return a.devices().Delete(tx, user, strings.ToLower(token)) })
}
