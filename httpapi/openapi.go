package httpapi

import (
	"bytes"
	_ "embed" // the document
	"encoding/json"
	"fmt"
	"sync"

	"github.com/gin-gonic/gin"
	"go.yaml.in/yaml/v3"
)

//go:embed openapi.yaml
var openAPI []byte

// document is the description of the application's routes, under the mount where they lie here.
type document struct {
	yaml []byte
	json func() ([]byte, error) // converted when it is first asked for
}

func newDocument(mount string) (document, error) {
	quoted, err := json.Marshal(mount)
	if err != nil {
		return document{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	d := document{yaml: bytes.Replace(openAPI, []byte("- url: /cricket\n"), fmt.Appendf(nil, "- url: %s\n", quoted), 1)}
	d.json = sync.OnceValues(func() ([]byte, error) {
		var all any
		if err := yaml.Unmarshal(d.yaml, &all); err != nil {
			return nil, fmt.Errorf("openapi.yaml: %w", err)
		}
		return json.Marshal(all)
	})
	return d, nil
}

func (s *Server) getOpenAPIYAML(c *gin.Context) error {
	writeTagged(c, "application/yaml; charset=utf-8", s.document.yaml)
	return nil
}

func (s *Server) getOpenAPIJSON(c *gin.Context) error {
	body, err := s.document.json()
	if err != nil {
		return err
	}
	writeTagged(c, jsonType, body)
	return nil
}
