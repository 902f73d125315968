package page

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html/template"
	"reflect"
	"strconv"
)

// Part is a piece of a page that is sent again when it changes.
type Part struct {
	ID   string
	HTML string
	Hash string // of HTML
}

// View is a rendered page: its parts and its title.
type View struct {
	Title string
	Parts []Part
	Kits  []string // style sheets of its teams; none: that of all teams
	Nav   *Nav     // under the page; nil: nothing
	data  []any    // what each part was made of
}

// Nav is where a reader may go on to.
type Nav struct {
	Hub, Replays bool
	SignIn       bool // somebody can sign in here
	SignedIn     bool
}

// Renderer turns views into HTML. It is made once and safe for concurrent use.
type Renderer struct {
	templates *template.Template
	assets    map[string]Asset
	version   string
}

// New parses the templates and reads the assets, which are all embedded: an error is a bug in this package. base is
// what the addresses of the pages begin with: nothing, or "/_" where they lie beside an application.
func New(base string) (*Renderer, error) {
	at := template.FuncMap{"at": func(path string) string { return base + path }}
	t, err := template.New("page").Funcs(at).ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse templates: %w", err)
	}
	assets, version, err := loadAssets()
	if err != nil {
		return nil, err
	}
	return &Renderer{templates: t, assets: assets, version: version}, nil
}

// Version is the hash of all assets; it stands in their path.
func (r *Renderer) Version() string { return r.version }

// Asset returns an asset by its name.
func (r *Renderer) Asset(name string) (Asset, bool) {
	a, ok := r.assets[name]
	return a, ok
}

// chartView is what the worm's template reads: the chart, and the match whose figures a disclosure fetches.
type chartView struct {
	Worm Worm
	ID   string

	Elsewhere bool // see Match
}

// barsView is what the template of the bars reads.
type barsView struct {
	Bars
	Elsewhere bool // see Match
}

// keptView is what the template of a list reads that comes from the scorecard.
type keptView[T any] struct {
	Rows      []T
	Elsewhere bool // see Match
}

// Match renders the parts of the match page. Parts that say what they said in last, an earlier view of the same match
// or none, are taken from it: most seconds change nothing but an age.
func (r *Renderer) Match(in Input, last View) (View, error) {
	m := NewMatch(in)
	m.Score.Stale = m.Top.Badges.Stale
	v, err := r.parts(last, m.Title, []block{
		{"top", m.Top}, {"score", m.Score}, {"crease", m.Crease}, {"overs", keptView[OverGroup]{m.Overs, m.Elsewhere}},
		{"worm", chartView{m.Worm, m.ID, m.Elsewhere}}, {"bars", barsView{m.Bars, m.Elsewhere}}, {"timeline", m.Timeline},
		{"phones", m.Phones}, {"cards", keptView[InningsCard]{m.Cards, m.Elsewhere}}, {"node", m.Node},
	})
	v.Kits = m.Kits
	return v, err
}

// Overs renders the page with the figures of every over, which the match page fetches when somebody wants them.
func (r *Renderer) Overs(in Input) ([]byte, error) {
	m := NewMatch(in)
	return r.framed("overs-page", m, frame{Title: "Over by over · " + m.Title + " · touchline", Body: "page-overs", Kits: m.Kits})
}

// List renders the parts of the list of matches, as Match does.
func (r *Renderer) List(in ListInput, last View) (View, error) {
	l := NewList(in)
	return r.parts(last, l.Title, []block{{"top", l.Top}, {"list", l}, {"node", l.Node}})
}

// block is a part before it is rendered.
type block struct {
	id   string
	data any
}

func (r *Renderer) parts(last View, title string, blocks []block) (View, error) {
	v := View{Title: title, Parts: make([]Part, 0, len(blocks)), data: make([]any, 0, len(blocks))}
	for i, b := range blocks {
		v.data = append(v.data, b.data)
		if i < len(last.Parts) && last.Parts[i].ID == b.id && reflect.DeepEqual(last.data[i], b.data) {
			v.Parts = append(v.Parts, last.Parts[i])
			continue
		}
		var buf bytes.Buffer
		if err := r.templates.ExecuteTemplate(&buf, b.id, b.data); err != nil {
			return View{}, fmt.Errorf("render %s: %w", b.id, err)
		}
		h := fnv.New64a()
		_, _ = h.Write(buf.Bytes())
		v.Parts = append(v.Parts, Part{ID: b.id, HTML: buf.String(), Hash: strconv.FormatUint(h.Sum64(), 36)})
	}
	return v, nil
}

