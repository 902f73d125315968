package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const (
	htmlType = "text/html; charset=utf-8"
	maxTopic = 256 // bytes of a topic's name
)

// Page answers with the page of a topic, which then follows its stream.
func Page(c *gin.Context, topic string) error { return PageAs(c, topic, "") }

// PageAs is Page in another layout, the template kind + "-page", which may show only some of the parts.
func PageAs(c *gin.Context, topic, kind string) error {
	s, m := serverOf(c), appOf(c)
	if err := m.ensure(c.Request.Context(), topic); err != nil {
		return err
	}
	view, seq, err := m.views.get(c.Request.Context(), topic)
	if err != nil {
		return err
	}
	who, _ := Identity(c)
	view = shownTo(who, view)
	view.Kind = cmp.Or(kind, view.Kind)
	f := page.Frame{Stream: m.streamAddress(topic, view), Nav: s.nav(c), Offline: m.offline(c), Node: s.cfg.Store.Node(), Version: versionAt(seq)}
	c.Header(headerVersion, f.Version)
	body, err := m.Look.Page(view, f)
	return HTML(c, http.StatusOK, body, err)
}

// Leads returns a handler that redirects to the path that find returns.
func Leads(find func(ctx context.Context) (path string, err error)) Handler {
	return func(c *gin.Context) error {
		path, err := find(c.Request.Context())
		if err == nil {
			c.Redirect(http.StatusSeeOther, path)
		}
		return err
	}
}

// ensure fetches what a topic shows, if the application has an Ensure.
func (m *mounted) ensure(ctx context.Context, topic string) error {
	if m.Ensure == nil {
		return nil
	}
	return m.Ensure(ctx, topic)
}

// nav returns the navigation links: those of the page's application, or on the node's pages those of the only application.
func (s *Server) nav(c *gin.Context) *page.Nav {
	who, _ := Identity(c)
	m := appOf(c)
	n := &page.Nav{SignIn: s.signInAt(m), SignedIn: who.Subject != ""}
	apps := s.apps
	if len(apps) > 1 {
		n.Links, apps = append(n.Links, page.Link{Href: s.home(), Text: "Home"}), nil
	}
	if m != nil {
		apps = []*mounted{m}
	}
	for _, m := range apps {
		if m.Nav != nil {
			n.Links = append(n.Links, m.Nav(who)...)
		}
	}
	if who.IsNodeAdmin() {
		n.Links = append(n.Links, page.Link{Href: "/_/hub", Text: "Status"})
	}
	return n
}

// shownTo removes parts that the caller may not see: the node's state is for admins.
func shownTo(who auth.Identity, v page.View) page.View {
	if !who.IsNodeAdmin() && v.Operator != "" {
		v.Parts = slices.DeleteFunc(slices.Clone(v.Parts), func(p page.Part) bool { return p.ID == v.Operator })
	}
	return v
}

// streamAddress returns the address of a page's stream. It lists the parts that the page has, so that they are not sent again.
func (m *mounted) streamAddress(topic string, v page.View) string {
	have := make([]string, 0, len(v.Parts))
	for _, p := range v.Parts {
		have = append(have, p.ID+"."+p.Hash)
	}
	q := url.Values{"app": {m.Name}, "have": {strings.Join(have, " ")}, "version": {m.release()}}
	if topic != "" {
		q.Set("page", topic)
	}
	if m.Open {
		return m.prefix + "/-/stream?" + q.Encode()
	}
	return "/_/stream?" + q.Encode()
}

// getAsset serves an asset. The version in its path is a hash of all assets, so the file is immutable, and paths of older versions are
// gone.
func (s *Server) getAsset(c *gin.Context) error {
	looks := []*page.Renderer{s.pages}
	for _, m := range s.apps {
		if m.Look != nil {
			looks = append(looks, m.Look)
		}
	}
	for _, look := range looks {
		if a, ok := look.Asset(c.Param("name")); ok && c.Param("version") == look.Version() {
			c.Header("Cache-Control", "public, max-age=31536000, immutable")
			c.Data(http.StatusOK, a.Type, a.Body)
			return nil
		}
	}
	return fault.New(fault.NotFound, "not_found", "There is no such file in this version.")
}

