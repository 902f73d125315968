package web

import (
	"context"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// ofMatch passes the match id in the path to a handler.
func ofMatch(do func(c *gin.Context, match string) error) httpapi.Handler {
	return func(c *gin.Context) error {
		match, err := matchID(c)
		if err != nil {
			return err
		}
		return do(c, match)
	}
}

// readMatch answers with data of the match in the path.
func readMatch[T any](read func(ctx context.Context, match string) (T, error)) httpapi.Handler {
	return ofMatch(func(c *gin.Context, match string) error {
		v, err := read(c.Request.Context(), match)
		return httpapi.JSON(c, v, err)
	})
}

// ofUser passes the requesting user to a handler.
func ofUser(do func(c *gin.Context, user string) error) httpapi.Handler {
	return func(c *gin.Context) error {
		user, err := httpapi.Subject(c)
		if err != nil {
			return err
		}
		return do(c, user)
	}
}

// ofFollower passes the requesting user and the match id in the path to a handler.
func ofFollower(do func(c *gin.Context, user, match string) error) httpapi.Handler {
	return ofUser(func(c *gin.Context, user string) error {
		match, err := matchID(c)
		if err != nil {
			return err
		}
		return do(c, user, match)
	})
}

func matchID(c *gin.Context) (string, error) {
	return pathID(c, "match_not_found", "There is no such match here.")
}

func pathID(c *gin.Context, code, missing string) (string, error) {
	id := c.Param("id")
	if id == "" || len(id) > maxMatchID {
		return "", fault.New(fault.NotFound, code, "%s", missing)
	}
	return id, nil
}

// tokenMember reads a hexadecimal token of Apple's as lower case; "" if it is absent.
func tokenMember(b *bind.Body) func(name string) string {
	return func(name string) string {
		v := b.Text(name, 2*maxToken)
		if v != "" && (len(v) < 64 || len(v) > maxToken || len(v)%2 != 0 || !httpapi.IsToken(v)) {
			b.Bad(name, "must be 64 to %d hexadecimal digits", maxToken)
			return ""
		}
		return strings.ToLower(v)
	}
}

// teamMember reads a team's id; 0 if it is absent.
func teamMember(b *bind.Body) func(name string) int64 {
	return func(name string) int64 {
		text := b.ID(name, maxMatchID)
		if text == "" {
			return 0
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			b.Bad(name, "must be a team's id: a whole number, or one in a string")
			return 0
		}
		return n
	}
}

// ensureUser fetches rows for a user's request that may exist only in the cloud: the user's devices and, if a
// match is named, its fixture, the follow, and the Live Activities of those devices.
func (a *api) ensureUser(c *gin.Context, user, match string) error {
	ctx := c.Request.Context()
	if a.Ensure == nil {
		return nil
	}
	if err := a.Ensure.Rows(ctx, tables.Devices, attr.Item{"userId": attr.S(user)}); err != nil || match == "" {
		return err
	}
	of := attr.S(match)
	if err := a.Ensure.Rows(ctx, tables.Fixtures, attr.Item{"matchId": of}); err != nil {
		return err
	}
	if err := a.Ensure.Rows(ctx, tables.Follows, attr.Item{"matchId": of, "userId": attr.S(user)}); err != nil {
		return err
	}
	var devices []phone.Device
	err := a.Store.View(ctx, func(tx *store.Tx) (err error) {
		devices, err = phone.Devices{}.OfUser(tx, user)
		return err
	})
	for i := range devices {
		if err == nil {
			key := tables.SessionKey(user, devices[i].DeviceID)
			err = a.Ensure.Rows(ctx, tables.LiveActivities, attr.Item{"matchId": of, "userId#deviceId": attr.S(key)})
		}
	}
	return err
}

// ensureEvents fetches events that another node has written, if the match exists and the cloud answers in time.
// Otherwise the reader gets what is here; a missing match is reported by the route.
func (a *api) ensureEvents(ctx context.Context, match string) error {
	if a.Ensure == nil || match == "" {
		return nil
	}
	if _, err := a.Service.Match(ctx, match); err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil // the cloud does not have it either, or cannot be asked
		}
		return err
	}
	return a.Ensure.Rows(ctx, tables.Events, attr.Item{"matchId": attr.S(match)})
}
