package page

import (
	"embed"

	"github.com/touchline/touchline/httpapi/page"
)

//go:embed assets/*.css templates/*.html
var files embed.FS

// Renderer renders cricket's pages.
type Renderer struct{ *page.Renderer }

// New returns a renderer for pages whose addresses begin with base. An error is a bug in this package.
func New(base string) (*Renderer, error) {
	all, kits := teamCSS()
	made := map[string][]byte{"team.css": all}
	for slug, css := range kits {
		made[kitFile(slug)] = css
	}
	r, err := page.New(base, files, made)
	return &Renderer{r}, err
}

// chartView is the data of the worm's template: the chart, and the match whose figures a disclosure fetches.
type chartView struct {
	Worm Worm
	ID   string

	Elsewhere bool // see Match
}

// barsView is the data of the bars' template.
type barsView struct {
	Bars
	Elsewhere bool // see Match
}

// keptView is the data of a template for a list from the scorecard.
type keptView[T any] struct {
	Rows      []T
	Elsewhere bool // see Match
}

// Match renders the parts of the match page. Parts unchanged since last, an earlier view of the same match or none, are taken from it.
func (r *Renderer) Match(in Input, last page.View) (page.View, error) {
	m := NewMatch(in)
	m.Score.Stale = m.Top.Badges.Stale
	v, err := r.Parts(last, m.Title, []page.Block{
		{ID: "top", Data: m.Top}, {ID: "score", Data: m.Score}, {ID: "crease", Data: m.Crease},
		{ID: "overs", Data: keptView[OverGroup]{m.Overs, m.Elsewhere}}, {ID: "worm", Data: chartView{m.Worm, m.ID, m.Elsewhere}},
		{ID: "bars", Data: barsView{m.Bars, m.Elsewhere}}, {ID: "timeline", Data: m.Timeline}, {ID: "phones", Data: m.Phones},
		{ID: "cards", Data: keptView[InningsCard]{m.Cards, m.Elsewhere}}, {ID: operatorPart, Data: m.Node},
	})
	v.Kind, v.Operator, v.Styles = "match", operatorPart, m.styles()
	return v, err
}

// operatorPart is the id of the strip with the node's status.
const operatorPart = "node"

// styles returns the style sheets of a match page: its own, and those of its two sides.
func (m *Match) styles() []string {
	if len(m.Kits) == 0 {
		return []string{"match.css", "team.css"}
	}
	return append([]string{"match.css"}, m.Kits...)
}

// Overs renders the page with the figures of every over, which the match page fetches on request.
func (r *Renderer) Overs(in Input) ([]byte, error) {
	m := NewMatch(in)
	return r.RenderFramed("overs-page", m, page.Frame{Title: "Over by over · " + m.Title, Body: "overs", Styles: m.styles()})
}

// List renders the parts of the list of matches, as Match does.
func (r *Renderer) List(in ListInput, last page.View) (page.View, error) {
	l := NewList(in)
	v, err := r.Parts(last, l.Title, []page.Block{{ID: "top", Data: l.Top}, {ID: "list", Data: l}, {ID: operatorPart, Data: l.Node}})
	v.Kind, v.Operator, v.Styles = "list", operatorPart, []string{"match.css", "team.css", "extra.css"}
	return v, err
}

// Replays renders the page of replays. It uses plain forms.
func (r *Renderer) Replays(in ReplayInput) (page.View, error) {
	v, err := r.Parts(page.View{}, "Replays", []page.Block{{ID: "replay", Data: NewReplay(in)}})
	v.Kind, v.Styles = "replay", []string{"team.css", "staff.css"}
	return v, err
}
