package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/bind"
)

func TestFollows(t *testing.T) {
	newAppRig(t).do([]deed{
		{ask: "GET /user/follow/9", status: 404, want: []string{"follow_not_found"}},
		{ask: "POST /user/follow/9", status: 201, want: []string{`"createdAt":"2026-06-01T12:00:02Z"`}, effects: []string{"+ follow 9 u1 team 0"}},
		{ask: "POST /user/follow/9", body: `{"teamId":10}`, status: 200, want: []string{`"teamId":10`, `"createdAt":"2026-06-01T12:00:02Z"`},
			effects: []string{"- follow 9 u1 team 0", "+ follow 9 u1 team 10"}},
		{ask: "POST /user/follow/9", status: 200, want: []string{`"teamId":10`}}, // the team stays
		{ask: "GET /user/follow/9", status: 200, want: []string{`"userId":"u1"`}},
		{as: "u2", ask: "GET /user/follow/9", status: 404},
		{ask: "PATCH /user/follow/9", body: `{"teamId":"42"}`, status: 200, want: []string{`"teamId":42`},
			effects: []string{"- follow 9 u1 team 10", "+ follow 9 u1 team 42"}},
		{ask: "PATCH /user/follow/match/9/team", body: `{"teamId":10}`, status: 200, effects: []string{"- follow 9 u1 team 42", "+ follow 9 u1 team 10"}},
		{ask: "PATCH /user/follow/9", body: `{"teamId":11}`, status: 400, want: []string{`"field":"teamId"`, "not a team of this match"}},
		{ask: "PATCH /user/follow/9", body: `{}`, status: 400, want: []string{"is required"}},
		{as: "u2", ask: "PATCH /user/follow/9", body: `{"teamId":10}`, status: 404},
		{as: "u2", ask: "DELETE /user/follow/9", status: 404},
		{ask: "DELETE /user/follow/9", status: 204, effects: []string{"- follow 9 u1 team 10"}},
		{ask: "DELETE /user/follow/match/9", status: 404},
		{ask: "POST /user/follow/8", status: 409, want: []string{"match_over"}},
		{ask: "POST /user/follow/777", status: 404, want: []string{"match_not_found"}},
		{ask: "POST /user/follow/match", body: `{"matchId":9,"deviceId":"d1"}`, status: 201, effects: []string{"+ follow 9 u1 team 0"}},
		{ask: "POST /user/follow/match", body: `{"matchId":"9"}`, status: 200},
		{ask: "POST /user/follow/match", body: `{}`, status: 400, want: []string{`"field":"matchId"`}},
		{as: "key", ask: "POST /user/follow/9", status: 403, want: []string{"no_user"}},
		{as: "nobody", ask: "POST /user/follow/9", status: 401, want: []string{"unauthorized"}},
		{as: "bad", ask: "POST /user/follow/9", status: 401},
	})
}

