package page

import "time"

// Group is a group of links on an index.
type Group struct {
	ID, Title string
	About     string // below the title; empty: nothing
	Href      string // link of the title; empty: none
	Tiles     []Tile
	None      string // shown if there are no tiles; may be empty
}

// Tile is a link with a description.
type Tile struct {
	Href, Title, Line string
	At                time.Time // shown after the line, in the reader's time zone; zero: none
}

// Index is a page of links.
type Index struct {
	Title  string
	Lead   string // below the title; empty: nothing
	Module string // script that refreshes the links; empty: none
	Groups []Group
}

// Index renders a page of links.
func (r *Renderer) Index(in Index, nav *Nav) ([]byte, error) {
	return r.RenderFramed("index-page", in, Frame{Title: in.Title, Body: "index", Styles: []string{"extra.css"}, Module: in.Module, Nav: nav})
}
