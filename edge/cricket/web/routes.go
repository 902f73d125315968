package web

import (
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/httpapi"
)

// routes returns the routes below the mount.
func (a *api) routes() (all []httpapi.Route) {
	for _, part := range [][]httpapi.Route{a.readRoutes(), a.userRoutes(), a.staffRoutes(), httpapi.OperatorRoutes()} {
		all = append(all, part...)
	}
	return all
}

// readRoutes are the routes that apps read.
func (a *api) readRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/", Access: httpapi.Public, Do: a.getRoot},
		{Method: "GET", Path: "/health", Access: httpapi.Public, Do: getHealth, Quiet: true},
		{Method: "GET", Path: "/health/ready", Access: httpapi.Public, Do: getHealthReady, Quiet: true},
		{Method: "GET", Path: "/app/config", Access: httpapi.Public, Do: a.getAppConfig},

		{Method: "GET", Path: "/matches", Access: httpapi.User, Do: a.getMatches},
		{Method: "GET", Path: "/matches/live", Access: httpapi.User, Do: a.getLiveMatches},
		{Method: "GET", Path: "/matches/:id", Access: httpapi.User, Do: readMatch(a.Service.Match)},
		{Method: "GET", Path: "/matches/:id/display", Access: httpapi.User, Do: ofMatch(a.getDisplay)},
		{Method: "GET", Path: "/matches/:id/channel", Access: httpapi.User, Do: ofMatch(a.getChannel)},
		{Method: "GET", Path: "/matches/:id/card", Access: httpapi.User, Do: readMatch(a.Service.Card)},
		{Method: "GET", Path: "/matches/:id/events", Access: httpapi.User, Do: ofMatch(a.getEvents)},
		{Method: "GET", Path: "/matches/:id/stream", Access: httpapi.User, Do: ofMatch(a.streamMatch), Stream: true},
		{Method: "GET", Path: "/leagues", Access: httpapi.User, Do: answerList(reference.Leagues{}.All)},
		{Method: "GET", Path: "/leagues/:id", Access: httpapi.User, Do: read(reference.Leagues{}.Get)},
		{Method: "GET", Path: "/teams", Access: httpapi.User, Do: answerList(reference.Teams{}.All)},
		{Method: "GET", Path: "/teams/:id", Access: httpapi.User, Do: read(reference.Teams{}.Get)},
		{Method: "GET", Path: "/seasons/:id/teams", Access: httpapi.User, Do: read(seasonTeams)},
		{Method: "GET", Path: "/stream", Access: httpapi.User, Do: streamAll, Stream: true},
	}
}

// userRoutes are the routes for users' own data.
func (a *api) userRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/user/activities", Access: httpapi.User, Do: getActivities},
		{Method: "POST", Path: "/user/activity/:id", Access: httpapi.User, Do: ofFollower(a.registerActivity("updateToken"))},
		{Method: "POST", Path: "/user/activity/:id/channel", Access: httpapi.User, Do: ofFollower(a.registerListener)},
		{Method: "DELETE", Path: "/user/activity/:id", Access: httpapi.User, Do: ofFollower(a.deleteActivity)},
		{Method: "GET", Path: "/user/device", Access: httpapi.User, Do: ofUser(a.getDevice)},
		{Method: "POST", Path: "/user/device", Access: httpapi.User, Do: ofUser(a.postDevice)},
		{Method: "DELETE", Path: "/user/device", Access: httpapi.User, Do: ofUser(a.deleteUserDevice)},
		{Method: "PUT", Path: "/user/device/push-to-start", Access: httpapi.User, Do: ofUser(a.putPushToStart)},
		{Method: "GET", Path: "/user/preferences", Access: httpapi.User, Do: ofUser(a.getPreferences)},
		{Method: "PUT", Path: "/user/preferences", Access: httpapi.User, Do: ofUser(a.putPreferences)},
		{Method: "GET", Path: "/user/follow/:id", Access: httpapi.User, Do: ofFollower(a.getFollow)},
		{Method: "POST", Path: "/user/follow/:id", Access: httpapi.User, Do: ofFollower(a.postFollow)},
		{Method: "PATCH", Path: "/user/follow/:id", Access: httpapi.User, Do: ofFollower(a.patchFollow)},
		{Method: "DELETE", Path: "/user/follow/:id", Access: httpapi.User, Do: ofFollower(a.deleteFollow)},

		// The same under the names that older apps use.
		{Method: "POST", Path: "/matches/:id/activity-token", Access: httpapi.User, Do: ofFollower(a.registerActivity("activityToken"))},
		{Method: "POST", Path: "/matches/:id/activity-dismissed", Access: httpapi.User, Do: ofFollower(a.postActivityDismissed)},
		{Method: "POST", Path: "/user/follow/match", Access: httpapi.User, Do: ofUser(a.postFollowMatch)},
		{Method: "PATCH", Path: "/user/follow/match/:id/team", Access: httpapi.User, Do: ofFollower(a.patchFollow)},
		{Method: "DELETE", Path: "/user/follow/match/:id", Access: httpapi.User, Do: ofFollower(a.deleteFollow)},
		{Method: "POST", Path: "/devices", Access: httpapi.User, Do: ofUser(a.postDevice)},
		{Method: "DELETE", Path: "/devices/:deviceToken", Access: httpapi.User, Do: ofUser(a.deleteDevice)},
		{Method: "POST", Path: "/devices/push-to-start-token", Access: httpapi.User, Do: ofUser(a.putPushToStart)},
	}
}

