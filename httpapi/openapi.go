package httpapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync"

	"github.com/gin-gonic/gin"
	"go.yaml.in/yaml/v3"
)

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
