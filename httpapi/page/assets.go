package page

import (
	"bytes"
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

//go:embed assets/* templates/*.html kit.json
var nodeFiles embed.FS

// Asset is a file loaded by pages.
type Asset struct {
	Type string // content type
	Body []byte
}

// loadAssets reads the embedded files and an application's. The version, a hash of them and the templates, is part of their path, so
// they can be cached forever, and modules can import each other by plain relative paths.
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
		assets, _ := fs.Glob(in, "assets/*") // valid patterns return no error
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

// What browsers do not need of style sheets and scripts: comments, indentation, empty lines, and spaces around marks of a style sheet.
// Comments of scripts take one line each, and no string in our scripts looks like one or goes over several lines.
var (
	cssExtra = regexp.MustCompile(`(?s)/\*.*?\*/\n?|(?m:^[ \t]+)`)
	cssSpace = regexp.MustCompile(`([:;,{}])\s+| ([{])`)
	jsExtra  = regexp.MustCompile(`(?m)^[ \t]*(?:// .*)?\n|^[ \t]+|[ \t]+// .*$`)
)

// newAsset returns a file as it is served, style sheets and scripts without what browsers do not need. Content types that browsers insist
// on are set here, because the machine's MIME tables may be wrong.
func newAsset(name string, body []byte) Asset {
	switch ext := path.Ext(name); ext {
	case ".css":
		short := cssSpace.ReplaceAll(cssExtra.ReplaceAll(body, nil), []byte("$1$2"))
		return Asset{"text/css; charset=utf-8", bytes.ReplaceAll(short, []byte(";}"), []byte("}"))}
	case ".js":
		return Asset{"text/javascript; charset=utf-8", jsExtra.ReplaceAll(body, nil)}
	case ".svg":
		return Asset{"image/svg+xml", body}
	default:
		return Asset{mime.TypeByExtension(ext), body}
	}
}

// Icon returns the path of the icon.
func (r *Renderer) Icon() string { return r.assetPath() + "icon.svg" }
