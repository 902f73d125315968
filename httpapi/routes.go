package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// place says where a route lies.
type place uint8

const (
	atNode place = iota // as it stands, whatever is mounted where
	atApp               // under the application's mount
	atPage              // among the pages: at "/", or under "/_" where the application is mounted at "/"
)

// route is one thing that the server answers. A GET answers HEAD as well, but for a stream.
type route struct {
	method string
	at     place
	path   string
	access access
	do     handler
	stream bool // goes on for as long as the reader stays
	quiet  bool // asked all the time: logged at debug level while it works
}

// table is everything that the server answers.
func (s *Server) table() []route {
	var all []route
	for _, part := range [][]route{s.nodeRoutes(), s.matchRoutes(), s.userRoutes(), s.staffRoutes(), s.pageRoutes()} {
		all = append(all, part...)
	}
	return all
}

func (s *Server) nodeRoutes() []route {
	return append(s.signInRoutes(), []route{
		{method: "GET", at: atNode, path: "/livez", access: public, do: s.getLive, quiet: true},
		{method: "GET", at: atNode, path: "/readyz", access: public, do: s.getReady, quiet: true},
		{method: "GET", at: atNode, path: "/statusz", access: admin, do: s.getStatus, quiet: true},
		{method: "GET", at: atNode, path: "/metrics", access: admin, do: s.getMetrics, quiet: true},
	}...)
}

// matchRoutes are what an application reads: of itself, and of matches.
func (s *Server) matchRoutes() []route {
	return []route{
		{method: "GET", at: atApp, path: "/", access: public, do: s.getRoot},
		{method: "GET", at: atApp, path: "/health", access: public, do: s.getHealth, quiet: true},
		{method: "GET", at: atApp, path: "/health/ready", access: public, do: s.getHealthReady, quiet: true},
		{method: "GET", at: atApp, path: "/app/config", access: public, do: s.getAppConfig},
		{method: "GET", at: atApp, path: "/openapi.yaml", access: public, do: s.getOpenAPIYAML},
		{method: "GET", at: atApp, path: "/openapi.json", access: public, do: s.getOpenAPIJSON},

		{method: "GET", at: atApp, path: "/matches", access: user, do: s.getMatches},
		{method: "GET", at: atApp, path: "/matches/live", access: user, do: s.getLiveMatches},
		{method: "GET", at: atApp, path: "/matches/:id", access: user, do: s.getMatch},
		{method: "GET", at: atApp, path: "/matches/:id/display", access: user, do: s.getDisplay},
		{method: "GET", at: atApp, path: "/matches/:id/card", access: user, do: s.getCard},
		{method: "GET", at: atApp, path: "/matches/:id/events", access: user, do: s.getEvents},
		{method: "GET", at: atApp, path: "/matches/:id/stream", access: user, do: s.streamMatch, stream: true},
		{method: "GET", at: atApp, path: "/leagues", access: user, do: s.getLeagues},
		{method: "GET", at: atApp, path: "/leagues/:id", access: user, do: s.getLeague},
		{method: "GET", at: atApp, path: "/teams", access: user, do: s.getTeams},
		{method: "GET", at: atApp, path: "/teams/:id", access: user, do: s.getTeam},
		{method: "GET", at: atApp, path: "/seasons/:id/teams", access: user, do: s.getSeasonTeams},
		{method: "GET", at: atApp, path: "/stream", access: user, do: s.streamAll, stream: true},
	}
}

// userRoutes are what users keep here of their own.
func (s *Server) userRoutes() []route {
	return []route{
		{method: "GET", at: atApp, path: "/user/activities", access: user, do: s.getActivities},
		{method: "POST", at: atApp, path: "/user/activity/:id", access: user, do: s.postActivity},
		{method: "DELETE", at: atApp, path: "/user/activity/:id", access: user, do: s.deleteActivity},
		{method: "GET", at: atApp, path: "/user/device", access: user, do: s.getDevice},
		{method: "POST", at: atApp, path: "/user/device", access: user, do: s.postDevice},
		{method: "DELETE", at: atApp, path: "/user/device", access: user, do: s.deleteUserDevice},
		{method: "PUT", at: atApp, path: "/user/device/push-to-start", access: user, do: s.putPushToStart},
		{method: "GET", at: atApp, path: "/user/follow/:id", access: user, do: s.getFollow},
		{method: "POST", at: atApp, path: "/user/follow/:id", access: user, do: s.postFollow},
		{method: "PATCH", at: atApp, path: "/user/follow/:id", access: user, do: s.patchFollow},
		{method: "DELETE", at: atApp, path: "/user/follow/:id", access: user, do: s.deleteFollow},

		// The same under the names that older apps know.
		{method: "POST", at: atApp, path: "/matches/:id/activity-token", access: user, do: s.postActivityToken},
		{method: "POST", at: atApp, path: "/matches/:id/activity-dismissed", access: user, do: s.postActivityDismissed},
		{method: "POST", at: atApp, path: "/user/follow/match", access: user, do: s.postFollowMatch},
		{method: "PATCH", at: atApp, path: "/user/follow/match/:id/team", access: user, do: s.patchFollow},
		{method: "DELETE", at: atApp, path: "/user/follow/match/:id", access: user, do: s.deleteFollow},
		{method: "POST", at: atApp, path: "/devices", access: user, do: s.postDevice},
		{method: "DELETE", at: atApp, path: "/devices/:deviceToken", access: user, do: s.deleteDevice},
		{method: "POST", at: atApp, path: "/devices/push-to-start-token", access: user, do: s.putPushToStart},
	}
}

