package page

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html/template"
	"io/fs"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Part is a piece of a page that is sent again when it changes.
type Part struct {
	ID   string
	HTML template.HTML // made by our own templates, which escape
	Hash string        // of HTML
}

// View is a rendered page: its parts and its title.
type View struct {
	Title    string
	Kind     string // of page: the template "<kind>-page" puts the parts together
	Operator string // id of the part that is for admins alone; empty: all are for everybody
	Parts    []Part
	Styles   []string // style sheets beside those of all pages
	Module   string   // script of the page beside that of its stream; empty: none
	data     []any    // what each part was made of
}

// Nav is where a reader may go on to, under a page.
type Nav struct {
	Links    []Link
	SignIn   string // where somebody can sign in; empty: nowhere
	SignedIn bool
}

// Link leads to another page.
type Link struct{ Href, Text string }

// Renderer turns views into HTML. It is made once and safe for concurrent use.
type Renderer struct {
	templates *template.Template
	assets    map[string]Asset
	version   string
	base      string
}

// New makes the renderer of pages whose addresses begin with base: "/counter/-". An application's files have its templates in
// "templates", of which one may define "symbols", icons beside the node's, and in "assets", where there is such a folder, its style
// sheets and scripts; made are more of those, by name. Assets named app.css and app.js are of all its personal pages (Own). All of it
// is embedded: an error is a bug.
func New(base string, files fs.FS, made map[string][]byte) (*Renderer, error) {
	funcs := template.FuncMap{
		"at":  func(path string) string { return base + path },                           // of a page
		"api": func(path string) string { return strings.TrimSuffix(base, "/-") + path }, // of a route beside the pages
		"seg": url.PathEscape,                                                            // a segment of a path
		"nth": func(i int) int { return i + 1 },                                          // the number of an index, as people count
	}
	t, err := template.New("page").Funcs(funcs).ParseFS(nodeFiles, "templates/*.html")
	if err == nil && files != nil {
		t, err = t.ParseFS(files, "templates/*.html")
	}
	if err != nil {
		return nil, fmt.Errorf("parse templates: %w", err)
	}
	r := &Renderer{templates: t, base: base, assets: map[string]Asset{}}
	return r, r.loadAssets(files, made)
}

// At is the address of a page.
func (r *Renderer) At(path string) string { return r.base + path }

// Version is the hash of all assets and templates; it stands in the path of assets.
func (r *Renderer) Version() string { return r.version }

// Asset returns an asset by its name.
func (r *Renderer) Asset(name string) (Asset, bool) {
	a, ok := r.assets[name]
	return a, ok
}

// Block is a part before it is rendered: the name of its template, and what that reads.
type Block struct {
	ID   string
	Data any
}

// Parts renders the parts of a page. Those that say what they said in last, an earlier view of the same page or none, are
// taken from it: most seconds change nothing but an age.
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

// Own is the frame of a page that is its reader's alone. It keeps itself in step by refresh.js, which an app.js imports itself.
func (r *Renderer) Own(kind, title string) Frame {
	f := Frame{Title: title, Body: kind, Styles: []string{"extra.css"}, Module: "refresh.js"}
	if _, ok := r.assets["app.css"]; ok {
		f.Styles = append(f.Styles, "app.css")
	}
	if _, ok := r.assets["app.js"]; ok {
		f.Module = "app.js"
	}
	return f
}

// Frame is what the layout reads.
type Frame struct {
	Title  string
	Body   string   // kind of page, for the style sheets
	Stream string   // address of the page's stream; empty: the page stands still
	Styles []string // style sheets beside page.css
	Module string   // script of the page; empty: page.js where there is a stream, else none
	Nav    *Nav     // nil: nothing under the page

	Offline *Offline // nil: the page has no queue and is not kept
}

// Offline is what a page knows that works while its node is away.
type Offline struct {
	Scope  string    // what the addresses of the pages begin with that its worker keeps, with a slash at its end
	Reader string    // whose page it is, in a form that says nothing of them; empty: nobody's
	Now    time.Time // by the node's clock
}

// layout is a frame around what a template has made.
type layout struct {
	Frame
	Assets  string
	Content template.HTML
	Row     Waiting // the empty row of the queue
}

// Page puts a view into its frame, of which it sets the title, the kind of page, style sheets and script.
func (r *Renderer) Page(v View, f Frame) ([]byte, error) {
	parts := make(map[string]template.HTML, len(v.Parts))
	for _, p := range v.Parts {
		parts[p.ID] = p.HTML
	}
	f.Title, f.Body, f.Styles, f.Module = v.Title, v.Kind, v.Styles, v.Module
	return r.Framed(v.Kind+"-page", map[string]any{"Parts": parts}, f)
}

// Bare puts a page of one part into its frame, which keeps itself in step by a script (refresh.js) where there is one.
func (r *Renderer) Bare(v View, nav *Nav) ([]byte, error) {
	return r.Framed("bare-page", v.Parts[0].HTML,
		Frame{Title: v.Title, Body: v.Kind, Module: "refresh.js", Styles: append([]string{"extra.css"}, v.Styles...), Nav: nav})
}

// Still puts a page of the node, of the template kind + "-page", into its frame.
func (r *Renderer) Still(kind, title string, data any, nav *Nav) ([]byte, error) {
	return r.Framed(kind+"-page", data, Frame{Title: title, Body: kind, Styles: []string{"extra.css"}, Nav: nav})
}

// Notice renders a page that says one thing: not found, or out of order.
func (r *Renderer) Notice(title, text string) ([]byte, error) {
	if text != "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return r.Still("notice", title, map[string]string{"Title": title, "Text": text}, nil)
}

// Framed puts what a template makes of data into a frame.
func (r *Renderer) Framed(name string, data any, f Frame) ([]byte, error) {
	var buf bytes.Buffer
	if err := r.templates.ExecuteTemplate(&buf, name, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	f.Title += " · touchline"
	var out bytes.Buffer
	err := r.templates.ExecuteTemplate(&out, "layout", layout{
		Frame: f, Assets: r.assetPath(),
		Content: template.HTML(buf.String()), //nolint:gosec // made by our own templates, which escape
	})
	if err != nil {
		return nil, fmt.Errorf("render layout: %w", err)
	}
	return out.Bytes(), nil
}
