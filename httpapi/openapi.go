package httpapi

import (
	"bytes"
	_ "embed" // the document
	"encoding/json"
	"fmt"

	"github.com/gin-gonic/gin"
	"go.yaml.in/yaml/v3"
)

//go:embed openapi.yaml
var openAPI []byte

// document is the description of the application's routes, under the mount where they lie here.
type document struct {
	yaml, json []byte
}

func newDocument(mount string) (document, error) {
	quoted, err := json.Marshal(mount)
	if err != nil {
		return document{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	d := document{yaml: bytes.Replace(openAPI, []byte("- url: /cricket\n"), fmt.Appendf(nil, "- url: %s\n", quoted), 1)}
	var all any
	if err := yaml.Unmarshal(d.yaml, &all); err != nil {
		return document{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	if d.json, err = json.Marshal(all); err != nil {
		return document{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	return d, nil
}

func (s *Server) getOpenAPIYAML(c *gin.Context) error {
	writeTagged(c, "application/yaml; charset=utf-8", s.document.yaml)
	return nil
}

func (s *Server) getOpenAPIJSON(c *gin.Context) error {
	writeTagged(c, jsonType, s.document.json)
	return nil
}
