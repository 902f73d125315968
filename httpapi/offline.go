package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// headerReader identifies the reader of a page, so that a browser does not mix the offline copies of two people.
const headerReader = "Touchline-Reader"

// headerVersion is the version of a page's content, so that a browser does not replace a newer copy of the same node.
const headerVersion = "Touchline-Version"

// versionAt is the version of what was read at a sequence of the journal: its incarnation, and the number in it. It grows within a node.
func versionAt(seq uint64) string {
	const shift = 40
	return fmt.Sprintf("%d.%d", seq>>shift, seq&(1<<shift-1))
}

// scope is the prefix of the addresses of the application's pages.
func (m *mounted) scope() string { return m.prefix + "/-/" }

// release identifies the version of the application's pages: a hash of templates, assets and the node's version.
func (m *mounted) release() string {
	if m.Look == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(m.Look.Version() + "\n" + m.views.s.cfg.Version))
	return hex.EncodeToString(sum[:6])
}

// readerOf returns a stable pseudonym of a page's reader for the browser that keeps the page. It is useless elsewhere.
func readerOf(c *gin.Context) string {
	who, _ := Identity(c)
	if who.Subject == "" {
		return ""
	}
	return pseudonym(who.Subject)
}

func pseudonym(subject string) string {
	sum := sha256.Sum256([]byte("reader of a page\n" + subject))
	return hex.EncodeToString(sum[:8])
}

// offline returns what a page needs to work while the node is unreachable; nil: the page does not.
func (m *mounted) offline(c *gin.Context) *page.Offline {
	if !m.Offline {
		return nil
	}
	return &page.Offline{Scope: m.scope(), Reader: readerOf(c), Device: m.views.s.pageDevice(c), Now: m.views.s.cfg.Clock.Wall(), HandsIn: m.handsIn()}
}

const (
	keyDevice = "touchline.device"
	// headerDevice is the hash of the device that an entry was made on, as its page knew it: "none" for an entry that was sent by a page
	// that knew none.
	headerDevice = "Touchline-Device"
)

// pageDevice returns the hash of the device that a page is for. A browser without an id gets one with the page (renewDevice).
func (s *Server) pageDevice(c *gin.Context) string {
	id, _, _ := s.shownCookie(c.Request, deviceCookie)
	hash, ok := handover.DeviceHash(id)
	if !ok {
		id = handover.NewDevice()
		hash, _ = handover.DeviceHash(id)
	}
	c.Set(keyDevice, id)
	return hash
}

// renewDevice has the browser keep the id for which a page was made. If the browser has a cookie that does not count, because of who causes
// the request or because there are two, nothing is set in its place.
func (s *Server) renewDevice(c *gin.Context) {
	id := c.GetString(keyDevice)
	shown := c.Request.CookiesNamed(s.nodeCookie(c.Request, deviceCookie))
	if id == "" || len(shown) > 0 && shown[0].Value != id {
		return
	}
	s.setCookie(c, s.nodeCookie(c.Request, deviceCookie), id, "/", http.SameSiteLaxMode, deviceLife)
}

// headerEntries says how many entries the device has made, and how many wait (handover.ParseCounts).
const headerEntries = "Touchline-Entries"

// hear notes what the device of a write says about its entries. It belongs to the write's transaction.
func (s *Server) hear(c *gin.Context, tx *store.Tx) error {
	m, device := appOf(c), s.deviceOf(c)
	said, ok := handover.ParseCounts(c.GetHeader(headerEntries))
	if !s.cfg.Devices || m == nil || device == "" || !ok {
		return nil
	}
	return handover.Hear(tx, device, m.Name, said)
}

// getHeard answers a page with what the node has heard of its device last: after the browser has emptied its storage, that is all that is
// known of what waited there.
func (s *Server) getHeard(c *gin.Context) error {
	m, device := appOf(c), s.deviceOf(c)
	if !s.cfg.Devices || device == "" {
		return NoContent(c)
	}
	var last *handover.Heard
	err := s.cfg.Store.View(c.Request.Context(), func(tx *store.Tx) (err error) {
		last, err = handover.LastHeard(tx, device, m.Name)
		return err
	})
	if err == nil && last == nil {
		return NoContent(c)
	}
	return Answer(c, http.StatusOK, last, err)
}

// headerWaiting is how many entries wait on a device, on the refreshes of a page. Entries have headerEntries.
const headerWaiting = "Touchline-Waiting"

// mostWaiting bounds what a device may claim; its queue is smaller.
const mostWaiting = 100_000

// Device returns the hash of the device that sends a request; empty: none, because it is no page's.
func Device(c *gin.Context) string { return serverOf(c).deviceOf(c) }

// Waiting returns how many entries the sender of a request says to have that have not reached a node; known is false if it says nothing.
func Waiting(c *gin.Context) (n int, known bool) {
	if said, ok := handover.ParseCounts(c.GetHeader(headerEntries)); ok {
		return int(min(said.Waiting, mostWaiting)), true
	}
	n, err := strconv.Atoi(c.GetHeader(headerWaiting))
	return n, err == nil && n >= 0 && n <= mostWaiting
}

// deviceOf returns the hash of the device that sends a request; empty: none, because it is no page's.
func (s *Server) deviceOf(c *gin.Context) string {
	id, _, _ := s.shownCookie(c.Request, deviceCookie)
	hash, _ := handover.DeviceHash(id)
	return hash
}

// offlineRoutes serves the pages' service worker from the directory that is its scope.
func (m *mounted) offlineRoutes() []Route {
	if !m.Offline {
		return nil
	}
	return []Route{
		{Method: http.MethodGet, Path: "/worker.js", Access: Public, Do: m.getWorker, Quiet: true},
		{Method: http.MethodGet, Path: "/manifest.webmanifest", Access: Public, Do: m.getManifest, Quiet: true},
		{Method: http.MethodGet, Path: "/heard", Access: Public, Do: m.views.s.getHeard, Quiet: true},
	}
}

// getManifest describes the application to a browser that installs it, which keeps the storage of installed pages.
func (m *mounted) getManifest(c *gin.Context) error {
	body, err := encode(map[string]any{
		"name": m.Title, "short_name": m.Title, "start_url": m.scope(), "scope": m.scope(), "display": "standalone",
		"icons": []map[string]string{{"src": m.Look.Icon(), "sizes": "any", "type": "image/svg+xml"}},
	})
	if err != nil {
		return err
	}
	writeTagged(c, "application/manifest+json", body)
	return nil
}

func (m *mounted) getWorker(c *gin.Context) error {
	script, err := m.Look.Worker(m.scope(), m.release())
	if err != nil {
		return err
	}
	writeTagged(c, "text/javascript; charset=utf-8", script)
	return nil
}
