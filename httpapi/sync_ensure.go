package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// ensureWithin is how long a request waits for rows that another node may have written. After that it goes by what is
// here.
const ensureWithin = 2 * time.Second

// ensureUser has the rows here that a request of a user is about: their devices, and of a match, if one is named, the
// fixture, their follow and the Live Activities of their devices. What is in the cloud alone is read from there.
func (s *Server) ensureUser(c *gin.Context, user, match string) error {
	if s.cfg.Ensure == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), ensureWithin)
	defer cancel()
	err := s.ensureRows(ctx, user, match)
	if c.Request.Context().Err() == nil && (errors.Is(err, context.DeadlineExceeded) || fault.Is(err, fault.Invalid)) {
		return nil // it took too long, or it is no key: the route says so in its own words
	}
	return err
}

func (s *Server) ensureRows(ctx context.Context, user, match string) error {
	if err := s.cfg.Ensure(ctx, cricket.TableDevices, attr.Item{"userId": attr.S(user)}); err != nil || match == "" {
		return err
	}
	of := attr.S(match)
	if err := s.cfg.Ensure(ctx, cricket.TableFixtures, attr.Item{"matchId": of}); err != nil {
		return err
	}
	if err := s.cfg.Ensure(ctx, cricket.TableFollows, attr.Item{"matchId": of, "userId": attr.S(user)}); err != nil {
		return err
	}
	var devices []cricket.Device
	err := s.view(ctx, func(tx *store.Tx) (err error) {
		devices, err = cricket.Devices{}.Of(tx, user)
		return err
	})
	for i := range devices {
		if err == nil {
			key := cricket.SessionKey(user, devices[i].DeviceID)
			err = s.cfg.Ensure(ctx, cricket.TableLiveActivities, attr.Item{"matchId": of, "userId#deviceId": attr.S(key)})
		}
	}
	return err
}
