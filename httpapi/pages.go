package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

const htmlType = "text/html; charset=utf-8"

// getHome opens with the match that a visitor most likely came for; with several the list, with none the quiet page.
func (s *Server) getHome(c *gin.Context) error {
	id, err := s.home(c.Request.Context())
	if err != nil {
		return err
	}
	if id == "" {
		return s.listPage(c)
	}
	return s.matchPage(c, id)
}

// home picks that match: the one the node features, the only one that is on, or the only one there is.
func (s *Server) home(ctx context.Context) (string, error) {
	if id := s.cfg.Featured(); id != "" {
		_, err := s.cfg.Cricket.Match(ctx, id)
		if err == nil {
			return id, nil
		}
		if !fault.Is(err, fault.NotFound) {
			return "", err
		}
	}
	found, err := s.cfg.Cricket.Live(ctx)
	if err == nil && len(found) == 0 {
		found, _, err = s.cfg.Cricket.Matches(ctx, cricket.MatchFilter{Limit: 2})
	}
	if err != nil || len(found) != 1 {
		return "", err
	}
	return found[0].MatchID, nil
}

func (s *Server) getMatchPage(c *gin.Context) error {
	id, err := matchID(c)
	if err != nil {
		return err
	}
	return s.matchPage(c, id)
}

// getOversPage has the figures of every over, which the match page leaves out until somebody wants them.
func (s *Server) getOversPage(c *gin.Context) error {
	id, err := matchID(c)
	if err != nil {
		return err
	}
	in, err := s.views.input(c.Request.Context(), id)
	if err != nil {
		return err
	}
	body, err := s.pages.Overs(in)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, htmlType, body)
	return nil
}

func (s *Server) getListPage(c *gin.Context) error { return s.listPage(c) }

func (s *Server) matchPage(c *gin.Context, id string) error {
	return s.framedPage(c, "match", id)
}

func (s *Server) listPage(c *gin.Context) error {
	return s.framedPage(c, "list", "")
}

func (s *Server) framedPage(c *gin.Context, kind, id string) error {
	if err := s.ensureEvents(c.Request.Context(), id); err != nil {
		return err
	}
	view, _, err := s.views.get(c.Request.Context(), id)
	if err != nil {
		return err
	}
	who, _ := identityOf(c)
	view = shownTo(who, view)
	view.Nav = s.navFor(who)
	body, err := s.pages.Page(kind, view, streamAddress(id, view))
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, htmlType, body)
	return nil
}

// navFor is where somebody may go on to.
func (s *Server) navFor(who auth.Identity) *page.Nav {
	return &page.Nav{
		Hub: who.Admin, Replays: who.Admin && s.cfg.Replay != nil, SignIn: s.cfg.Auth != nil, SignedIn: who.Subject != "",
	}
}

// operatorPart is the strip that shows how the node fares.
const operatorPart = "node"

// shownTo leaves out of a view what the caller may not see: the node's state is for admins.
func shownTo(who auth.Identity, v page.View) page.View {
	if !who.Admin {
		v.Parts = slices.DeleteFunc(slices.Clone(v.Parts), func(p page.Part) bool { return p.ID == operatorPart })
	}
	return v
}

// streamAddress is what the page listens to. It says which parts the page has, so that they are not sent again.
func streamAddress(id string, v page.View) string {
	have := make([]string, 0, len(v.Parts))
	for _, p := range v.Parts {
		have = append(have, p.ID+"."+p.Hash)
	}
	q := url.Values{"have": {strings.Join(have, " ")}}
	if id != "" {
		q.Set("match", id)
	}
	return "/_/stream?" + q.Encode()
}

// getAsset serves a file of the pages. Its path has the hash of all of them, so it never changes; a path of an older
// version is gone.
func (s *Server) getAsset(c *gin.Context) error {
	a, ok := s.pages.Asset(c.Param("name"))
	if !ok || c.Param("version") != s.pages.Version() {
		return fault.New(fault.NotFound, "not_found", "There is no such file in this version.")
	}
	c.Header("Cache-Control", "public, max-age=31536000, immutable")
	c.Data(http.StatusOK, a.Type, a.Body)
	return nil
}