// staffRoutes are for admins.
func (a *api) staffRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/hub", Access: httpapi.NodeAdmin, Do: a.getOperator},
		{Method: "PATCH", Path: "/leagues/:id", Access: httpapi.Admin, Do: patchLeague},
		{Method: "DELETE", Path: "/leagues/:id", Access: httpapi.Admin, Do: deleteLeague},
		{Method: "PATCH", Path: "/teams/:id", Access: httpapi.Admin, Do: patchTeam},
		{Method: "GET", Path: "/admin/sportmonks/fixtures", Access: httpapi.Admin, Do: getFeedFixtures},
		{Method: "POST", Path: "/admin/cache/clear", Access: httpapi.Admin, Do: postCacheClear},
		{Method: "GET", Path: "/admin/cache/stats", Access: httpapi.Admin, Do: getCacheStats},
		{Method: "POST", Path: "/admin/notifications/push", Access: httpapi.Admin, Do: a.postNotification},
		{Method: "GET", Path: "/admin/notifications/users", Access: httpapi.Admin, Do: getNotified},
		{Method: "GET", Path: "/admin/notifications/subscriptions", Access: httpapi.Admin, Do: getSubscriptions},
		{Method: "GET", Path: "/admin/replay/tapes", Access: httpapi.Admin, Do: a.withReplays(getRecordings)},
		{Method: "GET", Path: "/admin/replay/matches", Access: httpapi.Admin, Do: a.withReplays(getReplays)},
		{Method: "POST", Path: "/admin/replay/matches", Access: httpapi.Admin, Do: a.withReplays(postReplay)},
		{Method: "POST", Path: "/admin/replay/matches/:id/control", Access: httpapi.Admin, Do: a.withReplays(postReplayControl)},
		{Method: "DELETE", Path: "/admin/replay/matches/:id", Access: httpapi.Admin, Do: a.withReplays(deleteReplay)},
	}
}

// pageRoutes are the routes of pages.
func (a *api) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/", Access: httpapi.User, Do: a.getHome},
		{Method: "GET", Path: "/matches", Access: httpapi.User, Do: getListPage},
		{Method: "GET", Path: "/matches/:id", Access: httpapi.User, Do: ofMatch(httpapi.Page)},
		{Method: "GET", Path: "/matches/:id/overs", Access: httpapi.User, Do: ofMatch(a.getOversPage)},
		{Method: "GET", Path: "/replay", Access: httpapi.Admin, Do: a.withReplays(a.getReplayPage)},
		{Method: "POST", Path: "/replay", Access: httpapi.Admin, Do: a.replayForm(startByForm)},
		{Method: "POST", Path: "/replay/:id", Access: httpapi.Admin, Do: a.replayForm(controlByForm)},
	}
}
