package web

import (
	"context"
	"testing"
)

// A user's choice of alerts and quiet hours is kept with the devices: a new phone has it too.
func TestPreferences(t *testing.T) {
	const night = `{"alerts":"results","quietFrom":"22:00","quietTo":"06:30","timeZone":"Asia/Kolkata"}`
	newAppRig(t).do([]deed{
		{ask: "GET /user/preferences", status: 404, want: []string{"device_not_found"}},
		{ask: "PUT /user/preferences", body: night, status: 404, want: []string{"device_not_found"}},
		{ask: "POST /devices", body: device("a", "d1"), status: 201, effects: []string{"+ device u1 aa id d1 start "}},
		{ask: "GET /user/preferences", status: 200, want: []string{`{"alerts":"wickets_and_results"}`}},
		{ask: "PUT /user/preferences", body: night, status: 200, want: []string{night}},
		{ask: "POST /devices", body: device("b", "d2"), status: 201, effects: []string{"- device u1 aa id d1 start ", "+ device u1 bb id d2 start "}},
		{ask: "GET /user/preferences", status: 200, want: []string{night}},
		{ask: "PUT /user/preferences", body: `{"alerts":"off"}`, status: 200, want: []string{`{"alerts":"off"}`}},
		{ask: "GET /user/preferences", status: 200, want: []string{`{"alerts":"off"}`}},
		{ask: "PUT /user/preferences", body: `{"alerts":"wickets"}`, status: 400, want: []string{`"field":"alerts"`}},
		{ask: "PUT /user/preferences", body: `{"quietFrom":"22:00","quietTo":"6:30","timeZone":"Asia/Kolkata"}`, status: 400},
		{ask: "PUT /user/preferences", body: `{"quietFrom":"22:00","quietTo":"06:30"}`, status: 400, want: []string{"timeZone"}},
		{ask: "PUT /user/preferences", body: `{"quietFrom":"22:00","quietTo":"06:30","timeZone":"Mars/Olympus"}`, status: 400},
		{as: "u2", ask: "GET /user/preferences", status: 404},
		{ask: "POST /user/device", body: `{"platform":"ios","deviceToken":"` + tokenOf("b") + `","deviceId":"d2","environment":"development","frequentUpdates":false}`,
			status: 200, want: []string{`"environment":"development"`, `"frequentUpdates":false`}},
		{ask: "POST /user/device", body: device("b", "d2"), status: 200, want: []string{`"environment":"development"`}},
		{ask: "POST /user/device", body: `{"platform":"ios","deviceToken":"` + tokenOf("b") + `","environment":"sandbox"}`, status: 400, want: []string{`"field":"environment"`}},
		{as: "nobody", ask: "GET /user/preferences", status: 401},
	})
}

// An app that starts its own activity asks for the match's channel, and says that it listens: the session is active without a token.
func TestChannelOfAMatch(t *testing.T) {
	newAppRig(t, func(c *setup) {
		c.App.Channel = func(_ context.Context, match string) (string, error) {
			return map[string]string{"7": "Y2hhbm5lbA=="}[match], nil
		}
	}).do([]deed{
		{ask: "GET /matches/7/channel", status: 200, want: []string{`{"matchId":"7","channelId":"Y2hhbm5lbA=="}`}},
		{ask: "GET /matches/9/channel", status: 404, want: []string{"channel_not_found"}},
		{ask: "GET /matches/777/channel", status: 404, want: []string{"match_not_found"}},
		{ask: "POST /devices", body: device("a", "d1"), status: 201, effects: []string{"+ device u1 aa id d1 start "}},
		{ask: "POST /user/activity/7/channel", body: `{"channelId":"Y2hhbm5lbA=="}`, status: 404, want: []string{"follow_not_found"}},
		{ask: "POST /user/follow/7", status: 201, effects: []string{"+ activity 7 u1#d1 pending", "+ follow 7 u1 team 0"}},
		{ask: "POST /user/activity/7/channel", body: `{"channelId":"other"}`, status: 400, want: []string{`"field":"channelId"`}},
		{ask: "POST /user/activity/7/channel", body: `{}`, status: 400},
		{ask: "POST /user/activity/7/channel", body: `{"channelId":"Y2hhbm5lbA=="}`, status: 200, want: []string{`"deviceId":"d1"`, `"status":"active"`},
			effects: []string{"- activity 7 u1#d1 pending", "+ activity 7 u1#d1 active"}},
		{as: "nobody", ask: "GET /matches/7/channel", status: 401},
	})
}