// frame is what the layout reads.
type frame struct {
	Title   string
	Stream  string // address of the page's stream; empty: the page stands still
	Assets  string
	Kits    []string // style sheets beside page.css; none: team.css
	Body    string
	Module  string // script of the page; empty: page.js where there is a stream, else none
	Nav     *Nav
	Content template.HTML
}

// extra are the style sheets of pages that are not for everybody.
func extra() []string { return []string{"team.css", "extra.css"} }

// Page puts a view into its frame. kind is match or list; stream is the address the page listens to, if any.
func (r *Renderer) Page(kind string, v View, stream string) ([]byte, error) {
	parts := make(map[string]template.HTML, len(v.Parts))
	for _, p := range v.Parts {
		parts[p.ID] = template.HTML(p.HTML) //nolint:gosec // made by our own templates, which escape
	}
	return r.framed(kind+"-page", map[string]any{"Parts": parts}, frame{
		Title: v.Title + " · touchline", Stream: stream, Body: "page-" + kind, Kits: v.Kits, Nav: v.Nav,
	})
}

// Notice renders a page that says one thing: not found, or out of order.
func (r *Renderer) Notice(title, text string) ([]byte, error) {
	data := map[string]string{"Title": title, "Text": sentence(text)}
	return r.framed("notice-page", data, frame{Title: title + " · touchline", Body: "page-notice"})
}

func (r *Renderer) framed(name string, data any, f frame) ([]byte, error) {
	var buf bytes.Buffer
	if err := r.templates.ExecuteTemplate(&buf, name, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	f.Content = template.HTML(buf.String()) //nolint:gosec // made by our own templates, which escape
	f.Assets = "/_/assets/" + r.version + "/"
	if len(f.Kits) == 0 {
		f.Kits = []string{"team.css"}
	}
	var out bytes.Buffer
	if err := r.templates.ExecuteTemplate(&out, "layout", f); err != nil {
		return nil, fmt.Errorf("render layout: %w", err)
	}
	return out.Bytes(), nil
}

// Scene renders a scene of the gallery as a page that stands still.
func (r *Renderer) Scene(s *Scene) ([]byte, error) {
	kind, v, err := r.scene(s)
	if err != nil {
		return nil, err
	}
	if s.Replay != nil {
		return r.Replays(*s.Replay)
	}
	if s.Hub != nil {
		return r.Hub(*s.Hub)
	}
	return r.Page(kind, v, "")
}

func (r *Renderer) scene(s *Scene) (kind string, v View, err error) {
	if s.Replay != nil {
		v, err = r.replay(s.Replay)
		return "replay", v, err
	}
	if s.Hub != nil {
		v, err = r.hub(s.Hub)
		return "hub", v, err
	}
	if s.List != nil {
		v, err = r.List(*s.List, View{})
		return "list", v, err
	}
	v, err = r.Match(*s.Match, View{})
	return "match", v, err
}

// galleryScene is a scene as the gallery's template reads it.
type galleryScene struct {
	Name, What string
	Parts      []template.HTML
}

// Gallery renders one page with every part in every state.
func (r *Renderer) Gallery(scenes []Scene) ([]byte, error) {
	var list []galleryScene
	for i := range scenes {
		_, v, err := r.scene(&scenes[i])
		if err != nil {
			return nil, err
		}
		g := galleryScene{Name: scenes[i].Name, What: scenes[i].What}
		for _, p := range v.Parts {
			g.Parts = append(g.Parts, template.HTML(p.HTML)) //nolint:gosec // made by our own templates, which escape
		}
		list = append(list, g)
	}
	data := map[string]any{"Scenes": list, "Kit": newKitBox()}
	return r.framed("gallery-page", data, frame{Title: "Gallery · touchline", Body: "page-gallery", Kits: extra()})
}
