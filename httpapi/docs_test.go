package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The page is among the node's pages, names the document's address, and its files are immutable.
func TestDocs(t *testing.T) {
	for mount, at := range map[string][2]string{"/counter": {"/_/docs", "/counter/openapi.json"}, "/": {"/_/docs", "/openapi.json"}} {
		cfg, f := config(t)
		mountAt(t, cfg, f, mount)
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
