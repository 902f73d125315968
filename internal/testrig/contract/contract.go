// Package contract checks the answers of an application's API against its OpenAPI document.
package contract

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// Document is an OpenAPI document without additional properties: an answer may only have properties that it names.
type Document struct {
	router routers.Router
	paths  map[string]*openapi3.PathItem
}

// Read parses a document in YAML.
func Read(t *testing.T, raw []byte) *Document {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Components.Schemas {
		if v := s.Value; v.Type.Is("object") && v.AdditionalProperties.Schema == nil {
			no := false
			v.AdditionalProperties.Has = &no
		}
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &Document{router, doc.Paths.Map()}
}

// Check fails the test if an answer does not match the document or its route is missing there. It returns the route's path, such as
// "/games/{id}", or "" if neither the document nor the answer knows the route. For a stream only the route is checked.
func (d *Document) Check(t *testing.T, method, path, body string, w *httptest.ResponseRecorder) (route string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	found, params, err := d.router.FindRoute(req)
	if err != nil {
		if w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s %s is not in the document: %v", method, path, err)
		}
		return ""
	}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		return found.Path
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: found},
		Status:                 w.Code, Header: w.Header(), Body: io.NopCloser(bytes.NewReader(w.Body.Bytes())),
	}
	if err := openapi3filter.ValidateResponse(t.Context(), in); err != nil {
		t.Errorf("%s %s: the answer is not as the document says: %v", method, path, err)
	}
	return found.Path
}
