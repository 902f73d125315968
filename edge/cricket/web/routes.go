package web

import (
	"slices"

	"github.com/touchline/touchline/httpapi"
)

// routes returns the routes of the API.
func (h *handlers) routes() []httpapi.Route {
	return slices.Concat(h.readRoutes(), h.userRoutes(), h.adminRoutes())
}

// readRoutes are the routes that apps read.
func (h *handlers) readRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/", Access: httpapi.Public, Handle: h.getRoot},
		{Method: "GET", Path: "/health", Access: httpapi.Public, Handle: h.getHealth, Quiet: true},
		{Method: "GET", Path: "/health/ready", Access: httpapi.Public, Handle: h.getReadiness, Quiet: true},
		{Method: "GET", Path: "/app/config", Access: httpapi.Public, Handle: h.getAppConfig},

		{Method: "GET", Path: "/matches", Access: httpapi.User, Handle: h.listMatches},
		{Method: "GET", Path: "/matches/live", Access: httpapi.User, Handle: h.listLiveMatches},
		{Method: "GET", Path: "/matches/:id", Access: httpapi.User, Handle: h.getMatch},
		{Method: "GET", Path: "/matches/:id/display", Access: httpapi.User, Handle: h.getDisplay},
		{Method: "GET", Path: "/matches/:id/channel", Access: httpapi.User, Handle: h.getChannel},
		{Method: "GET", Path: "/matches/:id/card", Access: httpapi.User, Handle: h.getCard},
		{Method: "GET", Path: "/matches/:id/events", Access: httpapi.User, Handle: h.listEvents},
		{Method: "GET", Path: "/matches/:id/stream", Access: httpapi.User, Handle: h.streamMatch, Stream: true},
		{Method: "GET", Path: "/leagues", Access: httpapi.User, Handle: h.listLeagues},
		{Method: "GET", Path: "/leagues/:id", Access: httpapi.User, Handle: h.getLeague},
		{Method: "GET", Path: "/teams", Access: httpapi.User, Handle: h.listTeams},
		{Method: "GET", Path: "/teams/:id", Access: httpapi.User, Handle: h.getTeam},
		{Method: "GET", Path: "/seasons/:id/teams", Access: httpapi.User, Handle: h.listSeasonTeams},
		{Method: "GET", Path: "/stream", Access: httpapi.User, Handle: h.streamAll, Stream: true},
	}
}

// userRoutes are the routes for users' own data.
func (h *handlers) userRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/user/activities", Access: httpapi.User, Role: person, Handle: h.listActivities},
		{Method: "POST", Path: "/user/activity/:id", Access: httpapi.User, Role: person, Handle: h.registerActivity},
		{Method: "POST", Path: "/user/activity/:id/channel", Access: httpapi.User, Role: person, Handle: h.registerListener},
		{Method: "DELETE", Path: "/user/activity/:id", Access: httpapi.User, Role: person, Handle: h.endActivity},
		{Method: "GET", Path: "/user/device", Access: httpapi.User, Role: person, Handle: h.getDevice},
		{Method: "POST", Path: "/user/device", Access: httpapi.User, Role: person, Handle: h.registerDevice},
		{Method: "DELETE", Path: "/user/device", Access: httpapi.User, Role: person, Handle: h.forgetDevice},
		{Method: "PUT", Path: "/user/device/push-to-start", Access: httpapi.User, Role: person, Handle: h.putPushToStart},
		{Method: "GET", Path: "/user/preferences", Access: httpapi.User, Role: person, Handle: h.getPreferences},
		{Method: "PUT", Path: "/user/preferences", Access: httpapi.User, Role: person, Handle: h.putPreferences},
		{Method: "GET", Path: "/user/follow/:id", Access: httpapi.User, Role: person, Handle: h.getFollow},
		{Method: "POST", Path: "/user/follow/:id", Access: httpapi.User, Role: person, Handle: h.followMatch},
		{Method: "PATCH", Path: "/user/follow/:id", Access: httpapi.User, Role: person, Handle: h.updateFollow},
		{Method: "DELETE", Path: "/user/follow/:id", Access: httpapi.User, Role: person, Handle: h.unfollowMatch},

		// The same under the names that older apps use.
		{Method: "POST", Path: "/matches/:id/activity-token", Access: httpapi.User, Role: person, Handle: h.postActivityToken},
		{Method: "POST", Path: "/matches/:id/activity-dismissed", Access: httpapi.User, Role: person, Handle: h.postActivityDismissed},
		{Method: "POST", Path: "/user/follow/match", Access: httpapi.User, Role: person, Handle: h.postFollowMatch},
		{Method: "PATCH", Path: "/user/follow/match/:id/team", Access: httpapi.User, Role: person, Handle: h.patchFollowMatchTeam},
		{Method: "DELETE", Path: "/user/follow/match/:id", Access: httpapi.User, Role: person, Handle: h.deleteFollowMatch},
		{Method: "POST", Path: "/devices", Access: httpapi.User, Role: person, Handle: h.postDevices},
		{Method: "DELETE", Path: "/devices/:deviceToken", Access: httpapi.User, Role: person, Handle: h.deleteDevices},
		{Method: "POST", Path: "/devices/push-to-start-token", Access: httpapi.User, Role: person, Handle: h.postPushToStartToken},
	}
}

