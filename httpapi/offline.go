package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/page"
)

// headerReader says whose page an answer is, so that a browser keeps no copies of two people's.
const headerReader = "Touchline-Reader"

// scope is what the addresses of the application's pages begin with.
func (m *mounted) scope() string { return m.prefix + "/-/" }

// release names what sends the application's pages: their templates and assets, and the version of the node.
func (m *mounted) release() string {
	if m.Look == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(m.Look.Version() + "\n" + m.views.s.cfg.Version))
	return hex.EncodeToString(sum[:6])
}

// readerOf names the reader of a page to the browser that keeps it: always alike, and of no use elsewhere.
func readerOf(c *gin.Context) string {
	who, _ := Identity(c)
	if who.Subject == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("reader of a page\n" + who.Subject))
	return hex.EncodeToString(sum[:8])
}

// offline is what a page knows that works while the node is away; nil: it does not.
func (m *mounted) offline(c *gin.Context) *page.Offline {
	if !m.Offline {
		return nil
	}
	return &page.Offline{Scope: m.scope(), Reader: readerOf(c), Now: m.views.s.cfg.Clock.Now()}
}

// offlineRoutes has the script that serves the pages while the node is away. It lies where it may do so.
func (m *mounted) offlineRoutes() []Route {
	if !m.Offline {
		return nil
	}
	return []Route{{Method: http.MethodGet, Path: "/worker.js", Access: Public, Do: m.getWorker, Quiet: true}}
}

func (m *mounted) getWorker(c *gin.Context) error {
	script, err := m.Look.Worker(m.scope(), m.release())
	if err != nil {
		return err
	}
	writeTagged(c, "text/javascript; charset=utf-8", script)
	return nil
}