// getIndex lists the running applications and what is on in each.
func (s *Server) getIndex(c *gin.Context) error {
	var groups []page.Group
	for _, m := range s.apps {
		g := page.Group{ID: m.Name, Title: m.Title, About: m.About}
		if len(m.Pages) > 0 {
			g.Href = m.prefix + "/-/"
		}
		if m.Live != nil {
			g.None = "Nothing is on."
			var err error
			if g.Tiles, err = m.Live(c.Request.Context()); err != nil {
				s.log.Error("cannot list what is on in an application", "app", m.Name, "err", err)
				g.None = "The list of what is on cannot be read now."
			}
		}
		groups = append(groups, g)
	}
	lead := ""
	if who, _ := Identity(c); who.Name != "" {
		lead = "Signed in as " + who.Name + "."
	}
	body, err := s.pages.Index(page.Index{Title: "On this node", Lead: lead, Module: "refresh.js", Groups: groups}, s.nav(c))
	return HTML(c, http.StatusOK, body, err)
}

// scenes returns the application's gallery scenes.
func (m *mounted) scenes() ([]page.Scene, error) {
	if m.Scenes == nil {
		return nil, nil
	}
	return m.Scenes()
}

// kitScenes is the gallery name of the shared parts from which applications compose pages.
const kitScenes = "kit"

// getGallery shows every part in every state, from fixed data, on one page per application.
func (s *Server) getGallery(c *gin.Context) error {
	if c.Query("app") == kitScenes {
		scenes, err := s.pages.Kit()
		if err != nil {
			return err
		}
		body, err := s.pages.Gallery("/_/gallery/"+kitScenes+"/", scenes)
		return HTML(c, http.StatusOK, body, err)
	}
	for _, m := range s.apps {
		scenes, err := m.scenes()
		if err != nil {
			return err
		}
		if name := c.Query("app"); len(scenes) == 0 || name != "" && name != m.Name {
			continue
		}
		body, err := m.Look.Gallery("/_/gallery/"+m.Name+"/", scenes)
		return HTML(c, http.StatusOK, body, err)
	}
	return fault.New(fault.NotFound, "not_found", "There are no scenes.")
}

// getScene shows one scene as a full page.
func (s *Server) getScene(c *gin.Context) error {
	var scenes []page.Scene
	var err error
	if m, ok := s.appNamed(c.Param("app")); ok {
		scenes, err = m.scenes()
	} else if c.Param("app") == kitScenes {
		scenes, err = s.pages.Kit()
	}
	if err != nil {
		return err
	}
	for i := range scenes {
		if scenes[i].Name == c.Param("scene") {
			return HTML(c, http.StatusOK, scenes[i].Page, nil)
		}
	}
	return fault.New(fault.NotFound, "not_found", "There is no such scene.")
}

// AnswerOwnPage answers with a page for its reader alone, from the template kind + "-page". All readers of a topic share its stream, so such a
// page has none: refresh.js reloads the parts marked data-refresh. If the application's pages work offline, so does this one.
func AnswerOwnPage(c *gin.Context, kind, title string, data any) error {
	body, err := renderFramed(c, kind, title, data, "")
	return HTML(c, http.StatusOK, body, err)
}

func renderFramed(c *gin.Context, kind, title string, data any, version string) ([]byte, error) {
	s, m := serverOf(c), appOf(c)
	f := m.Look.OwnFrame(kind, title)
	f.Nav, f.Offline, f.Node, f.Version = s.nav(c), m.offline(c), s.cfg.Store.Node(), version
	return m.Look.RenderFramed(kind+"-page", data, f)
}

// renderView renders a page within the transaction that reads its data, so that few large pages are made at a time.
func renderView[T any](c *gin.Context, kind, title string, read func(tx *store.Tx) (T, error)) ([]byte, error) {
	return Read(c, func(tx *store.Tx) ([]byte, error) {
		data, err := read(tx)
		if err != nil {
			return nil, err
		}
		version := versionAt(tx.Seq())
		c.Header(headerVersion, version)
		return renderFramed(c, kind, title, data, version)
	})
}

// Address returns the absolute URL of a path on this node, as people reach it.
func Address(c *gin.Context, path string) string { return serverOf(c).base(c.Request) + path }