// adminRoutes are for admins.
func (h *handlers) adminRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/hub", Access: httpapi.NodeAdmin, Handle: h.getHub},
		{Method: "PATCH", Path: "/leagues/:id", Access: httpapi.Admin, Handle: h.updateLeague},
		{Method: "DELETE", Path: "/leagues/:id", Access: httpapi.Admin, Handle: h.deleteLeague},
		{Method: "PATCH", Path: "/teams/:id", Access: httpapi.Admin, Handle: h.updateTeam},
		{Method: "GET", Path: "/admin/sportmonks/fixtures", Access: httpapi.Admin, Handle: h.listFeedFixtures},
		{Method: "POST", Path: "/admin/cache/clear", Access: httpapi.Admin, Handle: h.clearCache},
		{Method: "GET", Path: "/admin/cache/stats", Access: httpapi.Admin, Handle: h.getCacheStats},
		{Method: "POST", Path: "/admin/notifications/push", Access: httpapi.Admin, Handle: h.pushNotification},
		{Method: "GET", Path: "/admin/notifications/users", Access: httpapi.Admin, Handle: h.listReachable},
		{Method: "GET", Path: "/admin/notifications/subscriptions", Access: httpapi.Admin, Handle: h.listSubscriptions},
		{Method: "GET", Path: "/admin/replay/tapes", Access: httpapi.Admin, Role: rehearsal, Handle: h.listTapes},
		{Method: "GET", Path: "/admin/replay/matches", Access: httpapi.Admin, Role: rehearsal, Handle: h.listReplays},
		{Method: "POST", Path: "/admin/replay/matches", Access: httpapi.Admin, Role: rehearsal, Handle: h.startReplay},
		{Method: "POST", Path: "/admin/replay/matches/:id/control", Access: httpapi.Admin, Role: rehearsal, Handle: h.controlReplay},
		{Method: "DELETE", Path: "/admin/replay/matches/:id", Access: httpapi.Admin, Role: rehearsal, Handle: h.deleteReplay},
	}
}

// pageRoutes returns the routes of the pages.
func (h *handlers) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/", Access: httpapi.User, Handle: h.homePage},
		{Method: "GET", Path: "/matches", Access: httpapi.User, Handle: h.listPage},
		{Method: "GET", Path: "/matches/:id", Access: httpapi.User, Handle: h.matchPage},
		{Method: "GET", Path: "/matches/:id/overs", Access: httpapi.User, Handle: h.oversPage},
		{Method: "GET", Path: "/replay", Access: httpapi.Admin, Role: rehearsal, Handle: h.replayPage},
		{Method: "POST", Path: "/replay", Access: httpapi.Admin, Role: rehearsalForm, Handle: h.startByForm},
		{Method: "POST", Path: "/replay/:id", Access: httpapi.Admin, Role: rehearsalForm, Handle: h.controlByForm},
	}
}

// What a route asks beyond its Access.
const (
	person        = "person"         // the caller is a user: the API key follows no match and has no phone
	rehearsal     = "rehearsal"      // the node plays recorded matches
	rehearsalForm = "rehearsal form" // the same, for a form that only our own page may send
)

// admit refuses requests that are not what their route asks for.
func (h *handlers) admit(r *httpapi.Request) error {
	switch r.Route.Role {
	case person:
		_, err := r.Caller()
		return err
	case rehearsal:
		return h.checkReplays()
	case rehearsalForm:
		if err := r.CheckOwnPage(); err != nil {
			return err
		}
		return h.checkReplays()
	}
	return nil
}
