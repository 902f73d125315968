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

//go:embed assets/* templates/*.html
var nodeFiles embed.FS

// Asset is a file that a page loads.
type Asset struct {
	Type string // content type
	Body []byte
}

// loadAssets reads the embedded files and those of an application. The version is the hash of them all, and of the templates: it
// stands in their path, so that they may be cached for ever and modules can still name each other by plain relative paths.
func (r *Renderer) loadAssets(files fs.FS, made map[string][]byte) error {
	sum := sha256.New()
	sum.Write(workerScript)
	add := func(name string, body []byte) {
		sum.Write(fmt.Appendf(nil, "%s %d\n", name, len(body)))
		sum.Write(body)
		if path.Ext(name) != ".html" {
			r.assets[path.Base(name)] = newAsset(name, body)
		}
	}
	for _, in := range []fs.FS{nodeFiles, files} {
		if in == nil {
			continue
		}
		assets, _ := fs.Glob(in, "assets/*") // good patterns give no error
		templates, _ := fs.Glob(in, "templates/*.html")
		for _, name := range append(assets, templates...) {
			body, err := fs.ReadFile(in, name)
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			add(name, body)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		add(name, made[name])
	}
	r.version = hex.EncodeToString(sum.Sum(nil))[:12]
	return nil
}

var cssComment = regexp.MustCompile(`(?s)/\*.*?\*/\n?`)

// newAsset is a file as it is served: a style sheet without what it says to those who read its source. It does not trust the
// machine's own MIME tables for what a browser is strict about.
func newAsset(name string, body []byte) Asset {
	switch ext := path.Ext(name); ext {
	case ".css":
		return Asset{"text/css; charset=utf-8", cssComment.ReplaceAll(body, nil)}
	case ".js":
		return Asset{"text/javascript; charset=utf-8", body}
	case ".svg":
		return Asset{"image/svg+xml", body}
	default:
		return Asset{mime.TypeByExtension(ext), body}
	}
}
