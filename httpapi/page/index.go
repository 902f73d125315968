package page

import "time"

// Group is links of one kind on an index.
type Group struct {
	ID, Title string
	About     string // below the title; empty: nothing
	Href      string // of the title; empty: it is none
	Tiles     []Tile
	None      string // said where there are no tiles; empty: nothing
}

// Tile is a link with what there is to know of it.
type Tile struct {
	Href, Title, Line string
	At                time.Time // shown behind the line, as the reader's clock has it; zero: none
}

// Index is a page of links.
type Index struct {
	Title  string
	Lead   string // below the title; empty: nothing
	Module string // script that keeps the links in step; empty: none
	Groups []Group
}

// Index renders a page of links.
func (r *Renderer) Index(in Index, nav *Nav) ([]byte, error) {
	return r.Framed("index-page", in, Frame{Title: in.Title, Body: "index", Styles: []string{"extra.css"}, Module: in.Module, Nav: nav})
}
