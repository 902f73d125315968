package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The page of the API shows every operation, tries one, and asks nothing of other hosts.
func TestDocsInABrowser(t *testing.T) {
	b := openBrowser(t)
	if b == nil {
		return
	}
	cfg, _, _ := config(t)
	home, _ := start(t, cfg)
	b.do(t, chromedp.EmulateViewport(1280, 900))
	b.do(t, chromedp.Navigate(home+"/docs"))
	b.waitFor(t, `document.querySelectorAll(".opblock").length >= 58`)
	for _, button := range []string{"opblock-summary-control", "try-out__btn", "execute"} {
		b.do(t, chromedp.Click(`#operations-matches-listLiveMatches .`+button))
	}
	b.waitFor(t, `document.querySelector("#operations-matches-listLiveMatches .live-responses-table")?.textContent.includes("ENG")`)
	shoot(t, b, "docs")
	if bad := b.complaints(home); len(bad) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(bad, "\n"))
	}
}

// The page lies among the pages, names the document where it lies, and its files never change.
func TestDocs(t *testing.T) {
	for mount, at := range map[string][2]string{"/cricket": {"/docs", "/cricket/openapi.json"}, "/": {"/_/docs", "/openapi.json"}} {
		cfg, _, _ := config(t)
		cfg.Mount = mount
		h := newServer(t, cfg).Handler()
		get := func(path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
			return w
		}
		if w := get(at[0]); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `data-document="`+at[1]+`"`) {
			t.Errorf("%s under %s: %d %s", at[0], mount, w.Code, w.Body)
		}
		for name, kind := range docsFiles() {
			w := get("/_/docs/" + swaggerVersion + "/" + name)
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != kind || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %s", name, w.Code, w.Header())
			}
		}
		if w := get("/_/docs/1/init.js"); w.Code != http.StatusNotFound {
			t.Errorf("another version: %d", w.Code)
		}
		if w := get("/_/docs/" + swaggerVersion + "/docs.html"); w.Code != http.StatusNotFound {
			t.Errorf("the template: %d", w.Code)
		}
	}
}
