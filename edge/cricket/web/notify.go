package web

import (
	"net/http"
	"time"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Bounds of a notice: what fits on a lock screen.
const (
	maxTitle   = 60
	maxText    = 170
	maxNoticed = 100 // users named in one notice
)

// notified is the answer to a notice.
type notified struct {
	MatchID string `json:"matchId"`
	Phones  int    `json:"phones"` // phones that will get it
	Alert   bool   `json:"alert"`  // always true
}

// pushNotification takes {matchId, title, body, userIds?}. The users' devices get an alert; without userIds, those of all
// followers.
func (h *handlers) pushNotification(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	n := Notice{
		MatchID: requiredMatch(b, "matchId"), Title: b.Text("title", maxTitle), Body: b.Text("body", maxText),
		UserIDs: b.Texts("userIds", maxNoticed, bind.MaxID),
	}
	if n.Title == "" || n.Body == "" {
		b.Bad("body", "an alert needs a title and a body")
	}
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if h.Notifier == nil {
		return httpapi.Response{}, fault.New(fault.Unavailable, "push_not_configured", "This node cannot push: cricket.push.key is not set.")
	}
	if _, err := h.Service.Match(r.Context(), n.MatchID); err != nil {
		return httpapi.Response{}, err
	}
	phones, err := h.Notifier.Notify(r.Context(), n)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Reply(http.StatusAccepted, notified{MatchID: n.MatchID, Phones: phones, Alert: true})
}

// reachable is a device as admins see it, without its tokens.
type reachable struct {
	UserID      string    `json:"userId"`
	DeviceID    string    `json:"deviceId"`
	Platform    string    `json:"platform"`
	OSVersion   string    `json:"osVersion,omitempty"`
	AppVersion  string    `json:"appVersion,omitempty"`
	PushToStart bool      `json:"pushToStart"` // Live Activities can be started on it
	LastSeenAt  time.Time `json:"lastSeenAt"`
}

// listReachable lists devices that can get pushes, one per row.
func (h *handlers) listReachable(r *httpapi.Request) (httpapi.Response, error) {
	ask, err := bind.ReadPage(r.Request)
	if err != nil {
		return httpapi.Response{}, err
	}
	q := store.Scan{Table: tables.Devices, Limit: ask.Limit, StartKey: ask.Start}
	items, next, err := httpapi.Rows[phone.Device](r, &ask, func(tx *store.Tx) (store.Page, error) { return tx.Scan(q) })
	if err != nil {
		return httpapi.Response{}, err
	}
	out := make([]reachable, 0, len(items))
	for i := range items {
		d := &items[i]
		id := d.DeviceID
		if id == d.DeviceToken {
			id = "" // the app sends no device id, so its token is used
		}
		out = append(out, reachable{
			UserID: d.UserID, DeviceID: id, Platform: d.Platform, OSVersion: d.OSVersion, AppVersion: d.AppVersion,
			PushToStart: d.PushToStartToken != "", LastSeenAt: d.LastSeenAt,
		})
	}
	return httpapi.ReplyTagged(httpapi.NewList(out, next))
}

// listSubscriptions lists Live Activities of one match or of all.
func (h *handlers) listSubscriptions(r *httpapi.Request) (httpapi.Response, error) {
	ask, err := bind.ReadPage(r.Request, "matchId")
	if err != nil {
		return httpapi.Response{}, err
	}
	read := func(tx *store.Tx) (store.Page, error) {
		return tx.Scan(store.Scan{Table: tables.LiveActivities, Limit: ask.Limit, StartKey: ask.Start})
	}
	if match := ask.Text["matchId"]; match != "" {
		q := store.Query{Table: tables.LiveActivities, KeyCondition: "matchId = :m", Limit: ask.Limit, StartKey: ask.Start}
		q.Values = attr.Item{":m": attr.S(match)}
		read = func(tx *store.Tx) (store.Page, error) { return tx.Query(q) }
	}
	items, next, err := httpapi.Rows[phone.Session](r, &ask, read)
	if err != nil {
		return httpapi.Response{}, err
	}
	for i := range items {
		if sess := &items[i]; httpapi.IsToken(sess.DeviceID) {
			sess.DeviceID = ""
		}
	}
	return httpapi.ReplyTagged(httpapi.NewList(items, next))
}
