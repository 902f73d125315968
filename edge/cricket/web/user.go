package web

import (
	"context"
	"strconv"
	"strings"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// matchID returns the match in the path.
func matchID(r *httpapi.Request) (string, error) {
	return pathID(r, "match_not_found", "There is no such match here.")
}

func pathID(r *httpapi.Request, code, missing string) (string, error) {
	id := r.Param("id")
	if id == "" || len(id) > maxMatchID {
		return "", fault.New(fault.NotFound, code, "%s", missing)
	}
	return id, nil
}

// readToken reads a hexadecimal token of Apple's as lower case; "" if it is absent.
func readToken(b *bind.Body, name string) string {
	v := b.Text(name, 2*maxToken)
	if v != "" && (len(v) < 64 || len(v) > maxToken || len(v)%2 != 0 || !httpapi.IsToken(v)) {
		b.Bad(name, "must be 64 to %d hexadecimal digits", maxToken)
		return ""
	}
	return strings.ToLower(v)
}

// requiredToken reads a token that must be there.
func requiredToken(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return readToken(b, name) })
}

// readMatch reads a match id; "" if it is absent.
func readMatch(b *bind.Body, name string) string { return b.ID(name, maxMatchID) }

// requiredMatch reads a match id that must be there.
func requiredMatch(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return readMatch(b, name) })
}

// readTeam reads a team's id; 0 if it is absent.
func readTeam(b *bind.Body, name string) int64 {
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

// ensureDevices fetches the caller's devices, which may exist only in the cloud.
func (h *handlers) ensureDevices(r *httpapi.Request) error {
	return h.Ensure.Rows(r.Context(), tables.Devices, attr.Item{"userId": attr.S(r.User)})
}

// ensureFollower fetches what a request of the caller's about a match needs and may exist only in the cloud: the caller's devices, the fixture,
// the follow, and the Live Activities of those devices.
func (h *handlers) ensureFollower(r *httpapi.Request, match string) error {
	ctx := r.Context()
	if h.Ensure == nil {
		return nil
	}
	if err := h.ensureDevices(r); err != nil {
		return err
	}
	of := attr.S(match)
	if err := h.Ensure.Rows(ctx, tables.Fixtures, attr.Item{"matchId": of}); err != nil {
		return err
	}
	if err := h.Ensure.Rows(ctx, tables.Follows, attr.Item{"matchId": of, "userId": attr.S(r.User)}); err != nil {
		return err
	}
	var devices []phone.Device
	err := h.Store.View(ctx, func(tx *store.Tx) (err error) {
		devices, err = phone.Devices{}.OfUser(tx, r.User)
		return err
	})
	if err != nil {
		return err
	}
	for i := range devices {
		key := tables.SessionKey(r.User, devices[i].DeviceID)
		if err := h.Ensure.Rows(ctx, tables.LiveActivities, attr.Item{"matchId": of, "userId#deviceId": attr.S(key)}); err != nil {
			return err
		}
	}
	return nil
}

// ensureEvents fetches events that another node has written, if the match exists and the cloud answers in time.
// Otherwise the reader gets what is here; a missing match is reported by the route.
func (h *handlers) ensureEvents(ctx context.Context, match string) error {
	if h.Ensure == nil || match == "" {
		return nil
	}
	if _, err := h.Service.Match(ctx, match); err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil // the cloud does not have it either, or cannot be asked
		}
		return err
	}
	return h.Ensure.Rows(ctx, tables.Events, attr.Item{"matchId": attr.S(match)})
}
