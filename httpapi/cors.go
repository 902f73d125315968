package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-contrib/cors"
	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
)

// newCORS returns a handler that allows pages of other origins to call an application's routes. Pages of all other origins get no CORS
// headers, so the browser lets them read no answer and send only simple requests. Cookies are allowed only to named origins, and only
// of an application that sets its own and asks for it; otherwise other origins sign in with a header. The node's cookies are never
// sent: they are SameSite=Strict.
func newCORS(origins []string, credentials bool) (gin.HandlerFunc, error) {
	if len(origins) == 0 {
		return func(*gin.Context) {}, nil
	}
	for _, origin := range origins {
		if !ValidOrigin(origin) {
			return nil, fault.New(fault.Invalid, "bad_origin", "%q is not an origin such as https://app.example", origin)
		}
	}
	if credentials && slices.Contains(origins, "*") {
		return nil, fault.New(fault.Invalid, "bad_origin", "Origins that may send cookies must be named, not *.")
	}
	allowed := cors.New(cors.Config{
		AllowOrigins: origins,
		AllowMethods: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"},
		AllowHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID", "Prefer", headerOccurred, headerSure, "X-API-Key", "X-CSRF-Token"},
		ExposeHeaders: []string{
			"ETag", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "WWW-Authenticate", "X-Request-Id", headerSeq, headerNode, headerCloud, "Preference-Applied", "Link",
		},
		AllowCredentials: credentials, MaxAge: time.Hour,
	})
	all := slices.Contains(origins, "*")
	return func(c *gin.Context) {
		origin := c.GetHeader("Origin")
		if origin == "" {
			return
		}
		h := c.Writer.Header()
		vary := slices.Clone(h.Values("Vary")) // the cors module overwrites Vary with a slice that it shares
		if all || slices.Contains(origins, origin) {
			allowed(c)
		}
		if !all {
			vary = append(vary, "Origin")
		}
		h["Vary"] = vary
	}, nil
}

// allowOrigins applies the CORS rules of the application that a request is for.
func (s *Server) allowOrigins(c *gin.Context) {
	if m := s.appAt(c.Request.URL.Path); m != nil {
		m.cors(c)
	}
}

// ValidOrigin reports whether a text is an origin as browsers send it, or "*" for all.
func ValidOrigin(text string) bool {
	if text == "*" {
		return true
	}
	r := &http.Request{Header: http.Header{"Origin": {text}}}
	host := originHost(r)
	return host != "" && !strings.Contains(host, "*") && text == strings.ToLower(text)
}
