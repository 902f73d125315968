package httpapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
	"go.yaml.in/yaml/v3"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

// swaggerUI is a page around npm's swagger-ui-dist, whose two files are stored and sent compressed (gzip -9 -n of the package's files).
//
//go:embed swagger-ui/docs.html swagger-ui/init.js swagger-ui/*.gz
var swaggerUI embed.FS

const swaggerVersion = "5.35.0"

// docsFiles returns the page's files and their content types.
func docsFiles() map[string]string {
	return map[string]string{
		"swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"swagger-ui.css":       "text/css; charset=utf-8",
		"init.js":              "text/javascript; charset=utf-8",
	}
}

// newDocs renders the page that shows an application's OpenAPI description and sends requests to try it.
func newDocs(prefix string) ([]byte, error) {
	t, err := template.ParseFS(swaggerUI, "swagger-ui/docs.html")
	if err != nil {
		return nil, fmt.Errorf("docs.html: %w", err)
	}
	var out bytes.Buffer
	err = t.Execute(&out, struct{ Files, Document, YAML string }{
		"/_/docs/" + swaggerVersion, prefix + "/openapi.json", prefix + "/openapi.yaml",
	})
	return out.Bytes(), err
}

// getDocs shows the description of the application named in the path. Without a name it shows the only application's, or a list.
// Swagger UI's style sheet embeds images, so img-src allows data: here.
func (s *Server) getDocs(c *gin.Context) error {
	m, ok := s.describedApp(c.Param("name"))
	if !ok {
		return s.getDocsIndex(c)
	}
	page, err := newDocs(m.prefix)
	if err != nil {
		return err
	}
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "img-src 'self'", "img-src 'self' data:", 1))
	writeTagged(c, htmlType, page)
	return nil
}

// describedApp returns an application that has an OpenAPI description.
func (s *Server) describedApp(name string) (m *mounted, ok bool) {
	m, ok = s.appNamed(name)
	return m, ok && m.OpenAPI != nil
}

// getDocsIndex lists the descriptions.
func (s *Server) getDocsIndex(c *gin.Context) error {
	if c.Param("name") != "" {
		return fault.New(fault.NotFound, "not_found", "There is no such document.")
	}
	g := page.Group{ID: "docs", Title: "OpenAPI", None: "No application here has an API."}
	for _, m := range s.apps {
		if m.OpenAPI != nil {
			g.Tiles = append(g.Tiles, page.Tile{Href: "/_/docs/" + m.Name, Title: m.Title, Line: m.prefix + "/openapi.yaml"})
		}
	}
	body, err := s.pages.Index(page.Index{Title: "API documents", Groups: []page.Group{g}}, nil)
	return HTML(c, http.StatusOK, body, err)
}

// getDocsFile serves a file of Swagger UI. The version in its path makes it immutable.
func (s *Server) getDocsFile(c *gin.Context) error {
	name := c.Param("file")
	kind, ok := docsFiles()[name]
	if !ok || c.Param("name") != swaggerVersion {
		return fault.New(fault.NotFound, "not_found", "There is no such file in this version.")
	}
	body, err := swaggerUI.ReadFile("swagger-ui/" + name)
	if err != nil {
		if body, err = swaggerUI.ReadFile("swagger-ui/" + name + ".gz"); err != nil {
			return err
		}
		c.Header("Content-Encoding", "gzip")
	}
	c.Header("Cache-Control", "public, max-age=31536000, immutable")
	c.Data(http.StatusOK, kind, body)
	return nil
}

// document is an application's OpenAPI description, with its first server set to the application's mount.
type document struct {
	yaml []byte
	json func() ([]byte, error) // converted on first use
}

// firstServer matches the URL of a document's first server.
var firstServer = regexp.MustCompile(`(?m)^servers:\n\s*- url: (.*)$`)

func newDocument(text []byte, mount string) (document, error) {
	quoted, err := json.Marshal(mount)
	if err != nil {
		return document{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	d := document{yaml: text}
	if at := firstServer.FindSubmatchIndex(text); at != nil {
		d.yaml = append(append(append([]byte{}, text[:at[2]]...), quoted...), text[at[3]:]...)
	}
	d.json = sync.OnceValues(func() ([]byte, error) {
		var all any
		if err := yaml.Unmarshal(d.yaml, &all); err != nil {
			return nil, fmt.Errorf("openapi.yaml: %w", err)
		}
		return json.Marshal(all)
	})
	return d, nil
}

func (d *document) getYAML(c *gin.Context) error {
	writeTagged(c, "application/yaml; charset=utf-8", d.yaml)
	return nil
}

func (d *document) getJSON(c *gin.Context) error {
	body, err := d.json()
	if err != nil {
		return err
	}
	writeTagged(c, jsonType, body)
	return nil
}
