package httpapi

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/web"
)

// A request addressed to another machine's name is refused in the usual form of that path: the application's, a problem document, or a
// page.
func TestOtherMachinesAreRefused(t *testing.T) {
	cfg, _ := config(t)
	address, stop := start(t, cfg)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, test := range []struct{ path, accept, contentType, body string }{
		{"/counter/counts", "", "application/json; charset=utf-8",
			`"message":"this node serves its own machine only","oops":"not_here"`},
		{streamPath, "text/event-stream", "application/json; charset=utf-8", `"oops":"not_here"`},
		{"/metrics", "", "application/problem+json", `"status":421,"detail":"this node serves its own machine only"`},
		{"/_/", "text/html", "text/html; charset=utf-8", "<p>This node serves its own machine only</p>"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+strings.TrimPrefix(address, "http://")+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "evil.example"
		r.Header.Set("Accept", test.accept)
		resp, err := web.Client(t).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusMisdirectedRequest || resp.Header.Get("Content-Type") != test.contentType ||
			!strings.Contains(string(body), test.body) || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s %v %s %v", test.path, resp.Status, resp.Header, body, err)
		}
	}
}