// staffRoutes are for admins.
func (s *Server) staffRoutes() []route {
	return []route{
		{method: "GET", at: atApp, path: "/hub", access: admin, do: s.getHub},
		{method: "GET", at: atApp, path: "/sync", access: admin, do: s.getSync, quiet: true},
		{method: "GET", at: atApp, path: "/conflicts", access: admin, do: s.getConflicts},
		{method: "GET", at: atApp, path: "/conflicts/:id", access: admin, do: s.getConflict},
		{method: "POST", at: atApp, path: "/conflicts/:id/retry", access: admin, do: s.postConflictRetry},
		{method: "POST", at: atApp, path: "/conflicts/:id/discard", access: admin, do: s.postConflictDiscard},
		{method: "PATCH", at: atApp, path: "/leagues/:id", access: admin, do: s.patchLeague},
		{method: "DELETE", at: atApp, path: "/leagues/:id", access: admin, do: s.deleteLeague},
		{method: "PATCH", at: atApp, path: "/teams/:id", access: admin, do: s.patchTeam},
		{method: "GET", at: atApp, path: "/admin/sportmonks/fixtures", access: admin, do: s.getFeedFixtures},
		{method: "POST", at: atApp, path: "/admin/cache/clear", access: admin, do: s.postCacheClear},
		{method: "GET", at: atApp, path: "/admin/cache/stats", access: admin, do: s.getCacheStats},
		{method: "POST", at: atApp, path: "/admin/notifications/push", access: admin, do: s.postNotification},
		{method: "GET", at: atApp, path: "/admin/notifications/users", access: admin, do: s.getNotified},
		{method: "GET", at: atApp, path: "/admin/notifications/subscriptions", access: admin, do: s.getSubscriptions},
		{method: "GET", at: atApp, path: "/admin/replay/tapes", access: admin, do: s.getTapes},
		{method: "GET", at: atApp, path: "/admin/replay/matches", access: admin, do: s.getReplays},
		{method: "POST", at: atApp, path: "/admin/replay/matches", access: admin, do: s.postReplay},
		{method: "POST", at: atApp, path: "/admin/replay/matches/:id/control", access: admin, do: s.postReplayControl},
		{method: "DELETE", at: atApp, path: "/admin/replay/matches/:id", access: admin, do: s.deleteReplay},
	}
}

func (s *Server) pageRoutes() []route {
	all := []route{
		{method: "GET", at: atPage, path: "/", access: user, do: s.getHome},
		{method: "GET", at: atPage, path: "/matches", access: user, do: s.getListPage},
		{method: "GET", at: atPage, path: "/matches/:id", access: user, do: s.getMatchPage},
		{method: "GET", at: atPage, path: "/matches/:id/overs", access: user, do: s.getOversPage},
		{method: "GET", at: atPage, path: "/hub", access: admin, do: s.getHubPage},
		{method: "GET", at: atPage, path: "/replay", access: admin, do: s.getReplayPage},
		{method: "POST", at: atPage, path: "/replay", access: admin, do: s.postReplayForm},
		{method: "POST", at: atPage, path: "/replay/:id", access: admin, do: s.postReplayControlForm},
		{method: "GET", at: atPage, path: "/docs", access: public, do: s.getDocs},
		{method: "GET", at: atNode, path: "/_/docs/:version/:name", access: public, do: s.getDocsFile, quiet: true},
		{method: "GET", at: atNode, path: "/_/stream", access: user, do: s.streamPage, stream: true},
		{method: "GET", at: atNode, path: "/_/assets/:version/:name", access: public, do: s.getAsset, quiet: true},
	}
	if s.cfg.Development {
		all = append(all,
			route{method: "GET", at: atNode, path: "/_/gallery", access: public, do: s.getGallery},
			route{method: "GET", at: atNode, path: "/_/gallery/:scene", access: public, do: s.getScene})
	}
	return all
}

// address is the full path of a route.
func (s *Server) address(at place, path string) string {
	alone := s.cfg.Mount == "/"
	switch {
	case at == atApp && !alone && path == "/":
		return s.cfg.Mount
	case at == atApp && !alone:
		return s.cfg.Mount + path
	case at == atPage && alone:
		return "/_" + path
	default:
		return path
	}
}

// underMount reports whether a path is one of the application's, known or not.
func (s *Server) underMount(path string) bool {
	if s.cfg.Mount != "/" {
		return path == s.cfg.Mount || strings.HasPrefix(path, s.cfg.Mount+"/")
	}
	if path == "/_" || strings.HasPrefix(path, "/_/") {
		return false
	}
	for _, r := range s.nodeRoutes() {
		if r.path == path {
			return false
		}
	}
	return true
}

func (s *Server) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode) // else every route is printed
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	e.ContextWithFallback = true
	_ = e.SetTrustedProxies(nil) // nobody's word counts for who is asking; nil cannot fail
	e.Use(identify, s.observe, s.rescue, guard, s.notElsewhere, s.cors)
	e.NoRoute(s.noRoute)
	e.NoMethod(s.noMethod)
	for _, r := range s.table() {
		var chain []gin.HandlerFunc
		if r.quiet {
			chain = append(chain, quiet)
		}
		chain = append(chain, s.allow(r.access), s.wrap(r.do))
		for _, path := range s.addresses(&r) {
			e.Handle(r.method, path, chain...)
			if r.method == http.MethodGet && !r.stream {
				e.Handle(http.MethodHead, path, chain...)
			}
		}
	}
	return e
}

// addresses are the paths of a route: the root of an application answers with and without a slash.
func (s *Server) addresses(r *route) []string {
	path := s.address(r.at, r.path)
	if r.at == atApp && r.path == "/" && path != "/" {
		return []string{path, path + "/"}
	}
	return []string{path}
}
