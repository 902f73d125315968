package apns

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/sideshow/apns2"
)

// manageHost returns the host for creating and deleting the channels of an Apple host. Any other host does both.
func manageHost(host string) string {
	switch {
	case strings.HasPrefix(host, apns2.HostProduction):
		return "https://api-manage-broadcast.push.apple.com:2196"
	case strings.HasPrefix(host, apns2.HostDevelopment):
		return "https://api-manage-broadcast.sandbox.push.apple.com:2195"
	default:
		return host
	}
}

// listLimit bounds the list of all channels; Apple allows ten thousand.
const listLimit = 1 << 20

// keepNewest is the storage policy of our channels: a phone that comes back online gets the last message.
const keepNewest = 1

// CreateChannel creates a broadcast channel for Live Activities and returns its id, which is empty unless the
// result is Accepted.
func (c *Client) CreateChannel(ctx context.Context) (id string, res Result) {
	body, err := json.Marshal(map[string]any{"push-type": "LiveActivity", "message-storage-policy": keepNewest})
	if err != nil {
		return "", Result{Action: Stop, Alarm: true, Reason: ReasonBadPayload, Err: err}
	}
	res = c.authorized(ctx, func(b *Bearer) Result {
		r, x, _ := c.request(ctx, http.MethodPost, c.channels("channels"), nil, body, b)
		id = x.channel
		if r.Action == Accepted && id == "" {
			r.Action, r.Alarm, r.Reason = Retry, true, ReasonNotApple
		}
		return r
	})
	if res.Action != Accepted {
		id = ""
	}
	return id, res
}

// DeleteChannel deletes a channel. The result is Gone if Apple does not know it.
func (c *Client) DeleteChannel(ctx context.Context, id string) Result {
	return c.authorized(ctx, func(b *Bearer) Result {
		r, _, _ := c.request(ctx, http.MethodDelete, c.channels("channels"), http.Header{"Apns-Channel-Id": {id}}, nil, b)
		return r
	})
}

// Channels lists the channels of the app.
func (c *Client) Channels(ctx context.Context) (ids []string, res Result) {
	res = c.authorized(ctx, func(b *Bearer) Result {
		r, _, answer := c.request(ctx, http.MethodGet, c.channels("all-channels"), nil, nil, b)
		var list struct {
			Channels []string `json:"channels"`
		}
		if r.Action == Accepted && json.Unmarshal(answer, &list) != nil {
			r.Action, r.Alarm, r.Reason = Retry, true, ReasonNotApple
		}
		ids = list.Channels
		return r
	})
	return ids, res
}

func (c *Client) channels(what string) string { return c.manage + "/1/apps/" + c.bundle + "/" + what }

// broadcast sends one push to a channel.
func (c *Client) broadcast(ctx context.Context, p Push, b *Bearer) Result {
	if !json.Valid(p.Payload) {
		return Result{Action: Stop, Alarm: true, Reason: ReasonBadPayload}
	}
	h := http.Header{
		"Apns-Channel-Id": {p.Channel}, "Apns-Push-Type": {string(p.Type)},
		"Apns-Priority":   {strconv.Itoa(p.Priority)},
		"Apns-Expiration": {strconv.FormatInt(max(0, p.Expiration.Unix()), 10)},
	}
	if p.ID != "" {
		h["Apns-Request-Id"] = []string{p.ID}
	}
	res, _, _ := c.request(ctx, http.MethodPost, c.host+"/4/broadcasts/apps/"+c.bundle, h, p.Payload, b)
	if res.Action == Accepted && res.ID == "" {
		res.Action, res.Alarm, res.Reason = Retry, true, ReasonNotApple
	}
	return res
}

// request sends a request that apns2 cannot create, on the same connections; answer is the body, whatever the status.
func (c *Client) request(
	ctx context.Context, method, url string, h http.Header, body []byte, b *Bearer,
) (res Result, x *exchange, answer []byte) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	x = &exchange{bearer: b.Token, limit: listLimit}
	req, err := http.NewRequestWithContext(context.WithValue(ctx, exchangeKey{}, x), method, url, bytes.NewReader(body))
	if err != nil {
		return Result{Action: Stop, Alarm: true, Reason: ReasonBadPayload, Err: withoutURL(err)}, x, nil
	}
	if h != nil {
		req.Header = h
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(req)
	if err != nil {
		return noAnswer(err, x.conn), x, nil
	}
	defer response.Body.Close()
	var got bytes.Buffer
	if _, err := got.ReadFrom(response.Body); err != nil && x.status < http.StatusMultipleChoices {
		return noAnswer(err, x.conn), x, nil
	}
	res = x.result()
	if x.status >= http.StatusOK && x.status < http.StatusMultipleChoices {
		return res, x, got.Bytes()
	}
	var refused struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(got.Bytes(), &refused) // a body that is not Apple's leaves only the status
	res.Reason = refused.Reason
	v := c.rules.classify(res.Status, res.Reason)
	res.Action, res.Alarm = v.action, v.alarm
	return res, x, got.Bytes()
}
