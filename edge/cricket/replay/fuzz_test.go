package replay

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

// Any request is answered with a status of the API, and with valid JSON if that is the content type.
func FuzzRequest(f *testing.F) {
	m := mustLoad(f, "1369560")
	h := &hand{}
	feed := NewFeed(m, h, "secret", 0)
	f.Add("/fixtures", "filter[starts_between]=2023-08-01,2023-08-31T00:00:00Z&page=1&include=balls", "*", int64(0))
	f.Add("/fixtures/1369560", "include=runs,batting.result,lineup", `W/"1369560-fixture-5-0"`, int64(600))
	f.Add("/livescores", "include="+allIncludes, `"a", "b"`, int64(1200))
	f.Add("/scores", "", "", int64(-90000))
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, path, query, tag string, seconds int64) {
		h.now = m.Start().Add(time.Duration(seconds%1_000_000) * time.Second)
		u := &url.URL{Path: prefix + path, RawQuery: query + "&api_token=secret"}
		r := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"If-None-Match": {tag}}}).WithContext(t.Context())
		w := httptest.NewRecorder()
		feed.ServeHTTP(w, r)
		if !slices.Contains([]int{200, 301, 304, 307, 308, 400, 401, 404}, w.Code) {
			t.Errorf("%s: status %d", u, w.Code)
		}
		if body := w.Body.Bytes(); w.Header().Get("Content-Type") == "application/json" && !json.Valid(body) {
			t.Errorf("%s: %s", u, body)
		}
	})
}
