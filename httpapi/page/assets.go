package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"mime"
	"path"
	"regexp"
	"slices"
)

//go:embed assets/*
var assetFiles embed.FS

//go:embed templates/*.html
var templateFiles embed.FS

// Asset is a file that a page loads.
type Asset struct {
	Name string
	Type string // content type
	Body []byte
}

// loadAssets reads the embedded files and adds those of an application. Version is the hash of them all, and of the templates: it
// stands in their path, so that they may be cached for ever and modules can still name each other by plain relative paths.
func loadAssets(more map[string][]byte, templates ...fs.FS) (assets map[string]Asset, version string, err error) {
	assets = map[string]Asset{}
	entries, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		return nil, "", fmt.Errorf("read assets: %w", err)
	}
	for _, e := range entries {
		body, err := fs.ReadFile(assetFiles, "assets/"+e.Name())
		if err != nil {
			return nil, "", fmt.Errorf("read asset: %w", err)
		}
		assets[e.Name()] = newAsset(e.Name(), body)
	}
	for name, body := range more {
		assets[name] = newAsset(name, body)
	}

	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(assets)) {
		sum.Write(fmt.Appendf(nil, "%s %d\n", name, len(assets[name].Body)))
		sum.Write(assets[name].Body)
	}
	sum.Write(workerScript)
	for _, files := range templates {
		if files == nil {
			continue
		}
		err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := fs.ReadFile(files, path)
			sum.Write(fmt.Appendf(nil, "%s %d\n", path, len(body)))
			sum.Write(body)
			return err
		})
		if err != nil {
			return nil, "", fmt.Errorf("read templates: %w", err)
		}
	}
	return assets, hex.EncodeToString(sum.Sum(nil))[:12], nil
}

var cssComment = regexp.MustCompile(`(?s)/\*.*?\*/\n?`)

// newAsset is a file as it is served: a style sheet without what it says to those who read its source.
func newAsset(name string, body []byte) Asset {
	if path.Ext(name) == ".css" {
		body = cssComment.ReplaceAll(body, nil)
	}
	return Asset{Name: name, Type: contentType(name), Body: body}
}

// contentType does not trust the machine's own MIME tables for what a browser is strict about.
func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return mime.TypeByExtension(ext)
	}
}