// Following a live match starts an activity on each device, and the answer has the display.
func TestFollowALiveMatch(t *testing.T) {
	newAppRig(t, func(c *setup) { c.App.MultiDevice = true }).do([]deed{
		{ask: "POST /devices", body: device("a", "d1"), status: 201, effects: []string{"+ device u1 aa id d1 start "}},
		{ask: "POST /devices", body: device("b", "d2"), status: 201, effects: []string{"+ device u1 bb id d2 start "}},
		{ask: "POST /user/follow/7", status: 201, want: []string{`"displayState":{"matchId":"7"`},
			effects: []string{"+ activity 7 u1#d1 pending", "+ activity 7 u1#d2 pending", "+ follow 7 u1 team 0"}},
		{ask: "POST /user/activity/7", body: fmt.Sprintf(`{"updateToken":"%s","deviceId":"d1","startedAt":"2026-06-01T12:00:00Z"}`, tokenOf("E")), status: 200,
			want:    []string{`"status":"active"`, `"sessionStartedAt":"2026-06-01T12:00:00Z"`},
			effects: []string{"- activity 7 u1#d1 pending", "+ activity 7 u1#d1 active ee"}},
		{ask: "POST /matches/7/activity-token", body: fmt.Sprintf(`{"activityToken":"%s","deviceId":"d1"}`, tokenOf("f")), status: 200, // it rotates
			effects: []string{"- activity 7 u1#d1 active ee", "+ activity 7 u1#d1 active ff"}},
		{ask: "POST /matches/7/activity-token", body: fmt.Sprintf(`{"activityToken":"%s","deviceId":"d1"}`, tokenOf("f")), status: 200},
		{ask: "POST /user/activity/7", body: fmt.Sprintf(`{"updateToken":"%s"}`, tokenOf("1")), status: 200, // for the device seen last
			effects: []string{"- activity 7 u1#d2 pending", "+ activity 7 u1#d2 active 11"}},
		{ask: "GET /user/activities", status: 200, want: []string{`"deviceId":"d1"`, `"deviceId":"d2"`, `"cursor":null`}},
		{as: "u2", ask: "GET /user/activities", status: 200, want: []string{`"items":[]`}},
		{as: "admin", ask: "GET /admin/notifications/subscriptions?matchId=7&limit=1", status: 200, want: []string{`"deviceId":"d1"`, `"cursor":"`}},
		{as: "key", ask: "GET /hub", status: 200, want: []string{`"sessions":{"active":2}`, `"followers":1`, `"name":"England v India"`, `"tickAgeSeconds":`}},
		// A dismissal on one phone unfollows the match; the other phone is owed an end.
		{ask: "POST /matches/7/activity-dismissed", body: `{"deviceId":"d1"}`, status: 204, effects: []string{
			"- activity 7 u1#d1 active ff", "- activity 7 u1#d2 active 11", "- follow 7 u1 team 0",
			"+ activity 7 u1#d1 ended  dismissed", "+ activity 7 u1#d2 ended 11 unfollowed",
		}},
		{ask: "DELETE /user/activity/7?deviceId=d1", status: 404},
		{ask: "POST /user/activity/8", body: fmt.Sprintf(`{"updateToken":"%s"}`, tokenOf("1")), status: 409},
		{ask: "POST /user/activity/777", body: fmt.Sprintf(`{"updateToken":"%s"}`, tokenOf("1")), status: 404},
		{ask: "POST /user/activity/7", body: `{"updateToken":"xyz","deviceId":7,"startedAt":"noon"}`, status: 400,
			want: []string{`"field":"updateToken"`, `"field":"deviceId"`, `"field":"startedAt"`}},
		{as: "u3", ask: "POST /user/follow/7", status: 201, want: []string{"displayState"}, effects: []string{"+ follow 7 u3 team 0"}}, // without a device there is no activity
		{as: "u3", ask: "DELETE /user/activity/7", status: 204, effects: []string{"- follow 7 u3 team 0"}},
		{as: "u3", ask: "DELETE /user/activity/7", status: 404, want: []string{"activity_not_found"}},
	})
}

