package httpapi

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
)

// swaggerUI is a page over npm's swagger-ui-dist, whose two files are kept and sent compressed (gzip -9 -n of the package's files).
//
//go:embed swagger-ui/docs.html swagger-ui/init.js swagger-ui/*.gz
var swaggerUI embed.FS

const swaggerVersion = "5.35.0"

// docsFiles are the files of the page, with their types.
func docsFiles() map[string]string {
	return map[string]string{
		"swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"swagger-ui.css":       "text/css; charset=utf-8",
		"init.js":              "text/javascript; charset=utf-8",
	}
}

// newDocs makes the page that shows the description of the application's routes, and sends requests to try them.
func newDocs(mount string) ([]byte, error) {
	t, err := template.ParseFS(swaggerUI, "swagger-ui/docs.html")
	if err != nil {
		return nil, fmt.Errorf("docs.html: %w", err)
	}
	mount = strings.TrimSuffix(mount, "/")
	var out bytes.Buffer
	err = t.Execute(&out, struct{ Files, Document, YAML string }{
		"/_/docs/" + swaggerVersion, mount + "/openapi.json", mount + "/openapi.yaml",
	})
	return out.Bytes(), err
}

// getDocs sends the page. Its style sheet has pictures in it.
func (s *Server) getDocs(c *gin.Context) error {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "img-src 'self'", "img-src 'self' data:", 1))
	writeTagged(c, "text/html; charset=utf-8", s.docs)
	return nil
}

// getDocsFile sends a file of the page. Its path has its version, so it never changes.
func (s *Server) getDocsFile(c *gin.Context) error {
	name := c.Param("name")
	kind, ok := docsFiles()[name]
	if !ok || c.Param("version") != swaggerVersion {
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
