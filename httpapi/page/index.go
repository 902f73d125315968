package page

// Group is links of one kind on an index.
type Group struct {
	ID, Title string
	About     string // below the title; empty: nothing
	Href      string // of the title; empty: it is none
	Tiles     []Tile
	None      string // said where there are no tiles; empty: nothing
}

// Tile is a link with what there is to know of it.
type Tile struct{ Href, Title, Line string }

// Index renders a page of links. A module, if there is one, keeps them in step.
func (r *Renderer) Index(title, module string, groups []Group, nav *Nav) ([]byte, error) {
	data := struct {
		Title  string
		Groups []Group
	}{title, groups}
	return r.Framed("index-page", data, Frame{Title: title, Body: "index", Styles: []string{"extra.css"}, Module: module, Nav: nav})
}
