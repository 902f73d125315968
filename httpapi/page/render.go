package page

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html/template"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Part is a section of a page that is sent again when it changes.
type Part struct {
	ID   string
	HTML template.HTML // from our own templates, which escape
	Hash string        // of HTML
}

// View is a rendered page: its title and parts.
type View struct {
	Title    string
	Kind     string // selects the template "<kind>-page", which arranges the parts
	Operator string // id of the part for admins only; empty: none
	Parts    []Part
	Styles   []string // style sheets in addition to those of all pages
	Module   string   // script in addition to that of the stream; empty: none
	data     []any    // data of each part
}

// Nav is the navigation under a page.
type Nav struct {
	Links    []Link
	SignIn   string // path of the sign-in page; empty: none
	SignedIn bool
}

// Link is a link to another page.
type Link struct{ Href, Text string }

// Renderer renders pages as HTML. It is safe for concurrent use.
type Renderer struct {
	templates *template.Template
	files     fs.FS // of the application
	assets    map[string]Asset
	version   string
	base      string
}

// New returns a renderer of pages whose addresses begin with base: "/counter/-". An application's files contain its templates in
// "templates", one of which may define "symbols", additional icons, and optionally its style sheets and scripts in "assets", and the
// scenes of its gallery in "scenes.json". made holds further assets by name. Assets named app.css and app.js apply to all of its personal
// pages (Own). Everything is embedded, so an error is a bug.
func New(base string, files fs.FS, made map[string][]byte) (*Renderer, error) {
	t, err := template.New("page").Funcs(funcs(base)).ParseFS(nodeFiles, "templates/*.html")
	if err == nil && files != nil {
		t, err = t.ParseFS(files, "templates/*.html")
	}
	if err != nil {
		return nil, fmt.Errorf("parse templates: %w", err)
	}
	r := &Renderer{templates: t, files: files, base: base, assets: map[string]Asset{}}
	return r, r.loadAssets(files, made)
}

// At returns the address of a page.
func (r *Renderer) At(path string) string { return r.base + path }

// Version returns the hash of all assets and templates, which is part of the assets' paths.
func (r *Renderer) Version() string { return r.version }

// Asset returns an asset by name.
func (r *Renderer) Asset(name string) (Asset, bool) {
	a, ok := r.assets[name]
	return a, ok
}

// Block is a part before rendering: the name of its template, and the template's data.
type Block struct {
	ID   string
	Data any
}

// Parts renders the parts of a page. It reuses parts of last, an earlier view of the same page or the zero View, whose data is the
// same: most seconds change only an age.
func (r *Renderer) Parts(last View, title string, blocks []Block) (View, error) {
	v := View{Title: title, Parts: make([]Part, 0, len(blocks)), data: make([]any, 0, len(blocks))}
	for i, b := range blocks {
		v.data = append(v.data, b.Data)
		if i < len(last.Parts) && last.Parts[i].ID == b.ID && reflect.DeepEqual(last.data[i], b.Data) {
			v.Parts = append(v.Parts, last.Parts[i])
			continue
		}
		var buf bytes.Buffer
		if err := r.templates.ExecuteTemplate(&buf, b.ID, b.Data); err != nil {
			return View{}, fmt.Errorf("render %s: %w", b.ID, err)
		}
		h := fnv.New64a()
		_, _ = h.Write(buf.Bytes())
		v.Parts = append(v.Parts, Part{ID: b.ID, HTML: template.HTML(buf.String()), Hash: strconv.FormatUint(h.Sum64(), 36)}) //nolint:gosec // escaped: see Part
	}
	return v, nil
}

// OwnFrame returns the frame of a personal page. The page refreshes itself by refresh.js; an app.js must import that itself.
func (r *Renderer) OwnFrame(kind, title string) Frame {
	f := Frame{Title: title, Body: kind, Styles: []string{"extra.css"}, Module: "refresh.js"}
	if _, ok := r.assets["app.css"]; ok {
		f.Styles = append(f.Styles, "app.css")
	}
	if _, ok := r.assets["app.js"]; ok {
		f.Module = "app.js"
	}
	return f
}

// Frame is the data of the layout.
type Frame struct {
	Title  string
	Body   string   // kind of page, as a class for style sheets
	Stream string   // address of the page's stream; empty: no updates
	Styles []string // style sheets in addition to page.css
	Module string   // script of the page; empty: page.js if there is a stream, otherwise none
	Nav    *Nav     // nil: no navigation

	Node    string // that renders the page
	Version string // of its content: it grows within a node; empty: unknown

	Offline *Offline // nil: the page does not work offline
}

// Offline is what a page needs to work while its node is unreachable.
type Offline struct {
	Scope  string    // address prefix of the pages that the worker keeps; ends in a slash
	Reader string    // pseudonym of the page's reader; empty: nobody is signed in
	Device string    // hash of the device's id
	Now    time.Time // by the node's clock

	HandsIn bool // what waits can be saved as a file, which somebody else gives to a node
}

// layout is the data of the layout template: a frame around rendered content.
type layout struct {
	Frame
	Assets  string
	Content template.HTML
	Row     Waiting // the empty row of the queue
}

// Page renders a view in a frame. It sets the frame's title, kind, style sheets and script.
func (r *Renderer) Page(v View, f Frame) ([]byte, error) {
	parts := make(map[string]template.HTML, len(v.Parts))
	for _, p := range v.Parts {
		parts[p.ID] = p.HTML
	}
	f.Title, f.Body, f.Styles, f.Module = v.Title, v.Kind, v.Styles, v.Module
	return r.RenderFramed(v.Kind+"-page", map[string]any{"Parts": parts}, f)
}

// Bare renders a page of one part, which refresh.js refreshes.
func (r *Renderer) Bare(v View, nav *Nav) ([]byte, error) {
	return r.RenderFramed("bare-page", v.Parts[0].HTML,
		Frame{Title: v.Title, Body: v.Kind, Module: "refresh.js", Styles: append([]string{"extra.css"}, v.Styles...), Nav: nav})
}

// RenderStill renders one of the node's pages, without updates, from the template kind + "-page".
func (r *Renderer) RenderStill(kind, title string, data any, nav *Nav) ([]byte, error) {
	return r.RenderFramed(kind+"-page", data, Frame{Title: title, Body: kind, Styles: []string{"extra.css"}, Nav: nav})
}

// SignIn renders the sign-in page. Opened by nobody, it deletes the browser's copies of pages: somebody may just have signed out.
func (r *Renderer) SignIn(in SignInInput) ([]byte, error) {
	f := Frame{Title: "Sign in", Body: "signin", Styles: []string{"extra.css"}}
	if in.Subject == "" {
		f.Module = "signedout.js"
	}
	return r.RenderFramed("signin-page", in, f)
}

// Notice renders a page with a short message, such as "not found".
func (r *Renderer) Notice(title, text string) ([]byte, error) {
	if text != "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return r.RenderStill("notice", title, map[string]string{"Title": title, "Text": text}, nil)
}

// RenderFramed executes a template and renders the result in a frame.
func (r *Renderer) RenderFramed(name string, data any, f Frame) ([]byte, error) {
	var buf bytes.Buffer
	if err := r.templates.ExecuteTemplate(&buf, name, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	f.Title += " · touchline"
	var out bytes.Buffer
	err := r.templates.ExecuteTemplate(&out, "layout", layout{
		Frame: f, Assets: r.assetPath(),
		Content: template.HTML(buf.String()), //nolint:gosec // from our own templates, which escape
	})
	if err != nil {
		return nil, fmt.Errorf("render layout: %w", err)
	}
	return out.Bytes(), nil
}