func TestOneDevicePerUser(t *testing.T) {
	newAppRig(t).do([]deed{
		{ask: "GET /user/device", status: 404, want: []string{"device_not_found"}},
		{ask: "POST /user/device", body: device("A", "d1"), status: 201, want: []string{tokenOf("a")}, effects: []string{"+ device u1 aa id d1 start "}},
		{ask: "POST /user/device", body: device("a", "d1"), status: 200},
		{ask: "PUT /user/device/push-to-start", body: fmt.Sprintf(`{"deviceToken":"%s","pushToStartToken":"%s"}`, tokenOf("a"), tokenOf("5")), status: 200,
			effects: []string{"- device u1 aa id d1 start ", "+ device u1 aa id d1 start 55"}},
		{ask: "POST /devices/push-to-start-token", body: fmt.Sprintf(`{"deviceToken":"%s","pushToStartToken":"%s"}`, tokenOf("a"), tokenOf("6")), status: 200,
			effects: []string{"- device u1 aa id d1 start 55", "+ device u1 aa id d1 start 66"}},
		{ask: "PUT /user/device/push-to-start", body: fmt.Sprintf(`{"deviceToken":"%s","pushToStartToken":"%s"}`, tokenOf("b"), tokenOf("5")), status: 404},
		{ask: "POST /user/device", body: device("b", "d2"), status: 201, effects: []string{"- device u1 aa id d1 start 66", "+ device u1 bb id d2 start "}},
		{ask: "GET /user/device", status: 200, want: []string{`"deviceId":"d2"`}},
		{as: "u2", ask: "POST /user/device", body: fmt.Sprintf(`{"deviceToken":"%s","platform":"ios","someday":{"a":[1]}}`, tokenOf("c")), status: 201,
			effects: []string{"+ device u2 cc id " + tokenOf("c") + " start "}},
		{ask: "DELETE /user/device?deviceToken=" + tokenOf("c"), status: 404}, // somebody else's
		{ask: "DELETE /user/device", status: 400, want: []string{`"field":"deviceToken"`}},
		{ask: "DELETE /user/device?deviceToken=" + tokenOf("B"), status: 204, effects: []string{"- device u1 bb id d2 start "}},
		{as: "u2", ask: "DELETE /devices/" + tokenOf("c"), status: 204, effects: []string{"- device u2 cc id " + tokenOf("c") + " start "}},
		{as: "u2", ask: "DELETE /devices/" + tokenOf("c"), status: 404},
		{ask: "POST /devices", body: `{"platform":"android","deviceToken":"abc"}`, status: 400, want: []string{`"field":"platform"`, `"field":"deviceToken"`, "one of ios"}},
		{ask: "POST /devices", body: ``, status: 400, want: []string{`"field":"platform"`, `"field":"deviceToken"`}},
	})
}

func TestBodies(t *testing.T) {
	r := newAppRig(t)
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"not JSON":       {`{"teamId":`, 400, "is not JSON"},
		"an array":       {`[1]`, 400, "must be a JSON object"},
		"more behind":    {`{} {}`, 400, "data after"},
		"twice":          {`{"teamId":10,"teamId":42}`, 400, `"field":"teamId","message":"is given twice"`},
		"twice, inside":  {`{"x":{"a":1,"a":2}}`, 400, "is given twice"},
		"twice, escaped": {`{"teamId":10,"team\u0049d":42}`, 400, "is given twice"},
		"deep":           {strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20), 400, "nested deeper"},
		"not UTF-8":      {"{\"a\":\"\xff\"}", 400, "UTF-8"},
		"large":          {`{"a":"` + strings.Repeat("x", 64<<10) + `"}`, 413, "too_large"},
		"wrong type":     {`{"teamId":true}`, 400, "must be an id"},
		"a fraction":     {`{"teamId":1.5}`, 400, "must be an id"},
		"negative":       {`{"teamId":-1}`, 400, "must be an id"},
		"not a number":   {`{"teamId":"ENG"}`, 400, "team's id"},
		"null is absent": {`{"teamId":null}`, 201, ""},
	} {
		w := r.send("", "POST /user/follow/9", c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := r.send("", "POST /user/follow/9", `{"somethingNew":{"a":[1,2]}}`); w.Code != http.StatusOK {
		t.Errorf("an unknown member: %d %s", w.Code, w.Body)
	}
}

// The readers of members do not panic, whatever a member holds.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"a":"10"}`, `{"a":1e999}`, `{"a":"\u0000"}`, `{"a":"abcdef"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		b := bind.ParseBody(raw, false)
		readTeam(b, "a")
		readToken(b, "a")
		readMatch(b, "a")
	})
}
