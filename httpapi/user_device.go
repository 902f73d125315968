package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (s *Server) devices() cricket.Devices { return cricket.Devices{Multi: s.cfg.MultiDevice} }

// getDevice gives the user's device, of several the one heard of last.
func (s *Server) getDevice(c *gin.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	if err := s.ensureUser(c, user, ""); err != nil {
		return err
	}
	var d cricket.Device
	err = s.view(c.Request.Context(), func(tx *store.Tx) (err error) {
		d, err = s.devices().Latest(tx, user)
		return err
	})
	if err != nil {
		return err
	}
	return writeJSON(c, d)
}

// postDevice: {deviceToken, platform, deviceId?, pushToStartToken?, osVersion?, appVersion?}. 201 for a token that was
// not registered, else 200.
func (s *Server) postDevice(c *gin.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	d := cricket.Device{
		UserID: user, DeviceToken: need(b, "deviceToken", b.token), Platform: need(b, "platform", b.platform),
		DeviceID: b.text("deviceId", maxID), PushToStartToken: b.token("pushToStartToken"),
		OSVersion: b.text("osVersion", 32), AppVersion: b.text("appVersion", 32),
	}
	if err := b.err(); err != nil {
		return err
	}
	if err := s.ensureUser(c, user, ""); err != nil {
		return err
	}
	status := http.StatusOK
	err = s.update(c, func(tx *store.Tx) error {
		known, err := s.devices().Of(tx, user)
		if err != nil {
			return err
		}
		status = http.StatusCreated
		for i := range known {
			if known[i].DeviceToken == d.DeviceToken {
				status = http.StatusOK
			}
		}
		d, err = s.devices().Register(tx, d)
		return err
	})
	if err != nil {
		return err
	}
	return answerWith(c, status, d)
}

func (b *body) platform(name string) string { return b.oneOf(name, "ios") }

// putPushToStart: {deviceToken, pushToStartToken}.
func (s *Server) putPushToStart(c *gin.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	device, token := need(b, "deviceToken", b.token), need(b, "pushToStartToken", b.token)
	if err := b.err(); err != nil {
		return err
	}
	if err := s.ensureUser(c, user, ""); err != nil {
		return err
	}
	var d cricket.Device
	err = s.update(c, func(tx *store.Tx) (err error) {
		d, err = s.devices().SetPushToStart(tx, user, device, token)
		return err
	})
	if err != nil {
		return err
	}
	return answerWith(c, http.StatusOK, d)
}

// deleteDevice forgets the device whose token stands in the path.
func (s *Server) deleteDevice(c *gin.Context) error {
	return s.forgetDevice(c, c.Param("deviceToken"))
}

// deleteUserDevice forgets the device whose token stands in the query.
func (s *Server) deleteUserDevice(c *gin.Context) error {
	p := queryParser{values: c.Request.URL.Query()}
	token := p.text("deviceToken", maxToken)
	if token == "" && len(p.details) == 0 {
		p.bad("deviceToken", "is required")
	}
	if len(p.details) > 0 {
		return &invalidError{p.details}
	}
	return s.forgetDevice(c, token)
}

func (s *Server) forgetDevice(c *gin.Context, token string) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	if len(token) > maxToken {
		return fault.New(fault.NotFound, "device_not_found", "The device is not registered.")
	}
	if err := s.ensureUser(c, user, ""); err != nil {
		return err
	}
	return s.gone(c, func(tx *store.Tx) error { return s.devices().Delete(tx, user, strings.ToLower(token)) })
}
