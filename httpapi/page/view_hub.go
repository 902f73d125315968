package page

import "html/template"

// HubInput is what the operators' page shows: what is wrong, and tables of figures.
type HubInput struct {
	At       string   // the node's time of day
	Problems []string // in plain words, the worst first; none: all is well
	Tables   []HubTable
	Nav      *Nav
}

// HubTable is one of them.
type HubTable struct {
	ID, Title string
	Heads     []string
	Rows      [][]string
	None      string // said where there are no rows
}

// Hub renders the operators' page.
func (r *Renderer) Hub(in HubInput) ([]byte, error) {
	v, err := r.hub(&in)
	if err != nil {
		return nil, err
	}
	return r.framed("hub-page", template.HTML(v.Parts[0].HTML), //nolint:gosec // made by our own templates, which escape
		frame{Title: v.Title + " · touchline", Body: "page-hub", Module: "refresh.js", Kits: extra(), Nav: in.Nav})
}

func (r *Renderer) hub(in *HubInput) (View, error) {
	return r.parts(View{}, "Hub", []block{{"hub", in}})
}
